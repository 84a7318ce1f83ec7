/*
 * Allocation failures: reports in one sentence why there was no memory. The functions that allocate
 * call this file after a failure. The counts are atomic, so no lock is needed.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATION_FAILURE_H
#define MAAR_CORE_MEMORY_ALLOCATION_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory/failure_counts.h"
#include "maar/allocator.h"

struct maar_pool;

/* A request for which there was no memory. */
struct maar_allocation_failure {
    const char* call; /* the public function */
    const char* name; /* the allocation's name, or NULL */
    VkDeviceSize size;
    VkResult result;
    uint32_t type_index;          /* the preferred memory type */
    uint32_t type_bits;           /* all types that were tried; may be 0 */
    const struct maar_pool* pool; /* the pool that the caller named, or NULL */
    VkDeviceSize block_size;      /* of the smallest VkDeviceMemory that would serve; 0: size */
    bool only_budget;             /* the budget is the only reason for the failure */
    /* the memory is made of pages, so no VkDeviceMemory of the full size is needed */
    bool in_pieces;
    VkDeviceSize lacking; /* in_pieces: the bytes of size that were not found */
    /* MAAR_FAILURE_REASONS, or the reason as it was when memory ran out, for a caller that has
     * given memory back since then */
    enum maar_failure_reason reason;
};

/* Returns why there is no memory for a request. Ignores failure->reason. */
enum maar_failure_reason maar_find_failure_reason(MaarAllocator allocator,
                                                  const struct maar_allocation_failure* failure);

/* Reports a failure. Of failures for the same reason in a heap, reports the 1st, 2nd, 4th and so
 * on. No lock may be held. */
void maar_report_allocation_failure(MaarAllocator allocator,
                                    const struct maar_allocation_failure* failure);
/* Memory of another type than the preferred one. */
struct maar_fallback {
    const char* call; /* the public function */
    const char* name; /* the allocation's name, or NULL */
    VkDeviceSize size;
    uint32_t type;
    uint32_t preferred;
    bool counted; /* the call has been counted for another type already */
};

/* Counts a fallback, unless it is counted already, and reports the 1st, 2nd, 4th and so on of the
 * allocator. No lock may be held. */
void maar_report_fallback(MaarAllocator allocator, const struct maar_fallback* fallback);
/* Counts and reports that a budget was exceeded, in the same way. name may be NULL. */
void maar_report_over_budget(MaarAllocator allocator, const char* call, const char* name,
                             uint32_t heap, VkDeviceSize size);
#endif
