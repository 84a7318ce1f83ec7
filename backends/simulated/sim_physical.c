/*
 * The queries of a physical device: properties, features, memory, queue families.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_time.h"

#include <string.h>

static void sim_fill_core_properties(const MaarSimulatedProfile* p,
                                     VkPhysicalDeviceProperties* pProperties)
{
    const MaarSimulatedLimits* from = &p->limits;
    memset(pProperties, 0, sizeof(*pProperties));
    pProperties->apiVersion = p->apiVersion != 0 ? p->apiVersion : VK_API_VERSION_1_3;
    pProperties->driverVersion = 1;
    pProperties->vendorID = p->vendorID;
    pProperties->deviceID = p->deviceID;
    pProperties->deviceType = p->deviceType;
    memcpy(pProperties->deviceName, p->deviceName, sizeof(p->deviceName));
    VkPhysicalDeviceLimits* to = &pProperties->limits;
    to->maxImageDimension1D = to->maxImageDimension2D = to->maxImageDimensionCube = 16384;
    to->maxImageDimension3D = to->maxImageArrayLayers = 2048;
    to->maxUniformBufferRange = 65536;
    to->maxStorageBufferRange = from->maxStorageBufferRange;
    to->maxPushConstantsSize = 128;
    to->maxMemoryAllocationCount = from->maxMemoryAllocationCount;
    to->maxSamplerAllocationCount = 4000;
    to->bufferImageGranularity = from->bufferImageGranularity;
    to->sparseAddressSpaceSize = from->sparseAddressSpaceSize;
    to->maxBoundDescriptorSets = 8;
    to->maxPerStageDescriptorStorageBuffers = to->maxDescriptorSetStorageBuffers = 1024;
    to->maxPerStageResources = 4096;
    to->maxComputeSharedMemorySize = 32768;
    to->maxComputeWorkGroupInvocations = 1024;
    for (int i = 0; i < 3; i++) {
        to->maxComputeWorkGroupCount[i] = 65535;
        to->maxComputeWorkGroupSize[i] = 1024;
    }
    to->minMemoryMapAlignment = (size_t)from->minMemoryMapAlignment;
    to->minTexelBufferOffsetAlignment = from->minTexelBufferOffsetAlignment;
    to->minUniformBufferOffsetAlignment = from->minUniformBufferOffsetAlignment;
    to->minStorageBufferOffsetAlignment = from->minStorageBufferOffsetAlignment;
    to->framebufferColorSampleCounts = to->framebufferDepthSampleCounts =
        VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_2_BIT | VK_SAMPLE_COUNT_4_BIT |
        VK_SAMPLE_COUNT_8_BIT;
    to->timestampComputeAndGraphics = VK_TRUE;
    to->timestampPeriod = 1.0F;
    to->optimalBufferCopyOffsetAlignment = from->optimalBufferCopyOffsetAlignment;
    to->optimalBufferCopyRowPitchAlignment = from->optimalBufferCopyRowPitchAlignment;
    to->nonCoherentAtomSize = from->nonCoherentAtomSize;
    pProperties->sparseProperties = p->sparse.properties;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_properties(VkPhysicalDevice physicalDevice,
                                                     VkPhysicalDeviceProperties* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceProperties);
    sim_fill_core_properties(&gpu->profile, pProperties);
}

static void sim_fill_driver(const MaarSimulatedProfile* p, VkDriverId* id, char* name, char* info,
                            VkConformanceVersion* conformance)
{
    *id = p->driverID;
    memcpy(name, p->driverName, VK_MAX_DRIVER_NAME_SIZE);
    memcpy(info, p->driverInfo, VK_MAX_DRIVER_INFO_SIZE);
    memset(conformance, 0, sizeof(*conformance));
}

static void sim_fill_uuids(const struct sim_gpu* gpu, uint8_t* device, uint8_t* driver)
{
    memcpy(device, gpu->sharing.deviceUUID, VK_UUID_SIZE);
    memcpy(driver, gpu->sharing.driverUUID, VK_UUID_SIZE);
}

static void sim_fill_properties(const struct sim_gpu* gpu, VkBaseOutStructure* s)
{
    const MaarSimulatedProfile* p = &gpu->profile;
    const uint32_t max_set_descriptors = 1u << 20;
    union {
        void* any;
        VkPhysicalDeviceDriverProperties* driver;
        VkPhysicalDeviceMaintenance3Properties* maintenance3;
        VkPhysicalDeviceMaintenance4Properties* maintenance4;
        VkPhysicalDeviceExternalMemoryHostPropertiesEXT* host;
        VkPhysicalDeviceTimelineSemaphoreProperties* timeline;
        VkPhysicalDeviceIDProperties* id;
        VkPhysicalDevicePCIBusInfoPropertiesEXT* pci;
        VkPhysicalDeviceVulkan11Properties* v11;
        VkPhysicalDeviceVulkan12Properties* v12;
        VkPhysicalDeviceVulkan13Properties* v13;
    } to = {.any = s};
    void* const next = s->pNext;
    const VkStructureType type = s->sType;
    switch ((int)type) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES:
        sim_fill_driver(p, &to.driver->driverID, to.driver->driverName, to.driver->driverInfo,
                        &to.driver->conformanceVersion);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES:
        to.maintenance3->maxPerSetDescriptors = max_set_descriptors;
        to.maintenance3->maxMemoryAllocationSize = p->limits.maxMemoryAllocationSize;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES:
        to.maintenance4->maxBufferSize = p->limits.maxBufferSize;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT:
        to.host->minImportedHostPointerAlignment = p->limits.minImportedHostPointerAlignment;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES:
        to.timeline->maxTimelineSemaphoreValueDifference = UINT64_MAX;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES:
        memset(to.id, 0, sizeof(*to.id));
        sim_fill_uuids(gpu, to.id->deviceUUID, to.id->driverUUID);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT:
        to.pci->pciDomain = gpu->sharing.pciDomain;
        to.pci->pciBus = gpu->sharing.pciBus;
        to.pci->pciDevice = gpu->sharing.pciDevice;
        to.pci->pciFunction = gpu->sharing.pciFunction;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES:
        memset(to.v11, 0, sizeof(*to.v11));
        sim_fill_uuids(gpu, to.v11->deviceUUID, to.v11->driverUUID);
        to.v11->maxPerSetDescriptors = max_set_descriptors;
        to.v11->maxMemoryAllocationSize = p->limits.maxMemoryAllocationSize;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES:
        memset(to.v12, 0, sizeof(*to.v12));
        sim_fill_driver(p, &to.v12->driverID, to.v12->driverName, to.v12->driverInfo,
                        &to.v12->conformanceVersion);
        to.v12->maxTimelineSemaphoreValueDifference = UINT64_MAX;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES:
        memset(to.v13, 0, sizeof(*to.v13));
        to.v13->maxBufferSize = p->limits.maxBufferSize;
        break;
    default:
        break;
    }
    s->sType = type;
    s->pNext = next;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_properties2(VkPhysicalDevice physicalDevice,
                                                      VkPhysicalDeviceProperties2* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceProperties2);
    sim_fill_core_properties(&gpu->profile, &pProperties->properties);
    for (VkBaseOutStructure* s = pProperties->pNext; s != NULL; s = s->pNext) {
        sim_fill_properties(gpu, s);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_get_features(VkPhysicalDevice physicalDevice,
                                                   VkPhysicalDeviceFeatures* pFeatures)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceFeatures);
    sim_features_core(gpu, pFeatures);
}

static VKAPI_ATTR void VKAPI_CALL sim_get_features2(VkPhysicalDevice physicalDevice,
                                                    VkPhysicalDeviceFeatures2* pFeatures)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceFeatures2);
    sim_features_fill_chain(gpu, pFeatures);
}

static void sim_fill_memory(const struct sim_gpu* gpu, VkPhysicalDeviceMemoryProperties* to)
{
    const MaarSimulatedProfile* p = &gpu->profile;
    memset(to, 0, sizeof(*to));
    to->memoryHeapCount = p->heapCount;
    for (uint32_t i = 0; i < p->heapCount; i++) {
        to->memoryHeaps[i] = (VkMemoryHeap){.size = p->heaps[i].size, .flags = p->heaps[i].flags};
    }
    to->memoryTypeCount = p->typeCount;
    for (uint32_t i = 0; i < p->typeCount; i++) {
        to->memoryTypes[i] =
            (VkMemoryType){.propertyFlags = p->types[i].flags, .heapIndex = p->types[i].heap};
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_get_memory_properties(
    VkPhysicalDevice physicalDevice, VkPhysicalDeviceMemoryProperties* pMemoryProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceMemoryProperties);
    sim_fill_memory(gpu, pMemoryProperties);
}

static void sim_fill_budget(struct sim_gpu* gpu, VkPhysicalDeviceMemoryBudgetPropertiesEXT* to)
{
    sim_lock_gpu(gpu);
    if ((gpu->extensions >> SIM_EXT_MEMORY_BUDGET & 1u) == 0) {
        sim_violate(gpu, SIM_FN_vkGetPhysicalDeviceMemoryProperties2,
                    MAAR_SIMULATED_VIOLATION_FEATURE, "VK_EXT_memory_budget is not offered");
        sim_unlock_gpu(gpu);
        return;
    }
    sim_scripts_apply(gpu);
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; i++) {
        const MaarSimulatedHeap* heap = &gpu->profile.heaps[i];
        const bool present = i < gpu->profile.heapCount;
        to->heapBudget[i] = !present ? 0 : sim_heap_has_budget(heap) ? heap->budget : heap->size;
        to->heapUsage[i] = present ? heap->usage + gpu->counters.heapLive[i] : 0;
    }
    sim_unlock_gpu(gpu);
}

static VKAPI_ATTR void VKAPI_CALL sim_get_memory_properties2(
    VkPhysicalDevice physicalDevice, VkPhysicalDeviceMemoryProperties2* pMemoryProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceMemoryProperties2);
    sim_fill_memory(gpu, &pMemoryProperties->memoryProperties);
    for (VkBaseOutStructure* s = pMemoryProperties->pNext; s != NULL; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            sim_fill_budget(gpu, (VkPhysicalDeviceMemoryBudgetPropertiesEXT*)(void*)s);
        }
    }
}

static VkQueueFamilyProperties sim_family(const struct sim_gpu* gpu, uint32_t index)
{
    const MaarSimulatedQueueFamily* family = &gpu->profile.queueFamilies[index];
    return (VkQueueFamilyProperties){
        .queueFlags = family->flags,
        .queueCount = family->count,
        .timestampValidBits = 64,
        .minImageTransferGranularity = {1, 1, 1},
    };
}

/* Sets the caller's count of queue families. Returns the number of families to fill in. */
static uint32_t sim_family_room(const struct sim_gpu* gpu, bool has_array, uint32_t* count)
{
    const uint32_t families = gpu->profile.queueFamilyCount;
    *count = has_array && *count < families ? *count : families;
    return has_array ? *count : 0;
}

static VKAPI_ATTR void VKAPI_CALL
sim_get_queue_families(VkPhysicalDevice physicalDevice, uint32_t* pQueueFamilyPropertyCount,
                       VkQueueFamilyProperties* pQueueFamilyProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceQueueFamilyProperties);
    const uint32_t room =
        sim_family_room(gpu, pQueueFamilyProperties != NULL, pQueueFamilyPropertyCount);
    for (uint32_t i = 0; i < room; i++) {
        pQueueFamilyProperties[i] = sim_family(gpu, i);
    }
}

static VKAPI_ATTR void VKAPI_CALL
sim_get_queue_families2(VkPhysicalDevice physicalDevice, uint32_t* pQueueFamilyPropertyCount,
                        VkQueueFamilyProperties2* pQueueFamilyProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceQueueFamilyProperties2);
    const uint32_t room =
        sim_family_room(gpu, pQueueFamilyProperties != NULL, pQueueFamilyPropertyCount);
    for (uint32_t i = 0; i < room; i++) {
        pQueueFamilyProperties[i].queueFamilyProperties = sim_family(gpu, i);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_enumerate_device_extensions(VkPhysicalDevice physicalDevice, const char* pLayerName,
                                uint32_t* pPropertyCount, VkExtensionProperties* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    const VkResult result = sim_enter(gpu, NULL, SIM_FN_vkEnumerateDeviceExtensionProperties);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pLayerName != NULL) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    return sim_extensions_enumerate(gpu->extensions, pPropertyCount, pProperties);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_enumerate_device_layers(VkPhysicalDevice physicalDevice,
                                                                  uint32_t* pPropertyCount,
                                                                  VkLayerProperties* pProperties)
{
    (void)physicalDevice;
    (void)pProperties;
    *pPropertyCount = 0;
    return VK_SUCCESS;
}

const struct sim_entry sim_physical_entries[] = {
    SIM_ENTRY(vkGetPhysicalDeviceProperties, sim_get_properties),
    SIM_ENTRY(vkGetPhysicalDeviceProperties2, sim_get_properties2),
    SIM_ENTRY(vkGetPhysicalDeviceFeatures, sim_get_features),
    SIM_ENTRY(vkGetPhysicalDeviceFeatures2, sim_get_features2),
    SIM_ENTRY(vkGetPhysicalDeviceMemoryProperties, sim_get_memory_properties),
    SIM_ENTRY(vkGetPhysicalDeviceMemoryProperties2, sim_get_memory_properties2),
    SIM_ENTRY(vkGetPhysicalDeviceQueueFamilyProperties, sim_get_queue_families),
    SIM_ENTRY(vkGetPhysicalDeviceQueueFamilyProperties2, sim_get_queue_families2),
    SIM_ENTRY(vkEnumerateDeviceExtensionProperties, sim_enumerate_device_extensions),
    SIM_ENTRY(vkEnumerateDeviceLayerProperties, sim_enumerate_device_layers),
    {SIM_FN_COUNT, NULL},
};
