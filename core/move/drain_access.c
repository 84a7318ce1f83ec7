/*
 * Single blocks of a run: see drain_access.h.
 */
#include "core/move/drain_access.h"

#include "core/memory/draining.h"
#include "core/memory/pool_list.h"

bool maar_drain_can(const struct maar_block* block)
{
    return block->placement != NULL && block->range_count > 0 && block->pin_count == 0 &&
           !block->draining && !block->has_kept && block->shared_types == 0 && !block->imported;
}

struct maar_block* maar_drain_enter(MaarAllocator allocator, uint64_t id, struct maar_arena** arena)
{
    for (;;) {
        *arena = maar_block_ids_hold_arena(allocator, id);
        if (*arena == NULL) {
            return NULL;
        }
        struct maar_pool* pool = (*arena)->pool;
        maar_mutex_lock(&(*arena)->lock);
        struct maar_block* block = maar_block_ids_find(&allocator->block_ids, id, *arena);
        if (block != NULL) {
            return block;
        }
        maar_mutex_unlock(&(*arena)->lock);
        maar_pool_leave(allocator, pool);
    }
}

void maar_drain_leave(MaarAllocator allocator, struct maar_arena* arena)
{
    struct maar_pool* pool = arena->pool;
    maar_mutex_unlock(&arena->lock);
    maar_pool_leave(allocator, pool);
}

bool maar_drain_close(MaarAllocator allocator, uint64_t id)
{
    struct maar_arena* arena = NULL;
    struct maar_block* block = maar_drain_enter(allocator, id, &arena);
    if (block == NULL) {
        return false;
    }
    const bool drains = maar_drain_can(block);
    if (drains) {
        maar_block_drain(arena, block);
    }
    maar_drain_leave(allocator, arena);
    return drains;
}

void maar_drain_revive(MaarAllocator allocator, uint64_t id)
{
    struct maar_arena* arena = NULL;
    struct maar_block* block = maar_drain_enter(allocator, id, &arena);
    if (block != NULL) {
        maar_block_revive(arena, block);
        maar_drain_leave(allocator, arena);
    }
}

bool maar_drain_is_cursor_valid(const struct maar_drain_cursor* cursor,
                                const struct maar_block* block)
{
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    return cursor->node == MAAR_PLACEMENT_NO_NODE ||
           (maar_placement_get(block->placement, cursor->node, &range, &tag, &kind) &&
            range.generation == cursor->generation);
}
