/*
 * Opens a device; see sample_device.h.
 */
#include "sample_device.h"

#include "maar/volk.h"
#include "support/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 16u
#define MAX_FAMILIES 16u
#define MAX_QUEUE_INFOS 3u
#define NUMBERED "vulkan:"
#define IDENTIFIED "uuid:"

const char* sample_require_timelines(const struct sample_device* device)
{
    if (device->properties.apiVersion < SAMPLE_API_VERSION) {
        return "Vulkan 1.3";
    }
    if (device->advice->synchronization2.synchronization2 == VK_FALSE) {
        return "synchronization2";
    }
    return device->advice->timelineSemaphore.timelineSemaphore == VK_FALSE ? "timelineSemaphore"
                                                                           : NULL;
}

const char* sample_require_rendering(struct sample_device* device,
                                     VkPhysicalDeviceDynamicRenderingFeatures* rendering,
                                     VkPhysicalDeviceFeatures* found)
{
    const char* const missing = sample_require_timelines(device);
    if (missing != NULL) {
        return missing;
    }
    *rendering = (VkPhysicalDeviceDynamicRenderingFeatures){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = rendering};
    vkGetPhysicalDeviceFeatures2(device->physical, &features);
    *found = features.features;
    if (rendering->dynamicRendering == VK_FALSE) {
        return "dynamicRendering";
    }
    rendering->pNext = device->features;
    device->features = rendering;
    return NULL;
}

bool sample_succeeded(VkResult result, const char* what)
{
    if (result != VK_SUCCESS) {
        sample_complain("%s failed: %s", what, maarGetResultName(result));
    }
    return result == VK_SUCCESS;
}

static void VKAPI_CALL receive_maar_message(void* user_data, const MaarMessage* report)
{
    struct sample_device* const device = user_data;
    if (report->severity == MAAR_MESSAGE_SEVERITY_ERROR && device->diverted != NULL) {
        snprintf(device->diverted, device->diverted_size, "%s", report->pText);
    } else if (report->severity == MAAR_MESSAGE_SEVERITY_ERROR) {
        support_messages_add(&device->messages, report->pText, false);
    }
}

void sample_device_divert(struct sample_device* device, char* text, size_t size)
{
    device->diverted = text;
    device->diverted_size = size;
}

static VkResult open_instance(struct sample_device* device,
                              const MaarSimulatedInstanceCreateInfo* simulated)
{
    const struct support_instance_info info = {.application = sample_name,
                                               .api_version = SAMPLE_API_VERSION,
                                               .simulated = simulated,
                                               .validate = device->validate,
                                               .quiet_advice = device->quiet_advice,
                                               .messages = &device->messages};
    return support_instance_open(&device->instance, &info);
}

static bool can_be_read(const char* path)
{
    FILE* const file = fopen(path, "rb");
    if (file != NULL) {
        fclose(file);
    }
    return file != NULL;
}

/* Loads a profile by its path, or by its name in the sources. */
static int open_simulated(struct sample_device* device, const char* name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/profiles/%s.json", MAAR_SAMPLE_DATA, name);
    const bool known = can_be_read(path);
    if (!known && !can_be_read(name)) {
        sample_complain("%s%s: no such profile: it is neither a file nor one of %s/profiles",
                        SAMPLE_SIMULATED, name, MAAR_SAMPLE_DATA);
        return SAMPLE_EXIT_USAGE;
    }
    device->profile = calloc(1, sizeof(*device->profile));
    struct support_error error = {{0}};
    if (!sample_has_memory(device->profile)) {
        return SAMPLE_EXIT_FAILED;
    }
    if (!support_profile_load(known ? path : name, device->profile, &error)) {
        sample_complain("%s%s: %s", SAMPLE_SIMULATED, name, error.text);
        return SAMPLE_EXIT_USAGE;
    }
    const MaarSimulatedInstanceCreateInfo simulated_info = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 1,
        .pProfiles = device->profile,
        .pfnViolation = support_receive_violation,
        .pUserData = &device->messages,
    };
    return sample_succeeded(open_instance(device, &simulated_info), "vkCreateInstance")
               ? SAMPLE_EXIT_OK
               : SAMPLE_EXIT_FAILED;
}

static int open_loader(struct sample_device* device)
{
    const VkResult result = open_instance(device, NULL);
    switch (result) {
    case VK_ERROR_INITIALIZATION_FAILED:
        sample_complain("no Vulkan loader found (libvulkan.so.1)");
        return SAMPLE_EXIT_SKIPPED;
    case VK_ERROR_LAYER_NOT_PRESENT:
        sample_complain("the layer %s is not installed (Debian: vulkan-validationlayers)",
                        SUPPORT_VALIDATION_LAYER);
        return SAMPLE_EXIT_SKIPPED;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        sample_complain("no Vulkan driver found");
        return SAMPLE_EXIT_SKIPPED;
    default:
        return sample_succeeded(result, "vkCreateInstance") ? SAMPLE_EXIT_OK : SAMPLE_EXIT_FAILED;
    }
}

/* Returns whether `hex` is the device's UUID. */
static bool is_identified(VkPhysicalDevice physical, const char* hex)
{
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    char own[2 * VK_UUID_SIZE + 1] = "";
    vkGetPhysicalDeviceProperties2(physical, &properties);
    for (size_t i = 0; i < VK_UUID_SIZE; ++i) {
        snprintf(own + 2 * i, 3, "%02x", id.deviceUUID[i]);
    }
    return strcmp(own, hex) == 0;
}

/* Returns whether a name selects a device: auto, vulkan:N, lavapipe, uuid:HEX, or a part of the
 * device's name. */
static bool is_called(VkPhysicalDevice physical, uint32_t number, const char* name)
{
    if (strncmp(name, NUMBERED, strlen(NUMBERED)) == 0) {
        return strtoul(name + strlen(NUMBERED), NULL, 10) == number;
    }
    if (strncmp(name, IDENTIFIED, strlen(IDENTIFIED)) == 0) {
        return is_identified(physical, name + strlen(IDENTIFIED));
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

static bool pick_physical(struct sample_device* device, const char* name)
{
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    int best = -1;
    char too_old[512] = "";
    if (vkEnumeratePhysicalDevices(device->instance.instance, &count, devices) < 0) {
        count = 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const int rank = support_device_rank(devices[i]);
        const bool is_wanted = device->profile != NULL || is_called(devices[i], i, name);
        if (rank > best && is_wanted) {
            best = rank;
            device->physical = devices[i];
        }
        if (rank < 0 && is_wanted && too_old[0] == '\0') {
            (void)support_describe_too_old(&devices[i], 1, too_old, sizeof(too_old));
        }
    }
    if (best < 0 && too_old[0] != '\0') {
        sample_complain("%s", too_old);
        return false;
    }
    if (best < 0) {
        sample_complain("no device is called \"%s\"; Vulkan lists %u", name, count);
        return false;
    }
    vkGetPhysicalDeviceProperties(device->physical, &device->properties);
    return true;
}

/* Requests one more queue of a family and returns its index. If the family has no more queues,
 * returns the first. */
static uint32_t add_queue(VkDeviceQueueCreateInfo* infos, uint32_t* info_count, uint32_t family,
                          uint32_t most)
{
    static const float priorities[MAX_QUEUE_INFOS] = {1.0f, 1.0f, 1.0f};
    uint32_t i = 0;
    while (i < *info_count && infos[i].queueFamilyIndex != family) {
        ++i;
    }
    if (i == *info_count) {
        infos[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                             .queueFamilyIndex = family,
                                             .pQueuePriorities = priorities};
        ++*info_count;
    } else if (infos[i].queueCount >= most) {
        return 0;
    }
    return infos[i].queueCount++;
}

/* Chooses the main queue, the second queue, which may be the main queue again, and the queue for
 * binds, which is the main queue if its family can bind. Returns the number of filled infos. */
static uint32_t choose_queues(struct sample_device* device,
                              const struct sample_device_options* options,
                              VkDeviceQueueCreateInfo* infos, uint32_t* second_index)
{
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t count = 0;
    uint32_t info_count = 0;
    /* SwiftShader reports as many families as the caller has room for. Therefore the array has only
     * its real number of families.
     */
    vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, NULL);
    count = count < MAX_FAMILIES ? count : MAX_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
    const uint32_t first = device->advice->mainQueueFamily;
    const uint32_t sparse = device->advice->sparseQueueFamily;
    uint32_t second = first;
    add_queue(infos, &info_count, first, families[first].queueCount);
    for (uint32_t i = 0; i < count && second == first && options->second_queue; ++i) {
        const VkQueueFlags flags = families[i].queueFlags;
        if ((flags & VK_QUEUE_COMPUTE_BIT) != 0 && (flags & VK_QUEUE_GRAPHICS_BIT) == 0) {
            second = i;
        }
    }
    *second_index = options->second_queue
                        ? add_queue(infos, &info_count, second, families[second].queueCount)
                        : 0;
    device->queue_count = options->second_queue ? 2 : 1;
    device->queue_families[0] = first;
    device->queue_families[1] = second;
    device->binding.familyIndex = sparse == UINT32_MAX ? first : sparse;
    if (options->paging && device->binding.familyIndex != first) {
        device->binding.queueIndex =
            add_queue(infos, &info_count, sparse, families[sparse].queueCount);
    }
    return info_count;
}

VkSharingMode sample_device_sharing(const struct sample_device* device, uint32_t* family_count,
                                    const uint32_t** families)
{
    *family_count = device->queue_count;
    *families = device->queue_families;
    return device->queue_families[0] != device->queue_families[1] ? VK_SHARING_MODE_CONCURRENT
                                                                  : VK_SHARING_MODE_EXCLUSIVE;
}

static int create_device(struct sample_device* device, const struct sample_device_options* options)
{
    MaarDeviceRecommendation* const advice = calloc(1, sizeof(*advice));
    if (!sample_has_memory(advice)) {
        return SAMPLE_EXIT_FAILED;
    }
    device->advice = advice;
    advice->sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    if (!sample_succeeded(maarRecommendDevice(vkGetInstanceProcAddr, device->instance.instance,
                                              device->physical, NULL, advice),
                          "maarRecommendDevice")) {
        return SAMPLE_EXIT_FAILED;
    }
    if (advice->mainQueueFamily == UINT32_MAX) {
        sample_complain("%s has no suitable queue", device->properties.deviceName);
        return SAMPLE_EXIT_SKIPPED;
    }
    device->features = advice->pFeatures;
    const char* const missing =
        options->require == NULL ? NULL : options->require(device, options->user_data);
    if (missing != NULL) {
        sample_complain("%s lacks %s", device->properties.deviceName, missing);
        return SAMPLE_EXIT_SKIPPED;
    }
    VkDeviceQueueCreateInfo queues[MAX_QUEUE_INFOS];
    uint32_t second_index = 0;
    const uint32_t queue_info_count = choose_queues(device, options, queues, &second_index);
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = device->features,
                                     .queueCreateInfoCount = queue_info_count,
                                     .pQueueCreateInfos = queues,
                                     .enabledExtensionCount = advice->extensionCount,
                                     .ppEnabledExtensionNames = advice->ppExtensionNames};
    if (!sample_succeeded(vkCreateDevice(device->physical, &info, NULL, &device->device),
                          "vkCreateDevice")) {
        return SAMPLE_EXIT_FAILED;
    }
    volkLoadDevice(device->device);
    vkGetDeviceQueue(device->device, device->queue_families[0], 0, &device->queues[0]);
    vkGetDeviceQueue(device->device, device->queue_families[1], second_index, &device->queues[1]);
    const MaarQueue main_queue = {.familyIndex = device->queue_families[0],
                                  .queue = device->queues[0]};
    if (options->lend_main_queue) {
        device->maar_queues[device->maar_queue_count++] = main_queue;
    }
    if (options->lend_second_queue) {
        device->maar_queues[device->maar_queue_count++] =
            (MaarQueue){.familyIndex = device->queue_families[1], .queue = device->queues[1]};
    }
    if (options->paging) {
        vkGetDeviceQueue(device->device, device->binding.familyIndex, device->binding.queueIndex,
                         &device->binding.queue);
        device->maar_queues[device->maar_queue_count++] = device->binding;
        /* A queue that can bind may be unable to copy. */
        if (device->binding.queue != device->queues[0]) {
            device->maar_queues[device->maar_queue_count++] = main_queue;
        }
    }
    return SAMPLE_EXIT_OK;
}

static int create_allocator(struct sample_device* device)
{
    const MaarDeviceRecommendation* const advice = device->advice;
    MaarAllocatorCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                    .apiVersion = SAMPLE_API_VERSION,
                                    .instance = device->instance.instance,
                                    .physicalDevice = device->physical,
                                    .device = device->device,
                                    .enabledExtensionCount = advice->extensionCount,
                                    .ppEnabledExtensionNames = advice->ppExtensionNames,
                                    .pEnabledFeatures = advice->pFeatures,
                                    .queueCount = device->maar_queue_count,
                                    .pQueues = device->maar_queues,
                                    .pfnMessage = receive_maar_message,
                                    .pMessageUserData = device};
    maarUseVolk(&info);
    return sample_succeeded(maarCreateAllocator(&info, &device->allocator), "maarCreateAllocator")
               ? SAMPLE_EXIT_OK
               : SAMPLE_EXIT_FAILED;
}

/* Returns whether a text is a possible name of a device. */
static bool check_name(const char* name)
{
    const char* const number = name + strlen(NUMBERED);
    const bool numbered = strncmp(name, NUMBERED, strlen(NUMBERED)) == 0;
    const bool good = numbered ? number[0] != '\0' && number[strspn(number, "0123456789")] == '\0'
                               : name[0] != '\0';
    if (!good) {
        sample_complain("--device \"%s\": expected for example auto or vulkan:N; see %s --help",
                        name, sample_name);
    }
    return good;
}

int sample_device_open(struct sample_device* device, const struct sample_device_options* options)
{
    memset(device, 0, sizeof(*device));
    if (!check_name(options->device)) {
        return SAMPLE_EXIT_USAGE;
    }
    device->messages = (struct support_messages){.program = sample_name, .kind = "message"};
    device->validate = options->validate;
    device->quiet_advice = options->quiet_advice;
    int code = sample_is_simulated(options->device)
                   ? open_simulated(device, options->device + strlen(SAMPLE_SIMULATED))
                   : open_loader(device);
    if (code == SAMPLE_EXIT_OK && !pick_physical(device, options->device)) {
        code = SAMPLE_EXIT_SKIPPED;
    }
    if (code == SAMPLE_EXIT_OK) {
        code = create_device(device, options);
    }
    if (code == SAMPLE_EXIT_OK) {
        code = create_allocator(device);
    }
    return code;
}

void sample_device_close_allocator(struct sample_device* device)
{
    if (device->allocator != VK_NULL_HANDLE) {
        maarDestroyAllocator(device->allocator);
    }
    device->allocator = VK_NULL_HANDLE;
}

void sample_device_close(struct sample_device* device)
{
    sample_device_close_allocator(device);
    if (device->device != VK_NULL_HANDLE) {
        vkDestroyDevice(device->device, NULL);
    }
    support_instance_close(&device->instance);
    free(device->advice);
    free(device->profile);
    device->device = VK_NULL_HANDLE;
    device->advice = NULL;
    device->profile = NULL;
}
