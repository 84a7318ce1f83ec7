/*
 * The objects that a program makes of a MaarCuda or a MaarHip, and their handles. A call resolves a
 * handle once, through the allocator's table of objects. Then it checks the owner, because two
 * MaarCuda of one allocator share the table.
 */
#ifndef MAAR_INTEROP_PEER_PEER_OBJECT_H
#define MAAR_INTEROP_PEER_PEER_OBJECT_H

#include "core/memory/object_handle.h"

struct maar_peer;

/* The first member of every such object. */
struct maar_peer_object {
    struct maar_peer* peer; /* the owner */
    uint64_t handle;        /* 0 while the object has no handle */
};

/* Gives an object its handle. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_peer_object_open(struct maar_peer_object* object, enum maar_object_kind kind);
/* Invalidates the handle of an object that is being destroyed. Accepts an object without a
 * handle. */
void maar_peer_object_close(struct maar_peer_object* object);
/* Returns the object of this owner that a handle names. Otherwise reports what is wrong with the
 * handle and returns NULL. `argument` is the name of the caller's argument. */
void* maar_peer_object_find(const struct maar_peer* peer, const char* call, const char* argument,
                            enum maar_object_kind kind, uint64_t handle);
/* Does the same for a call that destroys the object, and invalidates the handle, so that only one
 * of two threads that destroy one object gets it. */
void* maar_peer_object_claim(const struct maar_peer* peer, const char* call, const char* argument,
                             enum maar_object_kind kind, uint64_t handle);
/* Begins a public call that uses an object, and finds the object. On failure, sets *object to NULL
 * and returns the error. peer may be NULL. */
VkResult maar_peer_object_enter(const struct maar_peer* peer, const char* call,
                                const char* argument, enum maar_object_kind kind, uint64_t handle,
                                void** object);

#endif
