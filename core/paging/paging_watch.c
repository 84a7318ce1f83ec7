/*
 * What core/watch reads of paging: statistics, and the runs of a page block.
 */
#include "core/paging/paging_watch.h"

#include "core/memory/block.h"
#include "core/paging/paging_state.h"
#include "maar/paging.h"

/* Moves a walk to the run that begins at its end. Returns false at the end of the block. */
static bool find_next_run(struct maar_page_walk* walk)
{
    const struct maar_page_block* block = walk->block;
    const uint32_t first = walk->end;
    if (first == block->page_count) {
        return false;
    }
    const bool is_free = block->marks[first].run != 0;
    const bool is_live = !is_free && block->marks[first].live != 0;
    uint32_t end = first + (is_free ? block->marks[first].run : 1);
    while (!is_free && end < block->page_count && block->marks[end].run == 0 &&
           (block->marks[end].live != 0) == is_live) {
        ++end;
    }
    const MaarBlockRangeState used =
        is_live ? MAAR_BLOCK_RANGE_STATE_LIVE : MAAR_BLOCK_RANGE_STATE_PENDING;
    *walk = (struct maar_page_walk){
        .allocator = walk->allocator,
        .block = block,
        .end = end,
        .state = is_free ? MAAR_BLOCK_RANGE_STATE_FREE : used,
        .offset = first * block->pool->page_size,
        .size = (end - first) * block->pool->page_size,
    };
    return true;
}

bool maar_page_walk_next(struct maar_page_walk* walk)
{
    const bool found = find_next_run(walk);
    if (!found) {
        maar_mutex_unlock(&maar_paging_of(walk->allocator)->lock);
    }
    return found;
}

bool maar_page_walk_begin(MaarAllocator allocator, const struct maar_block* block,
                          struct maar_page_walk* walk)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging == NULL) {
        return false;
    }
    maar_mutex_lock(&paging->lock);
    if (block->pages != NULL) {
        *walk = (struct maar_page_walk){.allocator = allocator, .block = block->pages};
        return maar_page_walk_next(walk);
    }
    maar_mutex_unlock(&paging->lock);
    return false;
}

void maar_paging_reset_peak(MaarAllocator allocator)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging != NULL) {
        maar_mutex_lock(&paging->lock);
        paging->peak_block_bytes = paging->block_bytes;
        maar_mutex_unlock(&paging->lock);
    }
}

static void read_statistics(struct maar_paging* paging, MaarPagingStatistics* out)
{
    *out = (MaarPagingStatistics){
        .sType = out->sType,
        .pNext = out->pNext,
        .reservedBytes = maar_atomic64_load(&paging->space),
        .blockCount = paging->block_count,
        .blockBytes = paging->block_bytes,
        .peakBlockBytes = paging->peak_block_bytes,
        .reservationCount = (uint32_t)paging->counts[MAAR_COUNT_RESERVATION],
        .stitchedCount = (uint32_t)paging->counts[MAAR_COUNT_STITCHED],
        .stitchedMade = paging->counts[MAAR_COUNT_STITCHED_MADE],
        .pagesBound = paging->pages_bound,
        .pagesUnbound = paging->pages_unbound,
        .bindCount = paging->bind_count,
        .submissionCount = paging->submission_count,
        .copiedBytes = paging->copies.copied_bytes,
        .recordedPages = paging->recorded_pages,
    };
    for (const struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        for (uint32_t i = 0; i < pool->block_count; ++i) {
            const struct maar_page_block* block = pool->blocks[i];
            out->freeBytes += (uint64_t)(block->page_count - block->used_count) * pool->page_size;
            out->committedBytes += block->live_count * pool->page_size;
            out->heldBytes += (uint64_t)(block->used_count - block->live_count) * pool->page_size;
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPagingStatistics(MaarAllocator allocator,
                                                       MaarPagingStatistics* pStatistics)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pStatistics", pStatistics,
                                      MAAR_STRUCTURE_TYPE_PAGING_STATISTICS);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    *pStatistics = (MaarPagingStatistics){
        .sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS,
        .pNext = pStatistics->pNext,
    };
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging != NULL) {
        maar_mutex_lock(&paging->lock);
        read_statistics(paging, pStatistics);
        maar_mutex_unlock(&paging->lock);
    }
    return VK_SUCCESS;
}
