/*
 * The unit of draw_with_vma.c that holds the implementation, as each program of
 * VulkanMemoryAllocator has one.
 */
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
