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
VkResult maar_create_buffer(MaarAllocator allocator, const VkBufferCreateInfo* buffer_info,
                            const MaarAllocationCreateInfo* info, bool internal, VkBuffer* buffer,
                            MaarAllocation* allocation);

/* Makes an allocation pending and queues the action that ends it and the object. */
VkResult maar_destroy_after(MaarAllocator allocator, uint64_t object, MaarAllocation allocation,
                            uint32_t point_count, const MaarPoint* points,
                            void (*action)(MaarAllocator allocator,
                                           const struct maar_retire_item* item));

#endif
