/*
 * Dedicated allocations: which allocations get a VkDeviceMemory of their own, and how it is made.
 * The slow path of an allocation calls these functions; imports call the last one. No lock may be
 * held.
 */
#ifndef MAAR_CORE_MEMORY_DEDICATED_H
#define MAAR_CORE_MEMORY_DEDICATED_H

#include "core/memory/arena_place.h"
#include "core/memory/budget.h"

/* Whether an allocation in a pool is tried as a dedicated one first. */
bool maar_wants_dedicated(const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                          const struct maar_pool* pool);
/* Makes a dedicated allocation within budgets. place: its size is exactly that of the request. */
VkResult maar_allocate_dedicated(struct maar_pool* pool, const MaarMemoryRequest* request,
                                 const MaarAllocationCreateInfo* info,
                                 const struct maar_place_request* place,
                                 struct maar_budget_use* use, struct maar_made* made);
/* Makes a dedicated block, without a look at budgets. Returns MAAR_POOL_PLACED, _NO_HOST_MEMORY or
 * _FAILED. */
enum maar_pool_outcome maar_pool_place_dedicated(struct maar_pool* pool,
                                                 const struct maar_place_request* place,
                                                 const struct maar_device_memory_info* info,
                                                 struct maar_made* made);

#endif
