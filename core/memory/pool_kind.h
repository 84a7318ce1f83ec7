/*
 * The kind of resources, linear or optimal, in a pool of one kind. The functions that allocate call
 * this file. The state is one atomic number, so no lock is needed.
 */
#ifndef MAAR_CORE_MEMORY_POOL_KIND_H
#define MAAR_CORE_MEMORY_POOL_KIND_H

#include "core/memory/pool.h"

/* Claims a pool of one kind for a resource. Returns false when earlier resources decided for the
 * other kind. Pools of any kind, and resources of unknown kind, always get true. */
bool maar_pool_claim_kind(struct maar_pool* pool, MaarResourceKind kind);
/* Takes a claim back when the resource was not made. When no claim of the kind is left, the pool is
 * open for either kind again. */
void maar_pool_disclaim_kind(struct maar_pool* pool, MaarResourceKind kind);

#endif
