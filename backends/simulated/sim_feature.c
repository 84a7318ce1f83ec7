/*
 * Features: those that the device offers, and those that a program has enabled.
 *
 * The device offers all core features, since nothing executes; but the features of sparse resources
 * are those of the profile. In the known chained structures, the device offers a feature of the
 * table when it offers its extension; all other features are off. Unknown structures stay
 * unchanged.
 */
#include "backends/simulated/sim_extension.h"

#include <string.h>

struct sim_feature_row {
    VkStructureType type;
    size_t size;
    size_t offset;
    int feature; /* SIM_FEATURE_COUNT: always offered, and its use is unchecked */
};

#define SIM_ROW(stype, type, member, feature)                                                      \
    {                                                                                              \
        stype, sizeof(type), offsetof(type, member), feature                                       \
    }

static const struct sim_feature_row sim_feature_rows[] = {
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
            VkPhysicalDeviceTimelineSemaphoreFeatures, timelineSemaphore, SIM_FEATURE_TIMELINE),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
            VkPhysicalDeviceBufferDeviceAddressFeatures, bufferDeviceAddress,
            SIM_FEATURE_BUFFER_ADDRESS),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
            VkPhysicalDeviceSynchronization2Features, synchronization2,
            SIM_FEATURE_SYNCHRONIZATION2),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
            VkPhysicalDeviceMaintenance4Features, maintenance4, SIM_FEATURE_MAINTENANCE4),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT,
            VkPhysicalDeviceMemoryPriorityFeaturesEXT, memoryPriority, SIM_FEATURE_MEMORY_PRIORITY),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PAGEABLE_DEVICE_LOCAL_MEMORY_FEATURES_EXT,
            VkPhysicalDevicePageableDeviceLocalMemoryFeaturesEXT, pageableDeviceLocalMemory,
            SIM_FEATURE_PAGEABLE),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COHERENT_MEMORY_FEATURES_AMD,
            VkPhysicalDeviceCoherentMemoryFeaturesAMD, deviceCoherentMemory,
            SIM_FEATURE_COHERENT_AMD),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLER_YCBCR_CONVERSION_FEATURES,
            VkPhysicalDeviceSamplerYcbcrConversionFeatures, samplerYcbcrConversion,
            SIM_FEATURE_YCBCR),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, VkPhysicalDeviceVulkan11Features,
            samplerYcbcrConversion, SIM_FEATURE_YCBCR),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, VkPhysicalDeviceVulkan11Features,
            storageBuffer16BitAccess, SIM_FEATURE_COUNT),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, VkPhysicalDeviceVulkan12Features,
            timelineSemaphore, SIM_FEATURE_TIMELINE),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, VkPhysicalDeviceVulkan12Features,
            bufferDeviceAddress, SIM_FEATURE_BUFFER_ADDRESS),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, VkPhysicalDeviceVulkan12Features,
            vulkanMemoryModel, SIM_FEATURE_COUNT),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, VkPhysicalDeviceVulkan12Features,
            scalarBlockLayout, SIM_FEATURE_COUNT),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, VkPhysicalDeviceVulkan12Features,
            storageBuffer8BitAccess, SIM_FEATURE_COUNT),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, VkPhysicalDeviceVulkan13Features,
            synchronization2, SIM_FEATURE_SYNCHRONIZATION2),
    SIM_ROW(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, VkPhysicalDeviceVulkan13Features,
            maintenance4, SIM_FEATURE_MAINTENANCE4),
};
#undef SIM_ROW

enum { SIM_FEATURE_ROW_COUNT = sizeof(sim_feature_rows) / sizeof(sim_feature_rows[0]) };

/* The features of sparse resources are core features and come last. */
static const enum sim_extension sim_feature_extension[SIM_FEATURE_SPARSE_BINDING] = {
    [SIM_FEATURE_TIMELINE] = SIM_EXT_TIMELINE,
    [SIM_FEATURE_BUFFER_ADDRESS] = SIM_EXT_BUFFER_ADDRESS,
    [SIM_FEATURE_SYNCHRONIZATION2] = SIM_EXT_SYNCHRONIZATION2,
    [SIM_FEATURE_MAINTENANCE4] = SIM_EXT_MAINTENANCE4,
    [SIM_FEATURE_MEMORY_PRIORITY] = SIM_EXT_MEMORY_PRIORITY,
    [SIM_FEATURE_PAGEABLE] = SIM_EXT_PAGEABLE_MEMORY,
    [SIM_FEATURE_COHERENT_AMD] = SIM_EXT_COHERENT_AMD,
    [SIM_FEATURE_YCBCR] = SIM_EXT_YCBCR,
};

/* Returns the bits of the sparse features in the structure of core features. */
static uint32_t sim_sparse_features(const VkPhysicalDeviceFeatures* core)
{
    const struct {
        VkBool32 value;
        enum sim_feature feature;
    } rows[] = {
        {core->sparseBinding, SIM_FEATURE_SPARSE_BINDING},
        {core->sparseResidencyBuffer, SIM_FEATURE_SPARSE_BUFFER},
        {core->sparseResidencyImage2D, SIM_FEATURE_SPARSE_IMAGE_2D},
        {core->sparseResidencyImage3D, SIM_FEATURE_SPARSE_IMAGE_3D},
        {core->sparseResidency2Samples, SIM_FEATURE_SPARSE_2_SAMPLES},
        {core->sparseResidency4Samples, SIM_FEATURE_SPARSE_4_SAMPLES},
        {core->sparseResidency8Samples, SIM_FEATURE_SPARSE_8_SAMPLES},
        {core->sparseResidency16Samples, SIM_FEATURE_SPARSE_16_SAMPLES},
        {core->sparseResidencyAliased, SIM_FEATURE_SPARSE_ALIASED},
    };
    uint32_t features = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        features |= rows[i].value == VK_TRUE ? 1u << rows[i].feature : 0;
    }
    return features;
}

uint32_t sim_features_of_gpu(const struct sim_gpu* gpu)
{
    VkPhysicalDeviceFeatures core;
    sim_features_core(gpu, &core);
    uint32_t features = sim_sparse_features(&core);
    for (uint32_t i = 0; i < SIM_FEATURE_SPARSE_BINDING; i++) {
        if ((gpu->extensions >> sim_feature_extension[i] & 1u) != 0) {
            features |= 1u << i;
        }
    }
    return features;
}

void sim_features_core(const struct sim_gpu* gpu, VkPhysicalDeviceFeatures* features)
{
    const MaarSimulatedSparse* sparse = &gpu->profile.sparse;
    VkBool32* const first = (VkBool32*)(void*)features;
    for (size_t i = 0; i < sizeof(*features) / sizeof(VkBool32); i++) {
        first[i] = VK_TRUE;
    }
    features->sparseBinding = sparse->sparseBinding;
    features->sparseResidencyBuffer = sparse->residencyBuffer;
    features->sparseResidencyImage2D = sparse->residencyImage2D;
    features->sparseResidencyImage3D = sparse->residencyImage3D;
    features->sparseResidency2Samples = sparse->residency2Samples;
    features->sparseResidency4Samples = sparse->residency4Samples;
    features->sparseResidency8Samples = sparse->residency8Samples;
    features->sparseResidency16Samples = sparse->residency16Samples;
    features->sparseResidencyAliased = sparse->residencyAliased;
}

static const struct sim_feature_row* sim_first_row(VkStructureType type)
{
    for (size_t i = 0; i < SIM_FEATURE_ROW_COUNT; i++) {
        if (sim_feature_rows[i].type == type) {
            return &sim_feature_rows[i];
        }
    }
    return NULL;
}

/* Fills one structure. */
static void sim_features_fill(const struct sim_gpu* gpu, VkBaseOutStructure* s)
{
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
        sim_features_core(gpu, &((VkPhysicalDeviceFeatures2*)(void*)s)->features);
        return;
    }
    const struct sim_feature_row* row = sim_first_row(s->sType);
    if (row == NULL) {
        return;
    }
    memset((char*)s + sizeof(*s), 0, row->size - sizeof(*s));
    for (; row < sim_feature_rows + SIM_FEATURE_ROW_COUNT && row->type == s->sType; row++) {
        const bool offered =
            row->feature == SIM_FEATURE_COUNT || (gpu->features >> row->feature & 1u) != 0;
        const VkBool32 value = offered ? VK_TRUE : VK_FALSE;
        memcpy((char*)s + row->offset, &value, sizeof(value));
    }
}

void sim_features_fill_chain(const struct sim_gpu* gpu, void* chain)
{
    for (VkBaseOutStructure* s = chain; s != NULL; s = s->pNext) {
        sim_features_fill(gpu, s);
    }
}

/* Returns whether the device offers every feature that a core structure requests. Adds the checked
 * features to the set. */
static bool sim_parse_core(const struct sim_gpu* gpu, const VkPhysicalDeviceFeatures* wanted,
                           uint32_t* features)
{
    VkPhysicalDeviceFeatures offered;
    sim_features_core(gpu, &offered);
    const VkBool32* const w = (const VkBool32*)(const void*)wanted;
    const VkBool32* const o = (const VkBool32*)(const void*)&offered;
    for (size_t i = 0; i < sizeof(offered) / sizeof(VkBool32); i++) {
        if (w[i] && !o[i]) {
            return false;
        }
    }
    *features |= sim_sparse_features(wanted);
    return true;
}

/* Does the same for a chained structure, without reading its padding: all members are VkBool32. */
static bool sim_parse_chained(const struct sim_gpu* gpu, const VkBaseInStructure* s,
                              uint32_t* features)
{
    const struct sim_feature_row* const first = sim_first_row(s->sType);
    if (first == NULL) {
        return true;
    }
    for (size_t at = sizeof(*s); at + sizeof(VkBool32) <= first->size; at += sizeof(VkBool32)) {
        VkBool32 wanted = VK_FALSE;
        memcpy(&wanted, (const char*)s + at, sizeof(wanted));
        const struct sim_feature_row* row = first;
        while (row < sim_feature_rows + SIM_FEATURE_ROW_COUNT && row->type == s->sType &&
               row->offset != at) {
            row++;
        }
        const bool known = row < sim_feature_rows + SIM_FEATURE_ROW_COUNT && row->type == s->sType;
        if (!wanted || (!known && at + sizeof(VkBool32) == first->size)) {
            continue; /* the last word may be padding */
        }
        if (!known ||
            (row->feature != SIM_FEATURE_COUNT && (gpu->features >> row->feature & 1u) == 0)) {
            return false;
        }
        if (row->feature != SIM_FEATURE_COUNT) {
            *features |= 1u << row->feature;
        }
    }
    return true;
}

VkResult sim_features_parse(const struct sim_gpu* gpu, const VkDeviceCreateInfo* info,
                            uint32_t* features)
{
    *features = 0;
    if (info->pEnabledFeatures != NULL && !sim_parse_core(gpu, info->pEnabledFeatures, features)) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    for (const VkBaseInStructure* s = info->pNext; s != NULL; s = s->pNext) {
        const bool offered =
            s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
                ? sim_parse_core(gpu, &((const VkPhysicalDeviceFeatures2*)(const void*)s)->features,
                                 features)
                : sim_parse_chained(gpu, s, features);
        if (!offered) {
            return VK_ERROR_FEATURE_NOT_PRESENT;
        }
    }
    return VK_SUCCESS;
}
