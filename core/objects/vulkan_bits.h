/*
 * What the files of core/objects share: handles as integers, buffers made on Maar's own account,
 * and the one way to destroy later.
 */
#ifndef MAAR_CORE_OBJECTS_VULKAN_BITS_H
#define MAAR_CORE_OBJECTS_VULKAN_BITS_H

#include "core/memory/memory_internal.h"

/* Non-dispatchable handles are pointers on 64-bit platforms and integers elsewhere. */
#if defined(VK_USE_64_BIT_PTR_DEFINES) && VK_USE_64_BIT_PTR_DEFINES == 1
#define MAAR_TO_BITS(handle) ((uint64_t)(uintptr_t)(handle))
#define MAAR_FROM_BITS(type, bits) ((type)(uintptr_t)(bits))
#else
#define MAAR_TO_BITS(handle) ((uint64_t)(handle))
#define MAAR_FROM_BITS(type, bits) ((type)(bits))
#endif

/* maarCreateBuffer after its checks; internal: the memory is Maar's own and no leak. */
VkResult maar_create_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* buffer_info,
                            const MaarAllocationCreateInfo* info, bool internal, VkBuffer* buffer,
                            MaarAllocation* allocation);

/* maarDestroyBuffer without its checks, also for a poisoned allocator. */
VkResult maar_destroy_buffer(MaarAllocator allocator, const char* call, VkBuffer buffer,
                             MaarAllocation allocation);

typedef void (*maar_object_destroyer)(const struct maar_device* device, uint64_t object);
/* Ends an allocation and its object, either of which may be null; neither, and that is told, when
 * the allocation is stale. later: the same, of a retire item, where pages cannot go at once. */
VkResult maar_destroy_object(MaarAllocator allocator, const char* call, uint64_t object,
                             MaarAllocation allocation, maar_object_destroyer destroy,
                             maar_retire_action later);

#endif
