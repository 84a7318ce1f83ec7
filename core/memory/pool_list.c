/*
 * The list of all pools: see pool_list.h.
 */
#include "core/memory/pool_list.h"

#include "core/memory/allocator_state.h"
#include "core/memory/captured_arena.h"
#include "core/memory/pool_create.h"

void maar_pool_link(MaarAllocator allocator, struct maar_pool* pool)
{
    pool->next = allocator->pools;
    if (pool->next != NULL) {
        pool->next->previous = pool;
    }
    allocator->pools = pool;
}

void maar_pool_list(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    maar_pool_link(allocator, pool);
    maar_mutex_unlock(&allocator->list_lock);
    if (maar_may_capture(allocator)) {
        maar_capture_new_pool(pool);
    }
}

/* Takes a pool off the list. Called under the list lock. */
static void unlink_pool(MaarAllocator allocator, struct maar_pool* pool)
{
    if (pool->previous != NULL) {
        pool->previous->next = pool->next;
    } else {
        allocator->pools = pool->next;
    }
    if (pool->next != NULL) {
        pool->next->previous = pool->previous;
    }
}

void maar_pool_retire(struct maar_pool* pool)
{
    MaarAllocator allocator = pool->allocator;
    maar_mutex_lock(&allocator->list_lock);
    pool->retired = true;
    bool last = pool->walker_count == 0;
    if (last) {
        unlink_pool(allocator, pool);
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        maar_pool_free(pool);
    }
}

/* Ends one hold on a pool. Returns true when the caller must free the pool. Called under the list
 * lock. */
static bool step_off(MaarAllocator allocator, struct maar_pool* pool)
{
    --pool->walker_count;
    if (pool->retired && pool->walker_count == 0) {
        unlink_pool(allocator, pool);
        return true;
    }
    return false;
}

struct maar_pool* maar_pool_next(MaarAllocator allocator, struct maar_pool* pool)
{
    bool last = false;
    maar_mutex_lock(&allocator->list_lock);
    struct maar_pool* next = pool != NULL ? pool->next : allocator->pools;
    while (next != NULL && next->retired) {
        next = next->next;
    }
    if (next != NULL) {
        ++next->walker_count;
    }
    if (pool != NULL) {
        last = step_off(allocator, pool);
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        maar_pool_free(pool);
    }
    return next;
}

void maar_pool_hold(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    ++pool->walker_count;
    maar_mutex_unlock(&allocator->list_lock);
}

void maar_pool_leave(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    bool last = step_off(allocator, pool);
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        maar_pool_free(pool);
    }
}
