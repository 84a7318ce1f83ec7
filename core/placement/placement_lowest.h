/*
 * The search for the lowest offset at which a request fits. Two walks take turns: one through the
 * space, from its beginning, and one through the bins of the free ranges that are large enough. The
 * first walk ends at the first free range that fits, the second one when it has seen all. So the
 * search looks at twice as many ranges as the shorter walk: a packed space has few free ranges, and
 * in a space with many free ranges one of them is near the beginning. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_LOWEST_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_LOWEST_H

#include "core/placement/placement_space.h"

/* A place in a free node. */
struct placement_lowest {
    VkDeviceSize offset;
    uint32_t slot; /* PLACEMENT_NONE: the request fits nowhere */
};

/* Returns the lowest place for a request that is no larger than the space. Not for linear
 * placements. */
struct placement_lowest maar_placement_find_lowest(const struct maar_placement* placement,
                                                   const struct maar_placement_request* request);

#endif
