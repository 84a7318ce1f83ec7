/*
 * Commands on the main queue, a few submissions ahead of the device. Each submission signals the
 * next value of one timeline. A command buffer is reused when the device is done with it.
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

/* Creates the objects. Prints an error and returns false on failure. The caller destroys the
 * objects in every case. */
bool sample_work_create(struct sample_work* work, const struct sample_device* device);
/* Waits for all submissions and destroys the objects. */
void sample_work_destroy(struct sample_work* work);

/* Begins a command buffer, after waiting until the device is done with it. Returns NULL on
 * failure. */
VkCommandBuffer sample_work_begin(struct sample_work* work);

/* Submits the recorded commands. They wait for one point and signal another; either may be NULL.
 * Does not wait on the host. */
bool sample_work_submit(struct sample_work* work, const MaarPoint* wait, const MaarPoint* signal);

/* Waits until everything that was submitted has been executed. */
bool sample_work_wait(struct sample_work* work);

/* Waits until a timeline has a value. Prints an error if this takes over a minute. */
bool sample_await(const struct sample_device* device, const MaarPoint* point);

#endif
