/*
 * The first fill of an allocator: what an allocation costs that the allocator has to grow for,
 * beside the same allocation after everything was freed again.
 */
#ifndef MAAR_BENCH_ALLOCATOR_FILL_H
#define MAAR_BENCH_ALLOCATOR_FILL_H

#include "bench/allocator_peer.h"
#include "bench/bench_row.h"

struct allocator_fill {
    const struct bench_device* device;
    const char* peers; /* a list of names, or "all" */
    uint32_t live;     /* allocations of a fill */
    uint32_t runs;
    VkDeviceSize block_size; /* the preferred size; 0: the allocator's default */
    bool buffers;            /* fills with buffers, not with memory alone */
};

/* Runs the peers in turn and prints a row for each. */
void allocator_fill_compare(const struct allocator_fill* fill, struct bench_table* table);

#endif
