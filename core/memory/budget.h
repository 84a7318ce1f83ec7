/*
 * Budgets and the accounts of heaps: what may be held, what is held, and where both are enforced.
 */
#ifndef MAAR_CORE_MEMORY_BUDGET_H
#define MAAR_CORE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory/allocation_failure.h"
#include "core/port_atomic.h"
#include "maar/allocator.h"

struct maar_heap_account {
    VkDeviceSize limit; /* the caller's, 0 for none */
    maar_atomic64 block_bytes;
    maar_atomic64 block_count;
    maar_atomic64 known_budget; /* as last read */
    maar_atomic64 known_usage;
    struct maar_failure_counts failures; /* since a block was last made in it */
};

struct maar_budget {
    VkDeviceSize budget;
    VkDeviceSize usage;
    VkDeviceSize cap; /* what this allocator itself may hold within the budget */
    bool from_driver;
};

/* Reads one heap's budget, from the driver where it can. No lock may be held. */
struct maar_budget maar_budget_read(MaarAllocator allocator, uint32_t heap);
/* Reads those of all heaps; returns how many. */
uint32_t maar_budget_read_all(MaarAllocator allocator, struct maar_budget* budgets);
/* Whether this number of bytes more stays within it. */
bool maar_budget_holds(const struct maar_budget* budget, VkDeviceSize size);
/* Counts and reports that a budget was exceeded. */
void maar_report_over_budget(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* Subtracts what was given back from what was last read. */
void maar_budget_note_release(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* Compares what is known already; for decisions under a lock. */
bool maar_budget_is_exceeded(MaarAllocator allocator, uint32_t heap);

#endif
