/*
 * Ends allocations: see allocation_free.h.
 */
#include "core/memory/allocation_free.h"

#include "core/memory/allocation_handle.h"
#include "core/memory/arena_fast.h"
#include "core/memory/mapping.h"
#include "core/memory/margin.h"
#include "core/memory/moving_slot.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_free.h"
#include "core/memory/slot_home.h"
#include "core/memory/stitched_block.h"

/* Unmaps a slot, frees its bytes and the slot, and then its name. */
static void undress_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                         enum maar_slot_end end)
{
    while (slot->map_count > 0 && maar_slot_unmap(allocator, slot, 0)) {
    }
    maar_host_free(allocator->callbacks, maar_pool_free_slot(allocator, slot, index, end));
}

/* Frees a claimed slot that the fast path has not freed. */
MAAR_NOINLINE void release_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    if (slot->stitched || slot->ordered) {
        if (slot->stitched) {
            maar_stitched_end(allocator, slot, index, 0, 0, NULL, NULL);
        } else if (!maar_ordered_release(allocator, slot, index)) {
            undress_slot(allocator, slot, index, MAAR_SLOT_END_LIVE);
        }
        return;
    }
    if (slot->map_count > 0) {
        undress_slot(allocator, slot, index, MAAR_SLOT_END_LIVE);
        return;
    }
    char* name = maar_pool_free_live(allocator, slot, index);
    if (name != NULL) {
        maar_host_free(allocator->callbacks, name);
    }
}

void maar_release_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    if (allocator->compares_margins) {
        maar_margin_compare(allocator, NULL, slot, index);
    }
    if (!maar_slot_free_fast(allocator, slot, index)) {
        release_slot(allocator, slot, index);
    }
}

void maar_release_pending(MaarAllocator allocator, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    while (slot->map_count > 0 && maar_slot_unmap(allocator, slot, 0)) {
    }
    maar_pool_end_pending(allocator, index);
}

void maar_end_pending_range(MaarAllocator allocator, struct maar_retire_item* item,
                            enum maar_retire_step step)
{
    if (step == MAAR_RETIRE_DO_REST) {
        maar_pool_finish_pending(allocator, item);
        return;
    }
    uint32_t index = item->range;
    if (item->rest[0] != NULL) {
        index = maar_ordered_pass(allocator, item);
        if (index == MAAR_SLOT_NONE) {
            return;
        }
    }
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    while (slot->map_count > 0 && maar_slot_unmap(allocator, slot, 0)) {
    }
    maar_pool_return_pending(allocator, slot, index, item);
}

void maar_undo_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    if (!slot->ordered || !maar_ordered_undo(allocator, slot, index)) {
        undress_slot(allocator, slot, index, MAAR_SLOT_END_UNDONE);
    }
}

static bool undo_live(MaarAllocator allocator, MaarAllocation allocation)
{
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_resolve(&allocator->slots, MAAR_TO_BITS(allocation), &index);
    if (slot == NULL || !maar_slot_claim(slot, MAAR_TO_BITS(allocation))) {
        return false;
    }
    (void)maar_atomic64_sub(&allocator->fallbacks, slot->fallback ? 1 : 0);
    (void)maar_atomic64_sub(&allocator->over_budget, slot->exceeded ? 1 : 0);
    maar_undo_slot(allocator, slot, index);
    return true;
}

void maar_undo_allocation(MaarAllocator allocator, MaarAllocation allocation)
{
    if (undo_live(allocator, allocation)) {
        (void)maar_atomic64_add(&allocator->failures, 1);
    }
}

void maar_undo_own_allocation(MaarAllocator allocator, MaarAllocation allocation)
{
    (void)undo_live(allocator, allocation);
}

void maar_note_fallback(MaarAllocator allocator, MaarAllocation allocation)
{
    struct maar_block* block = NULL;
    struct maar_slot* slot = maar_allocation_enter(allocator, NULL, allocation, &block);
    if (slot != NULL) {
        (void)maar_atomic64_add(&allocator->fallbacks, slot->fallback ? 0 : 1);
        slot->fallback = true;
        maar_mutex_unlock(&maar_block_arena(block)->lock);
    }
}

void maar_release_claimed(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                          enum maar_claim claim)
{
    if (claim == MAAR_CLAIMED_MOVING) {
        maar_slot_free_moving(allocator, slot, index);
    } else {
        maar_release_slot(allocator, slot, index);
    }
}

/* Frees an allocation that moves, or that another thread has freed. */
MAAR_NOINLINE VkResult free_contended(MaarAllocator allocator, const char* call,
                                      MaarAllocation allocation, struct maar_slot* slot,
                                      uint32_t index)
{
    const enum maar_claim claim = maar_slot_claim_moving(slot, MAAR_TO_BITS(allocation));
    if (claim == MAAR_CLAIM_LOST) {
        return maar_refuse_late_free(allocator, call);
    }
    maar_release_claimed(allocator, slot, index, claim);
    return VK_SUCCESS;
}

/* own: an object of Maar's frees its memory. */
MAAR_INLINE VkResult free_now(MaarAllocator allocator, const char* call, MaarAllocation allocation,
                              bool own)
{
    uint32_t index = 0;
    struct maar_slot* slot = maar_resolve(allocator, call, allocation, &index);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!own && slot->owned) {
        return maar_refuse_owned(allocator, call, slot);
    }
    if (!maar_slot_claim(slot, MAAR_TO_BITS(allocation))) {
        return free_contended(allocator, call, allocation, slot, index);
    }
    maar_release_slot(allocator, slot, index);
    return VK_SUCCESS;
}

VkResult maar_free_allocation(MaarAllocator allocator, const char* call, MaarAllocation allocation)
{
    return free_now(allocator, call, allocation, true);
}

VKAPI_ATTR void VKAPI_CALL maarFreeMemory(MaarAllocator allocator, MaarAllocation allocation)
{
    if (maar_enter(allocator) == VK_SUCCESS && allocation != VK_NULL_HANDLE) {
        (void)free_now(allocator, __func__, allocation, false);
    }
}

VKAPI_ATTR void VKAPI_CALL maarFreeMemories(MaarAllocator allocator, uint32_t allocationCount,
                                            const MaarAllocation* pAllocations)
{
    if (maar_enter(allocator) != VK_SUCCESS || allocationCount == 0) {
        return;
    }
    if (pAllocations == NULL) {
        (void)maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                          "pAllocations is NULL");
        return;
    }
    for (uint32_t i = 0; i < allocationCount; ++i) {
        if (pAllocations[i] != VK_NULL_HANDLE) {
            (void)free_now(allocator, __func__, pAllocations[i], false);
        }
    }
}

void maar_slot_make_pending(MaarAllocator allocator, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    (void)maar_pool_make_pending(allocator, slot, index);
}

VkResult maar_free_after(MaarAllocator allocator, const char* call, uint64_t object,
                         MaarAllocation allocation, uint32_t point_count, const MaarPoint* points,
                         maar_retire_action action, bool own)
{
    VkResult result = maar_retire_check_points(&allocator->retire, call, point_count, points);
    if (result != VK_SUCCESS) {
        return result;
    }
    uint32_t index = MAAR_SLOT_NONE;
    struct maar_slot* slot = NULL;
    if (allocation != VK_NULL_HANDLE) {
        slot = maar_resolve(allocator, call, allocation, &index);
        if (slot == NULL) {
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
        if (!own && slot->owned) {
            return maar_refuse_owned(allocator, call, slot);
        }
    }
    const bool stitched = slot != NULL && slot->stitched;
    struct maar_retire_item* item =
        stitched ? NULL : maar_retire_prepare(&allocator->retire, point_count, points);
    if (item == NULL && !stitched) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const enum maar_claim claim =
        slot != NULL ? maar_slot_claim_moving(slot, MAAR_TO_BITS(allocation)) : MAAR_CLAIMED_MOVING;
    if (claim == MAAR_CLAIM_LOST) {
        maar_retire_discard(&allocator->retire, item);
        return maar_refuse_late_free(allocator, call);
    }
    if (stitched) {
        maar_stitched_end(allocator, slot, index, object, point_count, points, action);
        return VK_SUCCESS;
    }
    item->action = action;
    item->object = object;
    if (slot != NULL) {
        if (allocator->compares_margins) {
            maar_margin_compare(allocator, call, slot, index);
        }
        maar_slot_retire(allocator, slot, index, item);
        maar_ordered_note_free(allocator, slot, index, item, claim);
    }
    maar_retire_queue(&allocator->retire, item);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarFreeMemoryAfter(MaarAllocator allocator,
                                                   MaarAllocation allocation, uint32_t pointCount,
                                                   const MaarPoint* pPoints)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS || allocation == VK_NULL_HANDLE) {
        return result;
    }
    if (pointCount == 0) {
        return free_now(allocator, __func__, allocation, false);
    }
    return maar_free_after(allocator, __func__, 0, allocation, pointCount, pPoints, NULL, false);
}
