/*
 * The cost of a tile cache on the host for each frame: the requests of a whole screen while a
 * viewer moves over a large texture. bench_paging --tiles runs this.
 */
#ifndef MAAR_BENCH_TILES_H
#define MAAR_BENCH_TILES_H

#include "volk.h"

#include "bench_row.h"
#include "maar/maar.h"

struct bench_tiles {
    const char* device_name;
    VkDevice device;
    uint32_t family; /* family of the allocator's queue */
    MaarAllocator allocator;
    uint32_t updates;
};

/* Prints one row. Ends the program on failure, or when the cache exceeds its budget. */
void bench_tiles_run(const struct bench_tiles* bench, struct bench_table* table);

#endif
