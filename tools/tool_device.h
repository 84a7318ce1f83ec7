/*
 * Opening a device, by the loader or simulated, with or without the validation layer, and making
 * Maar's allocator for it.
 *
 * volk's global functions belong to the device opened last: one is open at a time. Counting
 * messages is safe from any thread, all else belongs to one.
 */
#ifndef MAAR_TOOL_DEVICE_H
#define MAAR_TOOL_DEVICE_H

#include "volk.h"

#include "maar/maar.h"
#include "support/instance.h"
#include "tool_text.h"

#include <pthread.h>

/* Most options of one kind on a command line. */
#define TOOL_MAX_OVERRIDES 32

/* One --heap N=SIZE. */
struct tool_heap_override {
    uint32_t heap;
    VkDeviceSize size;
};

/* Which device, and how. */
struct tool_device_options {
    const char* device; /* auto, vulkan:N or simulated:PROFILE */
    bool validate;
    bool verbose; /* also print the allocator's warnings */
    bool pages;   /* Maar gets a queue that binds, of a family of its own if there is one */
    uint32_t heap_count;
    struct tool_heap_override heaps[TOOL_MAX_OVERRIDES];
    uint32_t limit_count;
    const char* limits[TOOL_MAX_OVERRIDES]; /* NAME=VALUE, simulated devices only */
};

struct tool_device {
    struct tool_device_options options;
    bool simulated;
    MaarSimulatedProfile* profile; /* simulated only */
    struct support_instance instance;
    VkPhysicalDevice physical;
    uint32_t index; /* in the order of vkEnumeratePhysicalDevices */
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize max_buffer_size;
    char driver[VK_MAX_DRIVER_NAME_SIZE + VK_MAX_DRIVER_INFO_SIZE + 4];
    MaarDeviceRecommendation* recommendation;
    VkDevice device;
    uint32_t queue_family;
    VkQueueFlags queue_flags;
    VkQueue queue;
    pthread_mutex_t queue_mutex;      /* around submissions to `queue` */
    MaarQueue bind_queue;             /* for Maar; `queue` itself where its family binds */
    struct support_messages messages; /* of the layer, or breaches that the simulated driver saw */
    struct support_messages allocator_errors;
    struct support_messages allocator_warnings;
};

/* Parses one --heap or --limit argument into options; complains and returns false. */
bool tool_device_add_heap(struct tool_device_options* options, const char* text);
bool tool_device_add_limit(struct tool_device_options* options, const char* text);

/*
 * Opens the loader or the simulated driver, with an instance. Returns TOOL_EXIT_OK, or complains
 * and returns another code; close in any case.
 */
int tool_device_open_instance(struct tool_device* tool, const struct tool_device_options* options);

/* Lists the instance's physical devices that Maar can use; the caller frees. */
uint32_t tool_device_list(const struct tool_device* tool, VkPhysicalDevice** out);

/* Opens a physical device of the instance, VK_NULL_HANDLE for what the options name. */
int tool_device_open(struct tool_device* tool, VkPhysicalDevice physical);

/* Closes the device, keeping the instance. */
void tool_device_close_device(struct tool_device* tool);

/* Closes everything; messages are final afterwards. */
void tool_device_close(struct tool_device* tool);

/* What the caller of tool_device_create_allocator may choose. */
struct tool_allocator_options {
    MaarPlacementStrategy strategy;
    PFN_maarDeviceMemory on_free; /* told before memory goes; may be NULL */
    void* user_data;
};

VkResult tool_device_create_allocator(struct tool_device* tool,
                                      const struct tool_allocator_options* options,
                                      MaarAllocator* allocator);

/* "VK_ERROR_..." without much ado. */
const char* tool_result_name(VkResult result);

#endif
