/*
 * Opening a device; see frame_device.h.
 */
#include "frame_device.h"

#include "maar/volk.h"
#include "support/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"
#define API_VERSION VK_API_VERSION_1_3
#define MAX_PRINTED_MESSAGES 20u
#define MAX_DEVICES 16u
#define MAX_FAMILIES 16u
#define SIMULATED "simulated:"
#define NUMBERED "vulkan:"

bool frame_succeeded(VkResult result, const char* what)
{
    if (result != VK_SUCCESS) {
        frame_complain("%s failed: VkResult %d", what, (int)result);
    }
    return result == VK_SUCCESS;
}

static void count_message(struct frame_device* device, const char* text)
{
    if (device->messages++ < MAX_PRINTED_MESSAGES) {
        frame_complain("message: %s", text);
    }
}

static VkBool32 VKAPI_CALL receive_layer_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                 void* user_data)
{
    (void)severity;
    (void)types;
    count_message(user_data, data->pMessage);
    return VK_FALSE;
}

static void VKAPI_CALL receive_violation(void* user_data, MaarSimulatedViolation violation,
                                         const char* text)
{
    (void)violation;
    count_message(user_data, text);
}

static void VKAPI_CALL receive_maar_message(void* user_data, MaarMessageSeverity severity,
                                            const char* message)
{
    if (severity == MAAR_MESSAGE_SEVERITY_ERROR) {
        count_message(user_data, message);
    }
}

static VkApplicationInfo describe_application(void)
{
    return (VkApplicationInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                               .pApplicationName = "deferred_frame",
                               .apiVersion = API_VERSION};
}

static bool can_be_read(const char* path)
{
    FILE* const file = fopen(path, "rb");
    if (file != NULL) {
        fclose(file);
    }
    return file != NULL;
}

/* A profile's file, or the name of one in the sources. */
static int open_simulated(struct frame_device* device, const char* name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/profiles/%s.json", MAAR_SAMPLE_DATA, name);
    const bool known = can_be_read(path);
    if (!known && !can_be_read(name)) {
        frame_complain("%s%s: no such profile: it is neither a file nor one of %s/profiles",
                       SIMULATED, name, MAAR_SAMPLE_DATA);
        return FRAME_EXIT_USAGE;
    }
    device->profile = calloc(1, sizeof(*device->profile));
    struct support_error error = {{0}};
    if (device->profile == NULL ||
        !support_profile_load(known ? path : name, device->profile, &error)) {
        frame_complain("%s%s: %s", SIMULATED, name, error.text);
        return FRAME_EXIT_USAGE;
    }
    const MaarSimulatedInstanceCreateInfo simulated_info = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 1,
        .pProfiles = device->profile,
        .pfnViolation = receive_violation,
        .pUserData = device,
    };
    const VkApplicationInfo application = describe_application();
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = &simulated_info,
                                       .pApplicationInfo = &application};
    volkInitializeCustom(maarSimulatedGetInstanceProcAddr);
    if (!frame_succeeded(vkCreateInstance(&info, NULL, &device->instance), "vkCreateInstance")) {
        return FRAME_EXIT_FAILED;
    }
    volkLoadInstance(device->instance);
    return FRAME_EXIT_OK;
}

static bool has_validation_layer(void)
{
    VkLayerProperties layers[64];
    uint32_t count = 64;
    bool found = false;
    if (vkEnumerateInstanceLayerProperties(&count, layers) >= 0) {
        for (uint32_t i = 0; i < count; ++i) {
            found = found || strcmp(layers[i].layerName, VALIDATION_LAYER) == 0;
        }
    }
    return found;
}

static VkResult create_instance(struct frame_device* device)
{
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    static const char* const layers[] = {VALIDATION_LAYER};
    static const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = receive_layer_message,
        .pUserData = device,
    };
    const VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enables,
    };
    const VkApplicationInfo application = describe_application();
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = device->validate ? &features : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = device->validate ? 1 : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = device->validate ? 2 : 0,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = vkCreateInstance(&info, NULL, &device->instance);
    if (result == VK_SUCCESS) {
        volkLoadInstance(device->instance);
        if (device->validate) {
            result = vkCreateDebugUtilsMessengerEXT(device->instance, &messenger, NULL,
                                                    &device->messenger);
        }
    }
    return result;
}

static int open_loader(struct frame_device* device)
{
    if (volkInitialize() != VK_SUCCESS) {
        frame_complain("no Vulkan loader found (libvulkan.so.1)");
        return FRAME_EXIT_SKIPPED;
    }
    if (device->validate && !has_validation_layer()) {
        frame_complain("the layer %s is not installed (Debian: vulkan-validationlayers)",
                       VALIDATION_LAYER);
        return FRAME_EXIT_SKIPPED;
    }
    const VkResult result = create_instance(device);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        frame_complain("no Vulkan driver found");
        return FRAME_EXIT_SKIPPED;
    }
    return frame_succeeded(result, "vkCreateInstance") ? FRAME_EXIT_OK : FRAME_EXIT_FAILED;
}

/* name: auto, vulkan:N, lavapipe, or a part of the device's name. */
static bool is_called(VkPhysicalDevice physical, uint32_t number, const char* name)
{
    if (strncmp(name, NUMBERED, strlen(NUMBERED)) == 0) {
        return strtoul(name + strlen(NUMBERED), NULL, 10) == number;
    }
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    if (strcmp(name, "lavapipe") == 0) {
        return driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    }
    return strcmp(name, "auto") == 0 || strstr(properties.properties.deviceName, name) != NULL;
}

/* Discrete before integrated before virtual before others before CPU. */
static int rank_of(VkPhysicalDevice physical)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    switch (properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 0;
    default:
        return 1;
    }
}

static bool pick_physical(struct frame_device* device, const char* name)
{
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    int best = -1;
    if (vkEnumeratePhysicalDevices(device->instance, &count, devices) < 0) {
        count = 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const int rank = rank_of(devices[i]);
        if (rank > best && (device->profile != NULL || is_called(devices[i], i, name))) {
            best = rank;
            device->physical = devices[i];
        }
    }
    if (best < 0) {
        frame_complain("no device is called \"%s\"; %u found", name, count);
        return false;
    }
    vkGetPhysicalDeviceProperties(device->physical, &device->properties);
    return true;
}

/* What rendering needs beyond what Maar recommends. */
static bool add_rendering_features(struct frame_device* device,
                                   VkPhysicalDeviceDynamicRenderingFeatures* rendering)
{
    VkPhysicalDeviceFeatures2 found = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                       .pNext = rendering};
    vkGetPhysicalDeviceFeatures2(device->physical, &found);
    const char* missing = NULL;
    if (device->properties.apiVersion < API_VERSION) {
        missing = "Vulkan 1.3";
    } else if (device->advice->synchronization2.synchronization2 == VK_FALSE) {
        missing = "synchronization2";
    } else if (rendering->dynamicRendering == VK_FALSE) {
        missing = "dynamicRendering";
    } else if (found.features.shaderStorageImageExtendedFormats == VK_FALSE) {
        missing = "shaderStorageImageExtendedFormats";
    }
    if (missing != NULL) {
        frame_complain("%s cannot render this: it lacks %s; --memory-only works nevertheless",
                       device->properties.deviceName, missing);
        return false;
    }
    device->advice->features.features.shaderStorageImageExtendedFormats = VK_TRUE;
    rendering->pNext = device->advice->pFeatures;
    return true;
}

/* Chooses the main queue and the one for compute passes: of a family that does no graphics, or
 * another one of the main family, or the main queue itself. Returns how many infos it filled. */
static uint32_t choose_queues(struct frame_device* device, bool async, const float* priorities,
                              VkDeviceQueueCreateInfo* infos, uint32_t* second_index)
{
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t count = MAX_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
    const uint32_t first = device->advice->mainQueueFamily;
    uint32_t second = first;
    for (uint32_t i = 0; i < count && second == first && async; ++i) {
        const VkQueueFlags flags = families[i].queueFlags;
        if ((flags & VK_QUEUE_COMPUTE_BIT) != 0 && (flags & VK_QUEUE_GRAPHICS_BIT) == 0) {
            second = i;
        }
    }
    *second_index = async && second == first && families[first].queueCount > 1 ? 1 : 0;
    device->queue_count = async ? 2 : 1;
    device->queue_families[0] = first;
    device->queue_families[1] = second;
    for (uint32_t i = 0; i < FRAME_MAX_QUEUES; ++i) {
        infos[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                             .queueFamilyIndex = device->queue_families[i],
                                             .queueCount = 1 + *second_index,
                                             .pQueuePriorities = priorities};
    }
    return second != first ? 2 : 1;
}

VkSharingMode frame_device_sharing(const struct frame_device* device, uint32_t* family_count,
                                   const uint32_t** families)
{
    *family_count = device->queue_count;
    *families = device->queue_families;
    return device->queue_families[0] != device->queue_families[1] ? VK_SHARING_MODE_CONCURRENT
                                                                  : VK_SHARING_MODE_EXCLUSIVE;
}

static int create_device(struct frame_device* device, bool renders, bool async)
{
    MaarDeviceRecommendation* const advice = calloc(1, sizeof(*advice));
    if (advice == NULL) {
        return FRAME_EXIT_FAILED;
    }
    device->advice = advice;
    advice->sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    if (!frame_succeeded(maarRecommendDevice(vkGetInstanceProcAddr, device->instance,
                                             device->physical, NULL, advice),
                         "maarRecommendDevice")) {
        return FRAME_EXIT_FAILED;
    }
    VkPhysicalDeviceDynamicRenderingFeatures rendering = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES};
    if (advice->mainQueueFamily == UINT32_MAX ||
        (renders && !add_rendering_features(device, &rendering))) {
        return FRAME_EXIT_SKIPPED;
    }
    const float priorities[2] = {1.0f, 1.0f};
    VkDeviceQueueCreateInfo queues[FRAME_MAX_QUEUES];
    uint32_t second_index = 0;
    const uint32_t queue_info_count =
        choose_queues(device, async, priorities, queues, &second_index);
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = renders ? &rendering : advice->pFeatures,
                                     .queueCreateInfoCount = queue_info_count,
                                     .pQueueCreateInfos = queues,
                                     .enabledExtensionCount = advice->extensionCount,
                                     .ppEnabledExtensionNames = advice->ppExtensionNames};
    if (!frame_succeeded(vkCreateDevice(device->physical, &info, NULL, &device->device),
                         "vkCreateDevice")) {
        return FRAME_EXIT_FAILED;
    }
    volkLoadDevice(device->device);
    vkGetDeviceQueue(device->device, device->queue_families[0], 0, &device->queues[0]);
    vkGetDeviceQueue(device->device, device->queue_families[1], second_index, &device->queues[1]);
    return FRAME_EXIT_OK;
}

static int create_allocator(struct frame_device* device)
{
    const MaarDeviceRecommendation* const advice = device->advice;
    MaarAllocatorCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                    .apiVersion = API_VERSION,
                                    .instance = device->instance,
                                    .physicalDevice = device->physical,
                                    .device = device->device,
                                    .enabledExtensionCount = advice->extensionCount,
                                    .ppEnabledExtensionNames = advice->ppExtensionNames,
                                    .pEnabledFeatures = advice->pFeatures,
                                    .pfnMessage = receive_maar_message,
                                    .pMessageUserData = device};
    maarUseVolk(&info);
    return frame_succeeded(maarCreateAllocator(&info, &device->allocator), "maarCreateAllocator")
               ? FRAME_EXIT_OK
               : FRAME_EXIT_FAILED;
}

int frame_device_open(struct frame_device* device, const struct frame_options* options)
{
    memset(device, 0, sizeof(*device));
    device->validate = options->validate;
    const bool simulated = strncmp(options->device, SIMULATED, strlen(SIMULATED)) == 0;
    if (simulated && !options->memory_only) {
        frame_complain("a simulated device executes nothing: use --memory-only");
        return FRAME_EXIT_USAGE;
    }
    int code = simulated ? open_simulated(device, options->device + strlen(SIMULATED))
                         : open_loader(device);
    if (code == FRAME_EXIT_OK && !pick_physical(device, options->device)) {
        code = FRAME_EXIT_SKIPPED;
    }
    if (code == FRAME_EXIT_OK) {
        code = create_device(device, !options->memory_only, options->async);
    }
    if (code == FRAME_EXIT_OK) {
        code = create_allocator(device);
    }
    return code;
}

void frame_device_close(struct frame_device* device)
{
    if (device->allocator != VK_NULL_HANDLE) {
        maarDestroyAllocator(device->allocator);
    }
    if (device->device != VK_NULL_HANDLE) {
        vkDestroyDevice(device->device, NULL);
    }
    if (device->messenger != VK_NULL_HANDLE) {
        vkDestroyDebugUtilsMessengerEXT(device->instance, device->messenger, NULL);
    }
    if (device->instance != VK_NULL_HANDLE) {
        vkDestroyInstance(device->instance, NULL);
    }
    free(device->advice);
    free(device->profile);
    device->allocator = VK_NULL_HANDLE;
    device->device = VK_NULL_HANDLE;
    device->messenger = VK_NULL_HANDLE;
    device->instance = VK_NULL_HANDLE;
    device->advice = NULL;
    device->profile = NULL;
}
