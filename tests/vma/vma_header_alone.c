/*
 * The header alone, in whichever language and configuration the test compiles it: both names of the
 * file, twice.
 */
#ifdef MAAR_HEADER_VOLK
#include <volk.h>
#endif
#include <vk_mem_alloc.h>

#include <vma/vk_mem_alloc.h>

int main(void);

int main(void)
{
#if !defined(__cplusplus) || __cplusplus >= 202002L
    /* Designated initialisers name members in the order of the structures. */
    const VmaAllocationCreateInfo how = {.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT,
                                         .usage = VMA_MEMORY_USAGE_AUTO,
                                         .requiredFlags = 0,
                                         .preferredFlags = 0,
                                         .memoryTypeBits = 0,
                                         .pool = VK_NULL_HANDLE,
                                         .pUserData = NULL,
                                         .priority = 0.5f};
    const VmaAllocatorCreateInfo allocator_info = {.flags = 0,
                                                   .physicalDevice = VK_NULL_HANDLE,
                                                   .device = VK_NULL_HANDLE,
                                                   .preferredLargeHeapBlockSize = 0,
                                                   .pAllocationCallbacks = NULL,
                                                   .pDeviceMemoryCallbacks = NULL,
                                                   .pHeapSizeLimit = NULL,
                                                   .pVulkanFunctions = NULL,
                                                   .instance = VK_NULL_HANDLE,
                                                   .vulkanApiVersion = 0};
    const VmaPoolCreateInfo pool_info = {.memoryTypeIndex = 0,
                                         .flags = 0,
                                         .blockSize = 0,
                                         .minBlockCount = 0,
                                         .maxBlockCount = 0,
                                         .priority = 0.5f,
                                         .minAllocationAlignment = 0,
                                         .pMemoryAllocateNext = NULL};
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = NULL,
                                          .vkGetDeviceProcAddr = NULL,
                                          .vkAllocateMemory = NULL,
                                          .vkCmdCopyBuffer = NULL};
    const VmaDefragmentationInfo run_info = {
        .flags = 0, .pool = VK_NULL_HANDLE, .maxBytesPerPass = 0, .maxAllocationsPerPass = 0};
    const VmaVirtualBlockCreateInfo block_info = {
        .size = 1, .flags = 0, .pAllocationCallbacks = NULL};
    const VmaVirtualAllocationCreateInfo range_info = {
        .size = 1, .alignment = 0, .flags = 0, .pUserData = NULL};
    const int named = how.pool == VK_NULL_HANDLE && allocator_info.flags == 0 &&
                      pool_info.flags == 0 && functions.vkAllocateMemory == NULL &&
                      run_info.flags == 0 && block_info.size == range_info.size;
#else
    const VmaAllocationCreateInfo how = {VMA_ALLOCATION_CREATE_MAPPED_BIT,
                                         VMA_MEMORY_USAGE_AUTO,
                                         0,
                                         0,
                                         0,
                                         VK_NULL_HANDLE,
                                         NULL,
                                         0.5f};
    const int named = how.pool == VK_NULL_HANDLE;
#endif
    VmaAllocation allocation = VK_NULL_HANDLE;
    return named && allocation == VK_NULL_HANDLE ? 0 : 1;
}
