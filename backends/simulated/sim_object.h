/*
 * Objects and their table: sim_object.c.
 */
#ifndef MAAR_SIM_OBJECT_H
#define MAAR_SIM_OBJECT_H

#include "backends/simulated/sim.h"

enum sim_kind {
    SIM_KIND_MEMORY = 1,
    SIM_KIND_BUFFER,
    SIM_KIND_IMAGE,
    SIM_KIND_SEMAPHORE,
    SIM_KIND_FENCE,
    SIM_KIND_COMMAND_POOL,
    SIM_KIND_COMMAND_BUFFER, /* dispatchable, but counted like the others */
    SIM_KIND_BUFFER_VIEW,
    SIM_KIND_IMAGE_VIEW,
    SIM_KIND_SHADER_MODULE,
    SIM_KIND_PIPELINE_LAYOUT,
    SIM_KIND_PIPELINE,
    SIM_KIND_DESCRIPTOR_SET_LAYOUT,
    SIM_KIND_DESCRIPTOR_POOL,
    SIM_KIND_DESCRIPTOR_SET,
    SIM_KIND_QUERY_POOL,
    SIM_KIND_COUNT
};

/* The head of every object. */
struct sim_object {
    struct sim_device* device;
    uint64_t handle;
    enum sim_kind kind;
    uint32_t busy; /* threads inside calls that need exclusive access */
    bool has_callbacks;
    VkAllocationCallbacks callbacks;
};

/* Creates an object, counts it and adds it to the table. Returns NULL without host memory. Lock
 * free. */
void* sim_object_create(struct sim_device* device, enum sim_kind kind, size_t size,
                        const VkAllocationCallbacks* callbacks);
/* Returns the object of a handle. Records a violation and returns NULL when no object of that kind
 * has the handle. Lock held. */
void* sim_object_get(struct sim_device* device, enum sim_function function, uint64_t handle,
                     enum sim_kind kind);
/* Returns the object of a handle, or NULL, without recording a violation. */
void* sim_object_peek(const struct sim_device* device, uint64_t handle, enum sim_kind kind);
/* Removes an object from the table. Lock held. */
void sim_object_remove(struct sim_object* object);
/* Removes the object of a handle from the table and checks the callbacks. Returns NULL for a null
 * handle and after a violation. The caller frees the object by sim_object_release() once the lock
 * is free. Lock held. */
void* sim_object_retire(struct sim_device* device, enum sim_function function, uint64_t handle,
                        enum sim_kind kind, const VkAllocationCallbacks* callbacks);
void sim_object_release(struct sim_object* object);
/* Returns the callbacks that supply an object's host memory. */
const VkAllocationCallbacks* sim_object_callbacks(const struct sim_object* object);
const char* sim_kind_name(enum sim_kind kind);

#endif
