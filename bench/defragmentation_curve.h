/*
 * What runs of defragmentation have done: the blocks that they have given back for the bytes that
 * they have moved, after each of their passes.
 */
#ifndef MAAR_BENCH_DEFRAGMENTATION_CURVE_H
#define MAAR_BENCH_DEFRAGMENTATION_CURVE_H

#include <stdint.h>

/* Bytes for a number of blocks that no run has given back. */
#define DEFRAGMENTATION_NEVER UINT64_MAX

/* What a run has done by the end of a pass. */
struct defragmentation_point {
    uint32_t released; /* blocks emptied since the run began, and not filled again */
    uint32_t moves;
    uint64_t moved_bytes;
};

struct defragmentation_curve {
    struct defragmentation_point* points; /* of the passes, in order */
    uint32_t count;
    uint32_t capacity;
    double cpu_ns;           /* of the allocator's calls */
    uint64_t extra_bytes;    /* the most bytes of new ranges in a pass */
    uint64_t reserved_bytes; /* the most bytes of new ranges at any time; 0 if unknown */
};

/* Adds a point to a curve. */
void defragmentation_note(struct defragmentation_curve* curve, struct defragmentation_point point);

/* Returns the last point of a curve. */
struct defragmentation_point defragmentation_end(const struct defragmentation_curve* curve);

/* Returns the bytes that a run has moved when it has given back so many blocks for the first time,
 * or DEFRAGMENTATION_NEVER. */
uint64_t defragmentation_bytes(const struct defragmentation_curve* curve, uint32_t released);

/* Returns the most blocks that a run has given back at any time. */
uint32_t defragmentation_most(const struct defragmentation_curve* curve);

void defragmentation_release(struct defragmentation_curve* curve);

#endif
