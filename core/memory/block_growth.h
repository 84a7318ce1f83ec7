/*
 * Makes new blocks, of the sizes that block_size.h chooses. The slow path of an allocation calls
 * these functions, and so does the creation of a pool with minimum blocks. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_GROWTH_H
#define MAAR_CORE_MEMORY_BLOCK_GROWTH_H

#include "core/memory/arena_place.h"
#include "core/memory/budget.h"
#include "core/memory/patience.h"

/* Returns false if the pool has a fixed block size and an empty block cannot hold the request. */
bool maar_pool_fits_fixed_block(const struct maar_pool* pool,
                                const struct maar_place_request* place);
/* Makes a new block and places the request in it. Tries the size that block_size.h chooses. After
 * a failure it halves the size and tries again, and at last it tries the smallest size that holds
 * the request. */
VkResult maar_pool_add_block(struct maar_pool* pool, const struct maar_place_request* place,
                             struct maar_budget_use* use, struct maar_patience* patience,
                             struct maar_made* made);

/* Whether the pool may now make a block that holds the request. A block that another thread is
 * making counts as one that the pool has. */
bool maar_pool_may_announce(const struct maar_pool* pool, const struct maar_place_request* place);

/* Makes a block of the given size, if the heap's blocks stay within the cap, and places the request
 * in it. request may be NULL: then it only makes the block. Sets *over_cap to true if only the cap
 * prevented the block. `alone`: does not wait for blocks that others are making. May return every
 * value of maar_pool_outcome. */
enum maar_pool_outcome maar_pool_grow(struct maar_pool* pool,
                                      const struct maar_place_request* request, VkDeviceSize size,
                                      VkDeviceSize cap, bool* over_cap, bool alone,
                                      struct maar_made* made);
/* Returns the number of finished creations: the block was listed, or could not be made. *creating:
 * the number of blocks that are being made. */
uint32_t maar_pool_turn(struct maar_pool* pool, uint32_t* creating);
/* Sleeps until the number that maar_pool_turn returns differs from turn. Returns false if the
 * deadline has passed before that. No lock may be held. */
bool maar_pool_wait(struct maar_pool* pool, uint32_t turn, uint64_t deadline_ns);

#endif
