/*
 * Unused nodes. An unused node is on the stack of unused nodes, or it is fresh: its slot is
 * fresh_slot or higher, and it was not used since the last reset. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_SLOTS_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_SLOTS_H

#include "core/placement/placement_space.h"

/* Returns whether so many nodes can be taken. Reads at most `count` nodes. */
static inline bool placement_can_take(const struct maar_placement* placement, uint32_t count)
{
    if (placement->fresh_left >= count) {
        return true;
    }
    uint32_t missing = count - placement->fresh_left;
    for (uint32_t slot = placement->free_slot; slot != PLACEMENT_NONE && missing != 0; --missing) {
        slot = placement_at(placement, slot)->next;
    }
    return missing == 0;
}

/* Returns whether `count` nodes can be taken. If not, notes for maar_placement_storage_wanted that
 * so many more are wanted. */
static inline bool placement_has_slots(struct maar_placement* placement, uint32_t count)
{
    if (placement_can_take(placement, count)) {
        return true;
    }
    placement->wanted_capacity = placement->capacity + count;
    return false;
}

/* Begins the next era of a node, whose generation is 0 again. */
static inline uint64_t placement_age(struct maar_placement* placement, uint64_t where)
{
    placement->has_old = true;
    return placement_next_era(where);
}

/* Changes the generation of a node, so that its earlier names are stale. */
static inline void placement_next_generation(struct maar_placement* placement,
                                             struct placement_node* node)
{
    if ((++node->extent & PLACEMENT_GENERATION_MASK) == 0) {
        node->extent -= (uint64_t)1 << PLACEMENT_SIZE_SHIFT;
        node->where = placement_age(placement, node->where);
    }
}

/* Makes a retired node one that is neither in use nor on the stack of unused nodes. */
static inline void placement_retire(struct placement_node* node)
{
    node->where = PLACEMENT_ERA_MASK | placement_meta(PLACEMENT_UNUSED, 0, 0);
    node->extent = 0;
}

/* Passes to the next fresh slot. */
static inline void placement_pass_fresh(struct maar_placement* placement, uint32_t slot)
{
    const uint32_t segment = slot >> PLACEMENT_SEGMENT_SHIFT;
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        placement->fast_ends[segment] = slot + PLACEMENT_SLOT_STEP;
    }
    placement->fresh_slot = slot + PLACEMENT_SLOT_STEP;
    if (placement->fresh_slot == placement->fresh_end && segment + 1 < placement->segments) {
        placement->fresh_slot = placement_segment_begin(segment + 1);
        placement->fresh_end = placement_segment_end(placement, segment + 1);
    }
    if (placement->touched_end < placement->fresh_slot) {
        placement->touched_end = placement->fresh_slot;
    }
}

/* Takes a node that was not used since the last reset. */
static inline uint32_t placement_take_fresh_slot(struct maar_placement* placement)
{
    while (placement->fresh_slot < placement->touched_end &&
           placement_is_retired(placement_at(placement, placement->fresh_slot)->where)) {
        placement_pass_fresh(placement, placement->fresh_slot); /* not counted in fresh_left */
    }
    const uint32_t slot = placement->fresh_slot;
    struct placement_node* node = placement_at(placement, slot);
    MAAR_DEBUG_ASSERT(placement->fresh_left != 0);
    const bool is_touched = slot < placement->touched_end;
    placement->fresh_left -= 1;
    placement_pass_fresh(placement, slot);
    if (!is_touched) {
        node->where = placement_meta(PLACEMENT_UNUSED, 0, 0);
        node->extent = 1; /* the first generation */
    } else {
        placement_next_generation(placement, node);
        node->where = placement_unused_where(node->where);
        node->extent &= PLACEMENT_GENERATION_MASK;
    }
    return slot;
}

/* Takes the node at the top of the stack, which is not empty. The node has only a generation; its
 * neighbours are undefined. */
static inline uint32_t placement_take_stacked_slot(struct maar_placement* placement)
{
    const uint32_t slot = placement->free_slot;
    const struct placement_node* node = placement_follow(placement, &placement->free_slot);
    MAAR_DEBUG_ASSERT(slot != PLACEMENT_NONE && placement_state(node) == PLACEMENT_UNUSED);
    placement->free_slot = node->next;
    return slot;
}

/* Takes a node after placement_has_slots returned true. */
static inline uint32_t placement_take_slot(struct maar_placement* placement)
{
    return placement->free_slot != PLACEMENT_NONE ? placement_take_stacked_slot(placement)
                                                  : placement_take_fresh_slot(placement);
}

static inline void placement_drop_slot(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* node = placement_at(placement, slot);
    MAAR_DEBUG_ASSERT(slot != PLACEMENT_NONE && placement_is_used(placement, slot));
    const uint64_t era = node->where & PLACEMENT_ERA_MASK;
    if (era == PLACEMENT_ERA_MASK) {
        placement_retire(node);
        return;
    }
    node->where = placement_unused_where(era);
    node->extent &= PLACEMENT_GENERATION_MASK;
    node->next = placement->free_slot;
    placement->free_slot = slot;
}

#endif
