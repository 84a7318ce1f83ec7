/*
 * Makes arenas and keeps the lists of their blocks.
 */
#include "core/memory/arena.h"

#include <string.h>

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"
#include "core/memory/recycled.h"
#include "core/memory/slot_home.h"

/* The number of blocks for which the first list of an arena has room. */
enum { FIRST_BLOCK_CAPACITY = 16 };
void maar_arena_note_room(struct maar_arena* arena, struct maar_block* block)
{
    maar_block_index_set(&arena->block_index, block,
                         maar_size_class(maar_placement_largest_free_bound(block->placement)));
}

void maar_arena_count_empty(struct maar_block* block, bool empty)
{
    struct maar_pool* pool = block->pool;
    (void)maar_atomic32_add(&pool->empty_count, empty ? 1u : UINT32_MAX);
    (void)maar_atomic64_add(&pool->empty_bytes, empty ? block->size : 0 - block->size);
}

VkResult maar_arena_reserve_list(struct maar_arena* arena)
{
    const VkAllocationCallbacks* callbacks = arena->pool->allocator->callbacks;
    while (arena->block_count + arena->creating_count > arena->block_capacity) {
        uint32_t capacity =
            arena->block_capacity == 0 ? FIRST_BLOCK_CAPACITY : arena->block_capacity * 2;
        maar_mutex_unlock(&arena->lock);
        const size_t pointers = capacity * sizeof(struct maar_block*);
        struct maar_block** bigger = maar_host_calloc(
            callbacks, 1, pointers + maar_block_index_entries(capacity) * sizeof(uint16_t));
        maar_mutex_lock(&arena->lock);
        if (bigger == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        struct maar_block** old = bigger;
        if (capacity > arena->block_capacity) {
            if (arena->block_count > 0) {
                memcpy(bigger, arena->blocks, arena->block_count * sizeof *bigger);
            }
            old = arena->blocks;
            arena->blocks = bigger;
            arena->block_capacity = capacity;
            arena->block_index.levels = (uint16_t*)(void*)(bigger + capacity);
            arena->block_index.capacity = capacity;
            maar_block_index_renumber(&arena->block_index, bigger, arena->block_count, 0);
        }
        maar_mutex_unlock(&arena->lock);
        maar_host_free(callbacks, old);
        maar_mutex_lock(&arena->lock);
    }
    return VK_SUCCESS;
}

static void unlist(struct maar_arena* arena, struct maar_block* block, bool counted)
{
    const uint32_t at = block->at;
    arena->block_bytes -= block->size;
    --arena->block_count;
    memmove(&arena->blocks[at], &arena->blocks[at + 1],
            (arena->block_count - at) * sizeof arena->blocks[0]);
    if (counted) {
        (void)maar_atomic64_sub(&arena->pool->empty_bytes, block->size);
    } else {
        maar_arena_count_empty(block, false);
    }
    maar_block_index_renumber(&arena->block_index, arena->blocks, arena->block_count, at);
}

bool maar_arena_try_unlist(struct maar_arena* arena, struct maar_block* block, bool counted)
{
    struct maar_pool* pool = arena->pool;
    if (!maar_atomic32_take_above(&pool->listed_count, pool->min_block_count)) {
        return false;
    }
    (void)maar_atomic32_add(&pool->block_count, UINT32_MAX);
    unlist(arena, block, counted);
    return true;
}

void maar_arena_list(struct maar_arena* arena, struct maar_block* block)
{
    uint32_t at = arena->block_count;
    while (at > 0 && arena->blocks[at - 1]->id > block->id) {
        arena->blocks[at] = arena->blocks[at - 1];
        --at;
    }
    arena->blocks[at] = block;
    ++arena->block_count;
    arena->block_bytes += block->size;
    maar_arena_count_empty(block, true);
    maar_block_index_renumber(&arena->block_index, arena->blocks, arena->block_count, at);
}

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
    }
    return arena;
}

struct maar_arena* maar_arena_enter_own(struct maar_pool* pool)
{
    uint32_t number = 0;
    struct maar_arena* arena =
        maar_arena_set_enter_own(&pool->arenas, &pool->allocator->threads, &number);
    if (arena == NULL) {
        struct maar_arena* own = make_arena(pool, number);
        arena = own != NULL ? own : pool->first_arena;
        maar_mutex_lock(&arena->lock);
    }
    return arena;
}

/* Returns the list for a block that holds a single allocation. */
static struct maar_block** dedicated_list(struct maar_arena* arena, const struct maar_block* block)
{
    return block->table != NULL ? &arena->stitched : &arena->dedicated;
}

void maar_arena_link_dedicated(struct maar_arena* arena, struct maar_block* block)
{
    struct maar_block** list = dedicated_list(arena, block);
    block->next = *list;
    if (*list != NULL) {
        (*list)->previous = block;
    }
    *list = block;
    if (block->table != NULL) {
        ++arena->stitched_count;
    } else {
        ++arena->dedicated_count;
        arena->dedicated_bytes += block->size;
    }
}

void maar_arena_unlink_dedicated(struct maar_arena* arena, struct maar_block* block)
{
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        *dedicated_list(arena, block) = block->next;
    }
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    --block->range_count;
    if (block->table != NULL) {
        /* The allocation was pending: no stitched allocation ends in one step. */
        --arena->stitched_count;
        --arena->stitched_pending_count;
        arena->stitched_pending_bytes -= block->size;
    } else {
        --arena->dedicated_count;
        arena->dedicated_bytes -= block->size;
    }
}
