/*
 * VulkanMemoryAllocator's header, as the program and its implementation unit include it.
 */
#ifndef CONSUMER_VMA_H
#define CONSUMER_VMA_H

#define VK_NO_PROTOTYPES
#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#include <vk_mem_alloc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In consumer_vma_unit.c, which has Maar's side: the allocation turns into Maar's and back, and
 * Maar frees it. */
int free_through_maar(VmaAllocator allocator, VkBuffer buffer, VmaAllocation allocation);
/* The use of an allocation that was freed is noticed, also where a later one has its number. */
int notice_stale(VmaAllocator allocator, VmaAllocation stale);

#ifdef __cplusplus
}
#endif

#endif
