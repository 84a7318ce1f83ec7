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
        cap; /* the most bytes that the heap's blocks may reach together; UINT64_MAX: no cap */
    bool* over_cap; /* set when only the cap prevented the call; may be NULL without a cap */
    float priority;
    VkBuffer dedicated_buffer;
    VkImage dedicated_image;
    const void* next; /* the pool's chain */
    VkExternalMemoryHandleTypeFlags export_types;
    VkExternalMemoryHandleTypeFlags import_types; /* not 0: the bytes exist already and `next` names
                                                     them; no heap limit applies */
};

/* Calls vkAllocateMemory once, counted and limited. After a failure only the call itself is
 * counted. */
VkResult maar_device_memory_allocate(MaarAllocator allocator,
                                     const struct maar_device_memory_info* info,
                                     VkDeviceMemory* memory);
/* Calls vkFreeMemory and subtracts the bytes from the accounts. */
void maar_device_memory_free(MaarAllocator allocator, uint32_t type_index, VkDeviceSize size,
                             VkDeviceMemory memory);
/* Whether the driver had no memory. RADV returns VK_ERROR_UNKNOWN when the kernel has no room for
 * page tables. */
static inline bool maar_driver_had_no_memory(VkResult result)
{
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_UNKNOWN;
}
/* Whether more than three quarters of the device's VkDeviceMemory objects are in use. */
bool maar_device_count_is_high(MaarAllocator allocator);

#endif
