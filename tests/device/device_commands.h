/*
 * Commands on a real device: fill buffers, copy them back, signal a timeline.
 */
#ifndef MAAR_TESTS_DEVICE_DEVICE_COMMANDS_H
#define MAAR_TESTS_DEVICE_DEVICE_COMMANDS_H

#include "tests/rig/rig.h"

/* Fills each buffer with its word, copies all of them to `readback`, one after another, signals
 * `timeline` (may be null) with `value`, and waits for the queue. Sizes are multiples of 4. */
void device_fill_and_read(struct rig* rig, uint32_t count, const VkBuffer* buffers,
                          const VkDeviceSize* sizes, const uint32_t* words, VkBuffer readback,
                          VkSemaphore timeline, uint64_t value);

#endif
