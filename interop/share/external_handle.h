/*
 * A handle of the operating system with one owner. The object owns it until it is taken, which is
 * one atomic exchange: no two parties ever close the same one. What follows is for interop's own
 * use, without the checks of the public calls.
 */
#ifndef MAAR_INTEROP_SHARE_EXTERNAL_HANDLE_H
#define MAAR_INTEROP_SHARE_EXTERNAL_HANDLE_H

#include "core/host_memory.h"
#include "core/port_atomic.h"
#include "core/port_handle.h"
#include "maar/share.h"

struct MaarExternalHandle_T {
    maar_atomic64 value; /* a maar_port_handle, MAAR_PORT_NO_HANDLE when it was taken */
    MaarAllocator maker; /* gives its host memory and counts it; NULL: nobody does */
};

/* Gives a handle to a new object, of an allocator that may be NULL; on failure it stays the
 * caller's. VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult maar_external_handle_create(MaarAllocator maker, maar_port_handle value,
                                     MaarExternalHandle* handle);
/* MAAR_PORT_NO_HANDLE when it was taken before. */
maar_port_handle maar_external_handle_take(MaarExternalHandle handle);
maar_port_handle maar_external_handle_peek(MaarExternalHandle handle);

/* VK_ERROR_INVALID_EXTERNAL_HANDLE, told, when the handle is empty or was closed by somebody who
 * did not own it. */
VkResult maar_external_handle_check(MaarAllocator allocator, const char* call, const char* name,
                                    MaarExternalHandle handle);

/* A duplicate of a system's handle. VK_ERROR_TOO_MANY_OBJECTS, told, when the system has none left.
 */
VkResult maar_external_handle_copy(MaarAllocator allocator, const char* call, maar_port_handle own,
                                   maar_port_handle* copy);

/*
 * An import on its way. The importer gets a duplicate, so that whatever it does with it when it
 * fails, the object keeps the handle:
 *
 *     begin; give `duplicate` to the importer; end with its success.
 *
 * An importer that takes what it is given (Vulkan and CUDA do with file descriptors, on success) is
 * `takes`; one that does not (everybody with NT handles) leaves the duplicate to be closed.
 */
struct maar_handle_import {
    MaarExternalHandle handle;
    maar_port_handle duplicate;
    bool takes;
};

/* Gives back what an importer left of a duplicate of `own`. */
void maar_handle_settle(maar_port_handle own, maar_port_handle duplicate, bool takes, bool success);

/* VK_ERROR_INVALID_EXTERNAL_HANDLE when it is empty or closed; VK_ERROR_TOO_MANY_OBJECTS when the
 * system has no handle left. */
VkResult maar_handle_import_begin(MaarAllocator allocator, const char* call,
                                  MaarExternalHandle handle, bool takes,
                                  struct maar_handle_import* import);
/* On success closes the object's own, which empties it; on failure closes the duplicate, unless the
 * importer has closed it although it must not (lavapipe 25 does). */
void maar_handle_import_end(struct maar_handle_import* import, bool success);

#endif
