/*
 * Making and destroying a pool, and what can be wrong with its create info.
 */
#ifndef MAAR_CORE_MEMORY_POOL_CREATE_H
#define MAAR_CORE_MEMORY_POOL_CREATE_H

#include "core/memory/pool.h"
#include "core/message_delivery.h"
#include "maar/paging.h"

/* Makes a pool that is in no list yet, with the blocks that it always has. */
VkResult maar_pool_create(MaarAllocator allocator, const MaarPoolCreateInfo* info, bool custom,
                          struct maar_pool** pool);
/* Releases what is in a pool, and reports leaks. */
void maar_pool_destroy(struct maar_pool* pool);
/* Frees the header of a pool that has been emptied and is in no list any more. */
void maar_pool_free(struct maar_pool* pool);
/* The MaarPoolPagingInfo in a chain, or NULL. */
const MaarPoolPagingInfo* maar_pool_find_paging(const MaarPoolCreateInfo* info);
/* What is wrong with a create info. */
struct maar_fault maar_pool_find_fault(MaarAllocator allocator, const MaarPoolCreateInfo* info);

#endif
