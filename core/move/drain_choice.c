/*
 * The choice of blocks: those with the fewest live bytes, as long as the other blocks of their pool
 * have as many free bytes. To give back n blocks of one size, the bytes that live in the n emptiest
 * ones must move in any case.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory/draining.h"
#include "core/memory/pool_list.h"
#include "core/move/drain_work.h"

/* The number of blocks that are looked at under one lock. */
enum { BLOCKS_AT_A_TIME = 64 };

/* What a pool has for the allocations of the blocks that are emptied. */
struct pool_room {
    const struct maar_pool* pool;
    VkDeviceSize free; /* in the blocks that stay */
    VkDeviceSize live; /* in those that are emptied */
};

/* Blocks and pools, while they are collected. */
struct collection {
    MaarAllocator allocator;
    struct maar_drain_block* blocks;
    struct pool_room* rooms;
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t room_count;
    uint32_t room_capacity;
};

static bool can_drain(const struct maar_block* block)
{
    return block->placement != NULL && block->range_count > 0 && block->pin_count == 0 &&
           !block->draining && block->shared_types == 0 && !block->imported;
}

/* Notes some blocks of an arena. Returns false at the end of its list. */
static bool collect_some(struct maar_arena* arena, uint32_t* from, struct collection* all)
{
    struct pool_room* room = &all->rooms[all->room_count - 1];
    maar_mutex_lock(&arena->lock);
    struct maar_block* block = maar_arena_next_block(arena, *from);
    for (uint32_t i = 0; i < BLOCKS_AT_A_TIME && block != NULL; ++i) {
        struct maar_placement_totals totals;
        maar_placement_totals(block->placement, &totals);
        if (can_drain(block)) {
            all->blocks[all->block_count++] = (struct maar_drain_block){
                .id = block->id,
                .size = block->size,
                .live = totals.used_size - block->pending_bytes,
                .free = totals.free_size,
                .room = maar_placement_largest_free_bound(block->placement),
                .pool = block->pool,
                .pool_number = all->room_count - 1,
            };
        }
        room->free += block->draining ? 0 : totals.free_size;
        *from = block->at + 1;
        block = maar_arena_next_block(arena, *from);
    }
    maar_mutex_unlock(&arena->lock);
    return block != NULL;
}

static VkResult collect_pool(struct maar_pool* pool, struct collection* all)
{
    const VkAllocationCallbacks* callbacks = all->allocator->callbacks;
    struct pool_room* rooms = maar_host_grow(callbacks, all->rooms, &all->room_capacity,
                                             all->room_count + 1, sizeof all->rooms[0]);
    if (rooms == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    all->rooms = rooms;
    all->rooms[all->room_count++] = (struct pool_room){.pool = pool};
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        uint32_t from = 0;
        bool more = true;
        while (more) {
            struct maar_drain_block* blocks =
                maar_host_grow(callbacks, all->blocks, &all->block_capacity,
                               all->block_count + BLOCKS_AT_A_TIME, sizeof all->blocks[0]);
            if (blocks == NULL) {
                return VK_ERROR_OUT_OF_HOST_MEMORY;
            }
            all->blocks = blocks;
            more = collect_some(arena, &from, all);
        }
    }
    return VK_SUCCESS;
}

/* Whether the blocks of a pool may be emptied in a run. */
static bool takes_part(const struct maar_drain_run* run, const struct maar_pool* pool)
{
    if (run->pool != NULL) {
        return pool == run->pool;
    }
    return !pool->custom && pool->export_types == 0 &&
           pool->strategy != MAAR_PLACEMENT_STRATEGY_LINEAR &&
           (run->type_bits >> pool->type_index & 1u) != 0;
}

static VkResult collect(const struct maar_drain_run* run, struct collection* all)
{
    VkResult result = VK_SUCCESS;
    struct maar_pool* pool = maar_pool_next(run->allocator, NULL);
    while (pool != NULL && result == VK_SUCCESS) {
        if (takes_part(run, pool)) {
            result = collect_pool(pool, all);
        }
        if (result == VK_SUCCESS) {
            pool = maar_pool_next(run->allocator, pool);
        } else {
            maar_pool_leave(run->allocator, pool);
        }
    }
    return result;
}

/* The emptiest block comes first, and of equal ones the last that was made. */
static int compare_live(const void* one, const void* other)
{
    const struct maar_drain_block* a = one;
    const struct maar_drain_block* b = other;
    if (a->live != b->live) {
        return a->live < b->live ? -1 : 1;
    }
    return a->id > b->id ? -1 : a->id < b->id;
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

/* Makes a block drain. Returns whether it is there. */
static bool drain(MaarAllocator allocator, uint64_t id)
{
    struct maar_arena* arena = NULL;
    struct maar_block* block = maar_drain_enter(allocator, id, &arena);
    if (block == NULL) {
        return false;
    }
    const bool drains = can_drain(block);
    if (drains) {
        maar_block_drain(arena, block);
    }
    struct maar_pool* pool = arena->pool;
    maar_mutex_unlock(&arena->lock);
    maar_pool_leave(allocator, pool);
    return drains;
}

void maar_drain_revive(MaarAllocator allocator, uint64_t id)
{
    struct maar_arena* arena = NULL;
    struct maar_block* block = maar_drain_enter(allocator, id, &arena);
    if (block != NULL) {
        struct maar_pool* pool = arena->pool;
        maar_block_revive(arena, block);
        maar_mutex_unlock(&arena->lock);
        maar_pool_leave(allocator, pool);
    }
}

VkResult maar_drain_choose(struct maar_drain_run* run, uint32_t most)
{
    struct collection all = {.allocator = run->allocator};
    const VkResult result = collect(run, &all);
    uint32_t chosen = 0;
    if (result == VK_SUCCESS && all.block_count > 1) {
        qsort(all.blocks, all.block_count, sizeof all.blocks[0], compare_live);
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < all.block_count && chosen < most; ++i) {
        const struct maar_drain_block block = all.blocks[i];
        struct pool_room* room = &all.rooms[block.pool_number];
        if (room->live + block.live <= room->free - block.free && drain(run->allocator, block.id)) {
            room->live += block.live;
            room->free -= block.free;
            all.blocks[chosen++] = block;
        }
    }
    maar_host_free(run->allocator->callbacks, all.rooms);
    if (result != VK_SUCCESS) {
        maar_host_free(run->allocator->callbacks, all.blocks);
        return result;
    }
    run->blocks = all.blocks;
    run->block_count = chosen;
    return VK_SUCCESS;
}

void maar_drain_count_released(const struct maar_drain_run* run, uint32_t* count, uint64_t* bytes)
{
    *count = 0;
    *bytes = 0;
    for (struct maar_pool* pool = maar_pool_next(run->allocator, NULL); pool != NULL;
         pool = maar_pool_next(run->allocator, pool)) {
        if (takes_part(run, pool)) {
            *count += maar_atomic32_load(&pool->drained_count);
            *bytes += maar_atomic64_load(&pool->drained_bytes);
        }
    }
}
