/*
 * The device that a benchmark runs on: of a driver, found by the loader, or simulated from a
 * profile. Nothing but Vulkan 1.1 is enabled. One is open at a time, since volk's functions are
 * global.
 */
#ifndef MAAR_BENCH_DEVICE_H
#define MAAR_BENCH_DEVICE_H

#include "volk.h"

#include "bench_options.h"
#include "support/instance.h"

#include <stdbool.h>
#include <stdint.h>

/* What both allocators are told, and the device serves. */
#define BENCH_API_VERSION VK_API_VERSION_1_1

struct bench_device {
    bool simulated;
    struct support_instance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkPhysicalDeviceProperties properties;
    VkDeviceSize heap_size; /* of the largest DEVICE_LOCAL heap */
};

/*
 * Opens auto, vulkan:N or simulated:PROFILE, where PROFILE is a file or a name in data/profiles.
 * Ends the program with 2, after saying why, when that cannot be. heaps change a simulated device.
 */
void bench_device_open(struct bench_device* device, const char* name,
                       const struct bench_heaps* heaps);
void bench_device_close(struct bench_device* device);

/* Ends the program, naming the call, unless it succeeded. */
void bench_expect(VkResult result, const char* what);

/* What this thread spent in vkAllocateMemory and vkFreeMemory so far. */
struct bench_driver_time {
    uint64_t allocate_calls; /* failed ones too */
    double ns;               /* CPU time */
};
struct bench_driver_time bench_device_driver_time(void);

/* vkGetDeviceProcAddr, with these two functions counted and timed. */
PFN_vkVoidFunction VKAPI_CALL bench_device_proc_addr(VkDevice device, const char* name);

#endif
