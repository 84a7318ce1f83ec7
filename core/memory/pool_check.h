/*
 * The heavy check of a pool.
 */
#ifndef MAAR_CORE_MEMORY_POOL_CHECK_H
#define MAAR_CORE_MEMORY_POOL_CHECK_H

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

/* First broken invariant or NULL. Takes the arenas' locks, one after another. */
const char* maar_pool_check(struct maar_pool* pool);
/* Checks a pool and poisons the allocator if it is broken. No lock may be held. */
void maar_pool_check_now(struct maar_pool* pool);
/* Does so if the allocator was asked to check heavily. */
static inline void maar_check_if_asked(struct maar_pool* pool)
{
    if ((pool->allocator->flags & MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT) != 0) {
        maar_pool_check_now(pool);
    }
}

#endif
