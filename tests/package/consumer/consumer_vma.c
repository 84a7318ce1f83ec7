/*
 * A program that was written for VulkanMemoryAllocator, in C99 and C++11, on a simulated device:
 * its buffers are mapped, written, read, moved to Maar's own interface and freed there. What was
 * freed is noticed. Prints what is wrong and returns 1, or else nothing and 0.
 */
#include <string.h>

#include "consumer_vma.h"

#include "consumer_device.h"

#define COUNT 100

static int create_vma(const struct consumer_device* device, VmaAllocator* allocator)
{
    VmaVulkanFunctions functions;
    VmaAllocatorCreateInfo info;
    memset(&functions, 0, sizeof functions);
    memset(&info, 0, sizeof info);
    functions.vkGetInstanceProcAddr = maarSimulatedGetInstanceProcAddr;
    functions.vkGetDeviceProcAddr = (PFN_vkGetDeviceProcAddr)maarSimulatedGetInstanceProcAddr(
        device->instance, "vkGetDeviceProcAddr");
    info.vulkanApiVersion = VK_API_VERSION_1_1;
    info.instance = device->instance;
    info.physicalDevice = device->physical;
    info.device = device->device;
    info.pVulkanFunctions = &functions;
    return vmaCreateAllocator(&info, allocator) == VK_SUCCESS ? 0
                                                              : consumer_fail("no VmaAllocator");
}

/* The bytes of one buffer hold its number. */
static int use_memory(VmaAllocator allocator, VmaAllocation allocation, unsigned number)
{
    VmaAllocationInfo info;
    void* mapped = NULL;
    vmaGetAllocationInfo(allocator, allocation, &info);
    if (info.size < 4096 || info.pMappedData == NULL) {
        return consumer_fail("an allocation is not mapped, or too small");
    }
    memset(info.pMappedData, (int)number, 4096);
    if (vmaMapMemory(allocator, allocation, &mapped) != VK_SUCCESS || mapped != info.pMappedData) {
        return consumer_fail("mapping again gives another address");
    }
    vmaUnmapMemory(allocator, allocation);
    vmaSetAllocationUserData(allocator, allocation, &info);
    vmaGetAllocationInfo(allocator, allocation, &info);
    return info.pUserData == &info ? 0 : consumer_fail("the user data is another");
}

static int read_memory(VmaAllocator allocator, VmaAllocation allocation, unsigned number)
{
    unsigned char bytes[4096];
    memset(bytes, 0xFF, sizeof bytes);
    if (vmaCopyAllocationToMemory(allocator, allocation, 0, bytes, sizeof bytes) != VK_SUCCESS) {
        return consumer_fail("an allocation cannot be read");
    }
    return bytes[0] == number && bytes[4095] == number ? 0 : consumer_fail("bytes were lost");
}

static int use_buffers(VmaAllocator allocator)
{
    VkBufferCreateInfo buffer_info;
    VmaAllocationCreateInfo how;
    VkBuffer buffers[COUNT];
    VmaAllocation allocations[COUNT];
    VmaAllocation alive;
    int wrong = 0;
    unsigned i;
    memset(&buffer_info, 0, sizeof buffer_info);
    memset(&how, 0, sizeof how);
    buffer_info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer_info.size = 4096;
    buffer_info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    how.usage = VMA_MEMORY_USAGE_AUTO;
    how.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
    for (i = 0; i < COUNT && wrong == 0; ++i) {
        if (vmaCreateBuffer(allocator, &buffer_info, &how, &buffers[i], &allocations[i], NULL) !=
            VK_SUCCESS) {
            return consumer_fail("no buffer");
        }
        wrong = use_memory(allocator, allocations[i], i);
    }
    for (i = 0; i < COUNT && wrong == 0; ++i) {
        wrong = read_memory(allocator, allocations[i], i);
        if (i % 2 == 0) {
            vmaDestroyBuffer(allocator, buffers[i], allocations[i]);
        } else {
            wrong |= free_through_maar(allocator, buffers[i], allocations[i]);
        }
    }
    /* A buffer that is alive takes the number of one that is not. */
    if (vmaCreateBuffer(allocator, &buffer_info, &how, &buffers[0], &alive, NULL) != VK_SUCCESS) {
        return consumer_fail("no buffer");
    }
    for (i = 0; i < COUNT && wrong == 0; ++i) {
        wrong = notice_stale(allocator, allocations[i]);
    }
    vmaDestroyBuffer(allocator, buffers[0], alive);
    return wrong;
}

int main(void)
{
    struct consumer_device device;
    VmaAllocator allocator = VK_NULL_HANDLE;
    int wrong;
    memset(&device, 0, sizeof device);
    if (consumer_open(&device) != 0) {
        return 1;
    }
    wrong = create_vma(&device, &allocator);
    if (wrong == 0) {
        wrong = use_buffers(allocator);
        vmaDestroyAllocator(allocator);
    }
    return wrong | consumer_close(&device);
}
