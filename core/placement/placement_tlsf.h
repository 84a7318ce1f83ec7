/*
 * What nearly every call does to a TLSF placement, in line: an allocation whose alignment is the
 * unit and whose kind does not matter, and any free. placement_tlsf.c has the rest and says how it
 * works.
 *
 * Written for few instructions and few cache lines. Sizes stay shifted, as in an extent. A node's
 * links say which neighbours are free, and its tag what its extent is a multiple of, so that of the
 * nodes around only those are read that join; the others are only written to, which nobody waits
 * for. The first node of a bin was written to lately.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_TLSF_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_TLSF_H

#include "core/placement/placement_nodes.h"

/* By how much an extent is shifted to get its place in its octave. */
static inline uint32_t placement_tlsf_shift(uint64_t extent)
{
    const uint64_t least = (uint64_t)1 << (PLACEMENT_SIZE_SHIFT + PLACEMENT_BIN_BITS);
    return maar_top_bit(extent | least) - PLACEMENT_BIN_BITS;
}

/* One bin for each size below 2^PLACEMENT_BIN_BITS, then that many an octave. */
static inline uint32_t placement_tlsf_bin(uint64_t extent)
{
    const uint32_t shift = placement_tlsf_shift(extent);
    return (shift << PLACEMENT_BIN_BITS) + (uint32_t)(extent >> shift) -
           (PLACEMENT_SIZE_SHIFT << PLACEMENT_BIN_BITS);
}

static inline void placement_tlsf_insert(struct maar_placement* placement,
                                         struct placement_node* node, uint32_t slot)
{
    placement_bin_insert(placement, placement_tlsf_bin(node->extent), node, slot);
}

/* Makes a node, free or not, the neighbour of both prev and next, which are links. */
static inline void placement_tlsf_link(struct placement_node* nodes, uint32_t prev, uint32_t link,
                                       uint32_t next)
{
    nodes[prev & ~PLACEMENT_LINK_FREE].next = link;
    nodes[next & ~PLACEMENT_LINK_FREE].prev = link;
}

/* Whether a request of this alignment (0 is 1) and kind needs no look at where a free range lies.
 * Sizes from 1 up to plain_size may follow. */
static inline bool placement_tlsf_is_plain(const struct maar_placement* placement,
                                           VkDeviceSize alignment, uint32_t kind)
{
    return (alignment == placement->unit || (alignment | placement->unit) == 1) &&
           kind <= placement->plain_kind;
}

/* Takes the front of a free node, which is more than needed, for a new one; as yet the new one is
 * marked as free, and its extent is 0. */
static inline struct placement_node* placement_tlsf_split(struct maar_placement* placement,
                                                          struct placement_node* node,
                                                          uint32_t* slot, uint32_t bin,
                                                          uint64_t extent)
{
    struct placement_node* nodes = placement->nodes;
    const uint32_t rest_slot = *slot;
    const uint64_t rest = node->extent - extent;
    const uint32_t rest_bin = placement_tlsf_bin(rest);
    node->extent = rest;
    if (rest_bin != bin) {
        placement_bin_pop(placement, bin, node);
        placement_bin_insert(placement, rest_bin, node, rest_slot);
    }
    const uint32_t part_slot = placement_take_slot(placement);
    struct placement_node* part = &nodes[part_slot];
    *slot = part_slot;
    part->next = rest_slot | PLACEMENT_LINK_FREE;
    part->prev = node->prev;
    nodes[node->prev].next = part_slot;
    node->prev = part_slot;
    part->where += node->where & ~(uint64_t)PLACEMENT_ERA_MASK;
    node->where += extent << (PLACEMENT_OFFSET_SHIFT - PLACEMENT_SIZE_SHIFT);
    return part;
}

/* What is to be placed. By reference, because it is cheaper to read this twice than to keep it. */
struct placement_tlsf_wish {
    const VkDeviceSize* size;
    const uint32_t* kind;
    const uint64_t* user;
};

/* Serves a plain request from the first node of its size's own bin, whose ranges may be a little
 * too small, or of the next filled bin, where all fit. If there is no such node, or none for what
 * would be left, answers false: nothing has changed then, and maar_tlsf_allocate knows more. */
static inline bool placement_tlsf_allocate_plain(struct maar_placement* placement,
                                                 struct placement_tlsf_wish wish, uint32_t* found,
                                                 uint32_t* generation, VkDeviceSize* offset)
{
    const uint64_t extent = ((*wish.size << PLACEMENT_SIZE_SHIFT) + placement->unit_extent - 1) &
                            (0 - placement->unit_extent);
    struct placement_node* nodes = placement->nodes;
    uint32_t bin = placement_tlsf_bin(extent);
    uint32_t slot = placement->bins[bin];
    struct placement_node* node = &nodes[slot];
    if (node->extent < extent) {
        bin = placement_bin_next(placement, bin + 1);
        if (bin == UINT32_MAX) {
            return false;
        }
        slot = placement->bins[bin];
        node = &nodes[slot];
    }
    uint64_t rest = node->extent - extent;
    if (rest < (uint64_t)1 << PLACEMENT_SIZE_SHIFT) {
        placement_bin_pop(placement, bin, node);
        nodes[node->prev].next = slot;
        nodes[node->next].prev = slot;
    } else {
        if (placement->slots_left == 0) {
            return false;
        }
        node = placement_tlsf_split(placement, node, &slot, bin, extent);
        rest = node->extent;
    }
    node->u.user = *wish.user;
    placement->range_count += 1;
    placement->free_extent -= extent;
    const VkDeviceSize size = *wish.size;
    placement->used_size += size;
    node->extent = (size << PLACEMENT_SIZE_SHIFT) + rest;
    const uint64_t where =
        node->where + ((uint64_t)*wish.kind << PLACEMENT_KIND_SHIFT) + placement->plain_meta;
    node->where = where;
    *offset = where >> PLACEMENT_OFFSET_SHIFT;
    *generation = ((uint32_t)where & PLACEMENT_NAME_MASK) << PLACEMENT_NAME_SHIFT | (uint32_t)rest;
    *found = slot;
    return true;
}

/* The bytes that a live node occupies, as an extent without a generation; not those of the last
 * range, since the space may end between two units. */
static inline uint64_t placement_tlsf_extent(const struct placement_node* node)
{
    const uint64_t below = ((uint64_t)1 << (node->where & PLACEMENT_TAG_MASK)) - 1;
    return ((node->extent - ((uint64_t)1 << PLACEMENT_SIZE_SHIFT)) | below) + 1;
}

/* Frees a live node of this extent; the extent of the free node that has it now. */
static inline uint64_t placement_tlsf_free_extent(struct maar_placement* placement, uint32_t slot,
                                                  uint64_t extent)
{
    struct placement_node* nodes = placement->nodes;
    struct placement_node* node = &nodes[slot];
    uint64_t where = node->where;
    placement->range_count -= 1;
    placement->used_size -= placement_size(node);
    placement->free_extent += extent;
    const uint64_t generation = (node->extent + 1) & PLACEMENT_GENERATION_MASK;
    if (generation == 0) {
        where = placement_next_era(where);
    }
    const uint32_t prev = node->prev;
    const uint32_t next = node->next;
    if (((prev | next) & PLACEMENT_LINK_FREE) != 0) {
        node->where = where & PLACEMENT_ERA_MASK;
        node->extent = generation;
        return maar_tlsf_absorb(placement, slot, extent);
    }
    node->where = (where & (~(uint64_t)PLACEMENT_META_MASK | PLACEMENT_ERA_MASK)) |
                  placement_meta(PLACEMENT_FREE, 0, 0);
    node->extent = extent | generation;
    nodes[prev].next = slot | PLACEMENT_LINK_FREE;
    nodes[next].prev = slot | PLACEMENT_LINK_FREE;
    placement_bin_insert(placement, placement_tlsf_bin(extent), node, slot);
    return extent;
}

/* Frees a live node; the extent of the free node that has it now. */
static inline uint64_t placement_tlsf_free(struct maar_placement* placement, uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
    return node->next == PLACEMENT_NONE
               ? maar_tlsf_free_last(placement, slot)
               : placement_tlsf_free_extent(placement, slot, placement_tlsf_extent(node));
}

/* Frees a live node of any strategy; how large the free range that holds it now may be, at most, in
 * the high bits of an extent. */
static inline uint64_t placement_free_live(struct maar_placement* placement, uint32_t slot)
{
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        return placement_tlsf_free(placement, slot);
    }
    placement_next_generation(&placement->nodes[slot]);
    const VkDeviceSize size = placement->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY
                                  ? maar_buddy_free(placement, slot)
                                  : maar_linear_free(placement, slot);
    return size << PLACEMENT_SIZE_SHIFT;
}

#endif
