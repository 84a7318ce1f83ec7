/*
 * Commands on the main queue, a few submissions ahead of the device. Each submission signals the
 * next value of one timeline; a command buffer is recorded again when the device is done with it.
 */
#ifndef MAAR_SAMPLE_WORK_H
#define MAAR_SAMPLE_WORK_H

#include "sample_device.h"

#define SAMPLE_WORK_SLOTS 3u

struct sample_work {
    const struct sample_device* device;
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t value; /* of the last submission */
    struct {
        VkCommandBuffer commands;
        uint64_t value;
    } slots[SAMPLE_WORK_SLOTS];
    uint32_t slot;
};

/* Complains and returns false when it cannot; destroy in any case. */
bool sample_work_create(struct sample_work* work, const struct sample_device* device);
/* Waits for what was submitted. */
void sample_work_destroy(struct sample_work* work);

/* A command buffer that is recording; waits until the device has left it. NULL on failure. */
VkCommandBuffer sample_work_begin(struct sample_work* work);

/* Submits what was recorded since, after a point and before another one signals; either may be
 * NULL. Does not wait. */
bool sample_work_submit(struct sample_work* work, const MaarPoint* wait, const MaarPoint* signal);

/* Until everything that was submitted has been executed. */
bool sample_work_wait(struct sample_work* work);

/* Until a timeline has a value; complains when that takes over a minute. */
bool sample_await(const struct sample_device* device, const MaarPoint* point);

#endif
