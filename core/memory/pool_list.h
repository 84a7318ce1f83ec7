/*
 * The list of all pools of an allocator. A pool leaves the list only when no thread stands at it
 * any more. A thread that walks the list meanwhile sees an empty pool.
 */
#ifndef MAAR_CORE_MEMORY_POOL_LIST_H
#define MAAR_CORE_MEMORY_POOL_LIST_H

#include "core/memory/pool.h"

/* Puts a pool into the list. */
void maar_pool_list(MaarAllocator allocator, struct maar_pool* pool);
/* An emptied pool leaves the list now, or with the last walker that stands at it. */
void maar_pool_retire(struct maar_pool* pool);

/* The pools of an allocator, one after another; start with NULL. The pool that is returned stays in
 * the list until the next step, or until maar_pool_leave ends the walk early. No lock may be held.
 */
struct maar_pool* maar_pool_next(MaarAllocator allocator, struct maar_pool* pool);
void maar_pool_leave(MaarAllocator allocator, struct maar_pool* pool);
/* Keeps a pool in place, until maar_pool_leave, that may go as soon as nothing is pending in it. */
void maar_pool_hold(MaarAllocator allocator, struct maar_pool* pool);

#endif
