/*
 * What engines and runtimes do to place transient resources: heuristics, written anew from the
 * rules as published, for the planner to be compared with. bench/README.md says whose rule each is.
 *
 * Single-threaded.
 */
#ifndef MAAR_BENCH_PLAN_PEER_H
#define MAAR_BENCH_PLAN_PEER_H

#include "support/frame_graph.h"

/* Resources with what heuristics ask of them. Built before the clock starts. */
struct plan_scene {
    uint32_t count;
    uint64_t* sizes;
    uint64_t* alignments;
    uint64_t* begins; /* time; with several queues, places in one order of the passes */
    uint64_t* ends;   /* excluded */
    bool* before;     /* count squared, several queues only: one is over when the other begins */
    /* Room for the heuristics. */
    uint32_t* order;
    uint32_t* placed; /* by rising offset */
    uint64_t* keys;
    uint64_t* floors;
    uint32_t placed_count;
};

void plan_scene_open(struct plan_scene* scene, const struct support_frame_graph* graph);
void plan_scene_close(struct plan_scene* scene);

/* Whether two resources must not share bytes. */
bool plan_scene_meet(const struct plan_scene* scene, uint32_t resource, uint32_t other);

/* A heuristic. */
struct plan_peer {
    const char* name;
    const char* origin;
    void (*place)(struct plan_scene* scene, uint64_t* offsets);
};

extern const struct plan_peer plan_peers[];
extern const uint32_t plan_peer_count;

/* Where the last byte ends. Ends the program when a placement is wrong. */
uint64_t plan_scene_check(const struct plan_scene* scene, const char* who, const uint64_t* offsets);

/* Pairs of which one takes bytes over from the other, counting the most recent user of each byte.
 */
uint32_t plan_scene_count_edges(const struct plan_scene* scene, const uint64_t* offsets);

#endif
