/*
 * Handles of the operating system: file descriptors on POSIX, NT handles on Windows, both as one
 * integer. Nothing here keeps state.
 */
#ifndef MAAR_CORE_PORT_HANDLE_H
#define MAAR_CORE_PORT_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

typedef int64_t maar_port_handle;

#define MAAR_PORT_NO_HANDLE ((maar_port_handle)-1)

/* 1 where handles are file descriptors, 0 where they are NT handles. */
#if defined(_WIN32)
#define MAAR_PORT_HAS_FDS 0
#else
#define MAAR_PORT_HAS_FDS 1
#endif

/* Returns a handle as an NT handle; NULL for MAAR_PORT_NO_HANDLE. */
static inline void* maar_port_win32_handle(maar_port_handle handle)
{
    return handle == MAAR_PORT_NO_HANDLE ? (void*)0 : (void*)(intptr_t)handle;
}

/* Returns whether the system knows the handle. */
bool maar_port_handle_is_open(maar_port_handle handle);
/* Returns a second handle of the same object. It is close-on-exec. Returns MAAR_PORT_NO_HANDLE when
 * the system has no handle left. */
maar_port_handle maar_port_handle_duplicate(maar_port_handle handle);
/* Closes a handle. */
void maar_port_handle_close(maar_port_handle handle);
/* Returns whether both handles are open and name the same object, as far as the system shows. */
bool maar_port_handle_is_same(maar_port_handle a, maar_port_handle b);
/* Ensures that child processes do not inherit a handle. */
void maar_port_handle_keep_private(maar_port_handle handle);
/* Returns the size of the object in bytes, or 0 where the system does not know it. */
uint64_t maar_port_handle_size(maar_port_handle handle);

#endif
