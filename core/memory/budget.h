/*
 * Budgets and the accounts of heaps: the limit of each heap, the bytes that the allocator holds
 * there, and the checks of both. The slow path of an allocation reads budgets. The counts are
 * atomic, so no lock is needed.
 */
#ifndef MAAR_CORE_MEMORY_BUDGET_H
#define MAAR_CORE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory/failure_counts.h"
#include "core/port_atomic.h"
#include "maar/allocator.h"

/* The account of one heap. */
struct maar_heap_account {
    VkDeviceSize limit; /* the caller's, 0 for none */
    maar_atomic64 block_bytes;
    maar_atomic64 block_count;
    maar_atomic64 empty_bytes;  /* in empty blocks of all pools */
    maar_atomic64 known_budget; /* the budget that was last read or assumed */
    maar_atomic64 known_usage;
    struct maar_failure_counts failures; /* since a VkDeviceMemory was last made in the heap */
};

/* The budget of one heap at one moment. */
struct maar_budget {
    VkDeviceSize budget;
    VkDeviceSize usage;
    VkDeviceSize cap; /* the bytes that this allocator may hold within the budget */
    bool from_driver;
};

/* Returns what is assumed as the budget of a heap of a size where the driver gives none. */
VkDeviceSize maar_budget_assumed(VkDeviceSize size);
/* Reads the budget of one heap, from the driver where possible. No lock may be held. */
struct maar_budget maar_budget_read(MaarAllocator allocator, uint32_t heap);
/* Reads the budgets of all heaps and returns their number. No lock may be held. */
uint32_t maar_budget_read_all(MaarAllocator allocator, struct maar_budget* budgets);
/* Reads the budget of one heap, and returns the part of it for an owner whose blocks in use have
 * `own` bytes there: what all other blocks in use leave. Less than `own` when the budget is
 * exceeded. No lock may be held. */
VkDeviceSize maar_budget_share(MaarAllocator allocator, uint32_t heap, VkDeviceSize own);
/* Whether a budget has room for `size` more bytes. */
bool maar_budget_holds(const struct maar_budget* budget, VkDeviceSize size);

/* Whether one request may exceed budgets, and how budgets affected it. */
struct maar_budget_use {
    bool may_exceed; /* set by the slow path for its last round */
    bool refused;    /* an attempt failed, and the budget was the only reason */
    bool exceeded;   /* the last new memory exceeded a budget */
};
/* Whether a request may ask for a new VkDeviceMemory of the given size. *cap receives the most
 * bytes that the heap's blocks may have together: this allocator's part of the budget, or
 * UINT64_MAX if the request may exceed the budget. maar_device_memory_allocate compares the bytes
 * of all blocks with cap when it counts the new bytes, so two threads never use the same room.
 * Updates use->refused and use->exceeded. No lock may be held. */
bool maar_budget_admits(MaarAllocator allocator, uint32_t heap, VkDeviceSize size,
                        struct maar_budget_use* use, VkDeviceSize* cap);

/* Subtracts released bytes from the usage that was last read. */
void maar_budget_note_release(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* Whether the last known usage, or the allocator's own bytes, exceed the last known budget. Does
 * not call the driver, so a lock may be held. */
bool maar_budget_is_exceeded(MaarAllocator allocator, uint32_t heap);

#endif
