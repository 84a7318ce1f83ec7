/*
 * Opens whatever driver the loader finds, under the validation layer.
 */
#include "tests/rig/rig_internal.h"

#include <stdio.h>

static const char* const layer_name = "VK_LAYER_KHRONOS_validation";

static bool layer_is_there(void)
{
    static VkLayerProperties layers[64];
    uint32_t count = 64;
    if (vkEnumerateInstanceLayerProperties(&count, layers) < VK_SUCCESS) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(layers[i].layerName, layer_name) == 0) {
            return true;
        }
    }
    return false;
}

/* An image whose tiles are copied to while others are sampled has one layout for both, which is
 * said to be slower than one for each. */
static bool is_advice(VkDebugUtilsMessageTypeFlagsEXT types, const char* message)
{
    return (types & VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT) != 0 &&
           strstr(message, "instead of GENERAL") != NULL;
}

/* NVK and Honeykrisp keep the mip tails of sparse images at an offset of their own outside the
 * image, and say so in imageMipTailOffset; the layer compares it with the image's size all the
 * same. */
static bool is_false_alarm(const char* id, const char* message)
{
    const uint64_t tails = 0x6D74;
    const char* offset = strstr(message, "resourceOffset (");
    return (rig_is("nvk") || rig_is("honeykrisp")) && offset != NULL && id != NULL &&
           strcmp(id, "VUID-VkSparseMemoryBind-resourceOffset-01099") == 0 &&
           strtoull(strchr(offset, '(') + 1, NULL, 10) >> 48 == tails;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL keep_validation(
    VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
    const VkDebugUtilsMessengerCallbackDataEXT* data, void* user)
{
    struct rig* rig = user;
    (void)severity;
    if (is_advice(types, data->pMessage) || is_false_alarm(data->pMessageIdName, data->pMessage)) {
        return VK_FALSE;
    }
    if (atomic_fetch_add(&rig->validation_count, 1) == 0) {
        (void)snprintf(rig->validation_text, sizeof rig->validation_text, "%s", data->pMessage);
    }
    return VK_FALSE;
}

static VkResult create_vulkan_instance(struct rig* rig)
{
    const VkValidationFeatureEnableEXT enabled =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = keep_validation,
        .pUserData = rig,
    };
    const VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = &enabled,
    };
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "maar tests",
        .apiVersion = VK_API_VERSION_1_3,
    };
    static const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = rig->validated ? &features : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = rig->validated ? 1 : 0,
        .ppEnabledLayerNames = &layer_name,
        .enabledExtensionCount = rig->validated ? 1 : 0,
        .ppEnabledExtensionNames = &extension,
    };
    VkResult result = vkCreateInstance(&info, NULL, &rig->instance);
    if (result != VK_SUCCESS) {
        return result;
    }
    volkLoadInstanceOnly(rig->instance);
    if (rig->validated) {
        result = vkCreateDebugUtilsMessengerEXT(rig->instance, &messenger, NULL, &rig->messenger);
    }
    return result;
}

bool rig_open_vulkan(struct rig* rig, const struct rig_setup* setup, bool needs_validation)
{
    static const struct rig_setup defaults = {.profile = NULL};
    memset(rig, 0, sizeof *rig);
    setup = setup != NULL ? setup : &defaults;
    if (volkInitialize() != VK_SUCCESS) {
        print_message("skipped: no Vulkan loader\n");
        return false;
    }
    rig->validated = !setup->without_layer && layer_is_there();
    if (needs_validation && !rig->validated) {
        print_message("skipped: %s is not installed\n", layer_name);
        return false;
    }
    if (create_vulkan_instance(rig) != VK_SUCCESS) {
        print_message("skipped: no driver gives an instance\n");
        return false;
    }
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(rig->instance, &count, &rig->physical);
    if (result < VK_SUCCESS || count == 0) {
        print_message("skipped: the driver has no device\n");
        vkDestroyInstance(rig->instance, NULL);
        return false;
    }
    rig_open_device(rig, setup);
    return true;
}
