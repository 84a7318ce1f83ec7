/*
 * The simulated device of the growth cases.
 */
#ifndef MAAR_BENCH_GROWTH_DEVICE_H
#define MAAR_BENCH_GROWTH_DEVICE_H

#include "growth.h"

/* The first bytes of the device's UUID; the others are 0. */
#define GROWTH_DEVICE_UUID                                                                         \
    {                                                                                              \
        0x67, 0x72, 0x6f, 0x77, 0x74, 0x68                                                         \
    }

/* Opens the device and fills allocator_info. The case creates the allocator. */
void growth_open(struct growth* growth);
/* Destroys the allocator, frees the case's arrays and closes the device. */
void growth_close(struct growth* growth);

#endif
