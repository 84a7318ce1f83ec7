/*
 * Creates and destroys buffers, for the public calls and for Maar's own use: staging memory,
 * slices, copies of host memory. No lock may be held.
 */
#ifndef MAAR_CORE_OBJECTS_BUFFER_H
#define MAAR_CORE_OBJECTS_BUFFER_H

#include "core/objects/object.h"

/* Does what maarCreateBuffer does after the checks of its pointers. own: not NULL if the memory is
 * for Maar's own use. It is then not made of pages, not exported, and not reported as a leak. */
VkResult maar_create_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* buffer_info,
                            const MaarAllocationCreateInfo* info, struct maar_patience* own,
                            VkBuffer* buffer, MaarAllocation* allocation);

/* Returns the sharing mode of a buffer that some queue families use at the same time. */
static inline VkSharingMode maar_sharing_mode(uint32_t family_count)
{
    return family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
}

/* Returns the address of a buffer, or 0 if the usage does not allow one. */
VkDeviceAddress maar_buffer_address(MaarAllocator allocator, VkBuffer buffer,
                                    VkBufferUsageFlags usage);

/* Does what maarDestroyBuffer does after its checks, also for a poisoned allocator. */
static inline VkResult maar_destroy_buffer(MaarAllocator allocator, const char* call,
                                           VkBuffer buffer, MaarAllocation allocation)
{
    const struct maar_object object = {.buffer = buffer};
    return maar_destroy_object(allocator, call, object, allocation, true);
}

#endif
