/*
 * One VkDeviceMemory: counted, limited, and made by the only calls of vkAllocateMemory and
 * vkFreeMemory.
 */
#ifndef MAAR_CORE_MEMORY_DEVICE_MEMORY_H
#define MAAR_CORE_MEMORY_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "maar/allocator.h"

struct maar_device_memory_info {
    uint32_t type_index;
    VkDeviceSize size;
    VkDeviceSize cap; /* the heap's blocks together may not exceed this; UINT64_MAX: no cap */
    bool* over_cap;   /* set when the cap alone was in the way; may be NULL without a cap */
    float priority;
    VkBuffer dedicated_buffer;
    VkImage dedicated_image;
    const void* next; /* the pool's chain */
    VkExternalMemoryHandleTypeFlags export_types;
    VkExternalMemoryHandleTypeFlags import_types; /* not 0: the bytes exist already, and `next` says
                                                     where; no heap limit holds for them */
};

/* One vkAllocateMemory, counted and limited; on failure only the call is counted. */
VkResult maar_device_memory_allocate(MaarAllocator allocator,
                                     const struct maar_device_memory_info* info,
                                     VkDeviceMemory* memory);
void maar_device_memory_free(MaarAllocator allocator, uint32_t type_index, VkDeviceSize size,
                             VkDeviceMemory memory);
/* More than three quarters of the device's VkDeviceMemory objects are in use. */
bool maar_device_count_is_high(MaarAllocator allocator);

#endif
