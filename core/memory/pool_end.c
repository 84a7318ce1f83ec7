/*
 * The end of a pool: what is pending in it, what nobody freed, its blocks; and the list of all
 * pools, which it leaves only when nobody stands at it any more. Whoever walks the list meanwhile
 * sees an empty pool.
 */
#include "core/memory/memory_internal.h"
#include "core/port_time.h"

#include <string.h>

/* Tells of an allocation that nobody freed, and ends it. */
static void release_leak(struct maar_arena* arena, uint32_t index)
{
    const struct maar_pool* pool = arena->pool;
    MaarAllocator allocator = pool->allocator;
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    if (slot->stitched) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: allocation %s of %llu bytes of pages in memory type %u, user data %p, "
                    "was never freed",
                    maar_quote(slot->name).text, (unsigned long long)maar_slot_size(slot),
                    pool->type_index, slot->user_data);
    } else if (!slot->internal) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: allocation %s of %llu bytes in memory type %u, block %llu, user data "
                    "%p, was never freed",
                    maar_quote(slot->name).text, (unsigned long long)maar_slot_size(slot),
                    pool->type_index, (unsigned long long)slot->block->id, slot->user_data);
    }
    maar_host_free(allocator->callbacks, slot->name);
    slot->name = NULL;
    slot->block = NULL;
    maar_atomic32_store_release(&slot->key, maar_atomic32_load(&slot->key) + 1u);
    maar_slots_push(&arena->slots, slot, index);
}

static bool visit_leak(void* context, const MaarRangeInfo* info)
{
    if (info->state == MAAR_RANGE_STATE_LIVE) {
        release_leak(context, (uint32_t)info->userData);
    }
    return true;
}

/* Tells of what is made of pages and was never freed, and ends it. */
static void release_stitched(struct maar_arena* arena)
{
    maar_mutex_lock(&arena->lock);
    struct maar_block* block = arena->stitched;
    arena->stitched = NULL;
    arena->stitched_count = 0;
    arena->stitched_pending_count = 0;
    arena->stitched_pending_bytes = 0;
    maar_mutex_unlock(&arena->lock);
    while (block != NULL) {
        struct maar_block* next = block->next;
        release_leak(arena, block->dedicated_slot);
        maar_block_destroy(block);
        block = next;
    }
}

void maar_pool_release_stitched(struct maar_pool* pool)
{
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        release_stitched(arena);
    }
}

/* Frees every block and slot. Whoever walks the list of pools sees an empty one from the start. */
static void empty_arena(struct maar_arena* arena)
{
    MaarAllocator allocator = arena->pool->allocator;
    maar_mutex_lock(&arena->lock);
    struct maar_block** blocks = arena->blocks;
    uint32_t block_count = arena->block_count;
    struct maar_block* dedicated = arena->dedicated;
    arena->blocks = NULL;
    memset(&arena->room, 0, sizeof arena->room);
    arena->block_count = 0;
    arena->block_capacity = 0;
    arena->block_bytes = 0;
    arena->dedicated = NULL;
    arena->dedicated_count = 0;
    arena->dedicated_bytes = 0;
    (void)maar_atomic64_add(&allocator->allocations_made, arena->made_count);
    arena->made_count = 0;
    maar_atomic64_store(&arena->live_bytes, 0);
    maar_mutex_unlock(&arena->lock);

    for (uint32_t i = 0; i < block_count; ++i) {
        maar_placement_walk(blocks[i]->placement, visit_leak, arena);
        maar_block_destroy(blocks[i]);
    }
    while (dedicated != NULL) {
        struct maar_block* block = dedicated;
        dedicated = block->next;
        release_leak(arena, block->dedicated_slot);
        maar_block_destroy(block);
    }
    maar_host_free(allocator->callbacks, blocks);
    maar_slots_give_back(&allocator->slots, &arena->slots);
}

static void empty_pool(struct maar_pool* pool)
{
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        empty_arena(arena);
    }
}

static void free_pool(struct maar_pool* pool)
{
    const VkAllocationCallbacks* callbacks = pool->allocator->callbacks;
    for (uint32_t i = 0; i < MAAR_ARENAS; ++i) {
        struct maar_arena* arena = maar_pool_arena(pool, i);
        if (arena != NULL) {
            maar_mutex_destroy(&arena->lock);
        }
        if (arena != &pool->first_arena) {
            maar_host_free(callbacks, arena);
        }
    }
    maar_mutex_destroy(&pool->lock);
    maar_host_free(callbacks, pool->name);
    maar_host_free(callbacks, pool);
}

void maar_pool_destroy(struct maar_pool* pool)
{
    empty_pool(pool);
    free_pool(pool);
}

static bool is_of_pool(MaarAllocator allocator, const struct maar_retire_item* item, void* context)
{
    return item->pool == context ||
           (item->slot_index != MAAR_SLOT_NONE &&
            maar_slot_at(&allocator->slots, (uint32_t)item->slot_index)->block->pool == context);
}

static uint32_t count_pending(struct maar_pool* pool)
{
    uint32_t count = 0;
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        maar_mutex_lock(&arena->lock);
        count += arena->pending_count;
        maar_mutex_unlock(&arena->lock);
    }
    return count;
}

/* What is pending in a pool must be freed before the pool goes; items that another thread has in
 * hand just now come back to the queue or are done by it. */
static void end_pool_pending(struct maar_pool* pool)
{
    MaarAllocator allocator = pool->allocator;
    if (maar_retire_is_empty(&allocator->retire)) {
        return;
    }
    (void)maar_retire_wait(allocator, is_of_pool, pool, MAAR_DESTROY_TIMEOUT_NS);
    uint32_t flushed = maar_retire_flush(allocator, is_of_pool, pool);
    while (count_pending(pool) > 0) {
        maar_thread_yield();
        flushed += maar_retire_flush(allocator, is_of_pool, pool);
    }
    if (flushed > 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PENDING_AT_DESTROY,
                    NULL,
                    "%u frees of a destroyed pool were still pending; they were done all the same",
                    flushed);
    }
}

/* Under the list lock. */
static void unlink_pool(MaarAllocator allocator, struct maar_pool* pool)
{
    struct maar_pool** link = &allocator->pools;
    while (*link != pool) {
        link = &(*link)->next;
    }
    *link = pool->next;
}

static bool is_listed(MaarAllocator allocator, const struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    const struct maar_pool* entry = allocator->pools;
    while (entry != NULL && entry != pool) {
        entry = entry->next;
    }
    bool listed = entry != NULL && !entry->retired;
    maar_mutex_unlock(&allocator->list_lock);
    return listed;
}

/* An emptied pool leaves the list now, or with the last walker that stands at it. */
static void retire_pool(struct maar_pool* pool)
{
    MaarAllocator allocator = pool->allocator;
    maar_mutex_lock(&allocator->list_lock);
    pool->retired = true;
    bool last = pool->walker_count == 0;
    if (last) {
        unlink_pool(allocator, pool);
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        free_pool(pool);
    }
}

/* Under the list lock: steps off a pool; true when it is to be freed by the caller. */
static bool step_off(MaarAllocator allocator, struct maar_pool* pool)
{
    --pool->walker_count;
    if (pool->retired && pool->walker_count == 0) {
        unlink_pool(allocator, pool);
        return true;
    }
    return false;
}

struct maar_pool* maar_pool_next(MaarAllocator allocator, struct maar_pool* pool)
{
    bool last = false;
    maar_mutex_lock(&allocator->list_lock);
    struct maar_pool* next = pool != NULL ? pool->next : allocator->pools;
    while (next != NULL && next->retired) {
        next = next->next;
    }
    if (next != NULL) {
        ++next->walker_count;
    }
    if (pool != NULL) {
        last = step_off(allocator, pool);
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        free_pool(pool);
    }
    return next;
}

void maar_pool_hold(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    ++pool->walker_count;
    maar_mutex_unlock(&allocator->list_lock);
}

void maar_pool_leave(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    bool last = step_off(allocator, pool);
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        free_pool(pool);
    }
}

VKAPI_ATTR void VKAPI_CALL maarDestroyPool(MaarAllocator allocator, MaarPool pool)
{
    struct maar_pool* own = maar_pool_of(pool);
    if (allocator == NULL || own == NULL) {
        return;
    }
    if (!is_listed(allocator, own)) {
        (void)maar_misuse(allocator, MAAR_MESSAGE_ID_FOREIGN_HANDLE, __func__,
                          "pool is not a pool of this allocator");
        return;
    }
    end_pool_pending(own);
    maar_raise_live_peak(allocator, 0);
    maar_pool_release_stitched(own);
    if (own->stitches) {
        allocator->paging.end_pool(allocator, own);
    }
    empty_pool(own);
    retire_pool(own);
}
