/*
 * The kind of resources that a pool of one kind is for: the first that is made in it decides.
 */
#include "core/memory/pool_kind.h"

#include "core/memory/allocator_state.h"

/* The kind in the lowest bits, how many have claimed it in the others: 2^62 are never reached. */
enum { KIND_MASK = 3, KIND_CLAIM = 4 };

static bool minds_kind(const struct maar_pool* pool, MaarResourceKind kind)
{
    return pool->single_kind && pool->custom && kind != MAAR_RESOURCE_KIND_UNKNOWN &&
           pool->allocator->device.facts.granularity > 1;
}

bool maar_pool_claim_kind(struct maar_pool* pool, MaarResourceKind kind)
{
    if (!minds_kind(pool, kind)) {
        return true;
    }
    uint64_t old = maar_atomic64_load(&pool->kind);
    uint64_t claimed = 0;
    do {
        if (old != 0 && (old & KIND_MASK) != (uint64_t)kind) {
            return false;
        }
        claimed = (old | (uint64_t)kind) + KIND_CLAIM;
    } while (!maar_atomic64_replace(&pool->kind, &old, claimed));
    return true;
}

void maar_pool_disclaim_kind(struct maar_pool* pool, MaarResourceKind kind)
{
    if (!minds_kind(pool, kind)) {
        return;
    }
    uint64_t old = maar_atomic64_load(&pool->kind);
    uint64_t left = 0;
    do {
        left = old - KIND_CLAIM;
    } while (!maar_atomic64_replace(&pool->kind, &old, left < KIND_CLAIM ? 0 : left));
}
