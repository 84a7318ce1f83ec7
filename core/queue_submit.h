/*
 * Submissions of Maar's own to a queue of the program: they wait for values of timelines, carry one
 * command buffer at most, and signal a value of a timeline.
 */
#ifndef MAAR_CORE_QUEUE_SUBMIT_H
#define MAAR_CORE_QUEUE_SUBMIT_H

#include "core/device.h"
#include "core/queue_lock.h"

/* The largest number of semaphores that a submission waits for: the submission before it, the
 * delays of binds, and the points of its caller. */
enum { MAAR_MOST_SUBMISSION_WAITS = 2 * MAAR_MAX_POINTS + 1 };

/* One submission. */
struct maar_submission {
    const MaarQueue* queue;
    uint32_t wait_count; /* at most MAAR_MOST_SUBMISSION_WAITS */
    const VkSemaphore* waits;
    const uint64_t* wait_values;
    VkSemaphore signal;
    uint64_t signal_value;
};

/* Submits commands, which may be VK_NULL_HANDLE. The lock of the queue is held. */
VkResult maar_submit(const struct maar_device* device, const struct maar_submission* submission,
                     VkCommandBuffer commands);

#endif
