/*
 * The memory, buffers, images and views of a state: how they are made, and how they end.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_OBJECTS_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_OBJECTS_H

#include "core/objects/object.h"
#include "core/transient/transient_state.h"

/* ---- transient_objects.c ---- */

/* Keeps what it can of the old state, if there is one, and allocates and creates the rest. Undoes
 * everything on failure. */
VkResult maar_transient_make_objects(const struct maar_transient_heap* heap, const char* call,
                                     const MaarTransientGraph* info, const uint32_t* previous,
                                     struct maar_transient_state* state);
/* Destroys the views of an object. */
void maar_transient_destroy_views(const struct maar_device* device,
                                  const struct maar_transient_resource* resource,
                                  const struct maar_transient_object* object);
/* Destroys a buffer or an image, but not its memory. */
void maar_transient_destroy_resource(MaarAllocator allocator, bool image, uint64_t handle);
/* Destroys what maar_transient_make_objects has created. What it has kept is not destroyed. */
void maar_transient_undo_objects(MaarAllocator allocator, struct maar_transient_state* state);

/* ---- transient_retire.c ---- */

/* Ends, after the points, the parts of a state that `next` has not kept. `next` is NULL if there is
 * no newer state. On failure nothing has changed. */
VkResult maar_transient_retire(MaarAllocator allocator, struct maar_transient_state* state,
                               const struct maar_transient_state* next, uint32_t point_count,
                               const MaarPoint* points);

#endif
