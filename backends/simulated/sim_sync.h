/*
 * Semaphores and fences: sim_sync.c and sim_payload.c.
 */
#ifndef MAAR_SIM_SYNC_H
#define MAAR_SIM_SYNC_H

#include "backends/simulated/sim_object.h"

struct sim_news;

/* A semaphore or a fence. A fence and a binary semaphore have the value 0 or 1. */
struct sim_signal {
    struct sim_object object;
    bool timeline;
    uint64_t value; /* unused once shared; only the functions of sim_payload.c read and write it */
    VkExternalSemaphoreHandleTypeFlags export_types;
    struct sim_file file; /* once exported or imported: the value then lies in `pages` */
    uint8_t* pages;
    struct sim_news* news; /* see sim_known.h; NULL before the first signal that is tracked */
};

uint64_t sim_signal_value(const struct sim_signal* signal);
void sim_signal_set(struct sim_signal* signal, uint64_t value);
/* Checks the rules of a new semaphore that may be exported. Lock held. */
VkResult sim_payload_read(struct sim_device* device, const VkSemaphoreCreateInfo* info,
                          struct sim_signal* signal);
/* Releases the file of a shared semaphore. Lock held. */
void sim_payload_forget(struct sim_signal* signal, enum sim_function function);

/* Raises the value of a timeline semaphore. Ignores a binary semaphore. Lock held. */
void sim_signal_semaphore_to(struct sim_device* device, enum sim_function function,
                             VkSemaphore semaphore, uint64_t value);

#endif
