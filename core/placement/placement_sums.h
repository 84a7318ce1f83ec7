/*
 * Sums over a walk, for the check of a placement. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_SUMS_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_SUMS_H

#include "core/placement/placement_space.h"

/* The sums, and the first broken invariant that was found. */
struct placement_sums {
    const struct maar_placement* placement;
    const char* broken;
    VkDeviceSize cursor;
    VkDeviceSize used_size;
    VkDeviceSize free_size;
    VkDeviceSize kind_end; /* end of the last range that has a kind */
    uint32_t kind;
    uint32_t range_count;
};

/* Adds an entry of a walk to the sums. Returns false, and sets `broken`, when the entry does not
 * fit the entries before it. */
bool maar_placement_sum_up(void* context, const MaarRangeInfo* info);

#endif
