/*
 * Calls that a device of Vulkan 1.0 lacks in their newer form. Each function calls the newer
 * function where the device has it, and the older one otherwise. The chains of the newer form are
 * empty then: nothing that adds to them exists without Vulkan 1.1 or an extension.
 */
#ifndef MAAR_CORE_DEVICE_CALLS_H
#define MAAR_CORE_DEVICE_CALLS_H

#include "core/check.h"
#include "core/device.h"
#include "core/report.h"

MAAR_INLINE void maar_device_buffer_needs(const struct maar_device* device,
                                          const VkBufferMemoryRequirementsInfo2* question,
                                          VkMemoryRequirements2* needs)
{
    if (device->vkGetBufferMemoryRequirements2 != NULL) {
        device->vkGetBufferMemoryRequirements2(device->handle, question, needs);
    } else {
        device->vkGetBufferMemoryRequirements(device->handle, question->buffer,
                                              &needs->memoryRequirements);
    }
}

MAAR_INLINE void maar_device_image_needs(const struct maar_device* device,
                                         const VkImageMemoryRequirementsInfo2* question,
                                         VkMemoryRequirements2* needs)
{
    if (device->vkGetImageMemoryRequirements2 != NULL) {
        device->vkGetImageMemoryRequirements2(device->handle, question, needs);
    } else {
        device->vkGetImageMemoryRequirements(device->handle, question->image,
                                             &needs->memoryRequirements);
    }
}

MAAR_INLINE VkResult maar_device_bind_buffer(const struct maar_device* device,
                                             const VkBindBufferMemoryInfo* bind)
{
    return device->vkBindBufferMemory2 != NULL
               ? device->vkBindBufferMemory2(device->handle, 1, bind)
               : device->vkBindBufferMemory(device->handle, bind->buffer, bind->memory,
                                            bind->memoryOffset);
}

MAAR_INLINE VkResult maar_device_bind_image(const struct maar_device* device,
                                            const VkBindImageMemoryInfo* bind)
{
    return device->vkBindImageMemory2 != NULL
               ? device->vkBindImageMemory2(device->handle, 1, bind)
               : device->vkBindImageMemory(device->handle, bind->image, bind->memory,
                                           bind->memoryOffset);
}

/* Asks what images of a kind can be. The group MAAR_FUNCTIONS_FORMATS must be complete. */
VkResult maar_device_image_format(const struct maar_device* device,
                                  const VkPhysicalDeviceImageFormatInfo2* question,
                                  VkImageFormatProperties2* answer);

/* Returns VK_SUCCESS if the device has all functions of a group. Otherwise reports the one that is
 * missing and returns VK_ERROR_FEATURE_NOT_PRESENT. */
VkResult maar_require_functions(MaarAllocator allocator, const struct maar_device* device,
                                const char* call, enum maar_function_group group);

#endif
