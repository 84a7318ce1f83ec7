/*
 * The simulated device of the growth cases, and the steps that cases share: see growth.h.
 */
#include "growth_device.h"

#include "maar/volk.h"

#include <stdlib.h>

#define DEVICE VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT

/* A device without limits that a program meets at these sizes. */
static const MaarSimulatedProfile profile = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE,
    .name = "growth",
    .deviceName = "Simulated device of the growth cases",
    .deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
    .apiVersion = VK_API_VERSION_1_3,
    .limits =
        {
            .bufferImageGranularity = 1024,
            .nonCoherentAtomSize = 64,
            .maxMemoryAllocationCount = 100000000,
            .minMemoryMapAlignment = 64,
            .minUniformBufferOffsetAlignment = 256,
            .minStorageBufferOffsetAlignment = 16,
            .minTexelBufferOffsetAlignment = 16,
            .maxStorageBufferRange = UINT32_MAX,
            .sparseAddressSpaceSize = (VkDeviceSize)1 << 47,
            .maxMemoryAllocationSize = (VkDeviceSize)1 << 40,
        },
    .heapCount = 2,
    .heaps = {{.size = (VkDeviceSize)1 << 46, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
              {.size = (VkDeviceSize)1 << 46}},
    .typeCount = 2,
    .types = {{.heap = 0, .flags = DEVICE}, {.heap = 1, .flags = VISIBLE | COHERENT}},
    .extensionCount = 1,
    .extensions = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME},
    .sparse =
        {
            .sparseBinding = VK_TRUE,
            .residencyBuffer = VK_TRUE,
            .residencyImage2D = VK_TRUE,
        },
};

void growth_open(struct growth* growth)
{
    const MaarSimulatedInstanceCreateInfo simulated = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .profileCount = 1,
        .pProfiles = &profile,
        .pfnViolation = bench_receive_violation,
    };
    const struct support_instance_info info = {
        .application = "bench_growth", .api_version = VK_API_VERSION_1_3, .simulated = &simulated};
    uint32_t one = 1;
    bench_expect(support_instance_open(&growth->instance, &info), "vkCreateInstance");
    bench_expect(vkEnumeratePhysicalDevices(growth->instance.instance, &one, &growth->physical),
                 "vkEnumeratePhysicalDevices");
    growth->advice.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    bench_expect(maarRecommendDevice(vkGetInstanceProcAddr, growth->instance.instance,
                                     growth->physical, NULL, &growth->advice),
                 "maarRecommendDevice");
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = growth->advice.pFeatures,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = growth->advice.extensionCount,
        .ppEnabledExtensionNames = growth->advice.ppExtensionNames,
    };
    bench_expect(vkCreateDevice(growth->physical, &device, NULL, &growth->device),
                 "vkCreateDevice");
    volkLoadDevice(growth->device);
    vkGetDeviceQueue(growth->device, 0, 0, &growth->queue);
    growth->queues[0] = (MaarQueue){.queue = growth->queue};
    growth->allocator_info = (MaarAllocatorCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = VK_API_VERSION_1_3,
        .instance = growth->instance.instance,
        .physicalDevice = growth->physical,
        .device = growth->device,
        .enabledExtensionCount = growth->advice.extensionCount,
        .ppEnabledExtensionNames = growth->advice.ppExtensionNames,
        .pEnabledFeatures = growth->advice.pFeatures,
        .queueCount = 1,
        .pQueues = growth->queues,
    };
    maarUseVolk(&growth->allocator_info);
    growth->random = BENCH_SEED;
}

void growth_close(struct growth* growth)
{
    maarDestroyAllocator(growth->allocator);
    free(growth->memory);
    vkDestroyDevice(growth->device, NULL);
    support_instance_close(&growth->instance);
}

void growth_create_allocator(struct growth* growth)
{
    bench_expect(maarCreateAllocator(&growth->allocator_info, &growth->allocator),
                 "maarCreateAllocator");
}

MaarMemoryRequest growth_request(VkDeviceSize size, VkDeviceSize alignment)
{
    return (MaarMemoryRequest){
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = size, .alignment = alignment, .memoryTypeBits = 1},
        .kind = MAAR_RESOURCE_KIND_LINEAR,
    };
}

void growth_fill(struct growth* growth, uint32_t count, VkDeviceSize size)
{
    const MaarMemoryRequest request = growth_request(size, 256);
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = growth->pool,
    };
    growth->memory = bench_allocate(count, sizeof *growth->memory);
    for (uint32_t i = 0; i < count; ++i) {
        bench_expect(maarAllocateMemory(growth->allocator, &request, &info, &growth->memory[i]),
                     "maarAllocateMemory");
    }
}

MaarPool growth_create_pool(struct growth* growth, VkDeviceSize block_size, uint32_t max_blocks)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = block_size,
        .maxBlockCount = max_blocks,
        .retainedEmptySize = UINT64_MAX,
    };
    MaarPool pool = VK_NULL_HANDLE;
    bench_expect(maarCreatePool(growth->allocator, &info, &pool), "maarCreatePool");
    return pool;
}

VkSemaphore growth_create_timeline(struct growth* growth)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    bench_expect(vkCreateSemaphore(growth->device, &info, NULL, &semaphore), "vkCreateSemaphore");
    return semaphore;
}
