/*
 * How long one request still waits for other threads that are in the driver or in a callback. Their
 * foreign code may wait for a lock of the program that this thread holds, so all waits of a request
 * together are bounded. Waits for bytes that no foreign code can delay do not count.
 */
#ifndef MAAR_CORE_MEMORY_PATIENCE_H
#define MAAR_CORE_MEMORY_PATIENCE_H

#include "core/port_time.h"

/* How long a request waits in all. */
enum { MAAR_MOST_WAIT_NS = 1000000000 };

/* One for each request, or for each public call that makes several requests. One thread uses it. */
struct maar_patience {
    uint64_t left_ns;
};

static inline struct maar_patience maar_patience_begin(void)
{
    return (struct maar_patience){.left_ns = MAAR_MOST_WAIT_NS};
}

/* Returns the deadline of a wait that begins now. */
static inline uint64_t maar_patience_deadline(const struct maar_patience* patience)
{
    return maar_deadline_ns(patience->left_ns);
}

/* Takes the time of a wait that has ended off the patience. */
static inline void maar_patience_spend(struct maar_patience* patience, uint64_t deadline_ns)
{
    patience->left_ns = maar_time_left_ns(deadline_ns);
}

#endif
