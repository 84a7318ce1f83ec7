/*
 * A program that the tests of the layer run with and without it. probe.c lists what it can do.
 */
#ifndef MAAR_TESTS_LAYER_PROBE_H
#define MAAR_TESTS_LAYER_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

enum { PROBE_SKIPPED = 77 };

struct probe {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t version;
    bool is_unasked; /* does not enable VK_EXT_debug_utils */
    bool has_debug_utils;
    bool has_headless;
    bool has_swapchain;
    bool has_sparse;
    bool has_push; /* VK_KHR_push_descriptor */
    struct VolkDeviceTable call;
};

/* Open a device: the n-th physical device. They end the process when there is none. */
void probe_open_instance(struct probe* probe);
void probe_open_device(struct probe* probe, uint32_t index);
void probe_close(struct probe* probe);

/* Prints a message and ends the process unless the condition holds. */
void probe_check(bool holds, const char* what);

/* Creates a buffer. Returns its requirements. */
VkBuffer probe_create_buffer(const struct probe* probe, VkDeviceSize size,
                             VkMemoryRequirements* needs);
/* Allocates memory for requirements. */
VkDeviceMemory probe_allocate(const struct probe* probe, const VkMemoryRequirements* needs,
                              const void* chain);

/* Calls everything that the layer records and this device has; prints what it did. */
int probe_everything(struct probe* probe);

/* Submits commands and prints the uses that a capture must have. */
int probe_uses(const struct probe* probe);
/* Records a fill N times and prints the nanoseconds of a command. */
int probe_command_cost(const struct probe* probe, long count);

/* Asks for more memory than any device has. Some drivers only promise it. */
int probe_excess(const struct probe* probe);

#endif
