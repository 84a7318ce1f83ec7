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
    return placement_log2(extent | least) - PLACEMENT_BIN_BITS;
}

/* One bin for each size below 2^PLACEMENT_BIN_BITS, then that many an octave. */
static inline uint32_t placement_tlsf_bin(uint64_t extent)
{
    const uint32_t shift = placement_tlsf_shift(extent);
    return ((shift - PLACEMENT_SIZE_SHIFT) << PLACEMENT_BIN_BITS) + (uint32_t)(extent >> shift);
}

static inline void placement_tlsf_insert(struct maar_placement* placement, uint32_t slot)
{
    placement_bin_insert(placement, placement_tlsf_bin(placement->nodes[slot].extent), slot);
}

/* Gives a free node another extent; large ones mostly stay in their bin. */
static inline void placement_tlsf_set_extent(struct maar_placement* placement, uint32_t slot,
                                             uint64_t extent)
{
    struct placement_node* node = &placement->nodes[slot];
    const uint64_t changed = node->extent ^ extent;
    node->extent = extent;
    if (changed >> placement_tlsf_shift(extent) != 0) {
        placement_bin_remove(placement, slot);
        placement_bin_insert(placement, placement_tlsf_bin(extent), slot);
    }
}

/* Makes a node, free or not, the neighbour of both prev and next, which are links. */
static inline void placement_tlsf_link(struct placement_node* nodes, uint32_t prev, uint32_t link,
                                       uint32_t next)
{
    nodes[prev & ~PLACEMENT_LINK_FREE].next = link;
    nodes[next & ~PLACEMENT_LINK_FREE].prev = link;
}

/* Whether a request of this alignment and kind needs no look at where a free range lies. Sizes from
 * 1 up to plain_size may follow. */
static inline bool placement_tlsf_is_plain(const struct maar_placement* placement,
                                           VkDeviceSize alignment, uint32_t kind)
{
    return alignment == placement->unit && kind <= placement->plain_kind;
}

/* The slot of a new range, and its node but for the owner's tag. */
struct placement_tlsf_place {
    struct placement_node* node;
    uint32_t slot;
    uint32_t generation;
    VkDeviceSize offset;
};

/* Takes the front of a free node, which is more than needed, for a new live one. */
static inline struct placement_node* placement_tlsf_split(struct maar_placement* placement,
                                                          struct placement_node* node, uint32_t bin,
                                                          uint64_t extent, uint32_t* slot)
{
    const uint32_t part = placement_take_slot(placement);
    struct placement_node* nodes = placement->nodes;
    const uint64_t rest = node->extent - extent;
    const uint32_t rest_bin = placement_tlsf_bin(rest);
    const uint32_t prev = node->prev;
    node->where += extent << (PLACEMENT_OFFSET_SHIFT - PLACEMENT_SIZE_SHIFT);
    node->extent = rest;
    node->prev = part;
    nodes[prev].next = part;
    nodes[part].prev = prev;
    nodes[part].next = *slot | PLACEMENT_LINK_FREE;
    if (rest_bin != bin) {
        placement_bin_pop(placement, bin, *slot);
        placement_bin_insert(placement, rest_bin, *slot);
    }
    *slot = part;
    return &nodes[part];
}

/* Serves a plain request from the first node of its size's own bin, whose ranges may be a little
 * too small, or of the next filled bin, where all fit. If there is no such node, or none for what
 * would be left, nothing changes, and maar_tlsf_allocate knows more. */
static inline bool placement_tlsf_allocate_plain(struct maar_placement* placement,
                                                 VkDeviceSize size, uint32_t kind,
                                                 struct placement_tlsf_place* place)
{
    const uint64_t extent = ((size + placement->unit - 1) & (0 - placement->unit))
                            << PLACEMENT_SIZE_SHIFT;
    uint32_t bin = placement_tlsf_bin(extent);
    uint32_t slot = placement->bins[bin];
    struct placement_node* node = &placement->nodes[slot];
    if (node->extent < extent) {
        bin = placement_bin_next(placement, bin + 1);
        if (bin == UINT32_MAX) {
            return false;
        }
        slot = placement->bins[bin];
        node = &placement->nodes[slot];
    }
    if (placement->slots_left == 0) {
        return false;
    }
    const uint64_t begin = node->where;
    if (node->extent - extent < (uint64_t)1 << PLACEMENT_SIZE_SHIFT) {
        placement_bin_pop(placement, bin, slot);
        placement_tlsf_link(placement->nodes, node->prev, slot, node->next);
        node->where &= PLACEMENT_ERA_MASK;
        node->extent -= extent;
    } else {
        node = placement_tlsf_split(placement, node, bin, extent, &slot);
    }
    placement->range_count += 1;
    placement->used_size += size;
    placement->free_extent -= extent;
    const uint64_t name =
        node->where + ((uint64_t)kind << PLACEMENT_KIND_SHIFT) + placement->plain_tag;
    place->generation = (uint32_t)name << PLACEMENT_NAME_SHIFT | (uint32_t)node->extent;
    node->where =
        (begin & ~(uint64_t)PLACEMENT_META_MASK) + name + placement_meta(PLACEMENT_LIVE, 0, 0);
    node->extent += size << PLACEMENT_SIZE_SHIFT;
    place->node = node;
    place->slot = slot;
    place->offset = begin >> PLACEMENT_OFFSET_SHIFT;
    return true;
}

/* The bytes that a live node occupies, as an extent without a generation. */
static inline uint64_t placement_tlsf_extent(const struct maar_placement* placement,
                                             const struct placement_node* node)
{
    if (node->next == PLACEMENT_NONE) {
        /* The space may end between two units. */
        const VkDeviceSize begin = placement_offset(node);
        const VkDeviceSize unit = (VkDeviceSize)1 << (placement_tag(node) - PLACEMENT_SIZE_SHIFT);
        const VkDeviceSize end = (begin + placement_size(node) + unit - 1) & (0 - unit);
        return ((end < placement->size ? end : placement->size) - begin) << PLACEMENT_SIZE_SHIFT;
    }
    const uint64_t below = ((uint64_t)1 << (node->where & PLACEMENT_TAG_MASK)) - 1;
    return ((node->extent - ((uint64_t)1 << PLACEMENT_SIZE_SHIFT)) | below) + 1;
}

/* Frees a live node. */
static inline void placement_tlsf_free(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* nodes = placement->nodes;
    struct placement_node* node = &nodes[slot];
    const uint64_t extent = placement_tlsf_extent(placement, node);
    placement->range_count -= 1;
    placement->used_size -= placement_size(node);
    placement->free_extent += extent;
    placement_next_generation(node);
    if (((node->prev | node->next) & PLACEMENT_LINK_FREE) != 0) {
        maar_tlsf_absorb(placement, slot, extent);
        return;
    }
    node->where = (node->where & (~(uint64_t)PLACEMENT_META_MASK | PLACEMENT_ERA_MASK)) |
                  placement_meta(PLACEMENT_FREE, 0, 0);
    node->extent = (node->extent & PLACEMENT_GENERATION_MASK) | extent;
    placement_tlsf_link(nodes, node->prev, slot | PLACEMENT_LINK_FREE, node->next);
    placement_tlsf_insert(placement, slot);
}

/* Frees a live node of any strategy. */
static inline void placement_free_live(struct maar_placement* placement, uint32_t slot)
{
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        placement_tlsf_free(placement, slot);
        return;
    }
    placement_next_generation(&placement->nodes[slot]);
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY) {
        maar_buddy_free(placement, slot);
    } else {
        maar_linear_free(placement, slot);
    }
}

#endif
