/*
 * Names recommended features in a chain. Vulkan allows each structure once in a chain, and forbids
 * the structure of one feature beside the structure of the Vulkan version that adopted the feature.
 * So a feature goes to the first of these: the version's structure in the program's chain, the
 * feature's structure there, or the recommendation's own structure, which is linked at the end.
 */
#include "backends/vulkan/recommend_features.h"

#include <stddef.h>
#include <stdint.h>

#include "core/chain.h"

#define OWN(member) offsetof(MaarDeviceRecommendation, member)

const struct maar_recommended_feature maar_recommended_features[MAAR_RECOMMENDED_FEATURES] = {
    {VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, VK_API_VERSION_1_2,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES, OWN(bufferDeviceAddress),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
     offsetof(VkPhysicalDeviceVulkan12Features, bufferDeviceAddress), false},
    {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, VK_API_VERSION_1_2,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, OWN(timelineSemaphore),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
     offsetof(VkPhysicalDeviceVulkan12Features, timelineSemaphore), false},
    {VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, VK_API_VERSION_1_3,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES, OWN(synchronization2),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
     offsetof(VkPhysicalDeviceVulkan13Features, synchronization2), false},
    {VK_KHR_MAINTENANCE_4_EXTENSION_NAME, VK_API_VERSION_1_3,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, OWN(maintenance4),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
     offsetof(VkPhysicalDeviceVulkan13Features, maintenance4), false},
    {VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME, 0,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT, OWN(memoryPriority),
     VK_STRUCTURE_TYPE_MAX_ENUM, 0, false},
    {VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME, 0,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PAGEABLE_DEVICE_LOCAL_MEMORY_FEATURES_EXT,
     OWN(pageableDeviceLocalMemory), VK_STRUCTURE_TYPE_MAX_ENUM, 0, true},
};

#undef OWN

static void* own_structure(MaarDeviceRecommendation* out,
                           const struct maar_recommended_feature* feature)
{
    return (char*)out + feature->own;
}

/* The feature follows the type and the next pointer in each structure of one feature. */
static VkBool32* single_flag(void* structure)
{
    return (VkBool32*)(void*)((VkBaseOutStructure*)structure + 1);
}

static void append_structure(void** head, void* structure)
{
    VkBaseOutStructure* last = *head;
    ((VkBaseOutStructure*)structure)->pNext = NULL;
    if (last == NULL) {
        *head = structure;
        return;
    }
    while (last->pNext != NULL) {
        last = last->pNext;
    }
    last->pNext = structure;
}

void maar_recommend_link_own(MaarDeviceRecommendation* out,
                             const bool available[MAAR_RECOMMENDED_FEATURES])
{
    void* head = NULL;
    out->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    append_structure(&head, &out->features);
    for (uint32_t i = 0; i < MAAR_RECOMMENDED_FEATURES; ++i) {
        const struct maar_recommended_feature* feature = &maar_recommended_features[i];
        VkBaseOutStructure* own = own_structure(out, feature);
        own->sType = feature->type;
        if (available[i]) {
            append_structure(&head, own);
        }
    }
}

bool maar_recommend_chain_is_ambiguous(const MaarFeatureChainInfo* chain)
{
    return chain != NULL && chain->pEnabledFeatures != NULL &&
           maar_chain_find(chain->pFeatures, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) != NULL;
}

static bool belongs_to(const MaarDeviceRecommendation* out, const void* structure)
{
    const uintptr_t first = (uintptr_t)out;
    return (uintptr_t)structure >= first && (uintptr_t)structure < first + sizeof *out;
}

void maar_recommend_unlink_own(const MaarDeviceRecommendation* out, MaarFeatureChainInfo* chain)
{
    VkBaseOutStructure* link = chain->pFeatures;
    while (link != NULL && belongs_to(out, link)) {
        link = link->pNext;
    }
    chain->pFeatures = link;
    while (link != NULL) {
        while (link->pNext != NULL && belongs_to(out, link->pNext)) {
            link->pNext = link->pNext->pNext;
        }
        link = link->pNext;
    }
}

static void add_core_features(VkPhysicalDeviceFeatures* features,
                              const VkPhysicalDeviceFeatures* wanted)
{
    features->sparseBinding |= wanted->sparseBinding;
    features->sparseResidencyBuffer |= wanted->sparseResidencyBuffer;
    features->sparseResidencyImage2D |= wanted->sparseResidencyImage2D;
    features->sparseResidencyImage3D |= wanted->sparseResidencyImage3D;
    features->sparseResidencyAliased |= wanted->sparseResidencyAliased;
}

static void merge_core_features(MaarDeviceRecommendation* out, void** head,
                                VkPhysicalDeviceFeatures* enabled)
{
    VkPhysicalDeviceFeatures2* there =
        maar_chain_find_output(*head, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    if (enabled != NULL) {
        add_core_features(enabled, &out->features.features);
    } else if (there != NULL) {
        add_core_features(&there->features, &out->features.features);
    } else {
        append_structure(head, &out->features);
    }
}

/* Returns where the program's chain has the feature, or NULL. */
static VkBool32* find_flag(void* head, const struct maar_recommended_feature* feature)
{
    void* of_version = feature->core_version == 0
                           ? NULL
                           : maar_chain_find_output(head, (int)feature->version_type);
    if (of_version != NULL) {
        return (VkBool32*)(void*)((char*)of_version + feature->version_flag);
    }
    void* single = maar_chain_find_output(head, (int)feature->type);
    return single == NULL ? NULL : single_flag(single);
}

void maar_recommend_merge(MaarDeviceRecommendation* out,
                          const bool available[MAAR_RECOMMENDED_FEATURES],
                          MaarFeatureChainInfo* chain)
{
    void* head = chain->pFeatures;
    out->features.pNext = NULL;
    merge_core_features(out, &head, chain->pEnabledFeatures);
    for (uint32_t i = 0; i < MAAR_RECOMMENDED_FEATURES; ++i) {
        const struct maar_recommended_feature* feature = &maar_recommended_features[i];
        if (!available[i]) {
            continue;
        }
        void* own = own_structure(out, feature);
        VkBool32* there = find_flag(head, feature);
        if (there != NULL) {
            *there |= *single_flag(own);
        } else {
            append_structure(&head, own);
        }
    }
    out->pFeatures = head;
    if (chain->pEnabledFeatures != NULL) {
        out->features.features = *chain->pEnabledFeatures;
        out->features.pNext = head;
    }
}
