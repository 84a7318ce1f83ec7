/*
 * The end of what lies in a pool: leaks are reported, blocks released.
 */
#ifndef MAAR_CORE_MEMORY_LEAKS_H
#define MAAR_CORE_MEMORY_LEAKS_H

#include "core/memory/pool.h"

/* Reports and ends what nobody freed, and releases every block. A thread that walks the list of
 * pools sees an empty pool from the start. No lock may be held. */
void maar_pool_empty(struct maar_pool* pool);
/* Reports and ends allocations that are made of pages and that nobody freed. */
void maar_pool_release_stitched(struct maar_pool* pool);

#endif
