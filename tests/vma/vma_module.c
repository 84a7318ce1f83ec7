/*
 * A library that has its own implementation unit, as a plug-in of a program has. The test loads
 * several such libraries, of each header and of each version of the structures that it can.
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

/* There is nothing to move. */
static VkResult run_passes(VmaAllocator allocator, const VmaDefragmentationInfo* info)
{
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    VmaDefragmentationPassMoveInfo pass;
    VkResult result = vmaBeginDefragmentation(allocator, info, &context);
    if (result == VK_SUCCESS) {
        result = vmaBeginDefragmentationPass(allocator, context, &pass);
        vmaEndDefragmentation(allocator, context, NULL);
    }
    return result;
}

VkResult use_module(PFN_vkGetInstanceProcAddr get, VkInstance instance, VkPhysicalDevice physical,
                    VkDevice device)
{
    VmaVulkanFunctions functions;
    VmaAllocatorCreateInfo info;
    /* What follows a structure is the program's own, and no later member of it. */
    struct {
        VmaAllocationCreateInfo info;
        uint64_t beyond[2];
    } how;
    struct {
        VmaDefragmentationInfo info;
        uint64_t beyond[2];
    } run;
    VkBufferCreateInfo buffer_info;
    VmaAllocator allocator = VK_NULL_HANDLE;
    VmaAllocation allocation = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    memset(&functions, 0, sizeof functions);
    memset(&info, 0, sizeof info);
    memset(&how, 0xCC, sizeof how);
    memset(&how.info, 0, sizeof how.info);
    memset(&run, 0xCC, sizeof run);
    memset(&run.info, 0, sizeof run.info);
    memset(&buffer_info, 0, sizeof buffer_info);
    functions.vkGetInstanceProcAddr = get;
    functions.vkGetDeviceProcAddr = (PFN_vkGetDeviceProcAddr)get(instance, "vkGetDeviceProcAddr");
    info.instance = instance;
    info.physicalDevice = physical;
    info.device = device;
    info.pVulkanFunctions = &functions;
    info.vulkanApiVersion = VK_API_VERSION_1_1;
    how.info.usage = VMA_MEMORY_USAGE_AUTO;
    buffer_info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer_info.size = 65536;
    buffer_info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    VkResult result = vmaCreateAllocator(&info, &allocator);
    if (result == VK_SUCCESS) {
        result = vmaCreateBuffer(allocator, &buffer_info, &how.info, &buffer, &allocation, NULL);
        if (result == VK_SUCCESS) {
            result = run_passes(allocator, &run.info);
        }
        vmaDestroyBuffer(allocator, buffer, allocation);
        vmaDestroyAllocator(allocator);
    }
    return result;
}
