/*
 * What fuzz targets on a simulated device share: the rig, host memory that is counted, failures on
 * demand, and what must hold after every step. Its first member is the input. Only for one thread.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_DEVICE_H
#define MAAR_TESTS_FUZZ_FUZZ_DEVICE_H

#include "tests/fuzz/fuzz_host.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/rig/rig.h"

struct fuzz_device {
    struct fuzz_input input;
    struct rig rig;
    struct fuzz_host host;
    bool may_fail; /* something was set to fail */
    bool may_be_lost;
};

/* Opens the device and makes an allocator on it; flags as in its create info. */
void fuzz_device_open(struct fuzz_device* device, const struct rig_setup* setup,
                      MaarAllocatorCreateFlags flags);
/* Everything must have been given back. */
void fuzz_device_close(struct fuzz_device* device);

/* 0 .. limit - 1 */
uint32_t fuzz_device_pick(struct fuzz_device* device, uint32_t limit);
/* Draws what is going to fail: host memory, the driver, both, or nothing, as half of the times. */
void fuzz_device_plan(struct fuzz_device* device);
void fuzz_device_forget(struct fuzz_device* device);
/* Aborts unless it succeeded, something was set to fail, or nothing but memory ran out. */
VkResult fuzz_device_allow(const struct fuzz_device* device, VkResult result);
/* Moves a timeline; false when the device is lost, which takes no signal. */
bool fuzz_device_signal(const struct fuzz_device* device, VkSemaphore timeline, uint64_t value);
/* The driver saw no misuse, the heavy check finds nothing. */
void fuzz_device_sound(struct fuzz_device* device);

#endif
