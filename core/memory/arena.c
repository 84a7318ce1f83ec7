/*
 * Makes arenas and locks them. arena_list.c keeps the lists of their blocks.
 */
#include "core/memory/arena.h"

#include "core/memory/allocator_state.h"
#include "core/memory/captured_arena.h"
#include "core/memory/margin_size.h"
#include "core/memory/pool.h"
#include "core/memory/recycled.h"
#include "core/memory/slot_home.h"

void maar_arena_lock_both(struct maar_arena* one, struct maar_arena* other)
{
    struct maar_arena* first = one < other ? one : other;
    struct maar_arena* second = one < other ? other : one;
    maar_mutex_lock(&first->lock);
    if (second != first) {
        maar_lock_rank_leave(MAAR_LOCK_ARENA); /* only this rank allows two locks at once */
        maar_mutex_lock(&second->lock);
    }
}

void maar_arena_unlock_both(struct maar_arena* one, struct maar_arena* other)
{
    maar_mutex_unlock(&one->lock);
    if (other != one) {
        maar_mutex_unlock(&other->lock);
    }
}

/* Returns the arena of a number, and makes it unless another thread has made it first. Returns NULL
 * when there is no host memory. */
static struct maar_arena* make_arena(struct maar_pool* pool, uint32_t number)
{
    struct maar_arena* made = maar_arena_take(pool, number);
    if (made == NULL) {
        return NULL;
    }
    struct maar_arena* arena = maar_arena_set_add(&pool->arenas, number, made);
    if (arena != made) {
        maar_arena_keep(made);
    } else if (maar_may_capture(pool->allocator)) {
        maar_capture_new_arena(arena);
    }
    return arena;
}

struct maar_arena* maar_arena_enter_own(struct maar_pool* pool)
{
    uint32_t number = 0;
    if (maar_atomic32_load(&pool->met) == 0) {
        maar_atomic32_store(&pool->met, 1);
    }
    struct maar_arena* arena =
        maar_arena_set_enter_own(&pool->arenas, &pool->allocator->threads, &number);
    if (arena == NULL) {
        struct maar_arena* own = make_arena(pool, number);
        arena = own != NULL ? own : pool->first_arena;
        maar_mutex_lock(&arena->lock);
    }
    return arena;
}

struct maar_span maar_slot_find_bytes(MaarAllocator allocator, const struct maar_slot* slot)
{
    for (;;) {
        struct maar_block* block = maar_slot_enter(allocator, slot);
        struct maar_span span = {0};
        /* The block is read again after the key: the slot may be live anew, in another block. */
        const bool is_live = (maar_atomic32_load_acquire(&slot->key) & 1u) != 0;
        const bool is_here = maar_slot_block(allocator, slot) == block;
        if (is_live && is_here) {
            span = maar_slot_bytes(allocator, slot);
        }
        maar_mutex_unlock(&maar_block_arena(block)->lock);
        if (is_here) {
            return span;
        }
    }
}
