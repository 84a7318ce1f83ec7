/*
 * The heuristics by which engines and runtimes place transient resources, for comparison with the
 * planner. They are independent implementations of the published rules. bench/README.md names the
 * source of each rule.
 *
 * Single-threaded.
 */
#ifndef MAAR_BENCH_PLAN_PEER_H
#define MAAR_BENCH_PLAN_PEER_H

#include "support/frame_graph.h"

/* The resources, and the facts that heuristics need. The scene is built before the clock starts. */
struct plan_scene {
    uint32_t count;
    uint64_t* sizes;
    uint64_t* alignments;
    uint64_t* begins; /* time; with several queues, places in one order of the passes */
    uint64_t* ends;   /* excluded */
    bool* before;     /* count squared elements, with several queues only: one ends before the other
                         begins */
    /* Working memory of the heuristics. */
    uint32_t* order;
    uint32_t* placed; /* by rising offset */
    uint64_t* keys;
    uint64_t* floors;
    uint32_t placed_count;
};

void plan_scene_open(struct plan_scene* scene, const struct support_frame_graph* graph);
void plan_scene_close(struct plan_scene* scene);

/* Returns whether two resources must not share bytes. */
bool plan_scene_meet(const struct plan_scene* scene, uint32_t resource, uint32_t other);

/* A heuristic. */
struct plan_peer {
    const char* name;
    const char* origin;
    void (*place)(struct plan_scene* scene, uint64_t* offsets);
};

extern const struct plan_peer plan_peers[];
extern const uint32_t plan_peer_count;

/* Returns the end of the last byte. Ends the program when the placement is wrong. */
uint64_t plan_scene_check(const struct plan_scene* scene, const char* who, const uint64_t* offsets);

/* Returns the number of pairs of which one takes over bytes from the other. Only the most recent
 * user of each byte counts.
 */
uint32_t plan_scene_count_edges(const struct plan_scene* scene, const uint64_t* offsets);

#endif
