/*
 * Opens a device and creates Maar's allocator for it. The device comes from the Vulkan loader or is
 * simulated; the validation layer is optional.
 *
 * volk's global functions belong to the device that was opened last, so that one device is open at
 * a time. Any thread may count messages; everything else is single-threaded.
 */
#ifndef MAAR_TOOL_DEVICE_H
#define MAAR_TOOL_DEVICE_H

#include "volk.h"

#include "maar/maar.h"
#include "support/card.h"
#include "support/instance.h"
#include "tool_text.h"

#include <pthread.h>

/* The most options of one kind on a command line. */
#define TOOL_MAX_OVERRIDES 32

/* One --heap N=SIZE. */
struct tool_heap_override {
    uint32_t heap;
    VkDeviceSize size;
};

/* The choice of a device, and the options for it. */
struct tool_device_options {
    const char* device;              /* auto, vulkan:N, simulated:PROFILE or capture */
    const struct support_card* card; /* for capture: the device of the trace; else NULL */
    const char* card_name;
    uint32_t card_index; /* of the device, in the trace */
    bool validate;
    bool verbose;            /* also print the allocator's warnings */
    bool silent;             /* print neither its warnings nor its errors */
    bool whole_heaps;        /* simulated devices only: each heap's budget is its size */
    VkDeviceSize block_size; /* of default pools; 0 for the default */
    bool pages;              /* Maar gets a queue for binds, from a separate family if one exists */
    bool residents;          /* Maar gets the main queue, for copies */
    uint32_t heap_count;
    struct tool_heap_override heaps[TOOL_MAX_OVERRIDES];
    uint32_t limit_count;
    const char* limits[TOOL_MAX_OVERRIDES]; /* NAME=VALUE, for simulated devices only */
};

struct tool_device {
    struct tool_device_options options;
    bool simulated;
    bool captured;                 /* simulated from a capture: what its driver demanded holds */
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
    pthread_mutex_t queue_mutex; /* held during submissions to `queue` */
    MaarQueue bind_queue;        /* for Maar; the same as `queue` where its family can bind */
    struct support_messages
        messages; /* from the layer, or violations that the simulated driver found */
    struct support_messages allocator_errors;
    struct support_messages allocator_warnings;
};

/* Parses one --heap or --limit argument into options. Prints an error and returns false on
 * failure. */
bool tool_device_add_heap(struct tool_device_options* options, const char* text);
bool tool_device_add_limit(struct tool_device_options* options, const char* text);

/*
 * Opens the loader or the simulated driver and creates an instance. Returns TOOL_EXIT_OK, or prints
 * an error and returns another code. The caller closes the device in both cases.
 */
int tool_device_open_instance(struct tool_device* tool, const struct tool_device_options* options);

/* Lists the instance's physical devices that Maar can use. The caller frees the list. */
uint32_t tool_device_list(const struct tool_device* tool, VkPhysicalDevice** out);

/* Opens a physical device of the instance; VK_NULL_HANDLE stands for the one that the options
 * name. */
int tool_device_open(struct tool_device* tool, VkPhysicalDevice physical);

/* Closes the device and keeps the instance. */
void tool_device_close_device(struct tool_device* tool);

/* Closes everything. After this call no further message arrives. */
void tool_device_close(struct tool_device* tool);

/* The options of tool_device_create_allocator(). */
struct tool_allocator_options {
    MaarPlacementStrategy strategy;
    PFN_maarDeviceMemory on_allocate; /* called after memory was allocated; may be NULL */
    PFN_maarDeviceMemory on_free;     /* called before memory is freed; may be NULL */
    void* user_data;
};

VkResult tool_device_create_allocator(struct tool_device* tool,
                                      const struct tool_allocator_options* options,
                                      MaarAllocator* allocator);

#endif
