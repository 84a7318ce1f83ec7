/*
 * A simulated device with an allocator on it, for the consumers in C99 and in C++20.
 */
#ifndef CONSUMER_DEVICE_H
#define CONSUMER_DEVICE_H

#include "consumer_maar.h"

#ifdef __cplusplus
extern "C" {
#endif

struct consumer_device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    MaarDeviceRecommendation advice;
    MaarAllocator allocator;
};

/* Says what is wrong and returns 1. */
int consumer_fail(const char* reason);
/* Zeroed by the caller; 0 when the device and its allocator are there. */
int consumer_open(struct consumer_device* device);
/* 0 unless something was left behind or Vulkan was used wrongly. */
int consumer_close(struct consumer_device* device);

#ifdef __cplusplus
}
#endif

#endif
