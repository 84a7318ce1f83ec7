/*
 * See instance.h.
 */
#include "support/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void support_messages_add(struct support_messages* messages, const char* text, bool quiet)
{
    const unsigned before = atomic_fetch_add(&messages->count, 1);
    if (before < SUPPORT_MOST_PRINTED && !quiet) {
        fprintf(stderr, "%s: %s: %s\n", messages->program, messages->kind, text);
    }
}

static VkBool32 VKAPI_CALL receive_layer_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                 void* user_data)
{
    (void)severity;
    (void)types;
    support_messages_add(user_data, data->pMessage, false);
    return VK_FALSE;
}

void VKAPI_CALL support_receive_violation(void* messages, MaarSimulatedViolation violation,
                                          const char* text)
{
    (void)violation;
    support_messages_add(messages, text, false);
}

static bool has_validation_layer(void)
{
    uint32_t count = 0;
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS || count == 0) {
        return false;
    }
    VkLayerProperties* const layers = calloc(count, sizeof(*layers));
    bool found = false;
    if (layers != NULL && vkEnumerateInstanceLayerProperties(&count, layers) >= 0) {
        for (uint32_t i = 0; i < count; ++i) {
            found = found || strcmp(layers[i].layerName, SUPPORT_VALIDATION_LAYER) == 0;
        }
    }
    free(layers);
    return found;
}

static VkResult create_plain(const struct support_instance_info* info, VkInstance* instance)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = info->application,
                                           .apiVersion = info->api_version};
    const VkInstanceCreateInfo create_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                              .pNext = info->simulated,
                                              .pApplicationInfo = &application};
    const VkResult result = vkCreateInstance(&create_info, NULL, instance);
    if (result == VK_SUCCESS) {
        volkLoadInstance(*instance);
    }
    return result;
}

/* The messenger is also chained, for messages during the creation and the destruction of the
 * instance. */
static VkResult create_validated(const struct support_instance_info* info,
                                 struct support_instance* instance)
{
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    static const char* const layers[] = {SUPPORT_VALIDATION_LAYER};
    static const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       (info->quiet_advice ? 0 : VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT),
        .pfnUserCallback = receive_layer_message,
        .pUserData = info->messages,
    };
    const VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enables,
    };
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = info->application,
                                           .apiVersion = info->api_version};
    const VkInstanceCreateInfo create_info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = &features,
        .pApplicationInfo = &application,
        .enabledLayerCount = 1,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = 2,
        .ppEnabledExtensionNames = extensions,
    };
    const VkResult result = vkCreateInstance(&create_info, NULL, &instance->instance);
    if (result != VK_SUCCESS) {
        return result;
    }
    volkLoadInstance(instance->instance);
    return vkCreateDebugUtilsMessengerEXT(instance->instance, &messenger, NULL,
                                          &instance->messenger);
}

VkResult support_instance_open(struct support_instance* instance,
                               const struct support_instance_info* info)
{
    *instance = (struct support_instance){.instance = VK_NULL_HANDLE};
    if (info->simulated != NULL) {
        volkInitializeCustom(maarSimulatedGetInstanceProcAddr);
    } else if (volkInitialize() != VK_SUCCESS) {
        return VK_ERROR_INITIALIZATION_FAILED;
    } else if (info->validate) {
        return has_validation_layer() ? create_validated(info, instance)
                                      : VK_ERROR_LAYER_NOT_PRESENT;
    }
    return create_plain(info, &instance->instance);
}

void support_instance_close(struct support_instance* instance)
{
    if (instance->messenger != VK_NULL_HANDLE) {
        vkDestroyDebugUtilsMessengerEXT(instance->instance, instance->messenger, NULL);
    }
    if (instance->instance != VK_NULL_HANDLE) {
        vkDestroyInstance(instance->instance, NULL);
    }
    *instance = (struct support_instance){.instance = VK_NULL_HANDLE};
}

int support_device_rank(VkPhysicalDevice physical)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_1) {
        return -1;
    }
    switch (properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 1;
    default:
        return 0;
    }
}

bool support_describe_too_old(const VkPhysicalDevice* devices, uint32_t count, char* text,
                              size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; ++i) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        const uint32_t version = properties.apiVersion;
        if (version < VK_API_VERSION_1_1) {
            used += (size_t)snprintf(text + used, size - used, "%s%s has Vulkan %u.%u.%u",
                                     used == 0 ? "" : ", ", properties.deviceName,
                                     VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                                     VK_API_VERSION_PATCH(version));
        }
    }
    if (used != 0 && used < size) {
        snprintf(text + used, size - used, ", and Maar needs Vulkan 1.1 or later");
    }
    return used != 0;
}
