/*
 * Walks over the arenas of a pool: see pool_walk.h.
 */
#include "core/memory/pool_walk.h"

#include "core/memory/allocator_state.h"
#include "core/memory/far_list.h"
#include "core/memory/pool.h"

void maar_pool_begin_walk(struct maar_pool* pool)
{
    uint32_t strays = 0;
    (void)maar_atomic32_add(&pool->walk_count, 1);
    if (!maar_pool_is_shared(pool)) {
        return;
    }
    do {
        strays = maar_atomic32_load(&pool->allocator->stray_count);
        for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
             arena = maar_pool_next_arena(pool, arena->number + 1)) {
            maar_mutex_lock(&arena->lock);
            maar_arena_take_in(arena);
            maar_mutex_unlock(&arena->lock);
        }
    } while (strays != maar_atomic32_load(&pool->allocator->stray_count));
}

void maar_pool_end_walk(struct maar_pool* pool)
{
    (void)maar_atomic32_add(&pool->walk_count, UINT32_MAX);
}

struct maar_arena* maar_arena_enter_shared(struct maar_pool* pool)
{
    struct maar_arena* arena = maar_arena_enter_own(pool);
    if (maar_atomic32_load(&arena->far_due) != 0) {
        maar_atomic32_store(&arena->far_due, 0);
        maar_arena_take_in(arena);
    }
    return arena;
}
