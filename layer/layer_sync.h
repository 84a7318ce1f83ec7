/*
 * What the host saw reached.
 */
#ifndef MAAR_LAYER_SYNC_H
#define MAAR_LAYER_SYNC_H

#include "layer/layer_state.h"

/* A fence or semaphore begins anew: what the host saw of it before does not count. */
void maar_layer_forget_seen(struct layer_device* device, uint64_t object);

#endif
