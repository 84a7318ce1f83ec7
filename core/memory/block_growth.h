/*
 * New blocks: how large the next one is, and making it.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_GROWTH_H
#define MAAR_CORE_MEMORY_BLOCK_GROWTH_H

#include "core/memory/arena_place.h"

/* A new block is rounded up to this, bytes: drivers hand out multiples of it anyway. */
#define MAAR_BLOCK_ROUNDING ((VkDeviceSize)65536)

/* How large the next block should be, and the least that the request can live in. */
VkDeviceSize maar_pool_next_size(struct maar_pool* pool, const struct maar_place_request* request,
                                 VkDeviceSize* least);
/* What a pool takes at once where it should take little. */
VkDeviceSize maar_pool_modest_size(const struct maar_pool* pool);

/* Makes a block of the given size, within a cap on the heap's blocks, and places into it.
 * VK_NOT_READY: another thread is making one, whose room may serve; look again. */
VkResult maar_pool_grow(struct maar_pool* pool, const struct maar_place_request* request,
                        VkDeviceSize size, VkDeviceSize cap, struct maar_made* made);
/* Makes a dedicated block. */
VkResult maar_pool_place_dedicated(struct maar_pool* pool, const struct maar_place_request* request,
                                   const struct maar_device_memory_info* info,
                                   struct maar_made* made);

#endif
