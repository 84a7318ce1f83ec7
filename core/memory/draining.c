/*
 * Blocks that drain: see draining.h.
 */
#include "core/memory/draining.h"

void maar_block_drain(struct maar_arena* arena, struct maar_block* block)
{
    maar_assert_held(&arena->lock);
    if (block->draining) {
        return;
    }
    block->draining = true;
    (void)maar_atomic32_add(&block->pool->draining_count, 1);
    if (arena->shapes != NULL) {
        maar_shape_index_clear(arena->shapes, block->at);
        block->least_bound = maar_shape_index_least(arena->shapes, block->at);
    }
    maar_arena_note_room(arena, block);
}

void maar_block_revive(struct maar_arena* arena, struct maar_block* block)
{
    maar_assert_held(&arena->lock);
    if (!block->draining) {
        return;
    }
    block->draining = false;
    (void)maar_atomic32_add(&block->pool->draining_count, UINT32_MAX);
    maar_arena_raise_bounds(arena, block, maar_block_room(block));
    maar_arena_note_room(arena, block);
}

bool maar_pool_revive(struct maar_pool* pool)
{
    if (maar_atomic32_load(&pool->draining_count) == 0) {
        return false;
    }
    bool any = false;
    maar_pool_begin_walk(pool);
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        maar_mutex_lock(&arena->lock);
        for (struct maar_block* block = maar_arena_next_block(arena, 0); block != NULL;
             block = maar_arena_next_block(arena, block->at + 1)) {
            any = any || block->draining;
            maar_block_revive(arena, block);
        }
        maar_mutex_unlock(&arena->lock);
    }
    maar_pool_end_walk(pool);
    return any;
}
