/*
 * Budgets and the accounts of heaps: the limit of each heap, the bytes held there, and the checks
 * of both. The slow path of an allocation reads budgets. The numbers are atomic, so no lock is
 * needed.
 */
#ifndef MAAR_CORE_MEMORY_BUDGET_H
#define MAAR_CORE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory/allocation_failure.h"
#include "core/port_atomic.h"
#include "maar/allocator.h"

/* The account of one heap. */
struct maar_heap_account {
    VkDeviceSize limit; /* the caller's, 0 for none */
    maar_atomic64 block_bytes;
    maar_atomic64 block_count;
    maar_atomic64 known_budget; /* as last read from the driver */
    maar_atomic64 known_usage;
    struct maar_failure_counts failures; /* since a block was last made in the heap */
};

/* The budget of one heap at one moment. */
struct maar_budget {
    VkDeviceSize budget;
    VkDeviceSize usage;
    VkDeviceSize cap; /* the bytes that this allocator may hold within the budget */
    bool from_driver;
};

/* Reads the budget of one heap, from the driver where possible. No lock may be held. */
struct maar_budget maar_budget_read(MaarAllocator allocator, uint32_t heap);
/* Reads the budgets of all heaps and returns their number. No lock may be held. */
uint32_t maar_budget_read_all(MaarAllocator allocator, struct maar_budget* budgets);
/* Whether a budget has room for that many more bytes. */
bool maar_budget_holds(const struct maar_budget* budget, VkDeviceSize size);

/* How one request may use budgets, and what happened to it. */
struct maar_budget_use {
    bool may_exceed; /* set by the slow path for its last round */
    bool refused;    /* an attempt failed, and the budget was the only reason */
    bool exceeded;   /* the last new memory exceeded a budget */
};
/* Whether a request may ask for a new VkDeviceMemory of that size. cap receives the most bytes that
 * the heap's blocks may have together: this allocator's part of the budget, or UINT64_MAX if the
 * request may exceed it. maar_device_memory_allocate compares the blocks' bytes with cap when it
 * counts the new ones, so two threads never use the same room. No lock may be held. */
bool maar_budget_admits(MaarAllocator allocator, uint32_t heap, VkDeviceSize size,
                        struct maar_budget_use* use, VkDeviceSize* cap);

/* Counts and reports that a budget was exceeded. */
void maar_report_over_budget(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* Subtracts the bytes that were given back from the usage that was last read. */
void maar_budget_note_release(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* Whether the last known usage exceeds the budget. Does not call the driver, so a lock may be
 * held. */
bool maar_budget_is_exceeded(MaarAllocator allocator, uint32_t heap);

#endif
