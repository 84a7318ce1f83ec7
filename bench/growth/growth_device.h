/*
 * The simulated device of the growth cases.
 */
#ifndef MAAR_BENCH_GROWTH_DEVICE_H
#define MAAR_BENCH_GROWTH_DEVICE_H

#include "growth.h"

/* Opens the device and fills allocator_info. The case creates the allocator. */
void growth_open(struct growth* growth);
/* Destroys the allocator, frees growth->memory and closes the device. */
void growth_close(struct growth* growth);

#endif
