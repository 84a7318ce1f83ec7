/*
 * The counts of pending bytes in a block and its arena. The arena's lock is held.
 */
#ifndef MAAR_CORE_MEMORY_PENDING_COUNT_H
#define MAAR_CORE_MEMORY_PENDING_COUNT_H

#include "core/memory/arena.h"

static inline void maar_count_pending(struct maar_arena* arena, struct maar_block* block,
                                      VkDeviceSize size)
{
    ++block->pending_count;
    ++arena->pending_count;
    block->pending_bytes += size;
}

static inline void maar_uncount_pending(struct maar_arena* arena, struct maar_block* block,
                                        VkDeviceSize size)
{
    --block->pending_count;
    --arena->pending_count;
    block->pending_bytes -= size;
}

#endif
