/*
 * Dedicated allocations: decides which allocations get a VkDeviceMemory of their own, and makes it.
 * The slow path of an allocation calls these functions. Imports call maar_pool_place_dedicated. No
 * lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_DEDICATED_H
#define MAAR_CORE_MEMORY_DEDICATED_H

#include "core/memory/arena_place.h"
#include "core/memory/budget.h"

/* Whether the slow path first tries to make a dedicated allocation for a request in a pool. */
bool maar_wants_dedicated(const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                          const struct maar_pool* pool);
/* Makes a dedicated allocation, if the budget or use->may_exceed admits it. place->size is exactly
 * the size of the request. */
VkResult maar_allocate_dedicated(struct maar_pool* pool, const MaarMemoryRequest* request,
                                 const MaarAllocationCreateInfo* info,
                                 const struct maar_place_request* place,
                                 struct maar_budget_use* use, struct maar_made* made);
/* Makes a dedicated block and its allocation, within info->cap and without reading budgets. Returns
 * MAAR_POOL_PLACED, _NO_HOST_MEMORY or _FAILED. */
enum maar_pool_outcome maar_pool_place_dedicated(struct maar_pool* pool,
                                                 const struct maar_place_request* place,
                                                 const struct maar_device_memory_info* info,
                                                 struct maar_made* made);

#endif
