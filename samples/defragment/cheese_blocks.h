/*
 * Where everything lies: the blocks of a heap at one moment.
 */
#ifndef MAAR_SAMPLE_CHEESE_BLOCKS_H
#define MAAR_SAMPLE_CHEESE_BLOCKS_H

#include "cheese_heap.h"

/* An allocation. */
struct cheese_range {
    uint64_t block; /* MaarAllocationInfo::blockId */
    VkDeviceSize offset;
    VkDeviceSize size;
    bool is_image;
    bool has_moved;
};

struct cheese_blocks {
    struct cheese_range* ranges; /* by block and offset */
    uint32_t count;
    uint32_t pool_count; /* blocks of the pool; some may wait for frames in flight */
    uint32_t used_count; /* blocks in which something lies */
    VkDeviceSize live;
    uint32_t step; /* of the run, at that moment */
};

/* Looks where everything is. Prints an error and returns false on failure. The caller releases the
 * result in every case. */
bool cheese_blocks_look(struct cheese_blocks* blocks, const struct cheese_heap* heap);
void cheese_blocks_release(struct cheese_blocks* blocks);

#endif
