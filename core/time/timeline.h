/*
 * Timelines of Maar's own. Safe from any thread.
 */
#ifndef MAAR_CORE_TIME_TIMELINE_H
#define MAAR_CORE_TIME_TIMELINE_H

#include "core/device.h"

/* A timeline semaphore that begins with a value; null on failure. No lock may be held. */
VkResult maar_timeline_create(const struct maar_device* device, uint64_t initial,
                              VkSemaphore* timeline);

#endif
