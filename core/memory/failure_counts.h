/*
 * The reasons why there was no memory, and how often each one was met in a heap. The counts are
 * atomic, so no lock is needed.
 */
#ifndef MAAR_CORE_MEMORY_FAILURE_COUNTS_H
#define MAAR_CORE_MEMORY_FAILURE_COUNTS_H

#include <stdint.h>

#include "core/port_atomic.h"

enum maar_failure_reason {
    MAAR_FAILURE_BY_DRIVER,
    MAAR_FAILURE_OVER_BUDGET,   /* the request may not exceed the budget */
    MAAR_FAILURE_ABOVE_LIMIT,   /* above the caller's limit of the heap */
    MAAR_FAILURE_ABOVE_HEAP,    /* larger than the whole heap */
    MAAR_FAILURE_ABOVE_LARGEST, /* larger than maxMemoryAllocationSize */
    MAAR_FAILURE_TOO_MANY,      /* maxMemoryAllocationCount objects exist */
    MAAR_FAILURE_POOL_IS_FULL,
    MAAR_FAILURE_ABOVE_BLOCK, /* larger than the blocks of the pool */
    MAAR_FAILURE_REASONS
};

/* The number of failures in a heap, by reason, since a VkDeviceMemory was last made there. */
struct maar_failure_counts {
    maar_atomic32 any; /* whether any count is not 0 */
    maar_atomic32 by_reason[MAAR_FAILURE_REASONS];
};

/* Sets the counts to 0 after a VkDeviceMemory was made in the heap, so that the next failure is
 * reported. */
static inline void maar_forget_allocation_failures(struct maar_failure_counts* counts)
{
    if (maar_atomic32_load(&counts->any) == 0) {
        return;
    }
    maar_atomic32_store(&counts->any, 0);
    for (uint32_t i = 0; i < MAAR_FAILURE_REASONS; ++i) {
        maar_atomic32_store(&counts->by_reason[i], 0);
    }
}

#endif
