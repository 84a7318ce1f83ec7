/*
 * New blocks: their size, and making them. The slow path of an allocation and the pool's first
 * blocks come here. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_GROWTH_H
#define MAAR_CORE_MEMORY_BLOCK_GROWTH_H

#include "core/memory/arena_place.h"
#include "core/memory/budget.h"

/* Bytes. The size of a new block is rounded up to a multiple of this, as drivers do anyway. */
#define MAAR_BLOCK_ROUNDING ((VkDeviceSize)65536)

/* Whether an empty block of a pool with blocks of one size could hold the request. */
bool maar_pool_fits_fixed_block(const struct maar_pool* pool,
                                const struct maar_place_request* place);
/* Makes a new block and places into it. The block has the best size, or a smaller one when the
 * budget or the driver has no room for that: each failure halves it. */
VkResult maar_pool_add_block(struct maar_pool* pool, const struct maar_place_request* place,
                             struct maar_budget_use* use, struct maar_made* made);

/* Makes a block of the given size, within a cap on the heap's blocks, and places into it. Sets
 * *over_cap when only the cap prevented it. Every outcome is possible. */
enum maar_pool_outcome maar_pool_grow(struct maar_pool* pool,
                                      const struct maar_place_request* request, VkDeviceSize size,
                                      VkDeviceSize cap, bool* over_cap, struct maar_made* made);
/* Returns how many announced blocks have ended so far: were listed, or were not made. *creating:
 * how many are being made. */
uint32_t maar_pool_turn(struct maar_pool* pool, uint32_t* creating);
/* Sleeps until another announced block has ended since a turn. No lock may be held. */
void maar_pool_wait(struct maar_pool* pool, uint32_t turn);

#endif
