/*
 * The end of a creation that has failed: see object_steps.h.
 */
#include "core/objects/object_steps.h"

#include "core/memory/allocation_free.h"

VkResult maar_fail_to_place(MaarAllocator allocator, VkResult result, struct maar_object object,
                            const MaarAllocationCreateInfo* info, uint32_t wait_count,
                            MaarAllocation* allocation)
{
    /* The object is destroyed first, since a failed bind may have left it bound. */
    maar_discard_at_once(allocator, object);
    maar_undo_allocation(allocator, *allocation);
    *allocation = VK_NULL_HANDLE;
    maar_ordered_restore_waits(info, wait_count);
    return result;
}
