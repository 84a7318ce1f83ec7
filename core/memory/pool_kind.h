/*
 * The kind of resources that a pool of one kind is for.
 */
#ifndef MAAR_CORE_MEMORY_POOL_KIND_H
#define MAAR_CORE_MEMORY_POOL_KIND_H

#include "core/memory/pool.h"

/* For a resource that is to live in a pool of one kind: false when others decided for the other
 * kind. Every pool may be asked; those of any kind, and unknown kinds, are always right. */
bool maar_pool_claim_kind(struct maar_pool* pool, MaarResourceKind kind);
/* That resource was not made. When none is left that ever claimed the kind, it is open again. */
void maar_pool_disclaim_kind(struct maar_pool* pool, MaarResourceKind kind);

#endif
