/*
 * How the driver's calls may fail.
 */
#include "tests/fault/fault_codes.h"

enum { MOST_ALLOWED = 6 };

struct code_row {
    const char* function;
    VkResult allowed[MOST_ALLOWED]; /* ends with VK_SUCCESS */
};

static const struct code_row rows[] = {
    {"vkAllocateMemory",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_TOO_MANY_OBJECTS,
      VK_ERROR_INVALID_EXTERNAL_HANDLE, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkMapMemory",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_MEMORY_MAP_FAILED}},
    {"vkFlushMappedMemoryRanges", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkInvalidateMappedMemoryRanges",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkCreateBuffer",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
      VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkCreateImage",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
      VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkCreateImageView",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
      VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkBindBufferMemory2",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
      VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkBindImageMemory2", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkGetSemaphoreCounterValue", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkWaitSemaphores", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkCreateSemaphore", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkQueueBindSparse", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkQueueSubmit", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkCreateCommandPool", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkResetCommandPool", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkAllocateCommandBuffers", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkBeginCommandBuffer", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkEndCommandBuffer", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkResetCommandBuffer", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkEnumerateDeviceExtensionProperties",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_LAYER_NOT_PRESENT}},
    {"vkGetMemoryFdKHR", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_TOO_MANY_OBJECTS}},
    {"vkGetMemoryFdPropertiesKHR", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_INVALID_EXTERNAL_HANDLE}},
    {"vkGetSemaphoreFdKHR", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_TOO_MANY_OBJECTS}},
    {"vkImportSemaphoreFdKHR", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_INVALID_EXTERNAL_HANDLE}},
    {"vkGetMemoryHostPointerPropertiesEXT",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_INVALID_EXTERNAL_HANDLE}},
    {"vkSignalSemaphore", {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY}},
    {"vkGetPhysicalDeviceImageFormatProperties2",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_FORMAT_NOT_SUPPORTED}},
};

/* DEVICE_LOST is allowed for the semaphores' calls alone, but drivers say it anywhere. */
static const VkResult unexpected[] = {VK_ERROR_DEVICE_LOST, VK_ERROR_UNKNOWN,
                                      VK_ERROR_INITIALIZATION_FAILED, FAULT_UNHEARD_OF};

uint32_t fault_codes_of(const char* function, VkResult* codes)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (strcmp(rows[i].function, function) != 0) {
            continue;
        }
        for (uint32_t j = 0; j < MOST_ALLOWED && rows[i].allowed[j] != VK_SUCCESS; ++j) {
            codes[count++] = rows[i].allowed[j];
        }
        for (size_t j = 0; j < sizeof unexpected / sizeof unexpected[0]; ++j) {
            codes[count++] = unexpected[j];
        }
    }
    return count;
}
