/*
 * The device of a benchmark: a driver's device, found by the loader, or one simulated from a
 * profile. Only Vulkan 1.1 is enabled. One device is open at a time, since volk's functions are
 * global.
 */
#ifndef MAAR_BENCH_DEVICE_H
#define MAAR_BENCH_DEVICE_H

#include "volk.h"

#include "bench_options.h"
#include "maar/maar.h"
#include "support/instance.h"

#include <stdbool.h>
#include <stdint.h>

/* The Vulkan version of the device, which both allocators receive. */
#define BENCH_API_VERSION VK_API_VERSION_1_1

struct bench_device {
    bool simulated;
    struct support_instance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkPhysicalDeviceProperties properties;
    VkDeviceSize heap_size; /* size of the largest DEVICE_LOCAL heap */
};

/*
 * Opens auto, vulkan:N or simulated:PROFILE, where PROFILE is a file or a name in data/profiles. On
 * failure prints the reason and ends the program with 2. `heaps` changes a simulated device.
 */
void bench_device_open(struct bench_device* device, const char* name,
                       const struct bench_heaps* heaps);
void bench_device_close(struct bench_device* device);
/* Creates a second device with what maarRecommendDevice has answered and one queue, and loads its
 * functions. */
VkDevice bench_create_recommended(const struct bench_device* device,
                                  const MaarDeviceRecommendation* advice, uint32_t family);

/* Returns the create info of a buffer of storage. */
VkBufferCreateInfo bench_buffer_info(VkDeviceSize size);
/* Raises the system's limit of open descriptors to the maximum, since drivers keep one for each
 * memory. */
void bench_raise_descriptors(void);

/* Ends the program with a message that names the call, unless the call succeeded. */
void bench_expect(VkResult result, const char* what);

/* The cost of this thread's calls of vkAllocateMemory and vkFreeMemory. */
struct bench_driver_time {
    uint64_t allocate_calls; /* including failed calls */
    uint64_t page_faults;    /* of the process meanwhile */
    double ns;               /* CPU time */
};
struct bench_driver_time bench_device_driver_time(void);

/* Returns the number of page faults of the process so far that read no file. */
uint64_t bench_page_faults(void);

/* The pfnViolation of simulated devices: ends the program with the driver's message. */
void VKAPI_CALL bench_receive_violation(void* user_data, MaarSimulatedViolation violation,
                                        const char* text);

/* A vkGetDeviceProcAddr whose versions of these two functions are counted and timed. */
PFN_vkVoidFunction VKAPI_CALL bench_device_proc_addr(VkDevice device, const char* name);

#endif
