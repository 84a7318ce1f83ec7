/*
 * Timeline semaphores that Maar creates for itself. Any thread may call.
 */
#ifndef MAAR_CORE_TIME_TIMELINE_H
#define MAAR_CORE_TIME_TIMELINE_H

#include "core/device.h"

/* Creates a timeline semaphore with an initial value. *timeline is VK_NULL_HANDLE on failure. No
 * lock may be held. */
VkResult maar_timeline_create(const struct maar_device* device, uint64_t initial,
                              VkSemaphore* timeline);

/* Waits until the timeline has the value, for at most that long. No lock may be held. */
VkResult maar_timeline_wait(const struct maar_device* device, VkSemaphore timeline, uint64_t value,
                            uint64_t timeout_ns);

#endif
