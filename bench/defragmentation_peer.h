/*
 * The interface of the allocators in the benchmark of defragmentation. Each peer holds a state, a
 * list of live allocations in a pool, and empties its blocks in passes. Nothing is copied: the
 * benchmark counts what would have to be.
 */
#ifndef MAAR_BENCH_DEFRAGMENTATION_PEER_H
#define MAAR_BENCH_DEFRAGMENTATION_PEER_H

#include "bench/allocator_peer.h"
#include "bench/defragmentation_curve.h"

/* Limits of a run, each 0 for none. */
struct defragmentation_limits {
    uint64_t pass_bytes; /* the most bytes of a pass */
    uint32_t pass_moves; /* the most moves of a pass */
    uint32_t blocks;     /* the most blocks to give back; peers that cannot be asked ignore it */
};

/* What a run works on. */
struct defragmentation_heap {
    const struct allocator_tally* tally;
    uint64_t block_size;
};

struct defragmentation_peer {
    const char* name;
    bool rebuilds; /* does not make the layout of the last peer by replaying the trace */
    const struct allocator_peer* allocator;
    /* Creates a pool of DEVICE_LOCAL memory whose blocks all have this size, and makes it the pool
     * of the functions below. One pool exists at a time. */
    void (*create_pool)(void* allocator, VkDeviceSize block_size);
    void (*destroy_pool)(void* allocator);
    bool (*allocate)(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item);
    /* Runs until nothing is left to move. */
    void (*run)(void* allocator, const struct defragmentation_heap* heap,
                const struct defragmentation_limits* limits, struct defragmentation_curve* curve);
    /* Makes room for a request, takes it, and frees it again. Returns false if it cannot. NULL: the
     * peer does not do this. */
    bool (*make_room)(void* allocator, uint64_t size, uint64_t alignment, uint64_t pass_bytes,
                      struct defragmentation_point* point);
};

/* The peers, of which the first one is Maar. The last one makes the states. */
extern const struct defragmentation_peer* const defragmentation_peers[];
extern const uint32_t defragmentation_peer_count;

#endif
