/*
 * The objects that a capture has recorded and that live: which handle is which kind of object, and
 * which allocation it has for itself. So the end of an object is recorded only if its beginning
 * was, and a name that an allocation is given becomes the name of its object.
 *
 * Internally synchronized. A function takes the lock by itself and calls no foreign code under it.
 */
#ifndef MAAR_CORE_CAPTURE_CAPTURED_OBJECTS_H
#define MAAR_CORE_CAPTURE_CAPTURED_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#include "core/port_thread.h"

enum {
    MAAR_CAPTURED_BY_OBJECT,
    MAAR_CAPTURED_BY_ALLOCATION,
    MAAR_CAPTURED_WAYS,
    /* Chains of each way. 256 KiB together, held only during a capture; a hundred thousand objects
     * make chains of six. */
    MAAR_CAPTURED_CHAINS = 1 << 14
};

struct maar_captured_object {
    struct maar_captured_object* next[MAAR_CAPTURED_WAYS];
    uint64_t object;
    uint64_t allocation; /* that the object has for itself; 0 for none */
    uint32_t kind;       /* a MaarCaptureObject */
};

struct maar_captured_objects {
    struct maar_mutex lock;               /* guards the members below */
    struct maar_captured_object** chains; /* of both ways */
    struct maar_captured_object* spare;   /* objects that have ended, for others */
};

/* Initializes a set that has no room. Returns false when the system has no mutex. */
bool maar_captured_objects_init(struct maar_captured_objects* objects, bool synchronized);
/* Destroys an empty set. */
void maar_captured_objects_destroy(struct maar_captured_objects* objects);
/* Makes room for objects. Returns false when there is no host memory. No lock may be held. */
bool maar_captured_objects_open(struct maar_captured_objects* objects,
                                const VkAllocationCallbacks* callbacks);
/* Empties the set and frees its memory. No other thread may use it meanwhile. */
void maar_captured_objects_close(struct maar_captured_objects* objects,
                                 const VkAllocationCallbacks* callbacks);

/* Returns an object that has ended, to be used again, or NULL. */
struct maar_captured_object* maar_captured_objects_reuse(struct maar_captured_objects* objects);
/* Adds an object without an allocation, which the set then owns. */
void maar_captured_objects_add(struct maar_captured_objects* objects,
                               struct maar_captured_object* added, uint32_t kind, uint64_t object);
/* Gives an object an allocation for itself. Returns whether the set has the object; allocation may
 * be 0 to ask just that. */
bool maar_captured_objects_place(struct maar_captured_objects* objects, uint32_t kind,
                                 uint64_t object, uint64_t allocation);
/* Returns whether an object has the allocation for itself. Copies what is known of the object. */
bool maar_captured_objects_find(struct maar_captured_objects* objects, uint64_t allocation,
                                uint32_t* kind, uint64_t* object);
/* Removes an object. Returns whether the set had it. */
bool maar_captured_objects_remove(struct maar_captured_objects* objects, uint32_t kind,
                                  uint64_t object);

#endif
