/*
 * Finds what the layer keeps of an instance or of a device. Reading takes no lock.
 */
#ifndef MAAR_LAYER_REGISTRY_H
#define MAAR_LAYER_REGISTRY_H

#include "layer/layer_state.h"

/* Remember and forget. The handle is valid. Adding fails without host memory, and if the handle has
 * an entry already. */
bool maar_layer_add_instance(const void* handle, struct layer_instance* instance);
bool maar_layer_add_device(const void* handle, struct layer_device* device);
void maar_layer_remove_instance(const void* handle);
void maar_layer_remove_device(const void* handle);

/* Calls a function for each device. No other thread may add or remove one. */
void maar_layer_each_device(void (*visit)(struct layer_device* device));

/* Number of instances. */
uint32_t maar_layer_instance_count(void);

/* Before a fork, after it, and in the child. */
void maar_layer_registry_hold(void);
void maar_layer_registry_release(void);

/* Frees what the registry itself has allocated. No other thread uses the layer. */
void maar_layer_registry_clear(void);

#endif
