/*
 * A monotonic clock for timeouts.
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

#endif
