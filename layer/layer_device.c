/*
 * Creates and destroys devices, and sees which queues the program uses.
 */
#include <string.h>

#include <vulkan/vk_layer.h>

#include "core/chain.h"
#include "core/host_memory.h"
#include "layer/layer_budget.h"
#include "layer/layer_capture.h"
#include "layer/layer_registry.h"
#include "layer/layer_uses.h"

VKAPI_ATTR VkResult VKAPI_CALL maar_layer_create_device(VkPhysicalDevice physical,
                                                        const VkDeviceCreateInfo* info,
                                                        const VkAllocationCallbacks* callbacks,
                                                        VkDevice* device);

/* Returns the loader's link to the next layer in the create info's chain, or NULL. */
static VkLayerDeviceCreateInfo* find_device_link(const VkDeviceCreateInfo* info)
{
    const VkBaseInStructure* structure = info->pNext;
    while (structure != NULL) {
        if (structure->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO) {
            const VkLayerDeviceCreateInfo* const link = (const void*)structure;
            if (link->function == VK_LAYER_LINK_INFO) {
                /* The loader allocates it anew for each creation, and each layer moves it on. */
                return (VkLayerDeviceCreateInfo*)(uintptr_t)link;
            }
        }
        structure = structure->pNext;
    }
    return NULL;
}

static bool enables(const VkDeviceCreateInfo* info, const char* name)
{
    return maar_layer_is_listed(info->ppEnabledExtensionNames, info->enabledExtensionCount, name);
}

static void fill_device(struct layer_device* state, const VkDeviceCreateInfo* info)
{
    struct layer_device_table* const next = &state->next;
#define LAYER_TAKE(name) next->name = (PFN_vk##name)state->next_get(state->handle, "vk" #name);
#define LAYER_TAKE_NEWER(name, type) next->name = (type)state->next_get(state->handle, "vk" #name);
    LAYER_DEVICE_FUNCTIONS(LAYER_TAKE)
    LAYER_NEWER_FUNCTIONS(LAYER_TAKE_NEWER)
#undef LAYER_TAKE
#undef LAYER_TAKE_NEWER
    state->has_dedicated_facts = true;
    if (state->version < VK_API_VERSION_1_1) {
        const bool has = enables(info, VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME);
        next->GetBufferMemoryRequirements2 = has ? next->GetBufferMemoryRequirements2KHR : NULL;
        next->GetImageMemoryRequirements2 = has ? next->GetImageMemoryRequirements2KHR : NULL;
        state->has_dedicated_facts = enables(info, VK_KHR_DEDICATED_ALLOCATION_EXTENSION_NAME);
    }
}

/* An event of VK_EXT_device_memory_report. */
static VKAPI_ATTR void VKAPI_CALL record_report(const VkDeviceMemoryReportCallbackDataEXT* data,
                                                void* context)
{
    const struct layer_device* const device = context;
    const MaarCaptureReport record = {.device = device->number,
                                      .type = (uint32_t)data->type,
                                      .memory = data->memoryObjectId,
                                      .size = data->size,
                                      .objectType = (uint32_t)data->objectType,
                                      .heap = data->heapIndex,
                                      .object = data->objectHandle};
    maar_layer_write(device, MAAR_CAPTURE_KIND_REPORT, &record, sizeof record);
}

/* Creates the device with reports of the driver's memory. The feature may be enabled by the program
 * already; then only the callback is added. */
static VkResult create_with_reports(struct layer_device* state, PFN_vkCreateDevice create,
                                    const VkDeviceCreateInfo* info,
                                    const VkAllocationCallbacks* callbacks, VkDevice* device)
{
    const uint32_t count = info->enabledExtensionCount;
    const char** const names = maar_host_calloc(NULL, (size_t)count + 1, sizeof *names);
    VkPhysicalDeviceDeviceMemoryReportFeaturesEXT feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_MEMORY_REPORT_FEATURES_EXT,
        .pNext = (void*)(uintptr_t)info->pNext,
        .deviceMemoryReport = VK_TRUE};
    VkDeviceDeviceMemoryReportCreateInfoEXT report = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_DEVICE_MEMORY_REPORT_CREATE_INFO_EXT,
        .pNext = &feature,
        .pfnUserCallback = record_report,
        .pUserData = state};
    VkDeviceCreateInfo with = *info;
    if (names == NULL) {
        return create(state->physical, info, callbacks, device);
    }
    if (maar_chain_find(info->pNext, (int)feature.sType) != NULL) {
        report.pNext = info->pNext;
    }
    for (uint32_t i = 0; i < count; ++i) {
        names[i] = info->ppEnabledExtensionNames[i];
    }
    if (!enables(info, VK_EXT_DEVICE_MEMORY_REPORT_EXTENSION_NAME)) {
        names[count] = VK_EXT_DEVICE_MEMORY_REPORT_EXTENSION_NAME;
        with.enabledExtensionCount = count + 1;
    }
    with.ppEnabledExtensionNames = names;
    with.pNext = &report;
    const VkResult result = create(state->physical, &with, callbacks, device);
    maar_host_free(NULL, names);
    return result;
}

static bool reports_driver_memory(const struct layer_device* state)
{
    return state->number != 0 && maar_layer_wants_driver_memory() &&
           state->instance->has_properties2 &&
           maar_layer_has_extension(state, VK_EXT_DEVICE_MEMORY_REPORT_EXTENSION_NAME);
}

/* Creates the device and records it. Reports of the driver's memory begin during the creation, so
 * with them the device is recorded first. */
static VkResult create_and_record(struct layer_device* state, PFN_vkCreateDevice create,
                                  const VkDeviceCreateInfo* info,
                                  const VkAllocationCallbacks* callbacks, VkDevice* device)
{
    if (!reports_driver_memory(state)) {
        const VkResult result = create(state->physical, info, callbacks, device);
        if (result == VK_SUCCESS) {
            maar_layer_record_device(state);
        }
        return result;
    }
    maar_layer_record_device(state);
    const VkResult result = create_with_reports(state, create, info, callbacks, device);
    if (result != VK_SUCCESS) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_DEVICE_END, state->number);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maar_layer_create_device(VkPhysicalDevice physical,
                                                        const VkDeviceCreateInfo* info,
                                                        const VkAllocationCallbacks* callbacks,
                                                        VkDevice* device)
{
    VkLayerDeviceCreateInfo* const link = find_device_link(info);
    const struct layer_instance* const instance = maar_layer_instance_of(physical);
    if (link == NULL || instance == NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    const PFN_vkGetInstanceProcAddr next_get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    struct layer_device* const state = maar_host_calloc(NULL, 1, sizeof *state);
    if (state == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    state->physical = physical;
    state->instance = instance;
    state->next_get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)next_get(instance->handle, "vkCreateDevice");
    maar_layer_begin_capture();
    state->number = maar_layer_next_device();
    const VkResult result = create != NULL
                                ? create_and_record(state, create, info, callbacks, device)
                                : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS) {
        maar_host_free(NULL, state);
        return result;
    }
    state->handle = *device;
    fill_device(state, info);
    if (!maar_layer_begin_uses(state, info) || !maar_layer_add_device(*device, state)) {
        /* No host memory; or the layer is in the chain twice, and its lower place does the work. */
        const bool is_twice = maar_layer_device_of(*device) != NULL;
        if (!is_twice) {
            state->next.DestroyDevice(*device, callbacks);
        }
        maar_layer_end_uses(state);
        maar_host_free(NULL, state);
        return is_twice ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_layer_record_budget(state);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
                                                 const VkAllocationCallbacks* callbacks)
{
    struct layer_device* const state = device != NULL ? maar_layer_device_of(device) : NULL;
    if (state == NULL) {
        return;
    }
    const PFN_vkDestroyDevice destroy = state->next.DestroyDevice;
    maar_layer_write_end(state, MAAR_CAPTURE_KIND_DEVICE_END, state->number);
    maar_layer_remove_device(device);
    destroy(device, callbacks);
    maar_layer_end_uses(state);
    maar_host_free(NULL, state);
}

/* Records a queue unless it is recorded. */
static void record_queue(struct layer_device* device, uint32_t family, uint32_t index,
                         VkQueue queue)
{
    const uint64_t bits = (uint64_t)(uintptr_t)queue;
    for (size_t i = 0; i < LAYER_QUEUE_SLOTS && bits != 0; ++i) {
        maar_atomic64* const slot = &device->queues[i];
        if (maar_atomic64_load(slot) == bits) {
            return;
        }
        if (maar_atomic64_claim(slot, bits)) {
            break;
        }
    }
    const MaarCaptureQueue record = {
        .device = device->number,
        .family = family,
        .index = index,
        .flags = family < LAYER_MOST_FAMILIES ? device->family_flags[family] : 0,
        .queue = bits,
    };
    if (bits != 0) {
        maar_layer_write(device, MAAR_CAPTURE_KIND_QUEUE, &record, sizeof record);
    }
}

static VKAPI_ATTR void VKAPI_CALL get_device_queue(VkDevice device, uint32_t family, uint32_t index,
                                                   VkQueue* queue)
{
    struct layer_device* const state = maar_layer_device_of(device);
    state->next.GetDeviceQueue(device, family, index, queue);
    record_queue(state, family, index, *queue);
}

static VKAPI_ATTR void VKAPI_CALL get_device_queue2(VkDevice device, const VkDeviceQueueInfo2* info,
                                                    VkQueue* queue)
{
    struct layer_device* const state = maar_layer_device_of(device);
    state->next.GetDeviceQueue2(device, info, queue);
    record_queue(state, info->queueFamilyIndex, info->queueIndex, *queue);
}

const struct layer_hook maar_layer_device_hooks[] = {
    LAYER_HOOK(DestroyDevice, destroy_device),
    LAYER_HOOK(GetDeviceQueue, get_device_queue),
    LAYER_HOOK(GetDeviceQueue2, get_device_queue2),
    {NULL, NULL},
};
