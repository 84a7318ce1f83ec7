/*
 * Totals, for the public functions and for dumps.
 */
#ifndef MAAR_CORE_WATCH_STATISTICS_H
#define MAAR_CORE_WATCH_STATISTICS_H

#include "core/memory/pool.h"
#include "maar/allocator.h"

/* Sets all totals to zero and keeps pNext. */
void maar_statistics_clear(MaarStatistics* statistics);
/* Adds the totals of one pool. Takes its arenas' locks, one after another. */
void maar_pool_add_statistics(const struct maar_pool* pool, MaarStatistics* sum);
/* Adds up one pool, or all pools of one memory type, or everything. Everything includes the counts
 * of the whole allocator. */
void maar_statistics_read(MaarAllocator allocator, struct maar_pool* pool, uint32_t type,
                          MaarStatistics* statistics);

#endif
