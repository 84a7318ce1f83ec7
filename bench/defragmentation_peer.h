/*
 * The interface of the allocators in the benchmark of defragmentation. Each peer holds a state, a
 * list of live allocations, and empties its blocks in small passes. Nothing is copied: the
 * benchmark counts what would have to be.
 */
#ifndef MAAR_BENCH_DEFRAGMENTATION_PEER_H
#define MAAR_BENCH_DEFRAGMENTATION_PEER_H

#include "bench/allocator_peer.h"

/* What a run has done by the end of a pass. */
struct defragmentation_point {
    uint32_t released; /* blocks given back since the run began */
    uint64_t released_bytes;
    uint32_t moves;
    uint64_t moved_bytes;
};

struct defragmentation_curve {
    struct defragmentation_point* points; /* of the passes, in order */
    uint32_t count;
    uint32_t capacity;
    double cpu_ns;        /* of the allocator's calls */
    uint64_t extra_bytes; /* the most bytes of new ranges in a pass */
};

struct defragmentation_peer {
    const char* name;
    const struct allocator_peer* allocator;
    /* Creates a pool of DEVICE_LOCAL memory whose blocks all have this size, and makes it the pool
     * of the functions below. One pool exists at a time. */
    void (*create_pool)(void* allocator, VkDeviceSize block_size);
    void (*destroy_pool)(void* allocator);
    bool (*allocate)(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item);
    /* Runs until nothing is left to move. pass_bytes: the most bytes of a pass. */
    void (*run)(void* allocator, const struct allocator_tally* tally, uint64_t pass_bytes,
                struct defragmentation_curve* curve);
};

/* The peers, of which the first one is Maar. */
extern const struct defragmentation_peer* const defragmentation_peers[];
extern const uint32_t defragmentation_peer_count;

/* Adds a point to a curve. */
void defragmentation_note(struct defragmentation_curve* curve, struct defragmentation_point point);

#endif
