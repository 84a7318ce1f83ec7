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
