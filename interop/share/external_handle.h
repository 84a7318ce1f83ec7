/*
 * A handle of the operating system with one owner. The object owns the handle until somebody takes
 * it. Taking is one atomic exchange, so the same handle is never closed twice. The functions below
 * are for interop's own use and skip the checks of the public calls.
 */
#ifndef MAAR_INTEROP_SHARE_EXTERNAL_HANDLE_H
#define MAAR_INTEROP_SHARE_EXTERNAL_HANDLE_H

#include "core/host_memory.h"
#include "core/port_atomic.h"
#include "core/port_handle.h"
#include "maar/share.h"

struct MaarExternalHandle_T {
    maar_atomic64 value; /* a maar_port_handle; MAAR_PORT_NO_HANDLE once it was taken */
    MaarAllocator maker; /* gives the object's host memory and counts the object; may be NULL */
};

/* Gives a handle to a new object. maker may be NULL. On failure, returns
 * VK_ERROR_OUT_OF_HOST_MEMORY, and the caller still owns the handle. */
VkResult maar_external_handle_create(MaarAllocator maker, maar_port_handle value,
                                     MaarExternalHandle* handle);
/* Closes the handle, unless somebody has taken it, and frees the object. Accepts VK_NULL_HANDLE. */
void maar_external_handle_destroy(MaarExternalHandle handle);
/* Takes the handle out of the object. Returns MAAR_PORT_NO_HANDLE if it was taken before. */
maar_port_handle maar_external_handle_take(MaarExternalHandle handle);
maar_port_handle maar_external_handle_peek(MaarExternalHandle handle);

/* Returns VK_ERROR_INVALID_EXTERNAL_HANDLE, with a report, if the object is empty, or if somebody
 * who did not own the handle has closed it. */
VkResult maar_external_handle_check(MaarAllocator allocator, const char* call, const char* name,
                                    MaarExternalHandle handle);

/* Duplicates a handle of the operating system. Returns VK_ERROR_TOO_MANY_OBJECTS, with a report, if
 * the process has no handle left. */
VkResult maar_external_handle_copy(MaarAllocator allocator, const char* call, maar_port_handle own,
                                   maar_port_handle* copy);

/*
 * A duplicate that an importer has. Some drivers close what they refuse, and then another thread
 * may get the same number, even for the same object. So all duplicates of an allocator that are
 * with importers are listed, and a number that is given out again is no longer closed here.
 */
struct maar_lent_handle {
    struct maar_lent_handle* next;
    maar_port_handle number;
    bool lost; /* the importer has closed it, and the number belongs to somebody else */
};

/* Duplicates a handle for an importer. Returns what maar_external_handle_copy returns. */
VkResult maar_handle_lend(MaarAllocator allocator, const char* call, maar_port_handle own,
                          struct maar_lent_handle* lent);
/* Closes the duplicate of `own` after an import, unless the importer owns it or has closed it.
 * takes: the importer owns it after a success. */
void maar_handle_end_loan(MaarAllocator allocator, struct maar_lent_handle* lent,
                          maar_port_handle own, bool takes, bool success);

/*
 * An import under way. The importer gets a duplicate, so that the object keeps its own handle if
 * the import fails:
 *
 *     begin; give `duplicate` to the importer; end with its success.
 *
 * `takes` says that the importer owns the duplicate after a success, as Vulkan and CUDA do with
 * file descriptors. An importer of NT handles never owns it, so the duplicate is closed.
 */
struct maar_handle_import {
    MaarAllocator allocator;
    MaarExternalHandle handle;
    struct maar_lent_handle lent;
    maar_port_handle duplicate;
    bool takes;
};

/* Makes the duplicate. Returns VK_ERROR_INVALID_EXTERNAL_HANDLE if the handle is empty or closed,
 * and VK_ERROR_TOO_MANY_OBJECTS if the process has no handle left. */
VkResult maar_handle_import_begin(MaarAllocator allocator, const char* call,
                                  MaarExternalHandle handle, bool takes,
                                  struct maar_handle_import* import);
/* On success, closes the object's own handle, so the object is empty from then on. On failure,
 * closes the duplicate, unless the importer has closed it against the rules, as lavapipe 25
 * does. */
void maar_handle_import_end(struct maar_handle_import* import, bool success);

#endif
