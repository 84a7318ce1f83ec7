/*
 * Reports a handle that names no allocation: see allocation_handle.h.
 */
#include "core/memory/allocation_handle.h"

void maar_report_unresolved(MaarAllocator allocator, const char* call, MaarAllocation allocation,
                            const char* result)
{
    const bool was_used = maar_slot_was_used(&allocator->slots, MAAR_TO_BITS(allocation));
    if (allocation == VK_NULL_HANDLE) {
        (void)maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, call,
                          "allocation is VK_NULL_HANDLE");
    } else {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    was_used ? MAAR_MESSAGE_ID_STALE_HANDLE : MAAR_MESSAGE_ID_FOREIGN_HANDLE, call,
                    "allocation 0x%llx %s%s", (unsigned long long)MAAR_TO_BITS(allocation),
                    was_used ? "was freed already" : "is not an allocation of this allocator",
                    result);
    }
}

void maar_report_late_free(MaarAllocator allocator, const char* call, const char* result)
{
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FREED_CONCURRENTLY, call,
                "another thread freed the allocation during this call%s", result);
}

VkResult maar_refuse_late_free(MaarAllocator allocator, const char* call)
{
    maar_report_late_free(allocator, call, "");
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

MaarMoveObstacle maar_slot_owner_obstacle(MaarAllocator allocator, const struct maar_slot* slot)
{
    if (!slot->owned) {
        return MAAR_MOVE_OBSTACLE_NONE;
    }
    return maar_slot_is_movable(allocator, slot)
               ? (MaarMoveObstacle)maar_slot_record_obstacle(
                     &allocator->movables, maar_slots_index_of(&allocator->slots, slot))
               : MAAR_MOVE_OBSTACLE_OWNED;
}

VkResult maar_refuse_owned(MaarAllocator allocator, const char* call, const struct maar_slot* slot)
{
    if (maar_slot_is_movable(allocator, slot)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_ALLOCATION_IS_OWNED, call,
                           "allocation belongs to a movable object; destroy both with "
                           "maarDestroyBuffer, maarDestroyImage or the calls after points");
    }
    return maar_misuse(allocator, MAAR_MESSAGE_ID_ALLOCATION_IS_OWNED, call,
                       "allocation belongs to an object of Maar's, such as a buffer of slices or a "
                       "transient heap, and ends with it");
}

struct maar_slot* maar_allocation_enter(MaarAllocator allocator, const char* call,
                                        MaarAllocation allocation, struct maar_block** block)
{
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_resolve(&allocator->slots, MAAR_TO_BITS(allocation), &index);
    if (slot != NULL) {
        *block = maar_slot_enter(allocator, slot);
        if (maar_slot_resolve(&allocator->slots, MAAR_TO_BITS(allocation), &index) != NULL) {
            return slot;
        }
        maar_mutex_unlock(&maar_block_arena(*block)->lock); /* freed before the lock was taken */
    }
    maar_report_unresolved(allocator, call, allocation, "");
    return NULL;
}
