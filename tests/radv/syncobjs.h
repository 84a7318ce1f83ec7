/*
 * Synchronization objects of a kernel that executes nothing: signalled when the driver makes the
 * call that would have the device do so. Whoever waits for a submission thus waits until the
 * driver, whose own threads may submit, has read it.
 */
#ifndef MAAR_TESTS_RADV_SYNCOBJS_H
#define MAAR_TESTS_RADV_SYNCOBJS_H

#include <stdbool.h>

#include "tests/radv/ioctl_faults.h"

/* Answers a DRM call, by its number, if it is about synchronization objects. */
bool syncobjs_answer(const struct ioctl_faults* faults, unsigned number, void* argument,
                     int* result);
/* From now on nobody waits: what is waited for is signalled by the wait. For kernels whose
 * submissions are not understood here. */
void syncobjs_never_wait(void);
/* Signals what a submission to amdgpu says, once it has been made. */
void syncobjs_signal_submission(const void* argument);

#endif
