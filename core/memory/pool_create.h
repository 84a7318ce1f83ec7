/*
 * Making and destroying pools, and checking their create infos. The public functions on pools and
 * the default pools call this file. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_POOL_CREATE_H
#define MAAR_CORE_MEMORY_POOL_CREATE_H

#include "core/bound_check.h"
#include "core/memory/pool.h"
#include "maar/paging.h"

/* Makes a pool without blocks. The pool is in no list yet. */
VkResult maar_pool_create(MaarAllocator allocator, const MaarPoolCreateInfo* info, bool custom,
                          struct maar_pool** pool);
/* Reports the leaks of a pool, and frees the pool with all its blocks. */
void maar_pool_destroy(struct maar_pool* pool);
/* Frees the memory of a pool that is empty and in no list any more. */
void maar_pool_free(struct maar_pool* pool);
/* Returns the MaarPoolPagingInfo in a chain, or NULL. */
const MaarPoolPagingInfo* maar_pool_find_paging(const MaarPoolCreateInfo* info);
/* Returns what is wrong with a create info. Checks only what depends on the device;
 * the caller checks the rest. text: may have the sentence, as long as the fault is used. */
struct maar_fault maar_pool_find_fault(MaarAllocator allocator, const MaarPoolCreateInfo* info,
                                       struct maar_bound_text* text);

#endif
