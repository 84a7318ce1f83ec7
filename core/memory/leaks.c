/*
 * Ends all that is left in a pool: see leaks.h.
 */
#include "core/memory/leaks.h"

#include <stdio.h>
#include <string.h>

#include "core/memory/allocator_state.h"
#include "core/memory/captured_arena.h"
#include "core/memory/margin_size.h"
#include "core/memory/peak.h"
#include "core/memory/slot_home.h"

/* Names the pool in a message, if the caller made it and gave it a name. */
static const char* name_pool(const struct maar_pool* pool, char* text, size_t size)
{
    text[0] = '\0';
    if (pool->custom && pool->name != NULL) {
        (void)snprintf(text, size, ", pool %s", maar_quote(pool->name).text);
    }
    return text;
}

/* Writes the name of what a pending item frees. The lock of the retire queue is held. */
static void name_pending(MaarAllocator allocator, const struct maar_retire_item* item, char* text,
                         size_t size)
{
    if (item->range == MAAR_RETIRE_NO_RANGE && item->describe != NULL) {
        item->describe(item, text, size);
        return;
    }
    /* The range of an item of ordered reuse may be another allocation's already. */
    if (item->range == MAAR_RETIRE_NO_RANGE || item->rest[0] != NULL) {
        (void)snprintf(text, size, "%s",
                       item->range == MAAR_RETIRE_NO_RANGE ? "an object without its memory"
                                                           : "memory that is reused in order");
        return;
    }
    const struct maar_slot* slot = maar_slot_at(&allocator->slots, item->range);
    const char* name = maar_slot_name(slot, item->range);
    if (name != NULL) {
        (void)snprintf(text, size, "allocation %s", maar_quote(name).text);
    } else {
        (void)snprintf(text, size, "an allocation without a name (low half of its handle: 0x%X)",
                       item->range + 1u);
    }
}

struct maar_retire_blocker maar_find_blocker(MaarAllocator allocator,
                                             const struct maar_retire_pool* pool)
{
    struct maar_retire_blocker blocker = {.any = false};
    maar_mutex_lock(&allocator->retire.lock);
    const struct maar_retire_item* item =
        maar_retire_find_blocker(&allocator->retire, pool, &blocker.point);
    if (item != NULL) {
        blocker.any = true;
        name_pending(allocator, item, blocker.what, sizeof blocker.what);
    }
    maar_mutex_unlock(&allocator->retire.lock);
    return blocker;
}

/* Reports an allocation that was never freed, and ends it. */
static void release_leak(struct maar_arena* arena, uint32_t index)
{
    const struct maar_pool* pool = arena->pool;
    MaarAllocator allocator = pool->allocator;
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    const VkDeviceSize size = maar_slot_bytes(allocator, slot).size;
    char* name = maar_slot_name(slot, index);
    void* user_data = maar_slot_user_data(slot, index);
    char of[90];
    char data[40] = "";
    if (user_data != NULL) {
        (void)snprintf(data, sizeof data, ", user data %p,", user_data);
    }
    if (slot->stitched) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: allocation %s of %s of pages in memory type %u%s%s was never "
                    "freed",
                    maar_quote(name).text, maar_show_bytes(size).text, pool->type_index,
                    name_pool(pool, of, sizeof of), data);
    } else if (!maar_slot_has(slot, MAAR_SLOT_INTERNAL)) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: allocation %s of %s in memory type %u, block %llu%s%s was never "
                    "freed",
                    maar_quote(name).text, maar_show_bytes(size).text, pool->type_index,
                    (unsigned long long)maar_slot_block(allocator, slot)->id,
                    name_pool(pool, of, sizeof of), data);
    }
    (void)maar_slot_set_name(slot, index, NULL);
    maar_host_free(allocator->callbacks, name);
    if (slot->owned) {
        maar_host_free(allocator->callbacks, maar_slot_record_take(&allocator->movables, index));
    }
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

/* Reports allocations made of pages that were never freed, and ends them. */
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

/* Takes a block out of the table of ids, and enters it among the blocks on their way to the driver.
 * The arena's lock is held. */
static void enter_leaving(struct maar_arena* arena, struct maar_block* block)
{
    MaarAllocator allocator = arena->pool->allocator;
    maar_block_ids_remove(&allocator->block_ids, block);
    maar_leaving_enter(&allocator->leaving, &block->leaving, arena->pool->heap_index);
}

/* Does this with all blocks of an arena. */
static void enter_leaving_all(struct maar_arena* arena)
{
    for (uint32_t i = 0; i < arena->block_end; ++i) {
        if (arena->blocks[i] != NULL) {
            enter_leaving(arena, arena->blocks[i]);
        }
    }
    for (struct maar_block* block = arena->dedicated; block != NULL; block = block->next) {
        enter_leaving(arena, block);
    }
}

/* Frees every block and slot. A thread that walks the list of pools sees an empty pool from the
 * start. */
static void empty_arena(struct maar_arena* arena)
{
    MaarAllocator allocator = arena->pool->allocator;
    maar_mutex_lock(&arena->lock);
    if (arena->capture != NULL) {
        maar_captured_arena_end(arena);
    }
    enter_leaving_all(arena);
    struct maar_block** blocks = arena->blocks;
    struct maar_shape_index* shapes = arena->shapes;
    const uint32_t block_end = arena->block_end;
    struct maar_block* dedicated = arena->dedicated;
    arena->blocks = NULL;
    arena->shapes = NULL;
    memset(&arena->block_index, 0, sizeof arena->block_index);
    memset(&arena->idle, 0, sizeof arena->idle);
    memset(&arena->empty, 0, sizeof arena->empty);
    arena->block_count = 0;
    arena->block_end = 0;
    arena->block_capacity = 0;
    arena->block_bytes = 0;
    arena->dedicated = NULL;
    arena->dedicated_count = 0;
    arena->dedicated_bytes = 0;
    (void)maar_atomic64_add(&allocator->allocations_made, arena->made_count);
    arena->made_count = 0;
    maar_arena_lose_live(arena, maar_atomic64_load(&arena->live_bytes));
    maar_mutex_unlock(&arena->lock);

    maar_atomic64* empty_bytes = &allocator->heaps[arena->pool->heap_index].empty_bytes;
    for (uint32_t i = 0; i < block_end; ++i) {
        struct maar_block* block = blocks[i];
        if (block != NULL) {
            (void)maar_atomic64_sub(empty_bytes, block->range_count == 0 ? block->size : 0);
            maar_placement_walk(block->placement, visit_leak, arena);
            maar_block_destroy(block);
        }
    }
    while (dedicated != NULL) {
        struct maar_block* block = dedicated;
        dedicated = block->next;
        release_leak(arena, block->dedicated_slot);
        maar_block_destroy(block);
    }
    maar_host_free(allocator->callbacks, blocks);
    maar_host_free(allocator->callbacks, shapes);
    maar_slots_give_back(&allocator->slots, &arena->slots);
}

void maar_pool_empty(struct maar_pool* pool)
{
    maar_pool_begin_walk(pool);
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        empty_arena(arena);
    }
    maar_pool_end_walk(pool);
}
