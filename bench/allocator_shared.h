/*
 * The workload `shared` of bench_allocator: threads that work on what other threads have allocated.
 */
#ifndef MAAR_BENCH_ALLOCATOR_SHARED_H
#define MAAR_BENCH_ALLOCATOR_SHARED_H

#include "bench/allocator_peer.h"
#include "bench/bench_row.h"

struct shared_options {
    const struct bench_device* device;
    const char* peers; /* a list */
    const char* cases; /* likewise */
    VkDeviceSize block_size;
    uint32_t live;
    uint32_t threads; /* at least 2 */
    uint32_t runs;
    uint32_t operations; /* of a run, for each thread */
};

/* Runs each case with each peer, and prints a row for each. */
void bench_shared(const struct shared_options* options, struct bench_table* table);

#endif
