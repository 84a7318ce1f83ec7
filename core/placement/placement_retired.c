/*
 * Puts an unused node in the place of a retired one: see placement_retired.h.
 */
#include "core/placement/placement_retired.h"

uint32_t maar_placement_replace(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* nodes = placement->nodes;
    const uint32_t made = placement_take_slot(placement);
    const uint64_t era = PLACEMENT_ERA_MASK;
    nodes[made].where = (nodes[made].where & era) | (nodes[slot].where & ~era);
    nodes[made].extent = (nodes[made].extent & PLACEMENT_GENERATION_MASK) |
                         (nodes[slot].extent & ~(uint64_t)PLACEMENT_GENERATION_MASK);
    placement_link(placement, nodes[slot].prev, made, nodes[slot].next);
    placement_retire(&nodes[slot]);
    return made;
}
