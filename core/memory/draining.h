/*
 * Blocks that drain: their allocations are moved elsewhere, so that the blocks can be released. A
 * block that drains takes no allocations, since neither index of its arena knows of room in it. It
 * is released as soon as it is empty.
 *
 * A request that finds no room in its pool otherwise revives all blocks of the pool that drain: a
 * new block would cost more than what draining gains. Who drains a block learns of that by
 * maar_block::draining.
 */
#ifndef MAAR_CORE_MEMORY_DRAINING_H
#define MAAR_CORE_MEMORY_DRAINING_H

#include "core/memory/pool.h"

/* These functions are called under the arena's lock. */

/* Makes a block drain. It is listed, and has a placement. */
void maar_block_drain(struct maar_arena* arena, struct maar_block* block);
/* Lets a block that drains take allocations again. */
void maar_block_revive(struct maar_arena* arena, struct maar_block* block);

/* Revives all blocks of a pool that drain. Returns whether there were any. No lock may be held. */
bool maar_pool_revive(struct maar_pool* pool);

#endif
