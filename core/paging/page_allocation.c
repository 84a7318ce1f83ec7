/*
 * Allocations that are made of pages: how they end, and which pages they have. core/memory has
 * their slots and arenas, and calls the functions here through struct maar_extension.
 */
#include "core/paging/page_allocation.h"

#include "core/memory/allocation_handle.h"
#include "core/memory/block.h"
#include "core/paging/address_space.h"
#include "core/paging/page_table.h"
#include "core/paging/paged_object.h"
#include "core/paging/paging_state.h"
#include "core/paging/paging_timeline.h"

bool maar_stitched_seal(MaarAllocator allocator, const struct maar_slot* slot, uint32_t index,
                        MaarPoint* point)
{
    struct maar_page_table* table = maar_slot_block(allocator, slot)->table;
    const uint64_t value = maar_page_table_seal(table);
    if (value == 0) {
        maar_paging_report_unsubmitted(allocator, "stitched allocation",
                                       maar_slot_name(slot, index),
                                       maar_page_table_committed(table));
        return true;
    }
    *point = maar_paging_point(allocator, value);
    return maar_paging_wait(maar_paging_of(allocator), value, 0) == VK_SUCCESS;
}

void maar_stitched_release_pages(MaarAllocator allocator, struct maar_block* block)
{
    if (block->ending != NULL) {
        (void)maar_page_table_seal(block->table); /* the table was not sealed before */
    }
    maar_page_table_destroy(block->table);
    maar_paging_return_space(allocator, block->size);
    maar_paging_add_count(allocator, MAAR_COUNT_STITCHED, -1);
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
        slot->stitched
            ? maar_page_table_runs(maar_slot_block(allocator, slot)->table, capacity, pRuns)
            : 0;
    *pCount = pRuns == NULL || count < capacity ? count : capacity;
    return pRuns != NULL && count > capacity ? VK_INCOMPLETE : VK_SUCCESS;
}
