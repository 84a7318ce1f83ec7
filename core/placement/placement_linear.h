/*
 * The linear strategy, as placement.c calls it. placement_linear.c explains it.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_LINEAR_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_LINEAR_H

#include "core/placement/placement_walk.h"

/* Makes the whole space free. */
void maar_linear_reset(struct maar_placement* placement);
/* Places a range, as maar_placement_allocate does. */
enum maar_place_outcome maar_linear_allocate(struct maar_placement* placement,
                                             const struct maar_placement_request* request,
                                             struct maar_placement_range* range);
/* Frees a live node. Returns an upper bound of the largest free range. */
VkDeviceSize maar_linear_free(struct maar_placement* placement, uint32_t slot);
/* Returns the free bytes. */
VkDeviceSize maar_linear_free_size(const struct maar_placement* placement);
/* Returns an upper bound of the largest free range. */
VkDeviceSize maar_linear_largest_free_bound(const struct maar_placement* placement);
/* Reports all ranges of the space to a walk. */
void maar_linear_walk(const struct maar_placement* placement, struct placement_walk* walk);
/* Returns the first broken invariant, or NULL. */
const char* maar_linear_check(const struct maar_placement* placement);

#endif
