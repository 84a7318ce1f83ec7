/*
 * Ends the allocations and blocks that are left in a pool when it is destroyed. It reports leaks
 * and releases blocks. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_LEAKS_H
#define MAAR_CORE_MEMORY_LEAKS_H

#include "core/memory/pool.h"
#include "core/time/retire_collect.h"

/* Reports and ends allocations that were never freed, and releases every block. A thread that walks
 * the list of pools sees an empty pool from the start. */
void maar_pool_empty(struct maar_pool* pool);
/* Returns what the frees that are pending in a pool, or in all pools if pool is NULL, wait for, and
 * the name of the first one. */
struct maar_retire_blocker maar_find_blocker(MaarAllocator allocator,
                                             const struct maar_retire_pool* pool);
/* Reports and ends allocations that are made of pages and were never freed. */
void maar_pool_release_stitched(struct maar_pool* pool);

#endif
