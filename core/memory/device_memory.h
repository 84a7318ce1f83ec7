/*
 * Allocates and frees VkDeviceMemory objects, for blocks and imports. Each object is counted and
 * checked against the limits. The counts are atomic. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_DEVICE_MEMORY_H
#define MAAR_CORE_MEMORY_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "maar/allocator.h"

/* The arguments of one vkAllocateMemory, and the limits for it. */
struct maar_device_memory_info {
    uint32_t type_index;
    VkDeviceSize size;
    VkDeviceSize
        cap; /* the most bytes that the heap's blocks may have together; UINT64_MAX: no cap */
    bool* over_cap; /* set when cap, and not the heap's limit, prevented the call; NULL: no cap */
    float priority;
    VkBuffer dedicated_buffer;
    VkImage dedicated_image;
    const void* next; /* the pNext chain of the pool or of the import */
    VkExternalMemoryHandleTypeFlags export_types;
    VkExternalMemoryHandleTypeFlags import_types; /* if not 0, `next` names bytes that exist
                                                     already, and no heap limit applies */
};

/* Whether a heap has room for `size` bytes more, within its limit and within `cap`. Sets *over_cap
 * if the cap stands in the way. Another thread may change this at any time. */
bool maar_device_memory_has_room(MaarAllocator allocator, uint32_t type_index, VkDeviceSize size,
                                 VkDeviceSize cap, bool* over_cap);
/* Checks the limits, counts the new memory and calls vkAllocateMemory once. If the call fails, only
 * the call stays counted. *duration_ns receives the time in the driver during a capture, else 0. */
VkResult maar_device_memory_allocate(MaarAllocator allocator,
                                     const struct maar_device_memory_info* info,
                                     VkDeviceMemory* memory, uint64_t* duration_ns);
/* Calls vkFreeMemory and subtracts the bytes from the accounts. */
void maar_device_memory_free(MaarAllocator allocator, uint32_t type_index, VkDeviceSize size,
                             VkDeviceMemory memory);
/* Whether the driver had no memory. RADV returns VK_ERROR_UNKNOWN when the kernel has no room for
 * page tables. */
static inline bool maar_driver_had_no_memory(VkResult result)
{
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_UNKNOWN;
}

#endif
