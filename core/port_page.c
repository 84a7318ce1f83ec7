/*
 * The page size of the host's system.
 */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/port_page.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

size_t maar_port_page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

#else
#include <unistd.h>

/* The smallest page of any system, for a system that does not report its own. */
enum { LEAST_PAGE_SIZE = 4096 };

size_t maar_port_page_size(void)
{
    const long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : LEAST_PAGE_SIZE;
}
#endif
