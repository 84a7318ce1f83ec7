/*
 * Reads the steady clock; see seconds.h.
 */
#define _POSIX_C_SOURCE 199309L

#include "support/seconds.h"

#include <time.h>

double support_seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
