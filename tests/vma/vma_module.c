/*
 * A library that has its own implementation unit, as a plug-in of a program has. The test loads two
 * such libraries, one of each header where there are two.
 */
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

#if defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

/* Creates an allocator and a buffer, and returns the result. */
#ifdef __cplusplus
extern "C" {
#endif
EXPORTED VkResult use_module(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                             VkPhysicalDevice physical, VkDevice device);
#ifdef __cplusplus
}
#endif

VkResult use_module(PFN_vkGetInstanceProcAddr get, VkInstance instance, VkPhysicalDevice physical,
                    VkDevice device)
{
    VmaVulkanFunctions functions;
    VmaAllocatorCreateInfo info;
    VmaAllocationCreateInfo how;
    VkBufferCreateInfo buffer_info;
    VmaAllocator allocator = VK_NULL_HANDLE;
    VmaAllocation allocation = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    memset(&functions, 0, sizeof functions);
    memset(&info, 0, sizeof info);
    memset(&how, 0, sizeof how);
    memset(&buffer_info, 0, sizeof buffer_info);
    functions.vkGetInstanceProcAddr = get;
    functions.vkGetDeviceProcAddr = (PFN_vkGetDeviceProcAddr)get(instance, "vkGetDeviceProcAddr");
    info.instance = instance;
    info.physicalDevice = physical;
    info.device = device;
    info.pVulkanFunctions = &functions;
    info.vulkanApiVersion = VK_API_VERSION_1_1;
    how.usage = VMA_MEMORY_USAGE_AUTO;
    buffer_info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer_info.size = 65536;
    buffer_info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    VkResult result = vmaCreateAllocator(&info, &allocator);
    if (result == VK_SUCCESS) {
        result = vmaCreateBuffer(allocator, &buffer_info, &how, &buffer, &allocation, NULL);
        vmaDestroyBuffer(allocator, buffer, allocation);
        vmaDestroyAllocator(allocator);
    }
    return result;
}
