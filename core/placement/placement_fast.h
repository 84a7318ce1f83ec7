/*
 * The steps of an allocation on TLSF's fast path, which placement_tlsf.c and range.c put together.
 * It is for requests whose alignment is the unit and whose kind does not matter. placement_tlsf.h
 * says what makes it fast, and placement_joins.h has the steps of a free. Internal to
 * core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_FAST_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_FAST_H

#include "core/placement/placement_slots.h"
#include "core/placement/placement_tlsf_bins.h"

/* The first node of a bin, compared with a request. */
struct placement_tlsf_found {
    uint32_t* head; /* of the bin */
    struct placement_node* node;
    uint32_t slot;
    /* The extent of the node, with its generation, less that of the request. So the surplus of a
     * node that is too small is negative, and that of a node of this extent is its generation. */
    int64_t surplus;
};

/* Compares the first node of a bin with a request of this extent. It is the border, which has no
 * extent, if the bin is empty. */
MAAR_INLINE struct placement_tlsf_found placement_tlsf_first(const struct maar_placement* placement,
                                                             size_t bin, uint64_t extent)
{
    struct placement_tlsf_found found = {.head = placement_bin_head(placement, bin)};
    found.slot = *found.head;
    found.node = placement_follow(placement, found.head);
    found.surplus = (int64_t)(found.node->extent - extent);
    return found;
}

/* What a request makes of the first node of the bin of its extent. */
enum placement_tlsf_use {
    PLACEMENT_USE_WHOLE,
    PLACEMENT_USE_FRONT,
    /* The node has the extent of the request, and the last generation, as every retired node has
     * it, and any other node once in 32,768 uses. */
    PLACEMENT_USE_SLOW,
};

MAAR_INLINE enum placement_tlsf_use placement_tlsf_use(const struct placement_tlsf_found* found)
{
    if (found->surplus < PLACEMENT_GENERATION_MASK) {
        return PLACEMENT_USE_WHOLE;
    }
    return found->surplus == PLACEMENT_GENERATION_MASK ? PLACEMENT_USE_SLOW : PLACEMENT_USE_FRONT;
}

/* Returns what a request adds to the `where` of a free node. */
MAAR_INLINE uint64_t placement_tlsf_live_meta(const struct maar_placement* placement,
                                              struct placement_tlsf_need need)
{
    const uint64_t meta = placement->fast_meta;
    return need.kind != NULL ? meta + ((uint64_t)*need.kind << PLACEMENT_KIND_SHIFT) : meta;
}

/* Takes a whole node out of its bin and makes it live. Writes the offset unless `offset` is NULL.
 * Returns whether the bin is empty now; its bits are still set then.
 *
 * The order of the steps is chosen so that few values are needed at a time. */
MAAR_INLINE bool placement_tlsf_take_whole(struct maar_placement* placement,
                                           const struct placement_tlsf_found* found,
                                           uint64_t extent, struct placement_tlsf_need need,
                                           VkDeviceSize* offset)
{
    struct placement_node* node = found->node;
    MAAR_DEBUG_ASSERT(!placement_is_retired(node->where));
    placement->free_extent -= extent;
    if (offset != NULL) {
        *offset = placement_offset(node);
    }
    placement->range_count += 1;
    const VkDeviceSize size = *need.size;
    placement->used_size += size;
    node->extent = (size << PLACEMENT_SIZE_SHIFT) + (uint64_t)found->surplus;
    const bool is_empty = placement_bin_unlink_first(found->head, node);
    node->u.user = *need.user;
    placement_follow(placement, &node->prev)->next = found->slot;
    placement_follow(placement, &node->next)->prev = found->slot;
    node->where += placement_tlsf_live_meta(placement, need);
    return is_empty;
}

/* Makes the front of a node live, which is larger than needed. An unused node, which is not on the
 * stack any more, takes this front. Neither links the two nor moves the rest to another bin. */
MAAR_INLINE void placement_tlsf_take_front(struct maar_placement* placement,
                                           struct placement_node* rest, struct placement_node* part,
                                           uint64_t extent, struct placement_tlsf_need need)
{
    part->u.user = *need.user;
    const VkDeviceSize size = *need.size;
    placement->used_size += size;
    placement->range_count += 1;
    part->extent += size << PLACEMENT_SIZE_SHIFT;
    placement->free_extent -= extent;
    rest->extent -= extent;
    const uint64_t where = rest->where;
    rest->where = where + (extent << (PLACEMENT_OFFSET_SHIFT - PLACEMENT_SIZE_SHIFT));
    /* What the part has, besides its era, is contained in the state of the rest. */
    part->where = (part->where | (where & ~(uint64_t)PLACEMENT_ERA_MASK)) +
                  placement_tlsf_live_meta(placement, need);
}

/* Inserts a live node into the space before the free node of which it has taken the front. */
MAAR_INLINE void placement_tlsf_link_front(struct maar_placement* placement,
                                           struct placement_node* rest, uint32_t rest_slot,
                                           struct placement_node* part, uint32_t slot)
{
    placement_follow(placement, &rest->prev)->next = slot;
    part->prev = rest->prev;
    rest->prev = slot;
    part->next = rest_slot + PLACEMENT_LINK_FREE;
}

/* What the move of a node did to bins. The bits are still those from before. */
struct placement_tlsf_moved {
    uint32_t* head; /* the head of the bin that it is in now */
    bool is_filled; /* this bin was empty */
    bool is_empty;  /* the other bin has become empty */
};

/* Moves what is left of a free node, the first node of a bin, to the bin of its extent. */
MAAR_INLINE struct placement_tlsf_moved placement_tlsf_move_first(struct maar_placement* placement,
                                                                  struct placement_node* node,
                                                                  uint32_t slot, uint32_t* old)
{
    const uint64_t extent = node->extent & ~(uint64_t)PLACEMENT_GENERATION_MASK;
    struct placement_tlsf_moved moved = {
        .head = placement_bin_head(placement, placement_tlsf_bin_of_extent(extent))};
    if (moved.head != old) {
        moved.is_empty = placement_bin_unlink_first(old, node);
        moved.is_filled = placement_bin_link_first(placement, moved.head, node, slot);
    }
    return moved;
}

#endif
