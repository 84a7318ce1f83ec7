/*
 * Frees a live node of any strategy. The function is inline, since maarFreeRange and
 * maar_placement_free do little else. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_FREE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_FREE_H

#include "core/placement/placement_buddy.h"
#include "core/placement/placement_linear.h"
#include "core/placement/placement_tlsf.h"

/* Frees a live node. Returns an upper bound of the size of the free range that now contains the
 * node, shifted as in an extent. */
static inline uint64_t placement_free_live(struct maar_placement* placement, uint32_t slot)
{
    MAAR_DEBUG_ASSERT(placement_state(&placement->nodes[slot]) == PLACEMENT_LIVE);
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        return placement_tlsf_free(placement, slot);
    }
    placement_next_generation(placement, &placement->nodes[slot]);
    const VkDeviceSize size = placement->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY
                                  ? maar_buddy_free(placement, slot)
                                  : maar_linear_free(placement, slot);
    return size << PLACEMENT_SIZE_SHIFT;
}

#endif
