/*
 * The kind of resources in a pool of one kind: the first resource that is made there decides.
 */
#include "core/memory/pool_kind.h"

#include "core/memory/allocator_state.h"

/* The lowest bits contain the kind, the other bits the number of claims. 2^62 claims are never
 * reached. */
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
