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

/* Makes a block of the given size, within a cap on the heap's blocks, and places into it; *over_cap
 * is set when the cap alone was in the way. Outcomes: all. */
enum maar_pool_outcome maar_pool_grow(struct maar_pool* pool,
                                      const struct maar_place_request* request, VkDeviceSize size,
                                      VkDeviceSize cap, bool* over_cap, struct maar_made* made);
/* Makes a dedicated block: MAAR_POOL_PLACED, _NO_HOST_MEMORY or _FAILED. */
enum maar_pool_outcome maar_pool_place_dedicated(struct maar_pool* pool,
                                                 const struct maar_place_request* request,
                                                 const struct maar_device_memory_info* info,
                                                 struct maar_made* made);

/* How many blocks that were on their way have ended so far; and how many are on their way. */
uint32_t maar_pool_turn(struct maar_pool* pool, uint32_t* creating);
/* Sleeps until a block has ended since a turn. No lock may be held. */
void maar_pool_wait(struct maar_pool* pool, uint32_t turn);

#endif
