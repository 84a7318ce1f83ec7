/*
 * The traffic of a pool: slots, places, new blocks, frees.
 *
 * Everything between lock and unlock here is integers. Whatever may run foreign code (host memory,
 * the driver) happens with the lock released: metadata storage is brought from outside, blocks are
 * made before they are listed and unlisted before they are destroyed, and a pinned block is neither
 * unlisted nor destroyed.
 */
#include <string.h>

#include "core/memory/memory_internal.h"

/* A new block is rounded up to this, bytes: what drivers hand out in anyway. */
#define BLOCK_ROUNDING ((VkDeviceSize)65536)
/* The first growing block is this share of the preferred size (4 MiB of 256 MiB), and each later
 * one this part of what the pool holds: a small program stays small, at most a third of what is
 * held is ahead of need, and thirteen blocks reach the full size. Doubling instead held 128 MiB
 * where the captured game needs 67, halves hold 93. */
enum { FIRST_BLOCK_SHARE = 64, GROWTH_DIVISOR = 2 };
/* Room in the list of blocks that a pool starts with. */
enum { FIRST_BLOCK_CAPACITY = 8 };
/* A request up to this share of the preferred size waits for a block that another thread is making,
 * rather than making one of its own. */
enum { SHARED_MISS_SHARE = 8 };

VkResult maar_pool_take_slot(struct maar_pool* pool, uint32_t* slot)
{
    maar_mutex_lock(&pool->lock);
    VkResult result =
        maar_slots_take_one(&pool->allocator->slots, &pool->lock, &pool->free_slot, slot);
    maar_mutex_unlock(&pool->lock);
    return result;
}

static void push_free_slot(struct maar_pool* pool, uint32_t slot)
{
    maar_slot_at(&pool->allocator->slots, slot)->next_free = pool->free_slot;
    pool->free_slot = slot;
}

void maar_pool_return_slot(struct maar_pool* pool, uint32_t slot)
{
    maar_mutex_lock(&pool->lock);
    push_free_slot(pool, slot);
    maar_mutex_unlock(&pool->lock);
}

/* Under the lock: writes the slot and the totals for a range that was just placed. */
static void settle(struct maar_pool* pool, struct maar_block* block,
                   const struct maar_place_request* request,
                   const struct maar_placement_range* range, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&pool->allocator->slots, index);
    slot->node = range->node;
    slot->block = block;
    slot->offset = range->offset;
    slot->size = request->size;
    slot->map_count = 0;
    slot->kind = (uint8_t)request->shown_kind;
    slot->pending = false;
    slot->made_block = false;
    ++block->live_count;
    block->live_bytes += request->size;
    ++pool->live_count;
    pool->live_bytes += request->size;
}

/* Kinds of the placement: an unknown resource is kept apart from both known ones. */
static uint32_t pool_kind(const struct maar_pool* pool, MaarResourceKind kind)
{
    if (pool->granularity <= 1) {
        return 0;
    }
    return kind == MAAR_RESOURCE_KIND_UNKNOWN ? 3u : (uint32_t)kind;
}

VkResult maar_bring_storage(const VkAllocationCallbacks* callbacks, struct maar_mutex* lock,
                            struct maar_placement* placement)
{
    size_t wanted = maar_placement_storage_wanted(placement);
    maar_mutex_unlock(lock);
    void* memory = maar_host_alloc(callbacks, wanted);
    maar_mutex_lock(lock);
    if (memory == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    void* old = maar_placement_storage_give(placement, memory, wanted);
    maar_mutex_unlock(lock);
    maar_host_free(callbacks, old);
    maar_mutex_lock(lock);
    return VK_SUCCESS;
}

/* Under the lock. VK_INCOMPLETE: the lock was left meanwhile, so look again from the start. */
static VkResult place_in_block(struct maar_pool* pool, struct maar_block* block,
                               const struct maar_place_request* request, uint32_t slot)
{
    const struct maar_placement_request placement = {
        .size = request->size,
        .alignment = request->alignment,
        .user = slot,
        .kind = pool_kind(pool, request->kind),
        .upper = request->upper,
    };
    struct maar_placement_range range;
    VkResult result = maar_placement_allocate(block->placement, &placement, &range);
    if (result == VK_SUCCESS) {
        settle(pool, block, request, &range, slot);
        return VK_SUCCESS;
    }
    if (result == VK_INCOMPLETE) {
        ++block->pin_count;
        result = maar_bring_storage(pool->allocator->callbacks, &pool->lock, block->placement);
        --block->pin_count;
        return result == VK_SUCCESS ? VK_INCOMPLETE : result;
    }
    return result;
}

/* Under the lock. */
static VkResult place_in_any(struct maar_pool* pool, const struct maar_place_request* request,
                             uint32_t slot)
{
    uint32_t i = 0;
    while (i < pool->block_count) {
        struct maar_block* block = pool->blocks[i];
        ++i;
        if (maar_placement_largest_free_bound(block->placement) < request->size) {
            continue;
        }
        VkResult result = place_in_block(pool, block, request, slot);
        if (result == VK_INCOMPLETE) {
            i = 0;
        } else if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
            return result;
        }
    }
    return VK_ERROR_OUT_OF_POOL_MEMORY;
}

static void check_if_asked(struct maar_pool* pool)
{
    if ((pool->allocator->flags & MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT) != 0) {
        const char* broken = maar_pool_check(pool);
        if (broken != NULL) {
            maar_broken(pool->allocator, broken);
        }
    }
}

VkResult maar_pool_place(struct maar_pool* pool, const struct maar_place_request* request,
                         uint32_t slot)
{
    maar_mutex_lock(&pool->lock);
    VkResult result = place_in_any(pool, request, slot);
    maar_mutex_unlock(&pool->lock);
    check_if_asked(pool);
    return result;
}

VkDeviceSize maar_pool_first_size(const struct maar_pool* pool)
{
    return maar_align_up(pool->preferred_size / FIRST_BLOCK_SHARE, BLOCK_ROUNDING);
}

VkDeviceSize maar_pool_next_size(struct maar_pool* pool, const struct maar_place_request* request,
                                 VkDeviceSize* least)
{
    VkDeviceSize need = request->size;
    if (pool->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY) {
        VkDeviceSize power = 1;
        while (power < need) {
            power <<= 1;
        }
        need = power;
    }
    *least = maar_align_up(need, BLOCK_ROUNDING);
    if (pool->fixed_size != 0) {
        *least = pool->fixed_size;
        return pool->fixed_size;
    }
    maar_mutex_lock(&pool->lock);
    VkDeviceSize held = pool->block_bytes;
    maar_mutex_unlock(&pool->lock);

    VkDeviceSize size = maar_pool_first_size(pool);
    if (size < held / GROWTH_DIVISOR) {
        size = held / GROWTH_DIVISOR;
    }
    if (size > pool->preferred_size) {
        size = pool->preferred_size;
    }
    size = maar_align_up(size, BLOCK_ROUNDING);
    return size > *least ? size : *least;
}

/* Under the lock, which it leaves and takes again: room for one more block in the list. */
static VkResult reserve_list(struct maar_pool* pool)
{
    const VkAllocationCallbacks* callbacks = pool->allocator->callbacks;
    while (pool->block_count + pool->creating_count > pool->block_capacity) {
        uint32_t capacity =
            pool->block_capacity == 0 ? FIRST_BLOCK_CAPACITY : pool->block_capacity * 2;
        maar_mutex_unlock(&pool->lock);
        struct maar_block** bigger = maar_host_calloc(callbacks, capacity, sizeof *bigger);
        maar_mutex_lock(&pool->lock);
        if (bigger == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        struct maar_block** old = bigger;
        if (capacity > pool->block_capacity) {
            if (pool->block_count > 0) {
                memcpy(bigger, pool->blocks, pool->block_count * sizeof *bigger);
            }
            old = pool->blocks;
            pool->blocks = bigger;
            pool->block_capacity = capacity;
        }
        maar_mutex_unlock(&pool->lock);
        maar_host_free(callbacks, old);
        maar_mutex_lock(&pool->lock);
    }
    return VK_SUCCESS;
}

/* Announces a block, so that two threads together never pass the pool's maximum. Looks again first:
 * since the last look another thread may have listed a block; then *placed is set. VK_NOT_READY:
 * the block that another thread is making may do for this one too. */
static VkResult announce_block(struct maar_pool* pool, const struct maar_place_request* request,
                               uint32_t slot, float* priority, bool* placed)
{
    maar_mutex_lock(&pool->lock);
    VkResult result = VK_ERROR_OUT_OF_POOL_MEMORY;
    if (request != NULL) {
        result = place_in_any(pool, request, slot);
        *placed = result == VK_SUCCESS;
    }
    bool full = pool->block_count + pool->creating_count >= pool->max_block_count;
    bool small = request != NULL && request->size <= pool->preferred_size / SHARED_MISS_SHARE;
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        if (pool->creating_count > 0 && (full || small)) {
            result = VK_NOT_READY;
        } else if (!full) {
            ++pool->creating_count;
            result = reserve_list(pool);
            if (result != VK_SUCCESS) {
                --pool->creating_count;
            }
        }
    }
    *priority = pool->priority;
    maar_mutex_unlock(&pool->lock);
    return result;
}

/* Under the lock: keeps the list in order of ids, whichever thread was faster. */
static void list_block(struct maar_pool* pool, struct maar_block* block)
{
    uint32_t at = pool->block_count;
    while (at > 0 && pool->blocks[at - 1]->id > block->id) {
        pool->blocks[at] = pool->blocks[at - 1];
        --at;
    }
    pool->blocks[at] = block;
    ++pool->block_count;
    pool->block_bytes += block->size;
}

/* Under the lock. */
static void unlist_block(struct maar_pool* pool, uint32_t at)
{
    pool->block_bytes -= pool->blocks[at]->size;
    --pool->block_count;
    memmove(&pool->blocks[at], &pool->blocks[at + 1],
            (pool->block_count - at) * sizeof pool->blocks[0]);
}

VkResult maar_pool_grow(struct maar_pool* pool, const struct maar_place_request* request,
                        VkDeviceSize size, VkDeviceSize cap, uint32_t slot)
{
    float priority = 0.0F;
    bool placed = false;
    VkResult result = announce_block(pool, request, slot, &priority, &placed);
    if (result != VK_SUCCESS || placed) {
        return result;
    }
    const struct maar_device_memory_info info = {
        .type_index = pool->type_index,
        .size = size,
        .cap = cap,
        .priority = priority,
        .next = pool->allocate_next,
    };
    struct maar_block* block = NULL;
    result = maar_block_create(pool, &info, false, &block);

    maar_mutex_lock(&pool->lock);
    --pool->creating_count;
    if (result == VK_SUCCESS) {
        list_block(pool, block);
        if (request != NULL) {
            do {
                result = place_in_block(pool, block, request, slot);
            } while (result == VK_INCOMPLETE);
            if (result == VK_SUCCESS) {
                maar_slot_at(&pool->allocator->slots, slot)->made_block = true;
            }
        }
    }
    struct maar_block* unwanted = NULL;
    if (result != VK_SUCCESS && block != NULL && block->live_count + block->pending_count == 0 &&
        block->pin_count == 0) {
        for (uint32_t i = 0; i < pool->block_count; ++i) {
            if (pool->blocks[i] == block) {
                unlist_block(pool, i);
                unwanted = block;
                break;
            }
        }
    }
    maar_mutex_unlock(&pool->lock);
    if (unwanted != NULL) {
        maar_block_destroy(unwanted);
    }
    check_if_asked(pool);
    return result;
}

VkResult maar_pool_place_dedicated(struct maar_pool* pool, const struct maar_place_request* request,
                                   const struct maar_device_memory_info* info, uint32_t slot)
{
    struct maar_block* block = NULL;
    VkResult result = maar_block_create(pool, info, true, &block);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_placement_range range = {
        .offset = 0,
        .size = request->size,
        .node = MAAR_PLACEMENT_NO_NODE,
    };
    maar_mutex_lock(&pool->lock);
    block->dedicated_slot = slot;
    block->next = pool->dedicated;
    if (pool->dedicated != NULL) {
        pool->dedicated->previous = block;
    }
    pool->dedicated = block;
    ++pool->dedicated_count;
    pool->dedicated_bytes += block->size;
    settle(pool, block, request, &range, slot);
    maar_mutex_unlock(&pool->lock);
    check_if_asked(pool);
    return VK_SUCCESS;
}

static bool block_is_empty(const struct maar_block* block)
{
    return block->live_count == 0 && block->pending_count == 0 && block->pin_count == 0;
}

/* Under the lock: whether a pool with these empty blocks has more of them than it keeps. */
static bool has_surplus(const struct maar_pool* pool, uint32_t empty_count,
                        VkDeviceSize empty_bytes)
{
    return pool->retained_size == 0 ? empty_count > 1 : empty_bytes > pool->retained_size;
}

/* Under the lock: an empty block that the pool need not keep, unlisted; or NULL. Which one goes: of
 * a pool that keeps its largest block the smallest, else the one that has just become empty. */
static struct maar_block* pick_surplus(struct maar_pool* pool, const struct maar_block* emptied,
                                       bool keep_none)
{
    VkDeviceSize empty_bytes = 0;
    uint32_t empty_count = 0;
    uint32_t smallest = UINT32_MAX;
    uint32_t chosen = UINT32_MAX;
    for (uint32_t i = pool->block_count; i-- > 0;) {
        struct maar_block* block = pool->blocks[i];
        if (!block_is_empty(block)) {
            continue;
        }
        empty_bytes += block->size;
        ++empty_count;
        chosen = block == emptied ? i : chosen;
        if (smallest == UINT32_MAX || block->size < pool->blocks[smallest]->size) {
            smallest = i;
        }
    }
    if (empty_count == 0 || pool->block_count <= pool->min_block_count ||
        !(keep_none || has_surplus(pool, empty_count, empty_bytes))) {
        return NULL;
    }
    if (chosen == UINT32_MAX || pool->retained_size == 0) {
        chosen = smallest;
    }
    struct maar_block* block = pool->blocks[chosen];
    unlist_block(pool, chosen);
    return block;
}

/* Under the lock: a dedicated block leaves with its allocation. */
static void unlink_dedicated(struct maar_pool* pool, struct maar_block* block)
{
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        pool->dedicated = block->next;
    }
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    --pool->dedicated_count;
    pool->dedicated_bytes -= block->size;
}

/* Under the lock: the block that an emptied one leaves behind, unlisted, or NULL. */
static struct maar_block* pick_leaving(struct maar_pool* pool, const struct maar_slot* slot,
                                       enum maar_slot_end end)
{
    if (end == MAAR_SLOT_END_UNDONE && !slot->made_block) {
        return NULL;
    }
    if (end != MAAR_SLOT_END_UNDONE) {
        return pick_surplus(pool, slot->block, false);
    }
    for (uint32_t i = 0; i < pool->block_count; ++i) {
        if (pool->blocks[i] == slot->block && pool->block_count > pool->min_block_count) {
            unlist_block(pool, i);
            return slot->block;
        }
    }
    return NULL;
}

char* maar_pool_free_slot(struct maar_pool* pool, uint32_t index, enum maar_slot_end end)
{
    struct maar_slot* slot = maar_slot_at(&pool->allocator->slots, index);
    struct maar_block* block = slot->block;
    struct maar_block* leaving = NULL;
    bool emptied = false;
    bool known = true;

    maar_mutex_lock(&pool->lock);
    if (end == MAAR_SLOT_END_PENDING) {
        --block->pending_count;
        --pool->pending_count;
        block->pending_bytes -= slot->size;
        pool->pending_bytes -= slot->size;
    } else {
        --block->live_count;
        --pool->live_count;
        block->live_bytes -= slot->size;
        pool->live_bytes -= slot->size;
    }
    if (block->placement == NULL) {
        unlink_dedicated(pool, block);
        leaving = block;
    } else {
        known = maar_placement_free(block->placement, slot->node);
        emptied = block_is_empty(block);
        if (emptied) {
            leaving = pick_leaving(pool, slot, end);
        }
    }
    char* name = slot->name;
    slot->name = NULL;
    slot->block = NULL;
    push_free_slot(pool, index);
    maar_mutex_unlock(&pool->lock);

    if (leaving != NULL) {
        maar_block_destroy(leaving);
    }
    /* Over budget no empty block is kept; what a failed call undoes leaves the rest alone. */
    if (emptied && end != MAAR_SLOT_END_UNDONE &&
        maar_budget_is_exceeded(pool->allocator, pool->heap_index)) {
        (void)maar_pool_trim(pool);
    }
    if (!known) {
        maar_broken(pool->allocator, "a live allocation has no range in its block");
    }
    check_if_asked(pool);
    return name;
}

void maar_pool_make_pending(struct maar_pool* pool, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&pool->allocator->slots, index);
    struct maar_block* block = slot->block;
    maar_mutex_lock(&pool->lock);
    slot->pending = true;
    --block->live_count;
    --pool->live_count;
    block->live_bytes -= slot->size;
    pool->live_bytes -= slot->size;
    ++block->pending_count;
    ++pool->pending_count;
    block->pending_bytes += slot->size;
    pool->pending_bytes += slot->size;
    maar_mutex_unlock(&pool->lock);
}

VkDeviceSize maar_pool_trim(struct maar_pool* pool)
{
    VkDeviceSize released = 0;
    for (;;) {
        maar_mutex_lock(&pool->lock);
        struct maar_block* block = pick_surplus(pool, NULL, true);
        maar_mutex_unlock(&pool->lock);
        if (block == NULL) {
            return released;
        }
        released += block->size;
        maar_block_destroy(block);
    }
}
