/*
 * VulkanMemoryAllocator behind the interface of the device-level benchmarks.
 */
#include "bench/allocator_peer.h"

#include "bench/bench_common.h"
#include "bench/vma_name.h"

#include <vk_mem_alloc.h>

static const VmaAllocationCreateInfo memory_info = {
    .requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
};

static const VmaAllocationCreateInfo buffer_info = {.usage = VMA_MEMORY_USAGE_AUTO};

static void VKAPI_CALL on_allocate(VmaAllocator allocator, uint32_t memory_type,
                                   VkDeviceMemory memory, VkDeviceSize size, void* user_data)
{
    (void)allocator;
    (void)memory_type;
    (void)memory;
    allocator_tally_add(user_data, size);
}

static void VKAPI_CALL on_free(VmaAllocator allocator, uint32_t memory_type, VkDeviceMemory memory,
                               VkDeviceSize size, void* user_data)
{
    (void)allocator;
    (void)memory_type;
    (void)memory;
    allocator_tally_remove(user_data, size);
}

static void* create(const struct bench_device* device, const struct allocator_options* options,
                    struct allocator_tally* tally)
{
    const VmaVulkanFunctions functions = {
        .vkGetInstanceProcAddr = vkGetInstanceProcAddr,
        .vkGetDeviceProcAddr = bench_device_proc_addr,
    };
    const VmaDeviceMemoryCallbacks callbacks = {
        .pfnAllocate = on_allocate, .pfnFree = on_free, .pUserData = tally};
    const VmaAllocatorCreateInfo info = {
        .flags =
            options->externally_synchronized ? VMA_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT : 0,
        .physicalDevice = device->physical,
        .device = device->device,
        .preferredLargeHeapBlockSize = options->block_size,
        .pDeviceMemoryCallbacks = &callbacks,
        .pVulkanFunctions = &functions,
        .instance = device->instance.instance,
        .vulkanApiVersion = BENCH_API_VERSION,
    };
    VmaAllocator allocator = VK_NULL_HANDLE;
    const VkResult result = vmaCreateAllocator(&info, &allocator);
    if (result != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "vma cannot be created (%s)", maarGetResultName(result));
    }
    return allocator;
}

static void destroy(void* allocator)
{
    vmaDestroyAllocator(allocator);
}

static bool allocate(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item)
{
    const VkMemoryRequirements requirements = {
        .size = size, .alignment = alignment, .memoryTypeBits = UINT32_MAX};
    VmaAllocation allocation = VK_NULL_HANDLE;
    const VkResult result =
        vmaAllocateMemory(allocator, &requirements, &memory_info, &allocation, NULL);
    item->allocation.pointer = allocation;
    return result == VK_SUCCESS;
}

static void release(void* allocator, const struct allocator_item* item)
{
    vmaFreeMemory(allocator, item->allocation.pointer);
}

static bool create_buffer(void* allocator, VkDeviceSize size, struct allocator_item* item)
{
    const VkBufferCreateInfo info = bench_buffer_info(size);
    VmaAllocation allocation = VK_NULL_HANDLE;
    const VkResult result =
        vmaCreateBuffer(allocator, &info, &buffer_info, &item->buffer, &allocation, NULL);
    item->allocation.pointer = allocation;
    return result == VK_SUCCESS;
}

static void destroy_buffer(void* allocator, const struct allocator_item* item)
{
    vmaDestroyBuffer(allocator, item->buffer, item->allocation.pointer);
}

static void place(void* allocator, const struct allocator_item* item, struct allocator_place* out)
{
    VmaAllocationInfo2 info;
    vmaGetAllocationInfo2(allocator, item->allocation.pointer, &info);
    *out = (struct allocator_place){.memory = info.allocationInfo.deviceMemory,
                                    .offset = info.allocationInfo.offset,
                                    .block_size = info.blockSize};
}

const struct allocator_peer allocator_peer_vma = {
    .name = VMA_NAME(""),
    .on_request = VMA_ON_REQUEST,
    .create = create,
    .destroy = destroy,
    .allocate = allocate,
    .free = release,
    .create_buffer = create_buffer,
    .destroy_buffer = destroy_buffer,
    .place = place,
};
