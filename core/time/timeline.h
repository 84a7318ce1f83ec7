/*
 * Timeline semaphores that Maar creates for its own use. Any thread may call these functions.
 */
#ifndef MAAR_CORE_TIME_TIMELINE_H
#define MAAR_CORE_TIME_TIMELINE_H

#include "core/device.h"

/* Creates a timeline semaphore with an initial value. Sets *timeline to VK_NULL_HANDLE on failure.
 * No lock may be held. */
VkResult maar_timeline_create(const struct maar_device* device, uint64_t initial,
                              VkSemaphore* timeline);

/* Waits until the timeline reaches the value, or until timeout_ns nanoseconds have passed. No lock
 * may be held. */
VkResult maar_timeline_wait(const struct maar_device* device, VkSemaphore timeline, uint64_t value,
                            uint64_t timeout_ns);

#endif
