/*
 * The clock of each platform.
 */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/port_time.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <time.h>
#endif

#define NS_PER_SECOND ((uint64_t)1000000000)

uint64_t maar_now_ns(void)
{
#if defined(_WIN32)
    LARGE_INTEGER count;
    LARGE_INTEGER frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    uint64_t whole = (uint64_t)count.QuadPart / (uint64_t)frequency.QuadPart;
    uint64_t rest = (uint64_t)count.QuadPart % (uint64_t)frequency.QuadPart;
    return whole * NS_PER_SECOND + rest * NS_PER_SECOND / (uint64_t)frequency.QuadPart;
#else
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
#endif
}

uint64_t maar_deadline_ns(uint64_t timeout_ns)
{
    uint64_t now = maar_now_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

uint64_t maar_time_left_ns(uint64_t deadline_ns)
{
    if (deadline_ns == UINT64_MAX) {
        return UINT64_MAX;
    }
    uint64_t now = maar_now_ns();
    return now < deadline_ns ? deadline_ns - now : 0;
}

uint64_t maar_wall_clock_ns(void)
{
#if defined(_WIN32)
    /* A FILETIME counts 100 ns from 1601 on. */
    const uint64_t from_1601_to_1970 = 116444736000000000u;
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    const uint64_t ticks = (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
    return (ticks - from_1601_to_1970) * 100;
#else
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
#endif
}
