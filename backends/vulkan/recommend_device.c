/*
 * Recommends what to enable on a physical device. Reads only what the driver offers and decides
 * nothing about memory.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "backends/vulkan/recommend_features.h"
#include "core/chain.h"
#include "core/device_win32.h"
#include "core/host_memory.h"
#include "maar/allocator.h"

/* The extensions for shared memory and semaphores. None of them has a feature. */
static const char* const sharing_extensions[] = {
    VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,      MAAR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME,
    VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
    VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,   MAAR_EXTERNAL_SEMAPHORE_WIN32_EXTENSION_NAME,
    VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME,    VK_EXT_PCI_BUS_INFO_EXTENSION_NAME,
};

struct recommend_functions {
    PFN_vkGetPhysicalDeviceProperties2 get_properties;
    PFN_vkGetPhysicalDeviceFeatures2 get_features;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties2 get_queue_families;
    PFN_vkEnumerateDeviceExtensionProperties enumerate_extensions;
};

struct extension_list {
    uint32_t count;
    VkExtensionProperties* entries;
};

static bool load_recommend_functions(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                                     struct recommend_functions* functions)
{
    functions->get_properties =
        (PFN_vkGetPhysicalDeviceProperties2)get(instance, "vkGetPhysicalDeviceProperties2");
    functions->get_features =
        (PFN_vkGetPhysicalDeviceFeatures2)get(instance, "vkGetPhysicalDeviceFeatures2");
    functions->get_queue_families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties2)get(
        instance, "vkGetPhysicalDeviceQueueFamilyProperties2");
    functions->enumerate_extensions = (PFN_vkEnumerateDeviceExtensionProperties)get(
        instance, "vkEnumerateDeviceExtensionProperties");
    return functions->get_properties != NULL && functions->get_features != NULL &&
           functions->get_queue_families != NULL && functions->enumerate_extensions != NULL;
}

static VkResult list_extensions(const struct recommend_functions* functions,
                                VkPhysicalDevice physical, const VkAllocationCallbacks* callbacks,
                                struct extension_list* list)
{
    list->count = 0;
    list->entries = NULL;
    VkResult result = functions->enumerate_extensions(physical, NULL, &list->count, NULL);
    if (result != VK_SUCCESS || list->count == 0) {
        return result;
    }
    list->entries = maar_host_calloc(callbacks, list->count, sizeof *list->entries);
    if (list->entries == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = functions->enumerate_extensions(physical, NULL, &list->count, list->entries);
    return result == VK_INCOMPLETE ? VK_SUCCESS : result;
}

static bool offers(const struct extension_list* list, const char* name)
{
    for (uint32_t i = 0; i < list->count; ++i) {
        if (strcmp(list->entries[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds an extension that the device offers, even if its core version includes the extension: the
 * program may use a lower version. Returns whether the capability is available. */
static bool add_extension(MaarDeviceRecommendation* out, const struct extension_list* list,
                          const char* name, bool in_core)
{
    if (!offers(list, name) || out->extensionCount == MAAR_MAX_RECOMMENDED_EXTENSIONS) {
        return in_core;
    }
    out->ppExtensionNames[out->extensionCount++] = name;
    return true;
}

static MaarFeatureChainInfo* program_chain(const MaarDeviceRecommendation* out)
{
    return maar_chain_find_output(out->pNext, MAAR_STRUCTURE_TYPE_FEATURE_CHAIN_INFO);
}

static void recommend_extensions(const struct extension_list* list, uint32_t version,
                                 MaarDeviceRecommendation* out,
                                 bool available[MAAR_RECOMMENDED_FEATURES])
{
    for (uint32_t i = 0; i < MAAR_RECOMMENDED_FEATURES; ++i) {
        const struct maar_recommended_feature* feature = &maar_recommended_features[i];
        const bool in_core = feature->core_version != 0 && version >= feature->core_version;
        available[i] = (!feature->needs_previous || available[i - 1]) &&
                       add_extension(out, list, feature->extension, in_core);
    }
    (void)add_extension(out, list, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, false);
    for (size_t i = 0; i < sizeof sharing_extensions / sizeof sharing_extensions[0]; ++i) {
        (void)add_extension(out, list, sharing_extensions[i], false);
    }
    /* The modifiers depend on VK_KHR_image_format_list, which Vulkan 1.2 includes. */
    if (offers(list, VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME) &&
        add_extension(out, list, VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME,
                      version >= VK_API_VERSION_1_2)) {
        (void)add_extension(out, list, VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME, false);
    }
}

static void recommend_features(const struct recommend_functions* functions,
                               VkPhysicalDevice physical,
                               const bool available[MAAR_RECOMMENDED_FEATURES],
                               MaarDeviceRecommendation* out)
{
    maar_recommend_link_own(out, available);
    functions->get_features(physical, &out->features);
    VkPhysicalDeviceFeatures offered = out->features.features;
    memset(&out->features.features, 0, sizeof out->features.features);
    out->features.features.sparseBinding = offered.sparseBinding;
    out->features.features.sparseResidencyBuffer = offered.sparseResidencyBuffer;
    out->features.features.sparseResidencyImage2D = offered.sparseResidencyImage2D;
    out->features.features.sparseResidencyImage3D = offered.sparseResidencyImage3D;
    out->features.features.sparseResidencyAliased = offered.sparseResidencyAliased;
    out->bufferDeviceAddress.bufferDeviceAddressCaptureReplay = VK_FALSE;
    out->bufferDeviceAddress.bufferDeviceAddressMultiDevice = VK_FALSE;

    MaarFeatureChainInfo* chain = program_chain(out);
    if (chain != NULL) {
        maar_recommend_merge(out, available, chain);
    } else {
        out->pFeatures = &out->features;
    }
}

/* Returns the first family with all flags of `wanted` and none of `unwanted`. */
static uint32_t find_family(const VkQueueFamilyProperties2* families, uint32_t count,
                            VkQueueFlags wanted, VkQueueFlags unwanted)
{
    for (uint32_t i = 0; i < count; ++i) {
        VkQueueFlags flags = families[i].queueFamilyProperties.queueFlags;
        if ((flags & wanted) == wanted && (flags & unwanted) == 0 &&
            families[i].queueFamilyProperties.queueCount > 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void clear_recommendation(MaarDeviceRecommendation* out)
{
    void* next = out->pNext;
    MaarFeatureChainInfo* chain = program_chain(out);
    if (chain != NULL) {
        maar_recommend_unlink_own(out, chain);
    }
    memset(out, 0, sizeof *out);
    out->sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    out->pNext = next;
}

/* This is the last step that can fail. Up to here the caller's structure has not changed. */
static VkResult recommend_queues(const struct recommend_functions* functions,
                                 VkPhysicalDevice physical, const VkAllocationCallbacks* callbacks,
                                 MaarDeviceRecommendation* out)
{
    uint32_t count = 0;
    functions->get_queue_families(physical, &count, NULL);
    VkQueueFamilyProperties2* families = maar_host_calloc(callbacks, count + 1, sizeof *families);
    if (families == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        families[i].sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
    }
    functions->get_queue_families(physical, &count, families);
    clear_recommendation(out);
    out->mainQueueFamily = find_family(families, count, VK_QUEUE_GRAPHICS_BIT, 0);
    if (out->mainQueueFamily == UINT32_MAX) {
        out->mainQueueFamily = find_family(families, count, VK_QUEUE_COMPUTE_BIT, 0);
    }
    out->sparseQueueFamily = find_family(families, count, VK_QUEUE_SPARSE_BINDING_BIT, 0);
    if (out->mainQueueFamily != UINT32_MAX &&
        (families[out->mainQueueFamily].queueFamilyProperties.queueFlags &
         VK_QUEUE_SPARSE_BINDING_BIT) != 0) {
        out->sparseQueueFamily = out->mainQueueFamily;
    }
    out->transferQueueFamily =
        find_family(families, count, VK_QUEUE_TRANSFER_BIT,
                    (VkQueueFlags)VK_QUEUE_GRAPHICS_BIT | (VkQueueFlags)VK_QUEUE_COMPUTE_BIT);
    maar_host_free(callbacks, families);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarRecommendDevice(
    PFN_vkGetInstanceProcAddr pfnGetInstanceProcAddr, VkInstance instance,
    VkPhysicalDevice physicalDevice, const VkAllocationCallbacks* pAllocationCallbacks,
    MaarDeviceRecommendation* pRecommendation)
{
    if (pfnGetInstanceProcAddr == NULL || instance == VK_NULL_HANDLE ||
        physicalDevice == VK_NULL_HANDLE || pRecommendation == NULL ||
        pRecommendation->sType != MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION ||
        maar_recommend_chain_is_ambiguous(program_chain(pRecommendation)) ||
        !maar_host_callbacks_serve(pAllocationCallbacks)) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct recommend_functions functions;
    if (!load_recommend_functions(pfnGetInstanceProcAddr, instance, &functions)) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
    };
    functions.get_properties(physicalDevice, &properties);

    struct extension_list list;
    VkResult result = list_extensions(&functions, physicalDevice, pAllocationCallbacks, &list);
    if (result == VK_SUCCESS) {
        result =
            recommend_queues(&functions, physicalDevice, pAllocationCallbacks, pRecommendation);
    }
    if (result == VK_SUCCESS) {
        bool available[MAAR_RECOMMENDED_FEATURES];
        recommend_extensions(&list, properties.properties.apiVersion, pRecommendation, available);
        recommend_features(&functions, physicalDevice, available, pRecommendation);
    }
    maar_host_free(pAllocationCallbacks, list.entries);
    return result;
}
