/*
 * A fuzz target is one thread. The simulated driver yields in many calls, so that threads which
 * race are seen; here that would only hand the processor to other programs.
 */
#define _POSIX_C_SOURCE 200809L

#include <sched.h>

int sched_yield(void)
{
    return 0;
}
