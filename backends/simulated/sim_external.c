/*
 * The handle types by which a device shares memory and semaphores, and the checks of programs'
 * requests. A device whose options do not enable sharing offers host pointers only.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_share.h"

#include <string.h>

static const VkExternalMemoryHandleTypeFlagBits sim_memory_types[] = {
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT,
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
};

enum { SIM_MEMORY_TYPE_COUNT = sizeof(sim_memory_types) / sizeof(sim_memory_types[0]) };

/* Derives sixteen bytes from a text by two 64-bit FNV-1a hashes. */
static void sim_uuid_make(const char* text, size_t size, uint8_t uuid[VK_UUID_SIZE])
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t half = 0; half < 2; half++) {
        for (size_t i = 0; i < size && text[i] != 0; i++) {
            hash = (hash ^ (uint8_t)text[i]) * 0x100000001B3u;
        }
        memcpy(uuid + half * sizeof(hash), &hash, sizeof(hash));
    }
}

static bool sim_uuid_is_zero(const uint8_t uuid[VK_UUID_SIZE])
{
    static const uint8_t zero[VK_UUID_SIZE];
    return memcmp(uuid, zero, VK_UUID_SIZE) == 0;
}

void sim_external_describe(struct sim_gpu* gpu, const MaarSimulatedSharingInfo* info)
{
    static const char driver[] = "maar::simulated";
    MaarSimulatedSharingInfo* own = &gpu->sharing;
    *own = info != NULL ? *info : (MaarSimulatedSharingInfo){.opaqueBuffers = 0};
    own->pNext = NULL;
    if (sim_uuid_is_zero(own->deviceUUID)) {
        sim_uuid_make(gpu->profile.name, sizeof(gpu->profile.name), own->deviceUUID);
    }
    if (sim_uuid_is_zero(own->driverUUID)) {
        sim_uuid_make(driver, sizeof(driver), own->driverUUID);
    }
    if (!sim_file_is_possible()) {
        own->opaqueBuffers = own->opaqueImages = own->dmaBufBuffers = own->dmaBufImages = 0;
        own->opaqueBinary = own->opaqueTimeline = own->sparseBuffers = 0;
    }
    const bool modifiers = own->dmaBufImages != 0;
    const bool dma_buf = modifiers || own->dmaBufBuffers != 0;
    const bool memory =
        dma_buf || (own->opaqueBuffers | own->opaqueImages | own->sparseBuffers) != 0;
    const bool semaphores = (own->opaqueBinary | own->opaqueTimeline) != 0;
    gpu->extensions |=
        (uint64_t)memory << SIM_EXT_MEMORY_FD | (uint64_t)memory << SIM_EXT_QUEUE_FOREIGN |
        (uint64_t)dma_buf << SIM_EXT_DMA_BUF | (uint64_t)modifiers << SIM_EXT_DRM_MODIFIER |
        (uint64_t)semaphores << SIM_EXT_SEMAPHORE_FD |
        (uint64_t)(own->pciAddressKnown == VK_TRUE) << SIM_EXT_PCI_BUS;
}

static VkExternalMemoryFeatureFlags sim_external_features(const struct sim_gpu* gpu, bool image,
                                                          VkFlags flags, VkFlags type)
{
    /* The same bits for buffers and images. */
    const VkFlags sparse = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                           VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT |
                           VK_BUFFER_CREATE_SPARSE_ALIASED_BIT;
    if (type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) {
        const bool offered = (gpu->extensions >> SIM_EXT_MEMORY_HOST & 1u) != 0;
        return offered ? VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT : 0;
    }
    if ((flags & sparse) != 0) {
        return !image && type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
                   ? gpu->sharing.sparseBuffers
                   : 0;
    }
    if (type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) {
        return image ? gpu->sharing.opaqueImages : gpu->sharing.opaqueBuffers;
    }
    if (type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT) {
        return image ? gpu->sharing.dmaBufImages : gpu->sharing.dmaBufBuffers;
    }
    return 0;
}

VkExternalMemoryProperties sim_external_memory(const struct sim_gpu* gpu, bool image, VkFlags flags,
                                               VkExternalMemoryHandleTypeFlagBits type)
{
    const VkFlags host = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkExternalMemoryProperties found = {
        .externalMemoryFeatures = sim_external_features(gpu, image, flags, (VkFlags)type),
    };
    if (found.externalMemoryFeatures == 0) {
        return found;
    }
    found.compatibleHandleTypes = (VkFlags)type;
    for (uint32_t i = 0; i < SIM_MEMORY_TYPE_COUNT; i++) {
        const VkFlags other = (VkFlags)sim_memory_types[i];
        if ((VkFlags)type != host && other != host &&
            sim_external_features(gpu, image, flags, other) != 0) {
            found.compatibleHandleTypes |= other;
        }
    }
    return found;
}

bool sim_external_needs_dedicated(const struct sim_gpu* gpu, bool image,
                                  VkExternalMemoryHandleTypeFlags types)
{
    for (uint32_t i = 0; i < SIM_MEMORY_TYPE_COUNT; i++) {
        const VkFlags type = (VkFlags)sim_memory_types[i];
        if ((types & type) != 0 && (sim_external_features(gpu, image, 0, type) &
                                    VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0) {
            return true;
        }
    }
    return false;
}

VkExternalMemoryHandleTypeFlags sim_external_types(struct sim_device* device, bool image,
                                                   VkFlags flags, const void* chain)
{
    const enum sim_function function = image ? SIM_FN_vkCreateImage : SIM_FN_vkCreateBuffer;
    const VkBaseInStructure* link =
        sim_chain_find(chain, image ? VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO
                                    : VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    if (link == NULL) {
        return 0;
    }
    const VkFlags types =
        image ? ((const VkExternalMemoryImageCreateInfo*)(const void*)link)->handleTypes
              : ((const VkExternalMemoryBufferCreateInfo*)(const void*)link)->handleTypes;
    VkFlags compatible = types;
    for (uint32_t bit = 0; bit < 32; bit++) {
        const VkFlags type = types & 1u << bit;
        if (type != 0) {
            compatible &= sim_external_memory(device->gpu, image, flags,
                                              (VkExternalMemoryHandleTypeFlagBits)type)
                              .compatibleHandleTypes;
        }
    }
    if (compatible != types) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_SHARING,
                    "the device does not offer handle types 0x%x, or not together, for such %s",
                    types, image ? "an image" : "a buffer");
    }
    return types;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_external_buffer_properties(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceExternalBufferInfo* pInfo,
    VkExternalBufferProperties* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceExternalBufferProperties);
    pProperties->externalMemoryProperties =
        sim_external_memory(gpu, false, pInfo->flags, pInfo->handleType);
}

VkExternalSemaphoreFeatureFlags sim_external_semaphore(const struct sim_gpu* gpu, bool timeline,
                                                       VkExternalSemaphoreHandleTypeFlagBits type)
{
    if (type != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) {
        return 0;
    }
    return timeline ? gpu->sharing.opaqueTimeline : gpu->sharing.opaqueBinary;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_external_semaphore_properties(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceExternalSemaphoreInfo* pInfo,
    VkExternalSemaphoreProperties* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceExternalSemaphoreProperties);
    const VkSemaphoreTypeCreateInfo* type =
        sim_chain_find(pInfo->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    const bool timeline = type != NULL && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    const VkExternalSemaphoreFeatureFlags features =
        sim_external_semaphore(gpu, timeline, pInfo->handleType);
    const VkFlags types = features != 0 ? (VkFlags)pInfo->handleType : 0;
    pProperties->exportFromImportedHandleTypes = types;
    pProperties->compatibleHandleTypes = types;
    pProperties->externalSemaphoreFeatures = features;
}

const struct sim_entry sim_external_entries[] = {
    SIM_ENTRY(vkGetPhysicalDeviceExternalBufferProperties, sim_get_external_buffer_properties),
    SIM_ENTRY(vkGetPhysicalDeviceExternalSemaphoreProperties,
              sim_get_external_semaphore_properties),
    {SIM_FN_COUNT, NULL},
};
