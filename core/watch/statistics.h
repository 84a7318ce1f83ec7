/*
 * Statistics, for the public functions and for dumps.
 */
#ifndef MAAR_CORE_WATCH_STATISTICS_H
#define MAAR_CORE_WATCH_STATISTICS_H

#include "core/memory/pool.h"
#include "maar/allocator.h"

/* Adds up one pool or, if pool is NULL, all pools of one memory type, or all pools if type is
 * MAAR_MEMORY_TYPE_NONE. For all pools, also fills in the numbers that are counted for the whole
 * allocator. Keeps pNext. Takes the locks of the arenas, one after another. */
void maar_statistics_read(MaarAllocator allocator, struct maar_pool* pool, uint32_t type,
                          MaarStatistics* statistics);

#endif
