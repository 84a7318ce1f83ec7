/*
 * A clock that only goes forward, for timeouts, and a way to let others run.
 */
#ifndef MAAR_CORE_PORT_TIME_H
#define MAAR_CORE_PORT_TIME_H

#include <stdint.h>

/* Nanoseconds since some moment. */
uint64_t maar_now_ns(void);
/* When a timeout that starts now ends; UINT64_MAX stands for never. */
uint64_t maar_deadline_ns(uint64_t timeout_ns);
/* What is left until then, 0 when it is over. */
uint64_t maar_time_left_ns(uint64_t deadline_ns);
/* Lets another thread run. */
void maar_thread_yield(void);

#endif
