/*
 * The reader of device profiles. What it accepts must open as a simulated device and serve an
 * allocator, or be refused by either with an error.
 */
#include "support/profile.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/rig/rig.h"

/* Larger than a stack should hold, and too slow to clear when nothing was written. */
static MaarSimulatedProfile profile;

static bool is_zeroed(const MaarSimulatedProfile* read)
{
    const unsigned char* bytes = (const unsigned char*)read;
    for (size_t i = 0; i < sizeof *read; ++i) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

static void require_sound(const MaarSimulatedProfile* read)
{
    fuzz_require(read->sType == MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE && read->pNext == NULL);
    fuzz_require(memchr(read->name, 0, sizeof read->name) != NULL);
    fuzz_require(memchr(read->deviceName, 0, sizeof read->deviceName) != NULL);
    fuzz_require(memchr(read->driverName, 0, sizeof read->driverName) != NULL);
    fuzz_require(memchr(read->driverInfo, 0, sizeof read->driverInfo) != NULL);
    fuzz_require(read->heapCount >= 1 && read->heapCount <= VK_MAX_MEMORY_HEAPS);
    fuzz_require(read->typeCount >= 1 && read->typeCount <= VK_MAX_MEMORY_TYPES);
    fuzz_require(read->queueFamilyCount <= MAAR_SIMULATED_MAX_QUEUE_FAMILIES);
    fuzz_require(read->extensionCount <= MAAR_SIMULATED_MAX_EXTENSIONS);
    for (uint32_t i = 0; i < read->heapCount; ++i) {
        fuzz_require(read->heaps[i].size != 0);
    }
    for (uint32_t i = 0; i < read->typeCount; ++i) {
        fuzz_require(read->types[i].heap < read->heapCount);
    }
    for (uint32_t i = 0; i < read->extensionCount; ++i) {
        fuzz_require(memchr(read->extensions[i], 0, sizeof read->extensions[i]) != NULL);
    }
    const VkDeviceSize granularity = read->limits.bufferImageGranularity;
    fuzz_require((granularity & (granularity - 1)) == 0);
}

/* An allocator lives on it: whatever it may refuse, nothing is broken or left behind. */
static void use_device(MaarAllocator allocator, VkDeviceSize largest_buffer)
{
    const char* broken = NULL;
    for (uint32_t usage = 0; usage <= MAAR_MEMORY_USAGE_TRANSIENT; ++usage) {
        const MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)usage);
        const MaarMemoryRequest request =
            rig_request(1000, 256, UINT32_MAX, (MaarResourceKind)(usage % 3));
        const VkDeviceSize size =
            largest_buffer != 0 && largest_buffer < 3000 ? largest_buffer : 3000;
        const VkBufferCreateInfo buffer_info = rig_buffer_info(size);
        MaarAllocation allocation = VK_NULL_HANDLE;
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation buffer_memory = VK_NULL_HANDLE;
        VkResult result = maarAllocateMemory(allocator, &request, &how, &allocation);
        fuzz_require((result == VK_SUCCESS) == (allocation != VK_NULL_HANDLE));
        result = maarCreateBuffer(allocator, &buffer_info, &how, &buffer, &buffer_memory);
        fuzz_require((result == VK_SUCCESS) == (buffer != VK_NULL_HANDLE));
        fuzz_require(maarCheckAllocator(allocator, &broken) == VK_SUCCESS && broken == NULL);
        maarDestroyBuffer(allocator, buffer, buffer_memory);
        maarFreeMemory(allocator, allocation);
    }
}

static void try_device(const MaarSimulatedProfile* read)
{
    static struct rig rig;
    static const float priority = 1.0F;
    const MaarSimulatedInstanceCreateInfo simulated = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 1,
        .pProfiles = read,
    };
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_3,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = &simulated,
        .pApplicationInfo = &application,
    };
    memset(&rig, 0, sizeof rig);
    volkInitializeCustom(maarSimulatedGetInstanceProcAddr);
    if (vkCreateInstance(&info, NULL, &rig.instance) != VK_SUCCESS) {
        return;
    }
    volkLoadInstanceOnly(rig.instance);
    uint32_t count = 1;
    fuzz_require(vkEnumeratePhysicalDevices(rig.instance, &count, &rig.physical) == VK_SUCCESS);
    rig.recommendation.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    fuzz_require(maarRecommendDevice(vkGetInstanceProcAddr, rig.instance, rig.physical, NULL,
                                     &rig.recommendation) == VK_SUCCESS);
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = rig.recommendation.mainQueueFamily,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = rig.recommendation.pFeatures,
        .queueCreateInfoCount = queue.queueFamilyIndex != UINT32_MAX ? 1 : 0,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = rig.recommendation.extensionCount,
        .ppEnabledExtensionNames = rig.recommendation.ppExtensionNames,
    };
    if (vkCreateDevice(rig.physical, &device_info, NULL, &rig.device) == VK_SUCCESS) {
        volkLoadDevice(rig.device);
        MaarAllocatorCreateInfo create_info = {
            .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
            .apiVersion = VK_API_VERSION_1_3,
            .instance = rig.instance,
            .physicalDevice = rig.physical,
            .device = rig.device,
            .enabledExtensionCount = rig.recommendation.extensionCount,
            .ppEnabledExtensionNames = rig.recommendation.ppExtensionNames,
            .pEnabledFeatures = rig.recommendation.pFeatures,
        };
        maarUseVolk(&create_info);
        if (maarCreateAllocator(&create_info, &rig.allocator) == VK_SUCCESS) {
            use_device(rig.allocator, read->limits.maxBufferSize);
            maarDestroyAllocator(rig.allocator);
        }
        vkDestroyDevice(rig.device, NULL);
    }
    const MaarSimulatedCounters counters = rig_counters(&rig);
    if (queue.queueFamilyIndex != UINT32_MAX && counters.violationCount != 0) {
        char text[MAAR_SIMULATED_MAX_TEXT];
        (void)maarSimulatedGetViolation(rig.physical, 0, NULL, sizeof text, text);
        (void)fprintf(stderr, "violation: %s\n", text);
        abort();
    }
    fuzz_require(counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY] == 0);
    vkDestroyInstance(rig.instance, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    struct support_error error = {.text = ""};
    if (!support_profile_parse("fuzz.json", (const char*)data, size, &profile, &error)) {
        fuzz_require(strncmp(error.text, "fuzz.json:", 10) == 0);
        fuzz_require(is_zeroed(&profile));
        return 0;
    }
    require_sound(&profile);
    try_device(&profile);
    return 0;
}
