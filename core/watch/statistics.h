/*
 * Totals, for the public functions and for dumps.
 */
#ifndef MAAR_CORE_WATCH_STATISTICS_H
#define MAAR_CORE_WATCH_STATISTICS_H

#include "core/memory/pool.h"
#include "maar/allocator.h"

void maar_statistics_clear(MaarStatistics* statistics);
/* Adds what one pool holds. Takes its arenas' locks, one after another. */
void maar_pool_add_statistics(const struct maar_pool* pool, MaarStatistics* sum);
/* Adds up one pool, or all pools of one memory type, or everything. The last one includes what is
 * counted for the whole allocator. */
void maar_statistics_read(MaarAllocator allocator, struct maar_pool* pool, uint32_t type,
                          MaarStatistics* statistics);

#endif
