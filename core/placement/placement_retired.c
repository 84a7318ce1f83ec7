/*
 * Puts an unused node in the place of a retired one: see placement_retired.h.
 */
#include "core/placement/placement_retired.h"

#include "core/placement/placement_slots.h"

uint32_t maar_placement_replace(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* old = placement_at(placement, slot);
    const uint32_t made = placement_take_slot(placement);
    struct placement_node* node = placement_at(placement, made);
    const uint64_t era = PLACEMENT_ERA_MASK;
    node->where = (node->where & era) | (old->where & ~era);
    node->extent = (node->extent & PLACEMENT_GENERATION_MASK) |
                   (old->extent & ~(uint64_t)PLACEMENT_GENERATION_MASK);
    placement_link(placement, old->prev, made, old->next);
    placement_retire(old);
    return made;
}
