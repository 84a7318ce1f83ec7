/*
 * Why there was no memory, in one sentence.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATION_FAILURE_H
#define MAAR_CORE_MEMORY_ALLOCATION_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/port_atomic.h"
#include "maar/allocator.h"

struct maar_pool;

enum maar_failure_reason {
    MAAR_FAILURE_BY_DRIVER,
    MAAR_FAILURE_OVER_BUDGET,   /* which may not be exceeded for it */
    MAAR_FAILURE_ABOVE_LIMIT,   /* the caller's, of the heap */
    MAAR_FAILURE_ABOVE_HEAP,    /* larger than the whole of it */
    MAAR_FAILURE_ABOVE_LARGEST, /* maxMemoryAllocationSize */
    MAAR_FAILURE_TOO_MANY,      /* maxMemoryAllocationCount */
    MAAR_FAILURE_POOL_IS_FULL,
    MAAR_FAILURE_ABOVE_BLOCK, /* larger than the pool's blocks */
    MAAR_FAILURE_REASONS
};

/* How often there was no memory in a heap, by reason. */
struct maar_failure_counts {
    maar_atomic32 any; /* some of the counts are not 0 */
    maar_atomic32 by_reason[MAAR_FAILURE_REASONS];
};

/* A request for which there was no memory. */
struct maar_allocation_failure {
    const char* call; /* the public function */
    const char* name; /* of what was to have it, or NULL */
    VkDeviceSize size;
    VkResult result;
    uint32_t type_index;          /* the preferred memory type; the others that were tried: */
    uint32_t type_bits;           /* may be 0 */
    const struct maar_pool* pool; /* a custom one, or NULL */
    bool only_budget;             /* a budget stood in the way, and must not be exceeded */
    bool in_pieces;               /* pages: no single block need be so large */
};

/* Reports it, unless failures of its kind were reported often enough. No lock may be held. */
void maar_report_allocation_failure(MaarAllocator allocator,
                                    const struct maar_allocation_failure* failure);
/* A block was made in the heap: the next failure is news. */
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
