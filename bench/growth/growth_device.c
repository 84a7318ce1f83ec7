/*
 * The simulated device of the growth cases: see growth_device.h.
 */
#include "growth_device.h"

#include "maar/volk.h"

#include <stdlib.h>

#define DEVICE VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define BOTH_WAYS                                                                                  \
    (VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)
#define SEMAPHORE_BOTH_WAYS                                                                        \
    (VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT)

static const MaarSimulatedSharingInfo sharing = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
    .opaqueBuffers = BOTH_WAYS,
    .opaqueImages = BOTH_WAYS,
    .sparseBuffers = BOTH_WAYS,
    .opaqueBinary = SEMAPHORE_BOTH_WAYS,
    .opaqueTimeline = SEMAPHORE_BOTH_WAYS,
    .deviceUUID = GROWTH_DEVICE_UUID,
};

/* A device without limits that a program meets at these sizes. */
static const MaarSimulatedProfile profile = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE,
    .pNext = &sharing,
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
    .typeCount = 3,
    .types = {{.heap = 0, .flags = DEVICE},
              {.heap = 1, .flags = VISIBLE | COHERENT},
              {.heap = 1, .flags = VISIBLE | CACHED}},
    .extensionCount = 4,
    .extensions = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME,
                   VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME,
                   VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME},
    .sparse =
        {
            .sparseBinding = VK_TRUE,
            .residencyBuffer = VK_TRUE,
            .residencyImage2D = VK_TRUE,
            .residencyAliased = VK_TRUE,
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
    free(growth->state);
    free(growth->spare);
    vkDestroyDevice(growth->device, NULL);
    support_instance_close(&growth->instance);
}
