/*
 * The checks of every call: sim_check.c.
 */
#ifndef MAAR_SIM_CHECK_H
#define MAAR_SIM_CHECK_H

#include "backends/simulated/sim_extension.h"

void sim_lock_gpu(struct sim_gpu* gpu);
/* Unlocks the gpu, then reports the violations that have not been reported. */
void sim_unlock_gpu(struct sim_gpu* gpu);
/* Records a violation. Lock held. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void sim_violate(struct sim_gpu* gpu, enum sim_function function, MaarSimulatedViolation violation,
                 const char* format, ...);
/* Begins every call: calls the observer, counts the call, and applies a fault. `device` may
 * be NULL. */
VkResult sim_enter(struct sim_gpu* gpu, struct sim_device* device, enum sim_function function);
/* Marks an externally synchronized object as in use, and gives another thread the chance to run.
 * Lock held before and after, free in between. */
void sim_claim(struct sim_gpu* gpu, enum sim_function function, uint32_t* busy, const char* what);
/* Records a violation when a feature is not enabled. Lock held. */
void sim_need_feature(struct sim_device* device, enum sim_function function,
                      enum sim_feature feature, const char* name);

#endif
