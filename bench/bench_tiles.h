/*
 * What a tile cache costs the host in each frame: requests of a whole screen for a viewer that
 * moves over a large texture. bench_paging --tiles.
 */
#ifndef MAAR_BENCH_TILES_H
#define MAAR_BENCH_TILES_H

#include "volk.h"

#include "bench_row.h"
#include "maar/maar.h"

struct bench_tiles {
    const char* device_name;
    VkDevice device;
    uint32_t family; /* of the queue that the allocator has */
    MaarAllocator allocator;
    uint32_t updates;
};

/* Prints one row; ends the program when something fails, or the cache passes its budget. */
void bench_tiles_run(const struct bench_tiles* bench, struct bench_table* table);

#endif
