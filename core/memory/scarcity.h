/*
 * What changes as a heap fills. A large request then needs the last bytes of the heap, so they must
 * not lie in blocks that hold little. The functions use the budget that was last read, call no
 * driver and take no lock.
 */
#ifndef MAAR_CORE_MEMORY_SCARCITY_H
#define MAAR_CORE_MEMORY_SCARCITY_H

#include "core/memory/block_size.h"

/* Returns the size of a new block. size: its best one is what the arena would give it. */
VkDeviceSize maar_scarce_block(const struct maar_pool* pool, const struct maar_block_size* size);
/* Whether a pool gives back a block that has just become empty, although it would keep the block in
 * a heap with more room. */
bool maar_scarce_gives_back(const struct maar_pool* pool);

#endif
