/*
 * Handles of the operating system, for POSIX and for Windows.
 */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/port_handle.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

bool maar_port_handle_is_open(maar_port_handle handle)
{
    DWORD flags = 0;
    return handle != MAAR_PORT_NO_HANDLE && handle != 0 &&
           GetHandleInformation(maar_port_win32_handle(handle), &flags) != 0;
}

maar_port_handle maar_port_handle_duplicate(maar_port_handle handle)
{
    HANDLE copy = NULL;
    HANDLE self = GetCurrentProcess();
    if (DuplicateHandle(self, maar_port_win32_handle(handle), self, &copy, 0, FALSE,
                        DUPLICATE_SAME_ACCESS) == 0) {
        return MAAR_PORT_NO_HANDLE;
    }
    return (maar_port_handle)(intptr_t)copy;
}

void maar_port_handle_close(maar_port_handle handle)
{
    if (handle != MAAR_PORT_NO_HANDLE) {
        (void)CloseHandle(maar_port_win32_handle(handle));
    }
}

/* CompareObjectHandles is not available everywhere. So this function does not compare the objects:
 * it takes any two open handles for the same. */
bool maar_port_handle_is_same(maar_port_handle a, maar_port_handle b)
{
    return maar_port_handle_is_open(a) && maar_port_handle_is_open(b);
}

void maar_port_handle_keep_private(maar_port_handle handle)
{
    (void)SetHandleInformation(maar_port_win32_handle(handle), HANDLE_FLAG_INHERIT, 0);
}

uint64_t maar_port_handle_size(maar_port_handle handle)
{
    (void)handle;
    return 0;
}

#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool maar_port_handle_is_open(maar_port_handle handle)
{
    return handle >= 0 && fcntl((int)handle, F_GETFD) != -1;
}

maar_port_handle maar_port_handle_duplicate(maar_port_handle handle)
{
    /* The copy is never 0, 1 or 2. Some programs and drivers take those for the standard
     * streams. */
    const int copy = fcntl((int)handle, F_DUPFD_CLOEXEC, 3);
    return copy >= 0 ? copy : MAAR_PORT_NO_HANDLE;
}

void maar_port_handle_close(maar_port_handle handle)
{
    if (handle >= 0) {
        (void)close((int)handle);
    }
}

bool maar_port_handle_is_same(maar_port_handle a, maar_port_handle b)
{
    struct stat first;
    struct stat second;
    return a >= 0 && b >= 0 && fstat((int)a, &first) == 0 && fstat((int)b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

void maar_port_handle_keep_private(maar_port_handle handle)
{
    const int flags = fcntl((int)handle, F_GETFD);
    if (flags != -1 && (flags & FD_CLOEXEC) == 0) {
        (void)fcntl((int)handle, F_SETFD, flags | FD_CLOEXEC);
    }
}

uint64_t maar_port_handle_size(maar_port_handle handle)
{
    struct stat status;
    if (fstat((int)handle, &status) != 0 || S_ISCHR(status.st_mode)) {
        return 0;
    }
    if (S_ISREG(status.st_mode)) {
        return status.st_size > 0 ? (uint64_t)status.st_size : 0;
    }
    /* A dma-buf says its size only here. */
    const off_t size = lseek((int)handle, 0, SEEK_END);
    (void)lseek((int)handle, 0, SEEK_SET);
    return size > 0 ? (uint64_t)size : 0;
}
#endif
