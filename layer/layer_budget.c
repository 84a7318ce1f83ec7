/*
 * What a physical device says: its name, heaps, types and limits once, its budgets from time to
 * time. Extensible questions are asked only where the program's version or its extensions permit
 * them.
 */
#include "layer/layer_budget.h"

#include <string.h>

#include "core/host_memory.h"
#include "core/port_time.h"
#include "layer/layer_capture.h"

/* Nanoseconds between two records of budgets. A driver asks the kernel, which takes microseconds.
 */
#define BUDGET_INTERVAL_NS ((uint64_t)100 * 1000 * 1000)

bool maar_layer_is_listed(const char* const* names, uint32_t count, const char* name)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

bool maar_layer_has_extension(const struct layer_device* device, const char* name)
{
    const PFN_vkEnumerateDeviceExtensionProperties list =
        device->instance->next.EnumerateDeviceExtensionProperties;
    uint32_t count = 0;
    bool found = false;
    if (list(device->physical, NULL, &count, NULL) != VK_SUCCESS || count == 0) {
        return false;
    }
    VkExtensionProperties* const extensions = maar_host_calloc(NULL, count, sizeof *extensions);
    if (extensions != NULL && list(device->physical, NULL, &count, extensions) >= 0) {
        for (uint32_t i = 0; i < count && !found; ++i) {
            found = strcmp(extensions[i].extensionName, name) == 0;
        }
    }
    maar_host_free(NULL, extensions);
    return found;
}

void maar_layer_record_budget(struct layer_device* device)
{
    if (!device->has_budget || device->number == 0) {
        return;
    }
    const uint64_t now = maar_now_ns();
    uint64_t next = maar_atomic64_load(&device->next_budget_ns);
    if (now < next ||
        !maar_atomic64_replace(&device->next_budget_ns, &next, now + BUDGET_INTERVAL_NS)) {
        return;
    }
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
    device->instance->next.GetPhysicalDeviceMemoryProperties2(device->physical, &properties);
    MaarCaptureBudget record = {.device = device->number,
                                .heapCount = properties.memoryProperties.memoryHeapCount};
    for (uint32_t i = 0; i < MAAR_CAPTURE_MOST_HEAPS; ++i) {
        record.budget[i] = budget.heapBudget[i];
        record.usage[i] = budget.heapUsage[i];
    }
    maar_layer_write(device, MAAR_CAPTURE_KIND_BUDGET, &record, sizeof record);
}

static void record_heaps(const struct layer_device* device,
                         const VkPhysicalDeviceMemoryProperties* memory)
{
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        const MaarCaptureHeap heap = {.device = device->number,
                                      .heap = i,
                                      .size = memory->memoryHeaps[i].size,
                                      .flags = memory->memoryHeaps[i].flags};
        maar_layer_write(device, MAAR_CAPTURE_KIND_HEAP, &heap, sizeof heap);
    }
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        const MaarCaptureType type = {.device = device->number,
                                      .type = i,
                                      .heap = memory->memoryTypes[i].heapIndex,
                                      .flags = memory->memoryTypes[i].propertyFlags};
        maar_layer_write(device, MAAR_CAPTURE_KIND_TYPE, &type, sizeof type);
    }
}

static void note_families(struct layer_device* device)
{
    VkQueueFamilyProperties families[LAYER_MOST_FAMILIES];
    uint32_t count = LAYER_MOST_FAMILIES;
    uint32_t all = 0;
    device->instance->next.GetPhysicalDeviceQueueFamilyProperties(device->physical, &all, NULL);
    count = all < count ? all : count;
    device->instance->next.GetPhysicalDeviceQueueFamilyProperties(device->physical, &count,
                                                                  families);
    for (uint32_t i = 0; i < count; ++i) {
        device->family_flags[i] = families[i].queueFlags;
    }
}

/* What only newer questions answer. */
struct newer_facts {
    VkPhysicalDeviceMaintenance3Properties limits;
    VkPhysicalDeviceIDProperties id;
    VkPhysicalDeviceDriverProperties driver;
};

static void ask_newer_facts(const struct layer_device* device, uint32_t version,
                            struct newer_facts* facts)
{
    memset(facts, 0, sizeof *facts);
    facts->limits.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
    facts->limits.pNext = &facts->id;
    facts->id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
    facts->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    if (version >= VK_API_VERSION_1_2) {
        facts->id.pNext = &facts->driver;
    }
    if (version >= VK_API_VERSION_1_1 && device->instance->next.GetPhysicalDeviceProperties2) {
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &facts->limits};
        device->instance->next.GetPhysicalDeviceProperties2(device->physical, &properties);
    }
}

void maar_layer_record_device(struct layer_device* device)
{
    const struct layer_instance_table* const ask = &device->instance->next;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    struct newer_facts facts;
    ask->GetPhysicalDeviceProperties(device->physical, &properties);
    ask->GetPhysicalDeviceMemoryProperties(device->physical, &memory);
    device->version = properties.apiVersion < device->instance->version ? properties.apiVersion
                                                                        : device->instance->version;
    device->heap_count = memory.memoryHeapCount;
    device->has_budget = device->instance->has_properties2 &&
                         ask->GetPhysicalDeviceMemoryProperties2 != NULL &&
                         maar_layer_has_extension(device, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    note_families(device);
    ask_newer_facts(device, device->version, &facts);
    MaarCaptureDevice record = {
        .device = device->number,
        .deviceType = (uint32_t)properties.deviceType,
        .vendorID = properties.vendorID,
        .deviceID = properties.deviceID,
        .driverVersion = properties.driverVersion,
        .apiVersion = properties.apiVersion,
        .heapCount = memory.memoryHeapCount,
        .typeCount = memory.memoryTypeCount,
        .bufferImageGranularity = properties.limits.bufferImageGranularity,
        .maxMemoryAllocationCount = properties.limits.maxMemoryAllocationCount,
        .nonCoherentAtomSize = properties.limits.nonCoherentAtomSize,
        .maxMemoryAllocationSize = facts.limits.maxMemoryAllocationSize,
    };
    memcpy(record.deviceUUID, facts.id.deviceUUID, sizeof record.deviceUUID);
    const char* const texts[] = {properties.deviceName, facts.driver.driverName,
                                 facts.driver.driverInfo};
    maar_layer_write_texts(device, MAAR_CAPTURE_KIND_DEVICE, &record, sizeof record, texts, 3);
    record_heaps(device, &memory);
}
