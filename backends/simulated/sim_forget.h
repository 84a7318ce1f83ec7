/*
 * Bytes that leave a resource: sim_forget.c.
 */
#ifndef MAAR_SIM_FORGET_H
#define MAAR_SIM_FORGET_H

#include "backends/simulated/sim_resource.h"

/* Both functions do nothing unless MAAR_SIMULATED_FORGET_UNBOUND_BIT is set. Lock held. */

/* Makes undefined what a batch of binds takes from sparse resources, before it is executed. */
void sim_forget_batch(struct sim_device* device, const struct sim_piece* pieces, size_t count);
/* Makes undefined the bytes of a resource that is being destroyed. */
void sim_forget_resource(const struct sim_resource* resource);

#endif
