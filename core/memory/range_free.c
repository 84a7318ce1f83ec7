/*
 * Frees a range of a block, and decides which empty blocks are released. Only integers are changed
 * under the lock: a block that is released is unlisted under the lock and destroyed after it. A
 * pinned block is neither unlisted nor destroyed.
 */
#include "core/memory/range_free.h"

#include "core/memory/allocator_state.h"
#include "core/memory/block_size.h"
#include "core/memory/captured_slot.h"
#include "core/memory/draining.h"
#include "core/memory/far_list.h"
#include "core/memory/peak.h"
#include "core/memory/pending_count.h"
#include "core/memory/pool_check.h"
#include "core/memory/pool_kind.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_end.h"
#include "core/memory/scarcity.h"
#include "core/memory/slot_home.h"

/* Whether a pool has more bytes in empty blocks than it keeps. */
static bool has_surplus(const struct maar_pool* pool)
{
    return maar_atomic64_load(&pool->empty_bytes) > pool->retained_size;
}

/* Whether a pool keeps its empty blocks, however many, because their bytes are few. */
static bool keeps_all(const struct maar_pool* pool)
{
    return pool->frugal && maar_atomic64_load(&pool->empty_bytes) <= maar_pool_kept_bytes(pool);
}

/* Unlists and returns an idle block of the arena that the pool need not keep, or returns NULL. A
 * pool that keeps its largest block releases the smallest one; a pool with retained bytes releases
 * the block that has just become empty. Called under the lock. */
static struct maar_block* pick_surplus(struct maar_arena* arena, struct maar_block* emptied,
                                       bool keep_none)
{
    struct maar_pool* pool = arena->pool;
    struct maar_block* chosen = maar_idle_blocks_first(&arena->idle);
    /* The count is changed with the check: two threads that check at once must not both release
     * their blocks. */
    const bool counted = !keep_none && pool->retained_size == 0;
    if (counted ? keeps_all(pool) || !maar_atomic32_take_above(&pool->empty_count, 1)
                : !keep_none && !has_surplus(pool)) {
        return NULL;
    }
    if (emptied != NULL && pool->retained_size != 0 && maar_block_is_idle(emptied)) {
        chosen = emptied;
    }
    const bool taken = chosen != NULL && maar_arena_try_unlist(arena, chosen, counted);
    if (counted && !taken) {
        (void)maar_atomic32_add(&pool->empty_count, 1);
    }
    return taken ? chosen : NULL;
}

/* Returns the block to release after a block has become empty, unlisted, or NULL. Called under the
 * lock. */
static struct maar_block* pick_leaving(struct maar_arena* arena, struct maar_block* emptied,
                                       bool made_block, enum maar_slot_end end)
{
    if (emptied->draining) {
        /* Its bytes are wanted back. The pool may need the block for its minimum number. */
        const bool is_listed =
            emptied->pin_count != 0 || !maar_arena_try_unlist(arena, emptied, false);
        if (is_listed) {
            maar_block_revive(arena, emptied);
        }
        return is_listed ? NULL : emptied;
    }
    if (end != MAAR_SLOT_END_UNDONE) {
        const bool given_back = emptied->pin_count == 0 && maar_scarce_gives_back(arena->pool) &&
                                maar_arena_try_unlist(arena, emptied, false);
        return given_back ? emptied : pick_surplus(arena, emptied, false);
    }
    return made_block && emptied->pin_count == 0 && maar_arena_try_unlist(arena, emptied, false)
               ? emptied
               : NULL;
}

/* Releases the smallest empty blocks while a frugal pool has more bytes in them than it keeps. */
static void release_surplus(struct maar_pool* pool)
{
    struct maar_arena* arena = maar_pool_next_arena(pool, 0);
    while (arena != NULL && !keeps_all(pool)) {
        maar_mutex_lock(&arena->lock);
        struct maar_block* block = pick_surplus(arena, NULL, false);
        maar_mutex_unlock(&arena->lock);
        if (block != NULL) {
            maar_block_destroy(block);
        } else {
            arena = maar_pool_next_arena(pool, arena->number + 1);
        }
    }
}

/* Does what remains, without the lock, after a block has become empty. */
MAAR_NOINLINE void after_emptied(struct maar_pool* pool, struct maar_block* leaving,
                                 enum maar_slot_end end)
{
    if (leaving != NULL) {
        maar_block_destroy(leaving);
        if (pool->frugal && pool->retained_size == 0 && end != MAAR_SLOT_END_UNDONE) {
            release_surplus(pool);
        }
    }
    /* Over budget no empty block is kept. A failed call that undoes its steps releases no other
     * blocks. */
    if (end != MAAR_SLOT_END_UNDONE && maar_budget_is_exceeded(pool->allocator, pool->heap_index)) {
        (void)maar_pool_trim(pool);
    }
}

/* The work that remains without the lock after a slot has ended. */
struct slot_rest {
    struct maar_pool* pool;
    bool has_claim; /* on its pool's kind, which the failed call takes back */
    MaarResourceKind kind;
    char* name;
    struct maar_block* leaving; /* unlisted, to be destroyed */
    bool emptied;               /* the slot's block, which others may allocate from */
    bool unknown;               /* the slot had no range in its block */
};

/* Subtracts the bytes of a slot from what is live or pending. */
MAAR_INLINE void count_out(struct maar_arena* arena, struct maar_block* block, VkDeviceSize size,
                           enum maar_slot_end end)
{
    if (end == MAAR_SLOT_END_PENDING) {
        maar_uncount_pending(arena, block, size);
    }
    if (end == MAAR_SLOT_END_UNDONE) {
        maar_arena_drop_live(arena, size);
    }
    if (end == MAAR_SLOT_END_LIVE) {
        maar_arena_lose_live(arena, size);
    }
}

/* Frees the bytes of a slot, and the slot itself. Calls no foreign code. The function is inlined,
 * so that each way to end a slot contains only the steps that it needs. */
MAAR_INLINE struct slot_rest take_slot_off(MaarAllocator allocator, struct maar_slot* slot,
                                           uint32_t index, enum maar_slot_end end)
{
    struct maar_block* block = maar_slot_enter(allocator, slot);
    struct maar_arena* arena = maar_block_arena(block);
    struct slot_rest rest = {.pool = block->pool};
    const bool dedicated = block->placement == NULL;
    VkDeviceSize size = 0;

    if (end == MAAR_SLOT_END_PENDING && maar_key_leave_move(&slot->key)) {
        /* The owner of the move still needs the bytes, and ends the slot: see moving_slot.h. */
        maar_mutex_unlock(&arena->lock);
        return rest;
    }
    if (maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD)) {
        maar_captured_slot_end(arena, slot, index);
    }
    if (end == MAAR_SLOT_END_UNDONE) {
        rest.has_claim = !slot->stitched;
        rest.kind = (MaarResourceKind)maar_slot_kind(slot);
        --arena->made_count;
    }
    if (dedicated) {
        /* A block of pages is counted by its pages. */
        size = maar_block_is_paged(block) ? 0 : block->dedicated_size;
        count_out(arena, block, size, end);
        maar_arena_unlink_dedicated(arena, block);
        rest.leaving = block;
    } else {
        rest.unknown = !maar_release_range(arena, block, slot->node, &size);
        count_out(arena, block, size, end);
        rest.emptied = block->range_count == 0;
        if (rest.emptied) {
            rest.leaving = pick_leaving(arena, block, slot->made_block, end);
        }
    }
    rest.name = maar_slot_set_name(slot, index, NULL);
    maar_slots_put(&rest.pool->allocator->slots, &arena->slots, slot, index);
    maar_mutex_unlock(&arena->lock);
    return rest;
}

/* Does the work that take_slot_off has left. The caller frees the name. */
MAAR_INLINE void finish_slot(const struct slot_rest* rest, enum maar_slot_end end)
{
    struct maar_pool* pool = rest->pool;
    if (rest->emptied) {
        after_emptied(pool, rest->leaving, end);
    } else if (rest->leaving != NULL) {
        maar_block_destroy(rest->leaving);
    }
    if (rest->has_claim) {
        maar_pool_disclaim_kind(pool, rest->kind);
    }
    if (rest->unknown) {
        maar_broken(pool->allocator, "a live allocation has no range in its block");
    }
    maar_check_if_asked(pool);
}

char* maar_pool_free_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                          enum maar_slot_end end)
{
    const struct slot_rest rest = take_slot_off(allocator, slot, index, end);
    finish_slot(&rest, end);
    return rest.name;
}

char* maar_pool_free_live(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    const struct maar_block* block = maar_slot_block(allocator, slot);
    if (maar_pool_is_shared(block->pool) && maar_far_free(allocator, slot, index)) {
        return NULL;
    }
    const struct slot_rest rest = take_slot_off(allocator, slot, index, MAAR_SLOT_END_LIVE);
    finish_slot(&rest, MAAR_SLOT_END_LIVE);
    return rest.name;
}

void maar_pool_end_pending(MaarAllocator allocator, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    struct maar_pool* pool = maar_slot_block(allocator, slot)->pool;
    /* Another thread may destroy the pool as soon as this allocation has ended. */
    maar_pool_hold(allocator, pool);
    maar_host_free(allocator->callbacks,
                   maar_pool_free_slot(allocator, slot, index, MAAR_SLOT_END_PENDING));
    maar_pool_leave(allocator, pool);
}

enum { REST_EMPTIED = 1, REST_UNKNOWN = 2, REST_OF_POOL = 4, REST_NAME = 8 };

static struct maar_pool* pool_of_item(const struct maar_retire_item* item)
{
    return (struct maar_pool*)(void*)((char*)item->pool - offsetof(struct maar_pool, pending));
}

void maar_pool_return_pending(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                              struct maar_retire_item* item)
{
    struct maar_pool* pool = pool_of_item(item);
    const struct slot_rest rest = take_slot_off(allocator, slot, index, MAAR_SLOT_END_PENDING);
    item->rest[0] = rest.name;
    item->rest[1] = rest.leaving;
    item->rest_flags = 0;
    if (rest.name != NULL) {
        item->rest_flags = REST_NAME;
    }
    /* A thread that destroys the pool waits for the first step only, not for the second. */
    if (rest.leaving != NULL || rest.emptied || rest.unknown || pool->heavy_checks) {
        item->rest_flags |= REST_OF_POOL;
        item->rest_flags |= rest.emptied ? REST_EMPTIED : 0;
        item->rest_flags |= rest.unknown ? REST_UNKNOWN : 0;
        maar_pool_hold(pool->allocator, pool);
    }
}

void maar_pool_finish_pending(MaarAllocator allocator, const struct maar_retire_item* item)
{
    const struct slot_rest rest = {
        .pool = pool_of_item(item),
        .leaving = item->rest[1],
        .emptied = (item->rest_flags & REST_EMPTIED) != 0,
        .unknown = (item->rest_flags & REST_UNKNOWN) != 0,
    };
    maar_host_free(allocator->callbacks, item->rest[0]);
    if ((item->rest_flags & REST_OF_POOL) != 0) {
        finish_slot(&rest, MAAR_SLOT_END_PENDING);
        maar_pool_leave(allocator, rest.pool);
    }
}

bool maar_pool_make_pending(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    struct maar_block* block = maar_slot_enter(allocator, slot);
    struct maar_arena* arena = maar_block_arena(block);
    const VkDeviceSize size = maar_slot_span(allocator, slot).size;
    maar_slot_mark(slot, MAAR_SLOT_PENDING, true);
    maar_count_pending(arena, block, size);
    if (block->table != NULL) {
        ++arena->stitched_pending_count;
        arena->stitched_pending_bytes += block->size;
    }
    if (arena->capture != NULL) {
        maar_captured_pending(arena, slot, index);
    }
    maar_arena_lose_live(arena, size);
    /* Mapped memory is unmapped first, which may call the driver. Pages are bound to the object of
     * their allocation. Both stay where they are until then. */
    const bool stays = slot->map_count > 0 || slot->stitched;
    maar_mutex_unlock(&arena->lock);
    return stays;
}

void maar_slot_retire(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                      struct maar_retire_item* item)
{
    const bool stays = maar_pool_make_pending(allocator, slot, index);
    item->pool = &maar_slot_block(allocator, slot)->pool->pending;
    item->range = index;
    item->object_first = stays || item->action != NULL;
}

/* Unlists and returns the block of an arena that has been empty for the longest time, or NULL if it
 * is younger, or if the pool needs it for its minimum number. Called under the lock. */
static struct maar_block* pick_aged(struct maar_arena* arena, uint64_t emptied_by)
{
    struct maar_block* block = arena->empty.oldest;
    while (block != NULL && block->emptied_at <= emptied_by && block->pin_count != 0) {
        block = block->next; /* few are pinned: those that threads are about to use */
    }
    return block != NULL && block->emptied_at <= emptied_by &&
                   maar_arena_try_unlist(arena, block, false)
               ? block
               : NULL;
}

/* Releases blocks of a pool: those that are surplus or, with a time, those that have been empty
 * since then. */
static VkDeviceSize trim_arenas(struct maar_pool* pool, const uint64_t* emptied_by)
{
    VkDeviceSize released = 0;
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;) {
        maar_mutex_lock(&arena->lock);
        struct maar_block* block =
            emptied_by != NULL ? pick_aged(arena, *emptied_by) : pick_surplus(arena, NULL, true);
        maar_mutex_unlock(&arena->lock);
        if (block != NULL) {
            released += block->size;
            maar_block_destroy(block);
        } else {
            arena = maar_pool_next_arena(pool, arena->number + 1);
        }
    }
    return released;
}

VkDeviceSize maar_pool_trim(struct maar_pool* pool)
{
    return trim_arenas(pool, NULL);
}

VkDeviceSize maar_pool_trim_aged(struct maar_pool* pool, uint64_t emptied_by)
{
    return maar_atomic32_load(&pool->empty_count) != 0 ? trim_arenas(pool, &emptied_by) : 0;
}
