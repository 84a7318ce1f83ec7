/*
 * Chooses the sizes of new blocks. The functions take no lock that the caller may hold, except for
 * maar_pool_next_block, which locks the arena of this thread.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_SIZE_H
#define MAAR_CORE_MEMORY_BLOCK_SIZE_H

#include "core/memory/pool.h"

/* In bytes: the size of a new block is rounded up to a multiple of this, as drivers do anyway. */
#define MAAR_BLOCK_ROUNDING ((VkDeviceSize)65536)

struct maar_place_request;

/* The size of the next block of a pool. */
struct maar_block_size {
    VkDeviceSize best;
    VkDeviceSize least; /* the smallest block that holds the request: maar_pool_least_block */
    VkDeviceSize each;  /* what each further request of its size and alignment takes */
    bool beyond;        /* with the request alone the allocator uses up its allowance */
};

/* Returns the size of the next block of this thread's arena, for a request. If the pool has a fixed
 * block size, both sizes are this size. */
struct maar_block_size maar_pool_next_block(struct maar_pool* pool,
                                            const struct maar_place_request* request);
/* Returns the size of the largest block that has no rest beside requests of this size, and is at
 * most `most` bytes large. It holds at least one of them. */
VkDeviceSize maar_block_of_whole(const struct maar_block_size* size, VkDeviceSize most);
/* Returns the size of the smallest block that holds the request. */
VkDeviceSize maar_pool_least_block(const struct maar_pool* pool, VkDeviceSize request);
/* Returns the size of a new block over a budget. */
VkDeviceSize maar_pool_modest_block(const struct maar_pool* pool);
/* Returns the most bytes that a frugal pool keeps in empty blocks, unless it keeps a single one. */
VkDeviceSize maar_pool_kept_bytes(const struct maar_pool* pool);

#endif
