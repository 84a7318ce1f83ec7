/*
 * A simulated device with an allocator on it.
 */
#include "consumer_device.h"

#include <stdio.h>

int consumer_fail(const char* reason)
{
    puts(reason);
    return 1;
}

static void VKAPI_CALL print_message(void* user_data, const MaarMessage* report)
{
    (void)user_data;
    printf("maar: %s\n", report->pText);
}

static const MaarSimulatedProfile profile = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE,
    .name = "consumer",
    .deviceName = "consumer",
    .limits = {.bufferImageGranularity = 1024,
               .nonCoherentAtomSize = 64,
               .sparseAddressSpaceSize = (VkDeviceSize)1 << 40},
    .heapCount = 2,
    .heaps = {{.size = (VkDeviceSize)1 << 30, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
              {.size = (VkDeviceSize)1 << 30}},
    .typeCount = 2,
    .types = {{.heap = 0, .flags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
              {.heap = 1,
               .flags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                        VK_MEMORY_PROPERTY_HOST_CACHED_BIT}},
    .sparse = {.sparseBinding = VK_TRUE, .residencyBuffer = VK_TRUE},
};

static PFN_vkVoidFunction load(const struct consumer_device* d, const char* name)
{
    return maarSimulatedGetInstanceProcAddr(d->instance, name);
}

static int create_instance(struct consumer_device* d)
{
    const MaarSimulatedInstanceCreateInfo simulated_info = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 1,
        .pProfiles = &profile,
    };
    const VkApplicationInfo application_info = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_3,
    };
    const VkInstanceCreateInfo instance_info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = &simulated_info,
        .pApplicationInfo = &application_info,
    };
    const PFN_vkCreateInstance create = (PFN_vkCreateInstance)load(d, "vkCreateInstance");
    if (create(&instance_info, NULL, &d->instance) != VK_SUCCESS) {
        return consumer_fail("no instance");
    }
    const PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)load(d, "vkEnumeratePhysicalDevices");
    uint32_t count = 1;
    if (enumerate(d->instance, &count, &d->physical) != VK_SUCCESS || count != 1) {
        return consumer_fail("no physical device");
    }
    /* Transients share bytes, which is what they are for. */
    maarSimulatedSetFlags(d->physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    return 0;
}

static int create_device(struct consumer_device* d)
{
    d->advice.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    if (maarRecommendDevice(maarSimulatedGetInstanceProcAddr, d->instance, d->physical, NULL,
                            &d->advice) != VK_SUCCESS) {
        return consumer_fail("no recommendation");
    }
    if (d->advice.sparseQueueFamily != d->advice.mainQueueFamily) {
        return consumer_fail("the one queue family should do everything");
    }
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = d->advice.mainQueueFamily,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = d->advice.pFeatures,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue_info,
        .enabledExtensionCount = d->advice.extensionCount,
        .ppEnabledExtensionNames = d->advice.ppExtensionNames,
    };
    const PFN_vkCreateDevice create = (PFN_vkCreateDevice)load(d, "vkCreateDevice");
    return create(d->physical, &device_info, NULL, &d->device) == VK_SUCCESS
               ? 0
               : consumer_fail("no device");
}

static int create_allocator(struct consumer_device* d)
{
    MaarQueue queue = {.familyIndex = d->advice.mainQueueFamily};
    const PFN_vkGetDeviceQueue get = (PFN_vkGetDeviceQueue)load(d, "vkGetDeviceQueue");
    get(d->device, queue.familyIndex, 0, &queue.queue);
    const MaarAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = VK_API_VERSION_1_3,
        .instance = d->instance,
        .physicalDevice = d->physical,
        .device = d->device,
        .pfnGetInstanceProcAddr = maarSimulatedGetInstanceProcAddr,
        .enabledExtensionCount = d->advice.extensionCount,
        .ppEnabledExtensionNames = d->advice.ppExtensionNames,
        .pEnabledFeatures = d->advice.pFeatures,
        .queueCount = 1,
        .pQueues = &queue,
        .pfnMessage = print_message,
    };
    return maarCreateAllocator(&info, &d->allocator) == VK_SUCCESS ? 0
                                                                   : consumer_fail("no allocator");
}

int consumer_open(struct consumer_device* d)
{
    const int wrong = create_instance(d) != 0 || create_device(d) != 0 || create_allocator(d) != 0;
    if (wrong) {
        (void)consumer_close(d);
    }
    return wrong;
}

int consumer_close(struct consumer_device* d)
{
    int wrong = 0;
    if (d->allocator != VK_NULL_HANDLE) {
        MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
        const char* broken = NULL;
        if (maarCheckAllocator(d->allocator, &broken) != VK_SUCCESS) {
            wrong = consumer_fail(broken != NULL ? broken : "the check failed");
        }
        if (maarGetStatistics(d->allocator, VK_NULL_HANDLE, &statistics) != VK_SUCCESS ||
            statistics.allocationCount != 0) {
            wrong = consumer_fail("allocations were left behind");
        }
        maarDestroyAllocator(d->allocator);
    }
    if (d->device != VK_NULL_HANDLE) {
        MaarSimulatedViolation violation;
        char text[MAAR_SIMULATED_MAX_TEXT];
        if (maarSimulatedGetViolation(d->physical, 0, &violation, sizeof text, text)) {
            wrong = consumer_fail(text);
        }
        ((PFN_vkDestroyDevice)load(d, "vkDestroyDevice"))(d->device, NULL);
    }
    if (d->instance != VK_NULL_HANDLE) {
        ((PFN_vkDestroyInstance)load(d, "vkDestroyInstance"))(d->instance, NULL);
    }
    return wrong;
}
