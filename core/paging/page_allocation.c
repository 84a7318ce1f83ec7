/*
 * How allocations that are made of pages end, and what they are made of. That they are allocations,
 * with slots and arenas, is the business of core/memory, which calls this room through the
 * functions that memory_internal.h names.
 */
#include "core/paging/address_space.h"
#include "core/paging/page_table.h"
#include "core/paging/paged_object.h"
#include "core/paging/paging_open.h"
#include "core/paging/paging_state.h"
#include "core/paging/paging_timeline.h"

#include <string.h>

VkResult maar_stitching_require(MaarAllocator allocator, const char* call)
{
    return maar_paging_require(allocator, call, true);
}

void maar_stitched_end(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                       uint64_t object, uint32_t point_count, const MaarPoint* points,
                       maar_retire_action action)
{
    struct maar_block* block = slot->block;
    struct maar_retire_item* item = block->ending;
    const uint64_t value = maar_page_table_seal(block->table);
    if (value == 0) {
        maar_paging_report_unsubmitted(allocator, "stitched allocation", slot->name,
                                       maar_page_table_committed(block->table));
    }
    block->ending = NULL;
    item->action = action;
    item->object = object;
    item->slot_index = index;
    item->point_count = point_count;
    if (point_count > 0) {
        memcpy(item->points, points, point_count * sizeof item->points[0]);
    }
    if (value != 0) {
        item->points[item->point_count++] = maar_paging_point(allocator, value);
    }
    maar_slot_make_pending(allocator, index);
    const bool has_passed =
        value == 0 || maar_paging_wait(maar_paging_of(allocator), value, 0) == VK_SUCCESS;
    if (point_count == 0 && has_passed) {
        maar_retire_run(allocator, item);
    } else {
        maar_retire_queue(&allocator->retire, item);
    }
}

void maar_stitched_destroy(struct maar_block* block)
{
    MaarAllocator allocator = block->pool->allocator;
    const VkDeviceSize size = block->size;
    if (block->ending != NULL) {
        (void)maar_page_table_seal(block->table); /* nobody ended it */
    }
    maar_page_table_destroy(block->table);
    (void)maar_atomic64_sub(&allocator->stitched_bytes, size);
    maar_paging_return_space(allocator, size);
    maar_paging_add_count(allocator, MAAR_COUNT_STITCHED, -1);
    maar_stitched_free(block);
}

VKAPI_ATTR VkResult VKAPI_CALL maarEnumerateAllocationPages(MaarAllocator allocator,
                                                            MaarAllocation allocation,
                                                            uint32_t* pCount, MaarPageRun* pRuns)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pCount == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pCount is NULL");
    }
    const struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const uint32_t capacity = pRuns != NULL ? *pCount : 0;
    const uint32_t count =
        slot->stitched ? maar_page_table_runs(slot->block->table, capacity, pRuns) : 0;
    *pCount = pRuns == NULL || count < capacity ? count : capacity;
    return pRuns != NULL && count > capacity ? VK_INCOMPLETE : VK_SUCCESS;
}
