/*
 * The blocks that a pool has from the start to its end (MaarPoolCreateInfo::minBlockCount).
 */
#ifndef MAAR_CORE_MEMORY_POOL_FIRST_BLOCKS_H
#define MAAR_CORE_MEMORY_POOL_FIRST_BLOCKS_H

#include "core/memory/pool.h"

/* Makes the blocks of a new pool. Empty blocks of other pools, and what has passed, make room for
 * them. Reports a failure; the caller then destroys the pool. No lock may be held. */
VkResult maar_pool_make_first_blocks(struct maar_pool* pool);

#endif
