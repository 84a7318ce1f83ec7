/*
 * The command's devices; see tool_device.h. All Vulkan calls go through volk, whose functions come
 * from the loader or from the simulated driver.
 */
#include "tool_device.h"

#include "maar/volk.h"
#include "tool_data.h"
#include "tool_guess.h"
#include "tool_profile.h"

#include <stdlib.h>
#include <string.h>
#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>
#endif

/* The newest version that is requested: Debian 12's validation layer supports no newer one. */
#define TOOL_API_VERSION VK_API_VERSION_1_3

bool tool_device_add_heap(struct tool_device_options* options, const char* text)
{
    char number[16];
    const char* const equals = strchr(text, '=');
    const size_t length = equals == NULL ? sizeof(number) : (size_t)(equals - text);
    struct tool_heap_override heap = {0};
    if (length >= sizeof(number)) {
        tool_complain("--heap %s: expected N=SIZE, as in 0=64GiB", text);
        return false;
    }
    memcpy(number, text, length);
    number[length] = '\0';
    uint64_t index = 0;
    const enum tool_number heap_number = tool_read_number(number, VK_MAX_MEMORY_HEAPS - 1, &index);
    const enum tool_number size_number = tool_read_size(equals + 1, &heap.size);
    if (heap_number != TOOL_NUMBER_GOOD || heap.size == 0) {
        const bool is_heap = heap_number == TOOL_NUMBER_TOO_LARGE;
        tool_complain_number(is_heap ? "--heap: the heap of" : "--heap", text,
                             is_heap ? heap_number : size_number, "N=SIZE, as in 0=64GiB",
                             is_heap ? VK_MAX_MEMORY_HEAPS - 1 : UINT64_MAX);
        return false;
    }
    heap.heap = (uint32_t)index;
    if (options->heap_count == TOOL_MAX_OVERRIDES) {
        tool_complain("--heap: too many options");
        return false;
    }
    options->heaps[options->heap_count++] = heap;
    return true;
}

bool tool_device_add_limit(struct tool_device_options* options, const char* text)
{
    if (!tool_profile_set_limit(NULL, text)) {
        return false;
    }
    if (options->limit_count == TOOL_MAX_OVERRIDES) {
        tool_complain("--limit: too many options");
        return false;
    }
    options->limits[options->limit_count++] = text;
    return true;
}

static void VKAPI_CALL receive_allocator_message(void* user_data, const MaarMessage* report)
{
    struct tool_device* const tool = user_data;
    if (report->severity == MAAR_MESSAGE_SEVERITY_INFO) {
        return;
    }
    const bool warning = report->severity == MAAR_MESSAGE_SEVERITY_WARNING;
    support_messages_add(warning ? &tool->allocator_warnings : &tool->allocator_errors,
                         report->pText,
                         tool->options.silent || (warning && !tool->options.verbose));
}

static VkResult open_instance(struct tool_device* tool,
                              const MaarSimulatedInstanceCreateInfo* simulated)
{
    const struct support_instance_info info = {
        .application = "maar",
        .api_version = TOOL_API_VERSION,
        .simulated = simulated,
        .validate = tool->options.validate,
        .messages = &tool->messages,
    };
    return support_instance_open(&tool->instance, &info);
}

static int open_simulated(struct tool_device* tool)
{
    const char* name = tool->options.device;
    tool->captured = strcmp(name, "capture") == 0;
    name += tool->captured ? 0 : strlen("simulated:");
    const int code = tool->captured ? tool_profile_of_card(&tool->options, &tool->profile)
                                    : tool_profile_open(name, &tool->options, &tool->profile);
    if (code != TOOL_EXIT_OK) {
        return code;
    }
    tool->simulated = true;
    const MaarSimulatedInstanceCreateInfo simulated_info = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 1,
        .pProfiles = tool->profile,
        .pfnViolation = support_receive_violation,
        .pUserData = &tool->messages,
    };
    const VkResult result = open_instance(tool, &simulated_info);
    if (result != VK_SUCCESS) {
        tool_complain("%s: cannot be simulated: %s", name, maarGetResultName(result));
        return TOOL_EXIT_USAGE;
    }
    return TOOL_EXIT_OK;
}

/*
 * The validation layer and one driver leak a little memory on every run. LeakSanitizer can suppress
 * these leaks only if both are still loaded when it reports.
 */
static void keep_libraries_loaded(void)
{
#if defined(__SANITIZE_ADDRESS__)
    dlopen("libVkLayer_khronos_validation.so", RTLD_LAZY | RTLD_NODELETE);
    dlopen("libvulkan_radeon.so", RTLD_LAZY | RTLD_NODELETE);
#endif
}

static int open_loader(struct tool_device* tool)
{
    if (tool->options.limit_count != 0) {
        tool_complain("--limit is for simulated devices");
        return TOOL_EXIT_USAGE;
    }
    keep_libraries_loaded();
    const VkResult result = open_instance(tool, NULL);
    switch (result) {
    case VK_SUCCESS:
        return TOOL_EXIT_OK;
    case VK_ERROR_INITIALIZATION_FAILED:
        tool_complain(
            "no Vulkan loader found (libvulkan.so.1); --device simulated:PROFILE needs none");
        return TOOL_EXIT_USAGE;
    case VK_ERROR_LAYER_NOT_PRESENT:
        tool_complain("--validate: the layer %s is not installed (Debian: vulkan-validationlayers)",
                      SUPPORT_VALIDATION_LAYER);
        return TOOL_EXIT_USAGE;
    default:
        tool_complain("no Vulkan instance: %s%s", maarGetResultName(result),
                      result == VK_ERROR_INCOMPATIBLE_DRIVER
                          ? " (no driver found; --device simulated:PROFILE needs none)"
                          : "");
        return TOOL_EXIT_USAGE;
    }
}

/* Prints that a text names no kind of device, and what was probably meant: one of the words, the
 * number of a device, or a profile. */
static void complain_of_device(const char* device)
{
    struct tool_guess kind = {.typed = device};
    struct tool_guess profile = {.typed = device};
    char typed[TOOL_GUESS_LENGTH + 1];
    char meant[256];
    const char* const colon = strchr(device, ':');
    if (colon != NULL) {
        snprintf(typed, sizeof(typed), "%.*s", (int)(colon - device), device);
        kind.typed = typed;
        profile.typed = colon + 1;
        tool_guess_offer(&kind, "vulkan");
        tool_guess_offer(&kind, "simulated");
    } else {
        tool_guess_offer(&kind, "auto");
    }
    tool_data_guess(TOOL_DATA_PROFILES, &profile);
    tool_guess_text(&kind, "", meant, sizeof(meant));
    if (kind.best[0] != '\0' && colon != NULL) {
        snprintf(meant, sizeof(meant), "; did you mean %s%.80s?", kind.best, colon);
    } else if (kind.best[0] == '\0') {
        tool_guess_text(&profile, "simulated:", meant, sizeof(meant));
    }
    tool_complain("--device %s: expected auto, vulkan:N or simulated:PROFILE%s", device, meant);
}

int tool_device_open_instance(struct tool_device* tool, const struct tool_device_options* options)
{
    memset(tool, 0, sizeof(*tool));
    tool->messages = (struct support_messages){.program = "maar", .kind = "message"};
    tool->allocator_errors =
        (struct support_messages){.program = "maar", .kind = "allocator error"};
    tool->allocator_warnings =
        (struct support_messages){.program = "maar", .kind = "allocator warning"};
    pthread_mutex_init(&tool->queue_mutex, NULL);
    tool->options = *options;
    const char* const device = options->device;
    if (strncmp(device, "simulated:", strlen("simulated:")) == 0 ||
        strcmp(device, "capture") == 0) {
        return open_simulated(tool);
    }
    uint32_t number = 0;
    if (strcmp(device, "auto") != 0 &&
        (strncmp(device, "vulkan:", 7) != 0 || !tool_parse_number(device + 7, &number))) {
        complain_of_device(device);
        return TOOL_EXIT_USAGE;
    }
    return open_loader(tool);
}

uint32_t tool_device_list(const struct tool_device* tool, VkPhysicalDevice** out)
{
    *out = NULL;
    uint32_t count = 0;
    if (vkEnumeratePhysicalDevices(tool->instance.instance, &count, NULL) != VK_SUCCESS ||
        count == 0) {
        return 0;
    }
    VkPhysicalDevice* const devices = calloc(count, sizeof(VkPhysicalDevice));
    if (devices == NULL ||
        vkEnumeratePhysicalDevices(tool->instance.instance, &count, devices) < 0) {
        free(devices);
        return 0;
    }
    *out = devices;
    return count;
}

static int pick_physical(struct tool_device* tool)
{
    VkPhysicalDevice* devices = NULL;
    const uint32_t count = tool_device_list(tool, &devices);
    uint32_t chosen = UINT32_MAX;
    char too_old[512] = "";
    if (strncmp(tool->options.device, "vulkan:", 7) == 0) {
        uint32_t number = 0;
        if (tool_parse_number(tool->options.device + 7, &number) && number < count) {
            chosen = number;
        }
    } else {
        int best = -1;
        for (uint32_t i = 0; i < count; ++i) {
            const int rank = support_device_rank(devices[i]);
            if (rank > best) {
                best = rank;
                chosen = i;
            }
        }
        support_describe_too_old(devices, count, too_old, sizeof(too_old));
    }
    if (chosen != UINT32_MAX) {
        tool->index = chosen;
        tool->physical = devices[chosen];
    }
    free(devices);
    if (chosen == UINT32_MAX && too_old[0] != '\0') {
        tool_complain("--device %s: %s", tool->options.device, too_old);
        return TOOL_EXIT_USAGE;
    }
    if (chosen == UINT32_MAX) {
        tool_complain("--device %s: no such device; Vulkan lists %u (see maar info)",
                      tool->options.device, count);
        return TOOL_EXIT_USAGE;
    }
    return TOOL_EXIT_OK;
}

static void describe_driver(struct tool_device* tool,
                            const VkPhysicalDeviceDriverProperties* driver)
{
    const size_t size = sizeof(tool->driver);
    if (tool->simulated) {
        snprintf(tool->driver, size, "simulated from %s", tool->profile->name);
    } else if (driver->driverName[0] != '\0') {
        snprintf(tool->driver, size, "%s%s%s", driver->driverName,
                 driver->driverInfo[0] != '\0' ? ", " : "", driver->driverInfo);
    } else {
        snprintf(tool->driver, size, "vendor 0x%04x, version 0x%08x", tool->properties.vendorID,
                 tool->properties.driverVersion);
    }
}

static void describe_physical(struct tool_device* tool)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceMaintenance4Properties maintenance4 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES, .pNext = &driver};
    VkPhysicalDeviceProperties2 properties = {.sType =
                                                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vkGetPhysicalDeviceProperties(tool->physical, &tool->properties);
    if (tool->properties.apiVersion >= VK_API_VERSION_1_3) {
        properties.pNext = &maintenance4;
    } else if (tool->properties.apiVersion >= VK_API_VERSION_1_2) {
        properties.pNext = &driver;
    }
    vkGetPhysicalDeviceProperties2(tool->physical, &properties);
    vkGetPhysicalDeviceMemoryProperties(tool->physical, &tool->memory);
    tool->max_buffer_size = maintenance4.maxBufferSize;
    describe_driver(tool, &driver);
}

/* The features of the replayer, beside those that Maar recommends: compressed textures, which games
 * use. */
static void add_own_features(struct tool_device* tool)
{
    VkPhysicalDeviceFeatures available;
    vkGetPhysicalDeviceFeatures(tool->physical, &available);
    VkPhysicalDeviceFeatures* const wanted = &tool->recommendation->features.features;
    wanted->textureCompressionBC = available.textureCompressionBC;
    wanted->textureCompressionETC2 = available.textureCompressionETC2;
    wanted->textureCompressionASTC_LDR = available.textureCompressionASTC_LDR;
    wanted->shaderStorageImageMultisample = available.shaderStorageImageMultisample;
}

static void VKAPI_CALL lock_queue(void* user_data, VkQueue queue)
{
    (void)queue;
    pthread_mutex_lock(&((struct tool_device*)user_data)->queue_mutex);
}

static void VKAPI_CALL unlock_queue(void* user_data, VkQueue queue)
{
    (void)queue;
    pthread_mutex_unlock(&((struct tool_device*)user_data)->queue_mutex);
}

/* Chooses the queue for Maar's binds: a separate queue, or else the main one. */
static void pick_bind_queue(struct tool_device* tool, bool apart)
{
    tool->bind_queue = (MaarQueue){.familyIndex = tool->queue_family, .queue = tool->queue};
    if (apart) {
        tool->bind_queue.familyIndex = tool->recommendation->sparseQueueFamily;
        vkGetDeviceQueue(tool->device, tool->bind_queue.familyIndex, 0, &tool->bind_queue.queue);
        return;
    }
    tool->bind_queue.pfnLock = lock_queue;
    tool->bind_queue.pfnUnlock = unlock_queue;
    tool->bind_queue.pUserData = tool;
}

static VkResult create_device(struct tool_device* tool)
{
    tool->recommendation = calloc(1, sizeof(*tool->recommendation));
    if (tool->recommendation == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    MaarDeviceRecommendation* const advice = tool->recommendation;
    advice->sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    VkResult result = maarRecommendDevice(vkGetInstanceProcAddr, tool->instance.instance,
                                          tool->physical, NULL, advice);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (advice->mainQueueFamily == UINT32_MAX) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    add_own_features(tool);
    const float priority = 1.0f;
    const bool apart = tool->options.pages && advice->sparseQueueFamily != UINT32_MAX &&
                       advice->sparseQueueFamily != advice->mainQueueFamily;
    const VkDeviceQueueCreateInfo queue_infos[2] = {
        {
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = advice->mainQueueFamily,
            .queueCount = 1,
            .pQueuePriorities = &priority,
        },
        {
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = advice->sparseQueueFamily,
            .queueCount = 1,
            .pQueuePriorities = &priority,
        },
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = advice->pFeatures,
        .queueCreateInfoCount = apart ? 2 : 1,
        .pQueueCreateInfos = queue_infos,
        .enabledExtensionCount = advice->extensionCount,
        .ppEnabledExtensionNames = advice->ppExtensionNames,
    };
    result = vkCreateDevice(tool->physical, &info, NULL, &tool->device);
    if (result != VK_SUCCESS) {
        return result;
    }
    volkLoadDevice(tool->device);
    tool->queue_family = advice->mainQueueFamily;
    vkGetDeviceQueue(tool->device, tool->queue_family, 0, &tool->queue);
    pick_bind_queue(tool, apart);
    VkQueueFamilyProperties families[16];
    uint32_t family_count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(tool->physical, &family_count, NULL);
    family_count = family_count < 16 ? family_count : 16;
    vkGetPhysicalDeviceQueueFamilyProperties(tool->physical, &family_count, families);
    tool->queue_flags =
        tool->queue_family < family_count ? families[tool->queue_family].queueFlags : 0;
    return VK_SUCCESS;
}

/* Checks the --heap options of a real device. Those of a simulated device were checked when they
 * were applied. */
static bool check_heaps(const struct tool_device* tool)
{
    for (uint32_t i = 0; i < tool->options.heap_count && !tool->simulated; ++i) {
        const uint32_t heap = tool->options.heaps[i].heap;
        const uint32_t count = tool->memory.memoryHeapCount;
        if (heap >= count) {
            tool_complain("--heap %u: %s has %u heap%s", heap, tool->properties.deviceName, count,
                          count == 1 ? "" : "s");
            return false;
        }
    }
    return true;
}

int tool_device_open(struct tool_device* tool, VkPhysicalDevice physical)
{
    tool->physical = physical;
    if (physical == VK_NULL_HANDLE) {
        const int code = pick_physical(tool);
        if (code != TOOL_EXIT_OK) {
            return code;
        }
    }
    describe_physical(tool);
    char too_old[512];
    if (support_describe_too_old(&tool->physical, 1, too_old, sizeof(too_old))) {
        tool_complain("--device %s: %s", tool->options.device, too_old);
        return TOOL_EXIT_USAGE;
    }
    if (!check_heaps(tool)) {
        return TOOL_EXIT_USAGE;
    }
    const VkResult result = create_device(tool);
    if (result != VK_SUCCESS) {
        tool_complain("%s: no device: %s", tool->properties.deviceName, maarGetResultName(result));
        return TOOL_EXIT_FAILED;
    }
    return TOOL_EXIT_OK;
}

void tool_device_close_device(struct tool_device* tool)
{
    if (tool->device != VK_NULL_HANDLE) {
        vkDestroyDevice(tool->device, NULL);
    }
    free(tool->recommendation);
    tool->device = VK_NULL_HANDLE;
    tool->recommendation = NULL;
}

void tool_device_close(struct tool_device* tool)
{
    tool_device_close_device(tool);
    support_instance_close(&tool->instance);
    free(tool->profile);
    tool->profile = NULL;
}

VkResult tool_device_create_allocator(struct tool_device* tool,
                                      const struct tool_allocator_options* options,
                                      MaarAllocator* allocator)
{
    VkDeviceSize limits[VK_MAX_MEMORY_HEAPS] = {0};
    for (uint32_t i = 0; i < tool->options.heap_count && !tool->simulated; ++i) {
        limits[tool->options.heaps[i].heap] = tool->options.heaps[i].size;
    }
    const bool limited = tool->options.heap_count != 0 && !tool->simulated;
    const MaarDeviceRecommendation* const advice = tool->recommendation;
    MaarAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = TOOL_API_VERSION,
        .instance = tool->instance.instance,
        .physicalDevice = tool->physical,
        .device = tool->device,
        .enabledExtensionCount = advice->extensionCount,
        .ppEnabledExtensionNames = advice->ppExtensionNames,
        .pEnabledFeatures = advice->pFeatures,
        .pfnMessage = receive_allocator_message,
        .pMessageUserData = tool,
        .pfnDeviceAllocate = options->on_allocate,
        .pfnDeviceFree = options->on_free,
        .pDeviceMemoryUserData = options->user_data,
        .heapSizeLimitCount = limited ? tool->memory.memoryHeapCount : 0,
        .pHeapSizeLimits = limited ? limits : NULL,
        .strategy = options->strategy,
        .preferredBlockSize = tool->options.block_size,
        .queueCount = tool->options.pages || tool->options.residents ? 1 : 0,
        .pQueues = &tool->bind_queue,
    };
    maarUseVolk(&info);
    return maarCreateAllocator(&info, allocator);
}
