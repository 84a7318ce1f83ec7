/*
 * Plays frames of a heap to the checker of barriers as a program would record and submit them,
 * whole or with one barrier or wait left out.
 */
#ifndef MAAR_TESTS_TRANSIENT_FRAME_PLAYER_H
#define MAAR_TESTS_TRANSIENT_FRAME_PLAYER_H

#include "support/hazards.h"
#include "tests/transient/graph_maker.h"

enum player_part {
    PLAYER_ALIASING,
    PLAYER_BEFORE,
    PLAYER_BEFORE_IMAGE,
    PLAYER_BEFORE_BUFFER,
    PLAYER_AFTER_IMAGE,
    PLAYER_AFTER_BUFFER,
    PLAYER_WAIT,
    PLAYER_PARTS
};

/* What the player leaves out: one part of a pass, in the first frames or in later ones. */
struct player_gap {
    bool first;
    uint32_t pass;
    enum player_part part;
    uint32_t index;
};

struct player {
    struct rig* rig;
    MaarTransientHeap heap;
    uint32_t copies;
    const struct graph_maker* maker;
    struct hazards* hazards;
    uint32_t resources[8][GRAPH_RESOURCES]; /* by copy */
    MaarTransientResourceInfo infos[8][GRAPH_RESOURCES];
    uint32_t resource_count;
    uint32_t order[GRAPH_PASSES];          /* the passes in the order in which they are submitted */
    uint32_t ranks[GRAPH_PASSES];          /* each pass's place in that order */
    bool has_contents[8][GRAPH_RESOURCES]; /* contents that an update kept */
    uint32_t old_pass_count;           /* passes of the graph before; 0: there was no such graph */
    uint32_t old_queues[GRAPH_PASSES]; /* the queues of its passes */
    const struct player_gap* gap;      /* NULL: nothing is left out */
    uint64_t submitted;                /* frames played before the present graph */
    uint64_t base;                     /* number of its first frame for the heap */
    bool own_barriers;                 /* the program itself records the barriers between the
                                          uses of one resource */
};

/* Shows the heap's resources to the checker. */
void player_open(struct player* p, struct rig* rig, MaarTransientHeap heap,
                 const struct graph_maker* maker);
/* Notes an update of the heap, before which `played` frames were played: new resources, and those
 * that stayed. The queues must be the same. The first pass on each queue waits for everything that
 * the other queues did in earlier frames, as the points of an update do. */
void player_change(struct player* p, const struct graph_maker* maker, uint64_t played);
void player_close(struct player* p);
/* Plays `count` frames of the present graph from a number on, in steps. The first frame of the
 * graph has number 0. */
void player_run(struct player* p, uint64_t first_frame, uint32_t count, uint32_t step);
/* Returns how many parts of a kind a pass has. */
uint32_t player_count(const struct player* p, bool first, uint32_t pass, enum player_part part);
const char* player_part_name(enum player_part part);

#endif
