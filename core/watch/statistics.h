/*
 * Totals, for the public functions and for dumps.
 */
#ifndef MAAR_CORE_WATCH_STATISTICS_H
#define MAAR_CORE_WATCH_STATISTICS_H

#include "core/memory/pool.h"
#include "maar/allocator.h"

/* Adds up one pool, or all pools of one memory type, or everything. Everything includes the counts
 * of the whole allocator. Keeps pNext. Takes the arenas' locks, one after another. */
void maar_statistics_read(MaarAllocator allocator, struct maar_pool* pool, uint32_t type,
                          MaarStatistics* statistics);

#endif
