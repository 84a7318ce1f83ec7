/*
 * A FAKE Vulkan driver for tests of the layer without a loader. It has what few real drivers have:
 * all extensions that the layer records, answers on demand, and many devices. Nothing executes.
 */
#ifndef MAAR_TESTS_LAYER_CHAIN_DRIVER_H
#define MAAR_TESTS_LAYER_CHAIN_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

/* What the driver answers and what it saw. */
struct chain_driver {
    VkResult allocation_result;
    VkResult second_bind_result; /* of the second bind of a call */
    bool has_newer_map;          /* vkMapMemory2 */
    bool saw_report_extension;
    void (*before_free)(VkDeviceMemory memory);
};

extern struct chain_driver chain_driver;

PFN_vkVoidFunction VKAPI_CALL chain_get_instance_function(VkInstance instance, const char* name);
PFN_vkVoidFunction VKAPI_CALL chain_get_device_function(VkDevice device, const char* name);

/* The driver's physical device of an instance. */
VkPhysicalDevice chain_physical_device(VkInstance instance);

#endif
