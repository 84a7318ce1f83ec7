/*
 * Names that the program gives to objects.
 */
#include "layer/layer_capture.h"

static uint32_t kind_of_object(VkObjectType type)
{
    switch (type) {
    case VK_OBJECT_TYPE_BUFFER:
        return MAAR_CAPTURE_OBJECT_BUFFER;
    case VK_OBJECT_TYPE_IMAGE:
        return MAAR_CAPTURE_OBJECT_IMAGE;
    case VK_OBJECT_TYPE_DEVICE_MEMORY:
        return MAAR_CAPTURE_OBJECT_MEMORY;
    case VK_OBJECT_TYPE_QUEUE:
        return MAAR_CAPTURE_OBJECT_QUEUE;
    case VK_OBJECT_TYPE_SEMAPHORE:
        return MAAR_CAPTURE_OBJECT_SEMAPHORE;
    case VK_OBJECT_TYPE_FENCE:
        return MAAR_CAPTURE_OBJECT_FENCE;
    case VK_OBJECT_TYPE_DEVICE:
        return MAAR_CAPTURE_OBJECT_DEVICE;
    case VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR:
        return MAAR_CAPTURE_OBJECT_STRUCTURE;
    case VK_OBJECT_TYPE_SWAPCHAIN_KHR:
        return MAAR_CAPTURE_OBJECT_SWAPCHAIN;
    case VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_NV:
    case VK_OBJECT_TYPE_VIDEO_SESSION_KHR:
        return MAAR_CAPTURE_OBJECT_OTHER;
    default:
        return MAAR_CAPTURE_OBJECT_NONE;
    }
}

/* The older extension has numbers of its own; the first ones are equal. */
static VkObjectType newer_type(VkDebugReportObjectTypeEXT type)
{
    switch (type) {
    case VK_DEBUG_REPORT_OBJECT_TYPE_SWAPCHAIN_KHR_EXT:
        return VK_OBJECT_TYPE_SWAPCHAIN_KHR;
    case VK_DEBUG_REPORT_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR_EXT:
        return VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR;
    case VK_DEBUG_REPORT_OBJECT_TYPE_ACCELERATION_STRUCTURE_NV_EXT:
        return VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_NV;
    default:
        return (uint32_t)type <= (uint32_t)VK_OBJECT_TYPE_COMMAND_POOL ? (VkObjectType)type
                                                                       : VK_OBJECT_TYPE_UNKNOWN;
    }
}

static void record_name(const struct layer_device* device, VkObjectType type, uint64_t object,
                        const char* name)
{
    const uint32_t kind = kind_of_object(type);
    const MaarCaptureName record = {
        .device = device->number,
        .objectKind = kind,
        .object = kind == MAAR_CAPTURE_OBJECT_DEVICE ? device->number : object,
    };
    const char* const texts[] = {name};
    if (kind != MAAR_CAPTURE_OBJECT_NONE) {
        maar_layer_write_texts(device, MAAR_CAPTURE_KIND_NAME, &record, sizeof record, texts, 1);
    }
}

/* When the instance has not enabled VK_EXT_debug_utils, the loader has the function only after the
 * device is created, too late for the table. Programs call it all the same. */
static VKAPI_ATTR VkResult VKAPI_CALL set_name(VkDevice device,
                                               const VkDebugUtilsObjectNameInfoEXT* info)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    PFN_vkSetDebugUtilsObjectNameEXT next = state->next.SetDebugUtilsObjectNameEXT;
    if (next == NULL) {
        next = (PFN_vkSetDebugUtilsObjectNameEXT)state->next_get(device,
                                                                 "vkSetDebugUtilsObjectNameEXT");
    }
    const VkResult result = next != NULL ? next(device, info) : VK_SUCCESS;
    record_name(state, info->objectType, info->objectHandle, info->pObjectName);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL set_marker_name(VkDevice device,
                                                      const VkDebugMarkerObjectNameInfoEXT* info)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.DebugMarkerSetObjectNameEXT(device, info);
    record_name(state, newer_type(info->objectType), info->object, info->pObjectName);
    return result;
}

const struct layer_hook maar_layer_name_hooks[] = {
    LAYER_HOOK(SetDebugUtilsObjectNameEXT, set_name),
    LAYER_HOOK(DebugMarkerSetObjectNameEXT, set_marker_name),
    {NULL, NULL},
};
