/*
 * New blocks: their size, and making them. The slow path of an allocation and the pool's first
 * blocks come here. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_GROWTH_H
#define MAAR_CORE_MEMORY_BLOCK_GROWTH_H

#include "core/memory/arena_place.h"

/* Bytes. The size of a new block is rounded up to a multiple of this, as drivers do anyway. */
#define MAAR_BLOCK_ROUNDING ((VkDeviceSize)65536)

/* Returns the best size of the next block, and in *least the smallest size that holds the
 * request. */
VkDeviceSize maar_pool_next_size(struct maar_pool* pool, const struct maar_place_request* request,
                                 VkDeviceSize* least);
/* Returns the size of a new block over a budget. */
VkDeviceSize maar_pool_modest_size(const struct maar_pool* pool);

/* Makes a block of the given size, within a cap on the heap's blocks, and places into it. Sets
 * *over_cap when only the cap prevented it. Every outcome is possible. */
enum maar_pool_outcome maar_pool_grow(struct maar_pool* pool,
                                      const struct maar_place_request* request, VkDeviceSize size,
                                      VkDeviceSize cap, bool* over_cap, struct maar_made* made);
/* Makes a dedicated block. Returns MAAR_POOL_PLACED, _NO_HOST_MEMORY or _FAILED. */
enum maar_pool_outcome maar_pool_place_dedicated(struct maar_pool* pool,
                                                 const struct maar_place_request* request,
                                                 const struct maar_device_memory_info* info,
                                                 struct maar_made* made);

/* Returns how many announced blocks have ended so far: were listed, or were not made. *creating:
 * how many are being made. */
uint32_t maar_pool_turn(struct maar_pool* pool, uint32_t* creating);
/* Sleeps until another announced block has ended since a turn. No lock may be held. */
void maar_pool_wait(struct maar_pool* pool, uint32_t turn);

#endif
