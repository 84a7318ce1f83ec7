/*
 * FAKES. Exportable semaphores for drivers that have none, such as lavapipe: entry points to put in
 * front of the driver's. What is exported is a file that names the semaphore, and means something
 * only in this process, to the FAKE CUDA driver and to imports through these same entry points. A
 * stand-in: it says nothing about any driver's semaphores.
 *
 * Below, a binary semaphore that can be exported is a timeline, whose value n is its nth signal; so
 * submissions that use it must go through the vkQueueSubmit that is handed out here. One instance
 * at a time; internally synchronized.
 */
#ifndef MAAR_TESTS_FAKES_SEMAPHORE_WRAP_H
#define MAAR_TESTS_FAKES_SEMAPHORE_WRAP_H

#include <stdint.h>

#include <vulkan/vulkan_core.h>

/* What the wrapped device claims to export as an opaque descriptor. */
enum semaphore_wrap_kinds {
    SEMAPHORE_WRAP_NONE = 0,
    SEMAPHORE_WRAP_BINARY = 0x1,
    SEMAPHORE_WRAP_TIMELINE = 0x2,
    SEMAPHORE_WRAP_ALL = 0x3
};

/* `below` are the driver's (or the loader's) own; both stay in use until the end. */
void semaphore_wrap_open(VkInstance instance, PFN_vkGetInstanceProcAddr instance_below,
                         PFN_vkGetDeviceProcAddr device_below, uint32_t kinds);
/* How many exportable semaphores were not destroyed. No stream may use one any longer. */
uint32_t semaphore_wrap_close(void);

PFN_vkVoidFunction VKAPI_PTR semaphore_wrap_instance_function(VkInstance instance,
                                                              const char* name);
PFN_vkVoidFunction VKAPI_PTR semaphore_wrap_device_function(VkDevice device, const char* name);

/* Breaches of the rules of binary semaphores on Vulkan's side since it was opened. */
uint32_t semaphore_wrap_breach_count(void);
const char* semaphore_wrap_last_breach(void);

#endif
