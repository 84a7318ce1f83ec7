/*
 * Opens two devices of one driver; see sharing_device.h.
 */
#include "bench/sharing_device.h"

#include "bench/bench_common.h"

#include <string.h>

static struct sharing_devices* open_devices;
static struct sharing_counts counts;

void sharing_reset_counts(void)
{
    counts = (struct sharing_counts){0};
}

struct sharing_counts sharing_get_counts(void)
{
    return counts;
}

static const struct VolkDeviceTable* find_table(VkDevice device)
{
    const struct sharing_side* const sides = open_devices->sides;
    return &sides[sides[SHARING_IMPORTER].handle == device].table;
}

static bool is_import(const VkMemoryAllocateInfo* info)
{
    const VkBaseInStructure* link = info->pNext;
    while (link != NULL && link->sType != VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR) {
        link = link->pNext;
    }
    return link != NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL sharing_allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                                const VkAllocationCallbacks* callbacks,
                                                VkDeviceMemory* memory)
{
    const VkResult result = find_table(device)->vkAllocateMemory(device, info, callbacks, memory);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (is_import(info)) {
        counts.imports += 1;
        counts.imported += info->allocationSize;
    } else {
        counts.allocations += 1;
        counts.reserved += info->allocationSize;
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL sharing_free(VkDevice device, VkDeviceMemory memory,
                                        const VkAllocationCallbacks* callbacks)
{
    find_table(device)->vkFreeMemory(device, memory, callbacks);
    counts.frees += 1;
}

VKAPI_ATTR VkResult VKAPI_CALL sharing_get_fd(VkDevice device, const VkMemoryGetFdInfoKHR* info,
                                              int* fd)
{
    counts.exports += 1;
    return find_table(device)->vkGetMemoryFdKHR(device, info, fd);
}

PFN_vkVoidFunction VKAPI_CALL sharing_proc_addr(VkDevice device, const char* name)
{
    if (strcmp(name, "vkAllocateMemory") == 0) {
        return (PFN_vkVoidFunction)sharing_allocate;
    }
    if (strcmp(name, "vkFreeMemory") == 0) {
        return (PFN_vkVoidFunction)sharing_free;
    }
    if (strcmp(name, "vkGetMemoryFdKHR") == 0) {
        return (PFN_vkVoidFunction)sharing_get_fd;
    }
    return vkGetDeviceProcAddr(device, name);
}

VkBufferCreateInfo sharing_buffer_info(VkDeviceSize size)
{
    static const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = SHARING_TYPE,
    };
    return (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = &external,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
}

static void require_sharing(const struct sharing_devices* devices)
{
    const char* const name = devices->base.properties.deviceName;
    bool has_extension = false;
    for (uint32_t i = 0; i < devices->advice.extensionCount; ++i) {
        has_extension |= strcmp(devices->advice.ppExtensionNames[i],
                                VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) == 0;
    }
    const VkBufferCreateInfo buffer = sharing_buffer_info(1);
    const VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = buffer.usage,
        .handleType = SHARING_TYPE,
    };
    VkExternalBufferProperties found = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vkGetPhysicalDeviceExternalBufferProperties(devices->base.physical, &info, &found);
    const VkExternalMemoryFeatureFlags features =
        found.externalMemoryProperties.externalMemoryFeatures;
    if (!has_extension || (features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) == 0 ||
        (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) == 0) {
        bench_die(BENCH_EXIT_USAGE, "%s: cannot share buffers by opaque file descriptors", name);
    }
    if ((features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0) {
        bench_die(BENCH_EXIT_USAGE, "%s: requires a dedicated memory for each shared buffer", name);
    }
    if (devices->advice.mainQueueFamily == UINT32_MAX ||
        !devices->advice.timelineSemaphore.timelineSemaphore) {
        bench_die(BENCH_EXIT_USAGE, "%s: no queue or no timelines", name);
    }
}

static void open_side(const struct sharing_devices* devices, struct sharing_side* side)
{
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = devices->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = devices->advice.pFeatures,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = devices->advice.extensionCount,
        .ppEnabledExtensionNames = devices->advice.ppExtensionNames,
    };
    bench_expect(vkCreateDevice(devices->base.physical, &info, NULL, &side->handle),
                 "vkCreateDevice");
    volkLoadDeviceTable(&side->table, side->handle);
    side->table.vkGetDeviceQueue(side->handle, devices->family, 0, &side->queue);
}

/* Returns the first host-visible memory type for buffers, DEVICE_LOCAL if possible. */
static uint32_t choose_type(const struct sharing_devices* devices)
{
    const struct sharing_side* const side = &devices->sides[SHARING_EXPORTER];
    const VkBufferCreateInfo info = sharing_buffer_info(65536);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    bench_expect(side->table.vkCreateBuffer(side->handle, &info, NULL, &buffer), "vkCreateBuffer");
    side->table.vkGetBufferMemoryRequirements(side->handle, buffer, &needs);
    side->table.vkDestroyBuffer(side->handle, buffer, NULL);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(devices->base.physical, &memory);
    const VkMemoryPropertyFlags visible =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags wishes[] = {visible | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, visible};
    for (size_t wish = 0; wish < sizeof(wishes) / sizeof(wishes[0]); ++wish) {
        for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
            const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
            if ((needs.memoryTypeBits >> i & 1) != 0 && (flags & wishes[wish]) == wishes[wish]) {
                return i;
            }
        }
    }
    bench_die(BENCH_EXIT_USAGE, "%s: no host-visible memory type",
              devices->base.properties.deviceName);
}

void sharing_open(struct sharing_devices* devices, const char* name)
{
    const struct bench_heaps heaps = {{0}};
    bench_device_open(&devices->base, name, &heaps);
    devices->advice.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    bench_expect(maarRecommendDevice(vkGetInstanceProcAddr, devices->base.instance.instance,
                                     devices->base.physical, NULL, &devices->advice),
                 "maarRecommendDevice");
    require_sharing(devices);
    devices->family = devices->advice.mainQueueFamily;
    open_devices = devices;
    for (int i = 0; i < SHARING_SIDES; ++i) {
        open_side(devices, &devices->sides[i]);
    }
    devices->type_index = choose_type(devices);
}

void sharing_close(struct sharing_devices* devices)
{
    for (int i = 0; i < SHARING_SIDES; ++i) {
        devices->sides[i].table.vkDestroyDevice(devices->sides[i].handle, NULL);
    }
    bench_device_close(&devices->base);
}

MaarAllocator sharing_make_maar(const struct sharing_devices* devices, int side)
{
    const MaarQueue queue = {.familyIndex = devices->family, .queue = devices->sides[side].queue};
    const MaarAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = BENCH_API_VERSION,
        .instance = devices->base.instance.instance,
        .physicalDevice = devices->base.physical,
        .device = devices->sides[side].handle,
        .enabledExtensionCount = devices->advice.extensionCount,
        .ppEnabledExtensionNames = devices->advice.ppExtensionNames,
        .pEnabledFeatures = devices->advice.pFeatures,
        .queueCount = 1,
        .pQueues = &queue,
        .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
        .pfnGetDeviceProcAddr = sharing_proc_addr,
    };
    MaarAllocator allocator = VK_NULL_HANDLE;
    bench_expect(maarCreateAllocator(&info, &allocator), "maarCreateAllocator");
    return allocator;
}
