/*
 * The heavy check of a pool: walks all its structures. Tests call it, and every public function
 * does when the allocator was created with heavy checks.
 */
#ifndef MAAR_CORE_MEMORY_POOL_CHECK_H
#define MAAR_CORE_MEMORY_POOL_CHECK_H

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

/* Returns the first broken invariant, or NULL. Takes the arenas' locks, one after another. */
const char* maar_pool_check(struct maar_pool* pool);
/* Checks a pool, and poisons the allocator if an invariant is broken. No lock may be held. */
void maar_pool_check_now(struct maar_pool* pool);
/* Checks a pool in that way if the allocator was created with heavy checks. */
static inline void maar_check_if_asked(struct maar_pool* pool)
{
    if (pool->heavy_checks) {
        maar_pool_check_now(pool);
    }
}

#endif
