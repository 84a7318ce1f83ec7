/*
 * The steps of a free on TLSF's fast path, which placement.c, placement_tlsf.c and range.c put
 * together. Almost every free takes it.
 *
 * The links of a node flag its free neighbours, and its tag names the power of two that divides its
 * extent. So a free reads only those neighbours that it joins. It writes to the other neighbours,
 * and the processor does not wait for a write. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_JOINS_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_JOINS_H

#include "core/placement/placement_slots.h"
#include "core/placement/placement_tlsf.h"

/* Returns the bytes that a live node occupies, as an extent without a generation. The range must
 * not be odd, as PLACEMENT_LINK_ODD says. */
static inline uint64_t placement_tlsf_extent(const struct placement_node* node)
{
    const uint32_t shift = placement_tag(node);
    return (((node->extent - ((uint64_t)1 << PLACEMENT_SIZE_SHIFT)) >> shift) + 1) << shift;
}

/* Puts the node of a range that is freed on the stack of unused nodes. */
MAAR_INLINE void placement_tlsf_stack(struct maar_placement* placement, struct placement_node* node,
                                      uint32_t slot)
{
    node->next = placement->free_slot;
    placement->free_slot = slot;
}

/* A free node that has taken the extent of a neighbour. */
struct placement_tlsf_joined {
    struct placement_node* node;
    uint64_t old; /* its extent before; it is still in the bin of that */
    uint32_t slot;
};

/* Removes a node and gives its extent to the next node, which is free. The one before is not. */
MAAR_INLINE struct placement_tlsf_joined placement_tlsf_join_next(struct maar_placement* placement,
                                                                  struct placement_node* node,
                                                                  uint32_t slot, uint64_t extent)
{
    const uint32_t next = node->next;
    struct placement_node* higher = placement_at_free(placement, next);
    placement_follow(placement, &node->prev)->next = next;
    higher->prev = node->prev;
    placement_tlsf_stack(placement, node, slot);
    const uint64_t old = higher->extent;
    higher->extent = old + extent;
    higher->where -= extent << (PLACEMENT_OFFSET_SHIFT - PLACEMENT_SIZE_SHIFT);
    return (struct placement_tlsf_joined){higher, old, next - PLACEMENT_LINK_FREE};
}

/* Removes a node and gives its extent to the node before it, which is free. The next one is not. */
MAAR_INLINE struct placement_tlsf_joined placement_tlsf_join_prev(struct maar_placement* placement,
                                                                  struct placement_node* node,
                                                                  uint32_t slot, uint64_t extent)
{
    const uint32_t prev = node->prev;
    struct placement_node* lower = placement_at_free(placement, prev);
    placement_follow(placement, &node->next)->prev = prev;
    lower->next = node->next;
    placement_tlsf_stack(placement, node, slot);
    const uint64_t old = lower->extent;
    lower->extent = old + extent;
    return (struct placement_tlsf_joined){lower, old, prev - PLACEMENT_LINK_FREE};
}

/* Does the one or the other. Not both neighbours are free. */
MAAR_INLINE struct placement_tlsf_joined placement_tlsf_join_one(struct maar_placement* placement,
                                                                 struct placement_node* node,
                                                                 uint32_t slot, uint64_t extent)
{
    return (node->prev & PLACEMENT_LINK_FREE) != 0
               ? placement_tlsf_join_prev(placement, node, slot, extent)
               : placement_tlsf_join_next(placement, node, slot, extent);
}

/* Subtracts a live range from the totals. */
MAAR_INLINE void placement_tlsf_count_out(struct maar_placement* placement,
                                          const struct placement_node* node, uint64_t extent)
{
    placement->range_count -= 1;
    placement->used_size -= placement_size(node);
    placement->free_extent += extent;
}

/* Returns whether a node is between two live nodes, and not odd. The flags of both links are at
 * most 3 together. */
MAAR_INLINE bool placement_tlsf_is_alone(const struct placement_node* node)
{
    return ((node->prev + node->next) & PLACEMENT_LINK_FLAGS) == 0;
}

/* Frees a live node that is alone, which the totals lack already. Returns the head of the bin that
 * is no longer empty now, whose bits are not set; NULL if there is none. */
MAAR_INLINE uint32_t* placement_tlsf_free_alone(struct maar_placement* placement,
                                                struct placement_node* node, uint32_t slot,
                                                uint64_t extent, uint64_t generation)
{
    node->where = (node->where & (~(uint64_t)PLACEMENT_META_MASK | PLACEMENT_ERA_MASK)) |
                  placement_meta(PLACEMENT_FREE, 0, 0);
    node->extent = extent | generation;
    struct placement_node* lower = placement_follow(placement, &node->prev);
    struct placement_node* higher = placement_follow(placement, &node->next);
    lower->next = slot + PLACEMENT_LINK_FREE;
    higher->prev = slot + PLACEMENT_LINK_FREE;
    uint32_t* head = placement_bin_head(placement, placement_tlsf_bin_of_extent(extent));
    return placement_bin_link_first(placement, head, node, slot) ? head : NULL;
}

/* Makes a live node beside a free one an unused node, which maar_tlsf_absorb and the like put on
 * the stack. */
MAAR_INLINE void placement_tlsf_clear(struct placement_node* node, uint64_t generation)
{
    node->where = placement_unused_where(node->where);
    node->extent = generation;
}

/* Returns whether a node that is not alone has two free neighbours, or is odd: the flags of both
 * links are 2 or 3 together. */
MAAR_INLINE bool placement_tlsf_is_rare(const struct placement_node* node)
{
    return (((node->prev & PLACEMENT_LINK_FREE) + node->next) & PLACEMENT_LINK_ODD) != 0;
}

/* Frees such a node, which the totals lack already, as a range of this extent. Returns the extent
 * of the free node that now contains the range. */
static inline uint64_t placement_tlsf_free_rare(struct maar_placement* placement,
                                                struct placement_node* node, uint32_t slot,
                                                uint64_t extent)
{
    if ((node->next & PLACEMENT_LINK_ODD) != 0) {
        return maar_tlsf_free_odd(placement, node, slot, extent);
    }
    placement_tlsf_clear(node, placement_following_generation(node));
    return maar_tlsf_absorb(placement, node, slot, extent);
}

#endif
