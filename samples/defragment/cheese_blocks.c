/*
 * Looks where everything lies; see cheese_blocks.h.
 */
#include "cheese_blocks.h"

#include <stdlib.h>
#include <string.h>

static bool add_range(struct cheese_blocks* blocks, const struct cheese_heap* heap,
                      MaarAllocation allocation)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    if (!sample_succeeded(maarGetAllocationInfo(heap->device->allocator, allocation, &info),
                          "maarGetAllocationInfo")) {
        return false;
    }
    blocks->ranges[blocks->count++] = (struct cheese_range){
        .block = info.blockId,
        .offset = info.offset,
        .size = info.size,
        .is_image = info.kind == MAAR_RESOURCE_KIND_OPTIMAL,
        .has_moved = info.locationEpoch != 0,
    };
    blocks->live += info.size;
    return true;
}

static int compare_ranges(const void* one, const void* other)
{
    const struct cheese_range* const a = one;
    const struct cheese_range* const b = other;
    if (a->block != b->block) {
        return a->block > b->block ? 1 : -1;
    }
    return (a->offset > b->offset) - (a->offset < b->offset);
}

bool cheese_blocks_look(struct cheese_blocks* blocks, const struct cheese_heap* heap)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    *blocks = (struct cheese_blocks){.ranges = calloc(2 * heap->kept + 1, sizeof(*blocks->ranges))};
    bool done =
        sample_has_memory(blocks->ranges) &&
        sample_succeeded(maarGetStatistics(heap->device->allocator, heap->pool, &statistics),
                         "maarGetStatistics");
    for (uint32_t i = 0; done && i < heap->count; ++i) {
        const struct cheese_planet* const planet = &heap->planets[i];
        done = !cheese_planet_is_kept(planet) || (add_range(blocks, heap, planet->image_memory) &&
                                                  add_range(blocks, heap, planet->buffer_memory));
    }
    if (done) {
        qsort(blocks->ranges, blocks->count, sizeof(*blocks->ranges), compare_ranges);
    }
    for (uint32_t i = 0; i < blocks->count; ++i) {
        blocks->used_count += i == 0 || blocks->ranges[i].block != blocks->ranges[i - 1].block;
    }
    blocks->pool_count = statistics.blockCount;
    return done;
}

void cheese_blocks_release(struct cheese_blocks* blocks)
{
    free(blocks->ranges);
    memset(blocks, 0, sizeof(*blocks));
}
