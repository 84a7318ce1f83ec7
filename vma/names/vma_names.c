/*
 * maar::vma_names: the functions of vk_mem_alloc.h under their own names, for programs and bindings
 * that link them and have no implementation unit of their own. The structures are those of
 * version 3.4, with all that the Vulkan headers know. Vulkan's functions come from the program, by
 * VmaVulkanFunctions. The library prints nothing.
 */
#if defined(_WIN32) && defined(MAAR_SHARED)
#define VMA_CALL_PRE __declspec(dllexport)
#elif defined(__GNUC__) && defined(MAAR_SHARED)
#define VMA_CALL_PRE __attribute__((visibility("default")))
#endif
#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_ASSERT(expression)
#define MAAR_VMA_CHECKS 0
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
