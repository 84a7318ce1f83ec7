/*
 * The list of all pools of an allocator, under its list lock. A pool leaves the list only when no
 * thread holds it. Until then a thread that walks the list sees an emptied pool.
 */
#ifndef MAAR_CORE_MEMORY_POOL_LIST_H
#define MAAR_CORE_MEMORY_POOL_LIST_H

#include "core/memory/pool.h"

/* Puts a new pool into the list. */
void maar_pool_list(MaarAllocator allocator, struct maar_pool* pool);
/* Does the same under the list lock, which the caller holds. */
void maar_pool_link(MaarAllocator allocator, struct maar_pool* pool);
/* Takes an emptied pool off the list, or leaves that to the last thread that holds the pool. */
void maar_pool_retire(struct maar_pool* pool);

/* Returns the next pool of an allocator, or NULL at the end; start with NULL. The returned pool
 * stays in the list until the next call, or until maar_pool_leave ends the walk early. No lock may
 * be held. */
struct maar_pool* maar_pool_next(MaarAllocator allocator, struct maar_pool* pool);
/* Ends the hold of maar_pool_next or maar_pool_hold. Frees the pool if it was the last hold on an
 * emptied pool. */
void maar_pool_leave(MaarAllocator allocator, struct maar_pool* pool);
/* Keeps a pool in the list until maar_pool_leave, even if it is emptied meanwhile. */
void maar_pool_hold(MaarAllocator allocator, struct maar_pool* pool);

#endif
