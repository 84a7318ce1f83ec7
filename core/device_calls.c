/*
 * Rare calls of the device: see device_calls.h.
 */
#include "core/device_calls.h"

VkResult maar_device_image_format(const struct maar_device* device,
                                  const VkPhysicalDeviceImageFormatInfo2* question,
                                  VkImageFormatProperties2* answer)
{
    MAAR_DEBUG_ASSERT(device->facts.missing[MAAR_FUNCTIONS_FORMATS] == NULL);
    if (device->vkGetPhysicalDeviceImageFormatProperties2 != NULL) {
        return device->vkGetPhysicalDeviceImageFormatProperties2(device->physical, question,
                                                                 answer);
    }
    return device->vkGetPhysicalDeviceImageFormatProperties(
        device->physical, question->format, question->type, question->tiling, question->usage,
        question->flags, &answer->imageFormatProperties);
}

VkResult maar_require_functions(MaarAllocator allocator, const struct maar_device* device,
                                const char* call, enum maar_function_group group)
{
    const char* missing = device->facts.missing[group];
    if (missing == NULL) {
        return VK_SUCCESS;
    }
    return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT,
                     NULL,
                     "%s needs %s, which neither the program's table of functions nor its "
                     "entry points have",
                     call, missing);
}
