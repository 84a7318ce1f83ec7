/*
 * The steps of TLSF's fast path, which placement.c, placement_tlsf.c and range.c put together. Two
 * operations take the fast path: an allocation whose alignment is the unit and whose kind does not
 * matter, and almost every free.
 *
 * The fast path needs few instructions and few cache lines. The links of a node flag its free
 * neighbours, and its tag names the power of two that divides its extent. So a free reads only
 * those neighbours that it joins. It writes to the other neighbours, and the processor does not
 * wait for a write. The first node of a bin was written recently, so it is likely in the cache.
 * Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_FAST_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_FAST_H

#include "core/placement/placement_slots.h"
#include "core/placement/placement_tlsf.h"

/* The first node of a bin, which has room for a request. */
struct placement_tlsf_found {
    uint32_t* head; /* of the bin */
    struct placement_node* node;
    uint32_t slot;
};

/* Finds a node for this extent: the first node of its own bin or, if that node is too small, the
 * first node of the next filled bin, where every node is large enough. Returns false if there is
 * none. */
MAAR_INLINE bool placement_tlsf_find_fast(const struct maar_placement* placement,
                                          VkDeviceSize rounded, struct placement_tlsf_found* found)
{
    found->head = placement_bin_head(placement, placement_tlsf_bin(rounded));
    /* Equal extents mean a generation of 0, as every retired node has it, and any other node once
     * in 32,768 uses. */
    while (placement_follow(placement, found->head)->extent <= rounded << PLACEMENT_SIZE_SHIFT) {
        const size_t bin =
            placement_bin_next(placement, placement_bin_of_head(placement, found->head) + 1);
        if (bin == PLACEMENT_NO_BIN) {
            return false;
        }
        found->head = placement_bin_head(placement, bin);
    }
    found->node = placement_follow(placement, found->head);
    found->slot = *found->head;
    return true;
}

/* Returns whether a node that was found for this number of bytes has no more bytes. */
MAAR_INLINE bool placement_tlsf_is_exact(const struct placement_node* node, VkDeviceSize rounded)
{
    return node->extent - (rounded << PLACEMENT_SIZE_SHIFT) < (uint64_t)1 << PLACEMENT_SIZE_SHIFT;
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
                                           VkDeviceSize rounded, struct placement_tlsf_need need,
                                           VkDeviceSize* offset)
{
    struct placement_node* node = found->node;
    MAAR_DEBUG_ASSERT(!placement_is_retired(node->where));
    if (offset != NULL) {
        *offset = placement_offset(node);
    }
    placement_follow(placement, &node->prev)->next = found->slot;
    placement_follow(placement, &node->next)->prev = found->slot;
    const bool is_last = placement_bin_unlink_first(placement, found->head, node);
    const uint64_t extent = rounded << PLACEMENT_SIZE_SHIFT;
    placement->free_extent -= extent;
    placement->range_count += 1;
    const VkDeviceSize size = *need.size;
    placement->used_size += size;
    node->extent -= extent - (size << PLACEMENT_SIZE_SHIFT);
    node->u.user = *need.user;
    node->where += placement_tlsf_live_meta(placement, need);
    return is_last;
}

/* Makes the front of a node live, which is larger than needed. An unused node, which is not on the
 * stack any more, takes this front. Does not move the rest to another bin. Writes the offset unless
 * `offset` is NULL. */
MAAR_INLINE void placement_tlsf_take_front(struct maar_placement* placement,
                                           struct placement_node* rest, uint32_t rest_slot,
                                           struct placement_node* part, uint32_t slot,
                                           struct placement_tlsf_need need, VkDeviceSize* offset)
{
    const uint64_t where = rest->where;
    if (offset != NULL) {
        *offset = where >> PLACEMENT_OFFSET_SHIFT;
    }
    const VkDeviceSize size = *need.size;
    part->u.user = *need.user;
    placement->used_size += size;
    placement->range_count += 1;
    part->extent += size << PLACEMENT_SIZE_SHIFT;
    const VkDeviceSize rounded = placement_tlsf_round(placement, size);
    placement->free_extent -= rounded << PLACEMENT_SIZE_SHIFT;
    rest->extent -= rounded << PLACEMENT_SIZE_SHIFT;
    rest->where = where + (rounded << PLACEMENT_OFFSET_SHIFT);
    part->where +=
        (where & ~(uint64_t)PLACEMENT_ERA_MASK) + placement_tlsf_live_meta(placement, need);
    placement_follow(placement, &rest->prev)->next = slot;
    part->prev = rest->prev;
    rest->prev = slot;
    part->next = rest_slot | PLACEMENT_LINK_FREE;
}

/* Moves a free node from a bin, whose first node it is, to the bin of its extent. Returns whether
 * the old bin is empty now; its bits are still set then. */
MAAR_INLINE bool placement_tlsf_move_first(struct maar_placement* placement,
                                           struct placement_node* node, uint32_t slot,
                                           uint32_t* old)
{
    const size_t bin = placement_tlsf_bin_of(node);
    if (placement_bin_head(placement, bin) == old) {
        return false;
    }
    const bool is_last = placement_bin_unlink_first(placement, old, node);
    placement_bin_insert(placement, bin, node, slot);
    return is_last;
}

/* Returns the bytes that a live node occupies, as an extent without a generation. Must not be
 * called for the last range, since the space may end between two units. */
static inline uint64_t placement_tlsf_extent(const struct placement_node* node)
{
    const uint64_t units = UINT64_MAX << (node->where & PLACEMENT_TAG_MASK);
    return ((node->extent - ((uint64_t)1 << PLACEMENT_SIZE_SHIFT)) & units) - units;
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

/* Returns whether a neighbour of a node is free. */
MAAR_INLINE bool placement_tlsf_has_free_neighbour(const struct placement_node* node)
{
    return ((node->prev | node->next) & PLACEMENT_LINK_FREE) != 0;
}

/* Frees a live node between live neighbours, which the totals lack already. */
MAAR_INLINE void placement_tlsf_free_alone(struct maar_placement* placement,
                                           struct placement_node* node, uint32_t slot,
                                           uint64_t where, uint64_t extent, uint64_t generation)
{
    node->where = (where & (~(uint64_t)PLACEMENT_META_MASK | PLACEMENT_ERA_MASK)) |
                  placement_meta(PLACEMENT_FREE, 0, 0);
    node->extent = extent | generation;
    placement_follow(placement, &node->prev)->next = slot | PLACEMENT_LINK_FREE;
    placement_follow(placement, &node->next)->prev = slot | PLACEMENT_LINK_FREE;
    placement_tlsf_insert(placement, node, slot);
}

/* Returns whether the fast path frees a live node: it is not the last one, and it does not begin an
 * era. */
MAAR_INLINE bool placement_tlsf_frees_fast(const struct placement_node* node)
{
    return node->next != PLACEMENT_NONE &&
           (node->extent & PLACEMENT_GENERATION_MASK) != PLACEMENT_GENERATION_MASK;
}

/* Makes a live node beside a free one an unused node, which maar_tlsf_absorb and the like put on
 * the stack. */
MAAR_INLINE void placement_tlsf_clear(struct placement_node* node)
{
    node->where &= PLACEMENT_ERA_MASK;
    node->extent = (node->extent + 1) & PLACEMENT_GENERATION_MASK;
}

#endif
