/*
 * Opens a real Vulkan device: fills the table of core/device.h from the caller's entry points and
 * queries the facts. This file contains no policy.
 *
 * A capability is on only if the program declares that it enabled the capability. A capability that
 * the device merely offers is off.
 */
#include "core/device.h"

#include <stddef.h>
#include <string.h>

#include "backends/vulkan/feature_chain.h"

enum { FALLBACK_ALLOCATION_COUNT = 4096 };

static bool has_extension(const struct maar_device_open_info* info, const char* name)
{
    for (uint32_t i = 0; i < info->extension_count; ++i) {
        if (info->extensions[i] != NULL && strcmp(info->extensions[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_instance_extension(const struct maar_device_open_info* info, const char* name)
{
    for (uint32_t i = 0; i < info->instance_extension_count; ++i) {
        if (info->instance_extensions[i] != NULL &&
            strcmp(info->instance_extensions[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns a function of the program's table, or NULL. */
static PFN_vkVoidFunction find_given(const struct maar_device_open_info* info, const char* name)
{
    for (uint32_t i = 0; i < info->source.function_count; ++i) {
        const MaarNamedFunction* given = &info->source.functions[i];
        if (given->pName != NULL && given->pfnFunction != NULL && strcmp(given->pName, name) == 0) {
            return given->pfnFunction;
        }
    }
    return NULL;
}

static PFN_vkVoidFunction instance_function(const struct maar_device_open_info* info,
                                            const char* name)
{
    const PFN_vkVoidFunction given = find_given(info, name);
    return given != NULL || info->source.get_instance_proc_addr == NULL
               ? given
               : info->source.get_instance_proc_addr(info->instance, name);
}

static PFN_vkVoidFunction device_function(const struct maar_device_open_info* info,
                                          const char* name)
{
    const PFN_vkVoidFunction given = find_given(info, name);
    return given != NULL || info->source.get_device_proc_addr == NULL
               ? given
               : info->source.get_device_proc_addr(info->device, name);
}

/* Looks a function up by its core name if the version in use has it, else by the extension's name.
 * A driver may return a function that the program's version does not know, but nobody may call it.
 */
static PFN_vkVoidFunction versioned_function(const struct maar_device_open_info* info, bool core,
                                             const char* core_name, const char* extension_name)
{
    PFN_vkVoidFunction function = device_function(info, core ? core_name : extension_name);
    return function != NULL || !core ? function : device_function(info, extension_name);
}

/* Loads what every instance has. The functions beyond memory may be missing in a program's table.
 */
static const char* load_first_instance_functions(const struct maar_device_open_info* info,
                                                 struct maar_device* device)
{
#define LOAD_OLD(name, old) device->old = (PFN_##old)instance_function(info, #old);
    MAAR_INSTANCE_FUNCTIONS(LOAD_OLD)
#undef LOAD_OLD
    return device->vkGetPhysicalDeviceProperties == NULL ? "vkGetPhysicalDeviceProperties"
           : device->vkGetPhysicalDeviceMemoryProperties == NULL
               ? "vkGetPhysicalDeviceMemoryProperties"
               : NULL;
}

/* Loads the newer functions where the program may call them. Vulkan 1.1 has them all, so that one
 * which its entry points do not know means that the instance was created for 1.0. */
static const char* load_newer_instance_functions(const struct maar_device_open_info* info,
                                                 struct maar_device* device)
{
    const bool core = device->facts.api_version >= VK_API_VERSION_1_1;
    if (!core &&
        !has_instance_extension(info, VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME)) {
        return NULL;
    }
#define LOAD_NEWER(name, old)                                                                      \
    device->name = (PFN_##name)instance_function(info, core ? #name : #name "KHR");                \
    if (device->name == NULL && info->source.get_instance_proc_addr != NULL) {                     \
        return core ? #name : #name "KHR";                                                         \
    }
    MAAR_INSTANCE_FUNCTIONS(LOAD_NEWER)
#undef LOAD_NEWER
    if (core) {
#define LOAD_OPTIONAL(name) device->name = (PFN_##name)instance_function(info, #name);
        MAAR_OPTIONAL_INSTANCE_FUNCTIONS(LOAD_OPTIONAL)
#undef LOAD_OPTIONAL
    }
    return NULL;
}

/* Whether one of two pointers to functions is missing, and the newer one must not be. */
static bool lacks_both(bool has_newer, bool has_old, bool core, bool has_entry_points)
{
    return !has_newer && (!has_old || (core && has_entry_points));
}

static const char* load_device_functions(const struct maar_device_open_info* info,
                                         struct maar_device* device)
{
    const bool core = device->facts.api_version >= VK_API_VERSION_1_1;
    const bool has_entry_points = info->source.get_device_proc_addr != NULL;
#define LOAD_DEVICE(name)                                                                          \
    device->name = (PFN_##name)device_function(info, #name);                                       \
    if (device->name == NULL) {                                                                    \
        return #name;                                                                              \
    }
#define LOAD_EITHER(name, extension, older)                                                        \
    if (core || has_extension(info, extension)) {                                                  \
        device->name = (PFN_##name)device_function(info, core ? #name : #name "KHR");              \
    }                                                                                              \
    device->older = (PFN_##older)device_function(info, #older);                                    \
    if (lacks_both(device->name != NULL, device->older != NULL, core, has_entry_points)) {         \
        return core ? #name : #older;                                                              \
    }
    MAAR_DEVICE_FUNCTIONS(LOAD_DEVICE)
    MAAR_NEWER_DEVICE_FUNCTIONS(LOAD_EITHER)
#undef LOAD_EITHER
#undef LOAD_DEVICE
    return NULL;
}

/* Loads the functions beyond memory and objects, and notes which are missing. */
static void load_function_groups(const struct maar_device_open_info* info,
                                 struct maar_device* device)
{
    const char** missing = device->facts.missing;
#define LOAD_GROUPED(name, group)                                                                  \
    device->name = (PFN_##name)device_function(info, #name);                                       \
    if (device->name == NULL && missing[MAAR_FUNCTIONS_##group] == NULL) {                         \
        missing[MAAR_FUNCTIONS_##group] = #name;                                                   \
    }
    MAAR_GROUPED_DEVICE_FUNCTIONS(LOAD_GROUPED)
#undef LOAD_GROUPED
    if (device->facts.api_version < VK_API_VERSION_1_1 &&
        device->vkGetImageSparseMemoryRequirements2 == NULL) {
        device->vkGetImageSparseMemoryRequirements2 =
            (PFN_vkGetImageSparseMemoryRequirements2)device_function(
                info, "vkGetImageSparseMemoryRequirements2KHR");
    }
    if (device->vkGetPhysicalDeviceQueueFamilyProperties == NULL) {
        missing[MAAR_FUNCTIONS_SUBMISSIONS] = "vkGetPhysicalDeviceQueueFamilyProperties";
    }
    if (device->vkGetPhysicalDeviceSparseImageFormatProperties2 == NULL) {
        missing[MAAR_FUNCTIONS_SPARSE] = "vkGetPhysicalDeviceSparseImageFormatProperties2";
    }
    if (device->vkGetPhysicalDeviceImageFormatProperties2 == NULL &&
        device->vkGetPhysicalDeviceImageFormatProperties == NULL) {
        missing[MAAR_FUNCTIONS_FORMATS] = "vkGetPhysicalDeviceImageFormatProperties";
    }
}

/* Returns the smallest power of two that is at least the driver's value, or the largest power
 * of two. The rest of Maar cannot compute with a granularity of 0 or one that is not a power
 * of two. */
static VkDeviceSize sane_granularity(VkDeviceSize value)
{
    if (value == 0) {
        return 1;
    }
    VkDeviceSize power = 1;
    while (power < value && power <= UINT64_MAX / 2) {
        power <<= 1;
    }
    return power;
}

/* Reads the largest allocation; 0 if it is unknown. */
static VkDeviceSize query_max_allocation_size(const struct maar_device_open_info* info,
                                              const struct maar_device* device)
{
    VkPhysicalDeviceMaintenance3Properties maintenance3 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &maintenance3,
    };
    const bool has_limit = device->facts.api_version >= VK_API_VERSION_1_1 ||
                           has_extension(info, VK_KHR_MAINTENANCE_3_EXTENSION_NAME);
    if (device->vkGetPhysicalDeviceProperties2 != NULL && has_limit) {
        device->vkGetPhysicalDeviceProperties2(device->physical, &properties);
    }
    return maintenance3.maxMemoryAllocationSize;
}

static void query_limits(const struct maar_device_open_info* info, struct maar_device* device)
{
    struct maar_device_facts* facts = &device->facts;
    const VkPhysicalDeviceLimits* limits = &facts->properties.limits;
    device->vkGetPhysicalDeviceMemoryProperties(device->physical, &facts->memory);
    facts->granularity = sane_granularity(limits->bufferImageGranularity);
    facts->atom = sane_granularity(limits->nonCoherentAtomSize);
    facts->max_allocation_count = limits->maxMemoryAllocationCount;
    if (facts->max_allocation_count == 0) {
        facts->max_allocation_count = FALLBACK_ALLOCATION_COUNT;
    }
    facts->max_allocation_size = query_max_allocation_size(info, device);
    if (facts->max_allocation_size == 0) {
        for (uint32_t i = 0; i < facts->memory.memoryHeapCount; ++i) {
            if (facts->memory.memoryHeaps[i].size > facts->max_allocation_size) {
                facts->max_allocation_size = facts->memory.memoryHeaps[i].size;
            }
        }
    }
}

static void query_queue_families(struct maar_device* device)
{
    struct maar_device_facts* facts = &device->facts;
    VkQueueFamilyProperties families[MAAR_MAX_QUEUE_FAMILIES];
    uint32_t count = 0;
    if (device->vkGetPhysicalDeviceQueueFamilyProperties == NULL) {
        return;
    }
    memset(families, 0, sizeof families);
    /* One known driver, SwiftShader, fills every offered element, also beyond the number of
     * its own. */
    device->vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, NULL);
    count = count < MAAR_MAX_QUEUE_FAMILIES ? count : MAAR_MAX_QUEUE_FAMILIES;
    device->vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
    facts->queue_family_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        facts->queue_flags[i] = families[i].queueFlags;
    }
}

static VkDeviceSize query_max_buffer_size(const struct maar_device* device)
{
    VkPhysicalDeviceMaintenance4Properties maintenance4 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &maintenance4,
    };
    device->vkGetPhysicalDeviceProperties2(device->physical, &properties);
    return maintenance4.maxBufferSize != 0 ? maintenance4.maxBufferSize : UINT64_MAX;
}

static void query_identity(const struct maar_device_open_info* info, struct maar_device* device)
{
    struct maar_device_facts* facts = &device->facts;
    const bool has_id =
        facts->api_version >= VK_API_VERSION_1_1 ||
        has_instance_extension(info, VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_EXTENSION_NAME);
    if (device->vkGetPhysicalDeviceProperties2 == NULL || !has_id) {
        return;
    }
    VkPhysicalDeviceIDProperties id = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &id,
    };
    device->vkGetPhysicalDeviceProperties2(device->physical, &properties);
    memcpy(facts->device_uuid, id.deviceUUID, sizeof facts->device_uuid);
    memcpy(facts->driver_uuid, id.driverUUID, sizeof facts->driver_uuid);
    memcpy(facts->device_luid, id.deviceLUID, sizeof facts->device_luid);
    facts->device_node_mask = id.deviceNodeMask;
    facts->device_luid_valid = id.deviceLUIDValid == VK_TRUE;
}

static void query_pci_address(struct maar_device* device)
{
    struct maar_device_facts* facts = &device->facts;
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &pci,
    };
    device->vkGetPhysicalDeviceProperties2(device->physical, &properties);
    facts->pci_address_known = true;
    facts->pci_domain = pci.pciDomain;
    facts->pci_bus = pci.pciBus;
    facts->pci_device = pci.pciDevice;
    facts->pci_function = pci.pciFunction;
}

static VkDeviceSize query_host_pointer_alignment(const struct maar_device* device)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &host,
    };
    device->vkGetPhysicalDeviceProperties2(device->physical, &properties);
    return sane_granularity(host.minImportedHostPointerAlignment);
}

/* Finds what the device, as created, can share. What is shared is asked about in chains, which need
 * the newer functions. */
static void load_sharing(const struct maar_device_open_info* info, struct maar_device* device)
{
    struct maar_device_facts* facts = &device->facts;
    const bool semaphores = facts->missing[MAAR_FUNCTIONS_SEMAPHORES] == NULL;
    if (device->vkGetPhysicalDeviceProperties2 == NULL ||
        device->vkGetPhysicalDeviceImageFormatProperties2 == NULL ||
        device->vkGetBufferMemoryRequirements2 == NULL) {
        return;
    }
#define LOAD(name) ((device->name = (PFN_##name)device_function(info, #name)) != NULL)
#define LOAD_WIN32(name)                                                                           \
    ((device->win32.name = (PFN_maar_##name)device_function(info, #name)) != NULL)
    facts->memory_fd =
        has_extension(info, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) && LOAD(vkGetMemoryFdKHR);
    if (facts->memory_fd) {
        facts->memory_dma_buf = LOAD(vkGetMemoryFdPropertiesKHR) &&
                                has_extension(info, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME);
    }
    facts->memory_host = has_extension(info, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) &&
                         LOAD(vkGetMemoryHostPointerPropertiesEXT);
    facts->host_pointer_alignment = facts->memory_host ? query_host_pointer_alignment(device) : 0;
    facts->semaphore_fd = semaphores &&
                          has_extension(info, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) &&
                          LOAD(vkGetSemaphoreFdKHR) && LOAD(vkImportSemaphoreFdKHR);
    facts->memory_win32 = has_extension(info, MAAR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME) &&
                          LOAD_WIN32(vkGetMemoryWin32HandleKHR) &&
                          LOAD_WIN32(vkGetMemoryWin32HandlePropertiesKHR);
    facts->semaphore_win32 =
        semaphores && has_extension(info, MAAR_EXTERNAL_SEMAPHORE_WIN32_EXTENSION_NAME) &&
        LOAD_WIN32(vkGetSemaphoreWin32HandleKHR) && LOAD_WIN32(vkImportSemaphoreWin32HandleKHR);
    facts->image_modifiers = has_extension(info, VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME);
    facts->foreign_family = has_extension(info, VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME);
    if (has_extension(info, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME)) {
        query_pci_address(device);
    }
#undef LOAD_WIN32
#undef LOAD
}

/* Returns whether a feature that the program enabled can be used, and notes it if not. */
static bool is_usable(struct maar_device_facts* facts, bool enabled, bool allowed,
                      enum maar_dropped dropped)
{
    if (enabled && !allowed) {
        facts->dropped |= (uint32_t)dropped;
    }
    return enabled && allowed;
}

/* Notes which pages can be bound: those of enabled features, if all functions are there. */
static void note_sparse(struct maar_device_facts* facts,
                        const struct maar_vulkan_features* features)
{
    facts->sparse_binding =
        features->sparse_binding && facts->missing[MAAR_FUNCTIONS_SPARSE] == NULL;
    facts->sparse_buffers = facts->sparse_binding && features->sparse_buffers;
    facts->sparse_images_2d = facts->sparse_binding && features->sparse_images_2d;
    facts->sparse_images_3d = facts->sparse_binding && features->sparse_images_3d;
    facts->sparse_aliased = facts->sparse_binding && features->sparse_aliased;
}

static void load_capabilities(const struct maar_device_open_info* info, struct maar_device* device)
{
    struct maar_device_facts* facts = &device->facts;
    struct maar_vulkan_features features;
    maar_vulkan_features_read(info->features, &features);

#define LOAD(name, core, alias)                                                                    \
    device->name = (PFN_##name)versioned_function(info, core, #name, alias)
    bool core12 = facts->api_version >= VK_API_VERSION_1_2;
    bool core13 = facts->api_version >= VK_API_VERSION_1_3;
    facts->dedicated_allocation = facts->api_version >= VK_API_VERSION_1_1 ||
                                  has_extension(info, VK_KHR_DEDICATED_ALLOCATION_EXTENSION_NAME);
    facts->memory_budget = has_extension(info, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) &&
                           device->vkGetPhysicalDeviceMemoryProperties2 != NULL;
    facts->memory_priority = is_usable(facts, features.memory_priority,
                                       has_extension(info, VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME),
                                       MAAR_DROPPED_MEMORY_PRIORITY);
    facts->device_coherent_amd = features.device_coherent_amd;
    facts->protected_memory = features.protected_memory;
    note_sparse(facts, &features);
    facts->max_buffer_size = UINT64_MAX;
    if (is_usable(facts, features.pageable_memory,
                  has_extension(info, VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME),
                  MAAR_DROPPED_PAGEABLE_MEMORY)) {
        LOAD(vkSetDeviceMemoryPriorityEXT, true, "vkSetDeviceMemoryPriorityEXT");
        facts->pageable_memory = device->vkSetDeviceMemoryPriorityEXT != NULL;
    }
    if (is_usable(facts, features.buffer_device_address,
                  core12 || has_extension(info, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME),
                  MAAR_DROPPED_BUFFER_DEVICE_ADDRESS)) {
        LOAD(vkGetBufferDeviceAddress, core12, "vkGetBufferDeviceAddressKHR");
        facts->buffer_device_address = device->vkGetBufferDeviceAddress != NULL;
    }
    if (is_usable(facts, features.timeline_semaphore,
                  core12 || has_extension(info, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME),
                  MAAR_DROPPED_TIMELINE_SEMAPHORE)) {
        LOAD(vkGetSemaphoreCounterValue, core12, "vkGetSemaphoreCounterValueKHR");
        LOAD(vkWaitSemaphores, core12, "vkWaitSemaphoresKHR");
        LOAD(vkSignalSemaphore, core12, "vkSignalSemaphoreKHR");
        facts->timeline_semaphore = facts->missing[MAAR_FUNCTIONS_SEMAPHORES] == NULL &&
                                    device->vkGetSemaphoreCounterValue != NULL &&
                                    device->vkWaitSemaphores != NULL &&
                                    device->vkSignalSemaphore != NULL;
    }
    if (is_usable(facts, features.maintenance4,
                  core13 || has_extension(info, VK_KHR_MAINTENANCE_4_EXTENSION_NAME),
                  MAAR_DROPPED_MAINTENANCE4)) {
        LOAD(vkGetDeviceBufferMemoryRequirements, core13, "vkGetDeviceBufferMemoryRequirementsKHR");
        LOAD(vkGetDeviceImageMemoryRequirements, core13, "vkGetDeviceImageMemoryRequirementsKHR");
        facts->maintenance4 = device->vkGetDeviceBufferMemoryRequirements != NULL &&
                              device->vkGetDeviceImageMemoryRequirements != NULL;
        if (device->vkGetPhysicalDeviceProperties2 != NULL) {
            facts->max_buffer_size = query_max_buffer_size(device);
        }
    }
#undef LOAD
}

VkResult maar_device_open(const struct maar_device_open_info* info, struct maar_device* device,
                          const char** missing)
{
    *missing = NULL;
    memset(device, 0, sizeof *device);
    device->instance = info->instance;
    device->physical = info->physical;
    device->handle = info->device;
    device->callbacks = info->callbacks;

    const uint32_t wanted = info->api_version != 0 ? info->api_version : VK_API_VERSION_1_1;
    if (wanted < VK_API_VERSION_1_0) {
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    *missing = load_first_instance_functions(info, device);
    if (*missing != NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    device->vkGetPhysicalDeviceProperties(device->physical, &device->facts.properties);
    const uint32_t own = device->facts.properties.apiVersion;
    device->facts.api_version = own < wanted ? own : wanted;
    if (own < VK_API_VERSION_1_0) {
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    *missing = load_newer_instance_functions(info, device);
    if (*missing != NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    query_limits(info, device);
    query_queue_families(device);
    struct maar_device_open_info complete = *info;
    if (complete.source.get_device_proc_addr == NULL) {
        complete.source.get_device_proc_addr =
            (PFN_vkGetDeviceProcAddr)instance_function(info, "vkGetDeviceProcAddr");
    }
    if (complete.source.get_device_proc_addr == NULL && info->source.function_count == 0) {
        *missing = "vkGetDeviceProcAddr";
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    *missing = load_device_functions(&complete, device);
    if (*missing != NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    load_function_groups(&complete, device);
    load_capabilities(&complete, device);
    query_identity(info, device);
    load_sharing(&complete, device);
    return VK_SUCCESS;
}
