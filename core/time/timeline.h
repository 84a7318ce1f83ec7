/*
 * Timeline semaphores that Maar creates for its own use. Any thread may call these functions.
 */
#ifndef MAAR_CORE_TIME_TIMELINE_H
#define MAAR_CORE_TIME_TIMELINE_H

#include "core/device.h"
#include "core/queue_lock.h"

/* Creates a timeline semaphore with an initial value. Sets *timeline to VK_NULL_HANDLE on failure.
 * No lock may be held. */
VkResult maar_timeline_create(const struct maar_device* device, uint64_t initial,
                              VkSemaphore* timeline);

/* Waits until the timeline reaches the value, or until timeout_ns nanoseconds have passed. No lock
 * may be held. */
VkResult maar_timeline_wait(const struct maar_device* device, VkSemaphore timeline, uint64_t value,
                            uint64_t timeout_ns);

/* Waits until the driver no longer uses a timeline that earlier submissions to a queue waited for.
 * The signals of these submissions do not prove that: lavapipe's thread of the queue uses the
 * semaphore that a submission waited for once more after it has signalled. A later signal on the
 * queue proves that the thread has finished. VK_TIMEOUT at the deadline. No lock may be held. */
VkResult maar_timeline_let_go(const struct maar_device* device, const MaarQueue* queue,
                              uint64_t deadline_ns);

#endif
