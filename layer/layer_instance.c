/*
 * Creates and destroys instances.
 */
#include <string.h>

#include <vulkan/vk_layer.h>

#include "core/host_memory.h"
#include "layer/layer_budget.h"
#include "layer/layer_capture.h"
#include "layer/layer_registry.h"

/* Returns the loader's link to the next layer in the create info's chain, or NULL. */
static VkLayerInstanceCreateInfo* find_instance_link(const VkInstanceCreateInfo* info)
{
    const VkBaseInStructure* structure = info->pNext;
    while (structure != NULL) {
        if (structure->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO) {
            const VkLayerInstanceCreateInfo* const link = (const void*)structure;
            if (link->function == VK_LAYER_LINK_INFO) {
                /* The loader allocates it anew for each creation, and each layer moves it on. */
                return (VkLayerInstanceCreateInfo*)(uintptr_t)link;
            }
        }
        structure = structure->pNext;
    }
    return NULL;
}

static void fill_instance(struct layer_instance* state, VkInstance instance,
                          const VkInstanceCreateInfo* info)
{
    const VkApplicationInfo* const application = info->pApplicationInfo;
    state->handle = instance;
    state->version = application != NULL && application->apiVersion != 0 ? application->apiVersion
                                                                         : VK_API_VERSION_1_0;
    state->has_properties2 =
        state->version >= VK_API_VERSION_1_1 ||
        maar_layer_is_listed(info->ppEnabledExtensionNames, info->enabledExtensionCount,
                             VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME);
#define LAYER_TAKE(name) state->next.name = (PFN_vk##name)state->next_get(instance, "vk" #name);
    LAYER_INSTANCE_FUNCTIONS(LAYER_TAKE)
#undef LAYER_TAKE
    if (state->next.GetPhysicalDeviceMemoryProperties2 == NULL ||
        state->version < VK_API_VERSION_1_1) {
        state->next.GetPhysicalDeviceMemoryProperties2 =
            state->next.GetPhysicalDeviceMemoryProperties2KHR;
    }
}

static void record_instance(const VkInstanceCreateInfo* info)
{
    const VkApplicationInfo* const application = info->pApplicationInfo;
    MaarCaptureInstance record = {0};
    const char* texts[] = {NULL, NULL};
    if (application != NULL) {
        record.apiVersion = application->apiVersion;
        record.applicationVersion = application->applicationVersion;
        texts[0] = application->pApplicationName;
        texts[1] = application->pEngineName;
    }
    maar_layer_write_global(MAAR_CAPTURE_KIND_INSTANCE, &record, sizeof record, texts, 2);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                                      const VkAllocationCallbacks* callbacks,
                                                      VkInstance* instance)
{
    VkLayerInstanceCreateInfo* const link = find_instance_link(info);
    if (link == NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    const PFN_vkGetInstanceProcAddr next_get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const PFN_vkCreateInstance create = (PFN_vkCreateInstance)next_get(NULL, "vkCreateInstance");
    if (create == NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    struct layer_instance* const state = maar_host_calloc(NULL, 1, sizeof *state);
    if (state == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkResult result = create(info, callbacks, instance);
    if (result != VK_SUCCESS) {
        maar_host_free(NULL, state);
        return result;
    }
    state->next_get = next_get;
    fill_instance(state, *instance, info);
    if (!maar_layer_add_instance(*instance, state)) {
        /* No host memory; or the layer is in the chain twice, and its lower place does the work. */
        const bool is_twice = maar_layer_instance_of(*instance) != NULL;
        if (!is_twice) {
            state->next.DestroyInstance(*instance, callbacks);
        }
        maar_host_free(NULL, state);
        return is_twice ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_layer_begin_capture();
    record_instance(info);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                                   const VkAllocationCallbacks* callbacks)
{
    struct layer_instance* const state = instance != NULL ? maar_layer_instance_of(instance) : NULL;
    if (state == NULL) {
        return;
    }
    const PFN_vkDestroyInstance destroy = state->next.DestroyInstance;
    maar_layer_remove_instance(instance);
    destroy(instance, callbacks);
    maar_host_free(NULL, state);
}

VKAPI_ATTR VkResult VKAPI_CALL maar_layer_create_device(VkPhysicalDevice physical,
                                                        const VkDeviceCreateInfo* info,
                                                        const VkAllocationCallbacks* callbacks,
                                                        VkDevice* device);

const struct layer_hook maar_layer_instance_hooks[] = {
    LAYER_HOOK(CreateInstance, create_instance),
    LAYER_HOOK(DestroyInstance, destroy_instance),
    LAYER_HOOK(CreateDevice, maar_layer_create_device),
    {NULL, NULL},
};
