/*
 * Reports an index of no queue: see queue_index.h.
 */
#include "core/memory/queue_index.h"

VkResult maar_refuse_queue_index(MaarAllocator allocator, const char* call, const char* argument,
                                 uint32_t index)
{
    if (allocator->queue_count == 0) {
        return maar_fail(
            allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NO_QUEUE, call,
            "%s is %u, but the allocator has no queue: MaarAllocatorCreateInfo::pQueues "
            "named none",
            argument, index);
    }
    return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                     "%s is %u, and MaarAllocatorCreateInfo::pQueues has %u queue%s", argument,
                     index, allocator->queue_count, allocator->queue_count == 1 ? "" : "s");
}
