/*
 * The smallest users of Maar: two ranges of a space of 1024, which must fill it, and, where the
 * simulated driver came along, a buffer on a device with one heap.
 */
#include <maar/maar.h>
#include <stdio.h>
#ifdef CONSUMER_SIMULATED
#include <maar/simulated.h>
#endif

static int fail(const char* reason)
{
    puts(reason);
    return 1;
}

static int use_ranges(void)
{
    const MaarRangeAllocatorCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .size = 1024,
    };
    MaarRangeAllocator allocator;
    if (maarCreateRangeAllocator(&create_info, &allocator) != VK_SUCCESS) {
        return fail("no range allocator");
    }
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = 512,
    };
    MaarRange ranges[2];
    VkDeviceSize offsets[2] = {0, 0};
    const VkResult first = maarAllocateRange(allocator, &info, &ranges[0], &offsets[0]);
    const VkResult second = maarAllocateRange(allocator, &info, &ranges[1], &offsets[1]);
    maarDestroyRangeAllocator(allocator);
    if (first != VK_SUCCESS || second != VK_SUCCESS || offsets[0] + offsets[1] != 512) {
        return fail("two halves do not fill the space");
    }
    return 0;
}

#ifdef CONSUMER_SIMULATED
static MaarSimulatedProfile profile = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE,
    .name = "one heap",
    .deviceName = "one heap",
    .heapCount = 1,
    .heaps = {{.size = 1u << 28, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
    .typeCount = 1,
    .types = {{.flags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT}},
};

static PFN_vkVoidFunction load(VkInstance instance, const char* name)
{
    return maarSimulatedGetInstanceProcAddr(instance, name);
}

static int use_buffer(VkInstance instance, VkPhysicalDevice physical_device, VkDevice device)
{
    const MaarAllocatorCreateInfo allocator_info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .instance = instance,
        .physicalDevice = physical_device,
        .device = device,
        .pfnGetInstanceProcAddr = maarSimulatedGetInstanceProcAddr,
    };
    MaarAllocator allocator;
    if (maarCreateAllocator(&allocator_info, &allocator) != VK_SUCCESS) {
        return fail("no allocator");
    }
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 4096,
        .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
    };
    VkBuffer buffer;
    MaarAllocation allocation;
    const VkResult result = maarCreateBuffer(allocator, &buffer_info, NULL, &buffer, &allocation);
    if (result == VK_SUCCESS) {
        maarDestroyBuffer(allocator, buffer, allocation);
    }
    maarDestroyAllocator(allocator);
    return result == VK_SUCCESS ? 0 : fail("no buffer");
}

static int use_device(VkInstance instance)
{
    const PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)load(instance, "vkEnumeratePhysicalDevices");
    const PFN_vkCreateDevice create_device = (PFN_vkCreateDevice)load(instance, "vkCreateDevice");
    const PFN_vkDestroyDevice destroy_device =
        (PFN_vkDestroyDevice)load(instance, "vkDestroyDevice");
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;
    uint32_t count = 1;
    if (enumerate(instance, &count, &physical_device) != VK_SUCCESS || count != 1) {
        return fail("no physical device");
    }
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue_info,
    };
    VkDevice device;
    if (create_device(physical_device, &device_info, NULL, &device) != VK_SUCCESS) {
        return fail("no device");
    }
    const int code = use_buffer(instance, physical_device, device);
    destroy_device(device, NULL);
    return code;
}

static int use_simulated(void)
{
    const MaarSimulatedInstanceCreateInfo simulated_info = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 1,
        .pProfiles = &profile,
    };
    const VkApplicationInfo application_info = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_1,
    };
    const VkInstanceCreateInfo instance_info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = &simulated_info,
        .pApplicationInfo = &application_info,
    };
    const PFN_vkCreateInstance create_instance =
        (PFN_vkCreateInstance)load(VK_NULL_HANDLE, "vkCreateInstance");
    VkInstance instance;
    if (create_instance(&instance_info, NULL, &instance) != VK_SUCCESS) {
        return fail("no instance");
    }
    const PFN_vkDestroyInstance destroy_instance =
        (PFN_vkDestroyInstance)load(instance, "vkDestroyInstance");
    const int code = use_device(instance);
    destroy_instance(instance, NULL);
    return code;
}
#endif

int main(void)
{
    if (maarGetVersion() != MAAR_VERSION) {
        return fail("headers and library differ in version");
    }
    if (use_ranges() != 0) {
        return 1;
    }
#ifdef CONSUMER_SIMULATED
    return use_simulated();
#else
    return 0;
#endif
}
