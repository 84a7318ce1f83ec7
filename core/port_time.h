/*
 * A monotonic clock for timeouts, and the wall clock.
 */
#ifndef MAAR_CORE_PORT_TIME_H
#define MAAR_CORE_PORT_TIME_H

#include <stdint.h>

/* Returns the nanoseconds since a fixed moment. */
uint64_t maar_now_ns(void);
/* Returns the time at which a timeout that starts now ends. UINT64_MAX means no limit. */
uint64_t maar_deadline_ns(uint64_t timeout_ns);
/* Returns the nanoseconds until the deadline, or 0 after the deadline. */
uint64_t maar_time_left_ns(uint64_t deadline_ns);
/* Returns the nanoseconds since 1970-01-01 UTC. */
uint64_t maar_wall_clock_ns(void);

#endif
