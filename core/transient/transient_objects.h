/*
 * The memory, buffers, images and views of a state: how they are made, and how they end.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_OBJECTS_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_OBJECTS_H

#include "core/objects/object.h"
#include "core/transient/transient_state.h"

/* ---- transient_objects.c ---- */

/* Keeps what it can of the old state (NULL: there is none), allocates and creates the rest; undone
 * on failure. */
VkResult maar_transient_make_objects(const struct maar_transient_heap* heap, const char* call,
                                     const MaarTransientGraph* info, const uint32_t* previous,
                                     struct maar_transient_state* state);
void maar_transient_destroy_views(const struct maar_device* device,
                                  const struct maar_transient_resource* resource,
                                  const struct maar_transient_object* object);
void maar_transient_destroy_resource(const struct maar_device* device, bool image, uint64_t handle);
/* Destroys what make_objects created and did not keep. */
void maar_transient_undo_objects(MaarAllocator allocator, struct maar_transient_state* state);

/* ---- transient_retire.c ---- */

/* Ends what a state has and `next` (NULL: none) has not kept, after the points. On failure nothing
 * has happened. */
VkResult maar_transient_retire(MaarAllocator allocator, struct maar_transient_state* state,
                               const struct maar_transient_state* next, uint32_t point_count,
                               const MaarPoint* points);

#endif
