/*
 * Where a request may lie between two nodes, considering its alignment and the granularity. Ranges
 * of different kinds never share a granule, except that kind 0 may share with all. Internal to
 * core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_GRANULES_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_GRANULES_H

#include "core/placement/placement_space.h"

/* Returns whether a range of this kind must avoid granules of other kinds. */
static inline bool placement_minds_kind(const struct maar_placement* placement, uint32_t kind)
{
    return kind != 0 && placement->granularity > 1;
}

/* Returns an offset, at or above the given offset, at which a range of this kind shares no granule
 * with a range of another kind below it. This may be one granule higher than needed. `below` is the
 * nearest node under `offset`. */
VkDeviceSize maar_placement_clear_below(const struct maar_placement* placement, uint32_t below,
                                        uint32_t kind, VkDeviceSize offset);
/* Returns whether a range of this kind may end at `end`. `above` is the nearest node over that
 * range. */
bool maar_placement_clear_above(const struct maar_placement* placement, uint32_t above,
                                uint32_t kind, VkDeviceSize end);
/* Returns the lowest offset, from the aligned `offset` on, at which the request fits below `end`;
 * UINT64_MAX if there is none. The request has a kind for which placement_minds_kind is true. */
VkDeviceSize maar_placement_fit_kind(const struct maar_placement* placement,
                                     const struct maar_placement_request* request, uint32_t below,
                                     uint32_t above, VkDeviceSize offset, VkDeviceSize end);

/* Returns the lowest offset for a request in [begin, end) between two nodes, or UINT64_MAX if the
 * request does not fit there. */
static inline VkDeviceSize placement_fit(const struct maar_placement* placement,
                                         const struct maar_placement_request* request,
                                         uint32_t below, uint32_t above, VkDeviceSize begin,
                                         VkDeviceSize end)
{
    const VkDeviceSize offset = placement_align_up(begin, request->alignment);
    if (!placement_fits(offset, request->size, end)) {
        return UINT64_MAX;
    }
    return placement_minds_kind(placement, request->kind)
               ? maar_placement_fit_kind(placement, request, below, above, offset, end)
               : offset;
}

#endif
