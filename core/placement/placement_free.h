/*
 * Frees a live node of any strategy. The function is inline, since maarFreeRange and
 * maar_placement_free do little else. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_FREE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_FREE_H

#include "core/placement/placement_buddy.h"
#include "core/placement/placement_joins.h"
#include "core/placement/placement_linear.h"

/* Does what maar_placement_create does, in a placement that is zero but for segment_limit and
 * fast_ends. */
VkResult maar_placement_open(struct maar_placement* placement,
                             const struct maar_placement_info* info,
                             const VkAllocationCallbacks* callbacks);
/* Frees the storage of a placement. */
void maar_placement_close(struct maar_placement* placement, const VkAllocationCallbacks* callbacks);

/* Frees a live node. Returns an upper bound of the size of the free range that now contains the
 * node. */
static inline VkDeviceSize placement_free_live(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* node = placement_at(placement, slot);
    MAAR_DEBUG_ASSERT(placement_state(node) == PLACEMENT_LIVE);
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        return maar_tlsf_free(placement, node, slot) >> PLACEMENT_SIZE_SHIFT;
    }
    placement_next_generation(placement, node);
    return placement->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY ? maar_buddy_free(placement, slot)
                                                                : maar_linear_free(placement, slot);
}

#endif
