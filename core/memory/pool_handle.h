/*
 * Finds the pool of a handle. A pool's handle is a slot number and a key, like an allocation's
 * handle. Stale handles and handles of another allocator are detected and never dereferenced. No
 * lock is needed.
 */
#ifndef MAAR_CORE_MEMORY_POOL_HANDLE_H
#define MAAR_CORE_MEMORY_POOL_HANDLE_H

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

/* Returns a pool's handle as a handle of the slot table, which allocations use too. */
static inline MaarAllocation maar_pool_slot_handle(MaarPool pool)
{
#if defined(VK_USE_64_BIT_PTR_DEFINES) && VK_USE_64_BIT_PTR_DEFINES == 1
    return (MaarAllocation)(void*)pool;
#else
    return (MaarAllocation)pool;
#endif
}

/* Returns the pool that a handle names, or NULL when it names no pool of this allocator. */
static inline struct maar_pool* maar_pool_of(MaarAllocator allocator, MaarPool pool)
{
    uint32_t index = 0;
    const struct maar_slot* slot =
        maar_slot_resolve(&allocator->pool_slots, maar_pool_slot_handle(pool), &index);
    return slot != NULL ? slot->home : NULL;
}

/* Gives a pool its handle. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_pool_open_handle(struct maar_pool* pool);
/* Invalidates the handle of a pool. */
void maar_pool_close_handle(struct maar_pool* pool);
/* Returns VK_SUCCESS for a pool of this allocator and for VK_NULL_HANDLE. Otherwise reports what is
 * wrong with the handle. argument: the caller's name of the handle. */
VkResult maar_pool_require_own(MaarAllocator allocator, const char* call, const char* argument,
                               MaarPool pool);

#endif
