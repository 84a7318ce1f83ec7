/*
 * Statistics: totals that are counted at all times, and totals that need a walk over all blocks.
 */
#include "core/watch/statistics.h"

#include "core/memory/margin_size.h"
#include "core/memory/object_handle.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/peak.h"
#include "core/memory/pool_check.h"
#include "core/memory/pool_list.h"
#include "core/paging/page_check.h"
#include "core/paging/paging_watch.h"

#include <string.h>

/* Adds a block that is cut into pages, and does not count it as dedicated. The pages belong to
 * other allocations. */
static void add_pages(const struct maar_block* block, MaarStatistics* sum)
{
    const VkDeviceSize pending = maar_atomic64_load(&block->paged_pending);
    VkDeviceSize live = maar_atomic64_load(&block->paged_live);
    /* Other threads change the two numbers one after the other, so their sum may be too large. */
    live = live <= block->size - pending ? live : block->size - pending;
    --sum->dedicatedCount;
    sum->dedicatedBytes -= block->size;
    sum->allocationBytes += live;
    sum->pendingBytes += pending;
    sum->freeBytes += block->size - live - pending;
}

static void add_allocations(const struct maar_block* block, MaarStatistics* sum)
{
    if (maar_block_is_paged(block)) {
        add_pages(block, sum);
        return;
    }
    sum->allocationCount += block->range_count - block->pending_count;
    sum->allocationBytes += maar_block_live_bytes(block);
    sum->pendingBytes += block->pending_bytes;
}

static void add_block(const struct maar_block* block, MaarStatistics* sum)
{
    add_allocations(block, sum);
    struct maar_placement_totals totals;
    maar_placement_totals(block->placement, &totals);
    const VkDeviceSize margins =
        maar_block_margin(block) * (block->range_count - block->pending_count);
    sum->allocationBytes -= margins;
    sum->paddingBytes += totals.padding_size + margins;
    sum->freeBytes += totals.free_size;
}

/* Adds one arena. Returns the bytes of the arena's pending stitched allocations. */
static VkDeviceSize add_arena(struct maar_arena* arena, MaarStatistics* sum)
{
    maar_mutex_lock(&arena->lock);
    const VkDeviceSize pending = arena->stitched_pending_bytes;
    sum->blockCount += arena->block_count + arena->dedicated_count;
    sum->dedicatedCount += arena->dedicated_count;
    sum->pendingCount += arena->pending_count;
    sum->blockBytes += arena->block_bytes + arena->dedicated_bytes;
    sum->dedicatedBytes += arena->dedicated_bytes;
    sum->allocationsMade += arena->made_count;
    sum->allocationCount += arena->stitched_count - arena->stitched_pending_count;
    for (const struct maar_block* block = maar_arena_next_block(arena, 0); block != NULL;
         block = maar_arena_next_block(arena, block->at + 1)) {
        add_block(block, sum);
    }
    for (const struct maar_block* block = arena->dedicated; block != NULL; block = block->next) {
        add_allocations(block, sum);
    }
    maar_mutex_unlock(&arena->lock);
    return pending;
}

/* Adds the totals of one pool. */
static void add_pool(struct maar_pool* pool, MaarStatistics* sum)
{
    const VkDeviceSize before = sum->allocationBytes;
    VkDeviceSize pending = 0;
    maar_pool_begin_walk(pool);
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        pending += add_arena(arena, sum);
    }
    maar_pool_end_walk(pool);
    /* The pages of pending stitched allocations were counted as live with the blocks of these
     * pages. Here their bytes become pending. */
    const VkDeviceSize live = sum->allocationBytes - before;
    pending = pending < live ? pending : live;
    sum->allocationBytes -= pending;
    sum->pendingBytes += pending;
}

/* Sets all totals to zero. */
static void clear_statistics(MaarStatistics* statistics)
{
    *statistics = (MaarStatistics){
        .sType = MAAR_STRUCTURE_TYPE_STATISTICS,
        .pNext = statistics->pNext,
    };
}

void maar_statistics_read(MaarAllocator allocator, struct maar_pool* pool, uint32_t type,
                          MaarStatistics* statistics)
{
    clear_statistics(statistics);
    if (pool != NULL) {
        add_pool(pool, statistics);
        statistics->allocationsMade = 0;
        return;
    }
    /* The number of allocations made in destroyed pools is read before the walk. So a pool that is
     * destroyed during the walk may be left out, but is never counted twice. */
    statistics->allocationsMade = maar_atomic64_load(&allocator->allocations_made);
    for (pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        if (type == MAAR_MEMORY_TYPE_NONE || pool->type_index == type) {
            add_pool(pool, statistics);
        }
    }
    if (type != MAAR_MEMORY_TYPE_NONE) {
        statistics->allocationsMade = 0;
        return;
    }
    statistics->peakBlockBytes = maar_atomic64_load(&allocator->peak_block_bytes);
    maar_atomic64_max(&allocator->peak_live_bytes, statistics->allocationBytes);
    statistics->peakAllocationBytes = maar_atomic64_load(&allocator->peak_live_bytes);
    if (statistics->peakAllocationBytes > statistics->peakBlockBytes) {
        statistics->peakAllocationBytes = statistics->peakBlockBytes;
    }
    statistics->peakBlockCount = (uint32_t)maar_atomic64_load(&allocator->peak_block_count);
    statistics->deviceAllocationCalls = maar_atomic64_load(&allocator->allocate_calls);
    statistics->deviceFreeCalls = maar_atomic64_load(&allocator->free_calls);
    statistics->failureCount = maar_atomic64_load(&allocator->failures);
    statistics->fallbackCount = maar_atomic64_load(&allocator->fallbacks);
    statistics->overBudgetCount = maar_atomic64_load(&allocator->over_budget);
    void* slices = maar_atomic_pointer_load(&allocator->slices.state);
    if (slices != NULL) {
        allocator->slices.count(slices, statistics);
    }
}

/* Does the checks with which the three functions that read statistics begin. */
static VkResult begin_statistics(MaarAllocator allocator, const char* call, const void* out,
                                 MaarStructureType wanted)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_check_structure(allocator, call, "pStatistics", out, (int)wanted);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetStatistics(MaarAllocator allocator, MaarPool pool,
                                                 MaarStatistics* pStatistics)
{
    VkResult result =
        begin_statistics(allocator, __func__, pStatistics, MAAR_STRUCTURE_TYPE_STATISTICS);
    if (result == VK_SUCCESS) {
        result = maar_pool_require_own(allocator, __func__, "pool", pool);
    }
    if (result == VK_SUCCESS) {
        maar_statistics_read(allocator, maar_pool_of(allocator, pool), MAAR_MEMORY_TYPE_NONE,
                             pStatistics);
    }
    return result;
}

static VkResult check_type(MaarAllocator allocator, const char* call, uint32_t type)
{
    const uint32_t count = allocator->device.facts.memory.memoryTypeCount;
    return type < count
               ? VK_SUCCESS
               : maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                           call, "memoryTypeIndex is %u, and the device has %u memory types", type,
                           count);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetMemoryTypeStatistics(MaarAllocator allocator,
                                                           uint32_t memoryTypeIndex,
                                                           MaarStatistics* pStatistics)
{
    VkResult result =
        begin_statistics(allocator, __func__, pStatistics, MAAR_STRUCTURE_TYPE_STATISTICS);
    if (result == VK_SUCCESS) {
        result = check_type(allocator, __func__, memoryTypeIndex);
    }
    if (result == VK_SUCCESS) {
        maar_statistics_read(allocator, NULL, memoryTypeIndex, pStatistics);
    }
    return result;
}

struct detail_walk {
    MaarAllocator allocator;
    MaarDetailedStatistics* out;
    VkDeviceSize free_bytes;
    VkDeviceSize margin; /* of the block's ranges */
};

static void note_live(MaarDetailedStatistics* out, VkDeviceSize size)
{
    if (out->allocationSizeMin == 0 || size < out->allocationSizeMin) {
        out->allocationSizeMin = size;
    }
    if (size > out->allocationSizeMax) {
        out->allocationSizeMax = size;
    }
}

static void note_free(struct detail_walk* walk, VkDeviceSize size)
{
    MaarDetailedStatistics* out = walk->out;
    ++out->freeRangeCount;
    walk->free_bytes += size;
    if (out->freeRangeSizeMin == 0 || size < out->freeRangeSizeMin) {
        out->freeRangeSizeMin = size;
    }
    if (size > out->freeRangeSizeMax) {
        out->freeRangeSizeMax = size;
    }
}

static void note_page_block(struct detail_walk* walk, const struct maar_block* block)
{
    struct maar_page_walk run;
    for (bool more = maar_page_walk_begin(walk->allocator, block, &run); more;
         more = maar_page_walk_next(&run)) {
        if (run.state == MAAR_BLOCK_RANGE_STATE_FREE) {
            note_free(walk, run.size);
        }
    }
}

static bool visit_detail(void* context, const MaarRangeInfo* info)
{
    struct detail_walk* walk = context;
    if (info->state == MAAR_RANGE_STATE_LIVE) {
        if (!maar_slot_has(maar_slot_at(&walk->allocator->slots, (uint32_t)info->userData),
                           MAAR_SLOT_PENDING)) {
            note_live(walk->out, info->size - walk->margin);
        }
    } else if (info->state == MAAR_RANGE_STATE_FREE) {
        note_free(walk, info->size);
    }
    return true;
}

static void walk_pool(struct maar_pool* pool, struct detail_walk* walk)
{
    maar_pool_begin_walk(pool);
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        maar_mutex_lock(&arena->lock);
        for (const struct maar_block* block = maar_arena_next_block(arena, 0); block != NULL;
             block = maar_arena_next_block(arena, block->at + 1)) {
            walk->margin = maar_block_margin(block);
            maar_placement_walk(block->placement, visit_detail, walk);
        }
        for (const struct maar_block* block = arena->dedicated; block != NULL;
             block = block->next) {
            const VkDeviceSize live = maar_block_live_bytes(block);
            if (maar_block_is_paged(block)) {
                note_page_block(walk, block);
            } else if (live > 0) {
                note_live(walk->out, live);
            }
        }
        for (const struct maar_block* block = arena->stitched; block != NULL; block = block->next) {
            if (block->pending_count == 0) {
                note_live(walk->out, block->dedicated_size);
            }
        }
        maar_mutex_unlock(&arena->lock);
    }
    maar_pool_end_walk(pool);
}

/* Walks one pool or, if pool is NULL, all pools of one memory type, or all pools if type is
 * MAAR_MEMORY_TYPE_NONE. */
static void read_details(MaarAllocator allocator, struct maar_pool* pool, uint32_t type,
                         MaarDetailedStatistics* out)
{
    *out = (MaarDetailedStatistics){
        .sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS,
        .pNext = out->pNext,
    };
    struct detail_walk walk = {.allocator = allocator, .out = out};
    if (pool != NULL) {
        walk_pool(pool, &walk);
    } else {
        for (pool = maar_pool_next(allocator, NULL); pool != NULL;
             pool = maar_pool_next(allocator, pool)) {
            if (type == MAAR_MEMORY_TYPE_NONE || pool->type_index == type) {
                walk_pool(pool, &walk);
            }
        }
    }
    if (walk.free_bytes > 0) {
        out->fragmentation = 1.0 - (double)out->freeRangeSizeMax / (double)walk.free_bytes;
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetDetailedStatistics(MaarAllocator allocator, MaarPool pool,
                                                         MaarDetailedStatistics* pStatistics)
{
    VkResult result =
        begin_statistics(allocator, __func__, pStatistics, MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS);
    if (result == VK_SUCCESS) {
        result = maar_pool_require_own(allocator, __func__, "pool", pool);
    }
    if (result == VK_SUCCESS) {
        read_details(allocator, maar_pool_of(allocator, pool), MAAR_MEMORY_TYPE_NONE, pStatistics);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetMemoryTypeDetailedStatistics(
    MaarAllocator allocator, uint32_t memoryTypeIndex, MaarDetailedStatistics* pStatistics)
{
    VkResult result =
        begin_statistics(allocator, __func__, pStatistics, MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS);
    if (result == VK_SUCCESS) {
        result = check_type(allocator, __func__, memoryTypeIndex);
    }
    if (result == VK_SUCCESS) {
        read_details(allocator, NULL, memoryTypeIndex, pStatistics);
    }
    return result;
}

/* Sets the peak of live bytes to 0. With live_high 0, each arena compares its live bytes with the
 * peak when it next loses live bytes. */
static void reset_live_peak(MaarAllocator allocator)
{
    maar_atomic64_store(&allocator->peak_live_bytes, 0);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
             arena = maar_pool_next_arena(pool, arena->number + 1)) {
            maar_mutex_lock(&arena->lock);
            arena->live_high = 0;
            maar_mutex_unlock(&arena->lock);
        }
    }
}

VKAPI_ATTR void VKAPI_CALL maarResetPeaks(MaarAllocator allocator)
{
    if (maar_enter(allocator) != VK_SUCCESS) {
        return;
    }
    maar_atomic64_store(&allocator->peak_block_bytes, maar_atomic64_load(&allocator->block_bytes));
    maar_atomic64_store(&allocator->peak_block_count, maar_atomic64_load(&allocator->block_count));
    reset_live_peak(allocator);
    maar_paging_reset_peak(allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCheckAllocator(MaarAllocator allocator, const char** ppBroken)
{
    if (ppBroken != NULL) {
        *ppBroken = NULL;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    const char* broken = maar_paging_check(allocator);
    broken = broken != NULL ? broken : maar_ordered_check(allocator);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        broken = broken != NULL ? broken : maar_pool_check(pool);
    }
    if (broken != NULL) {
        if (ppBroken != NULL) {
            *ppBroken = broken;
        }
        maar_broken(allocator, broken);
        return VK_ERROR_UNKNOWN;
    }
    return VK_SUCCESS;
}
