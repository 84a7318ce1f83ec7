/*
 * The TLSF strategy: its inline fast path, and the functions that placement.c calls. Two operations
 * take the fast path: an allocation whose alignment is the unit and whose kind does not matter, and
 * every free. placement_tlsf.c has the slow path and explains the strategy.
 *
 * The fast path needs few instructions and few cache lines. Sizes stay shifted, as in an extent.
 * The links of a node flag its free neighbours, and its tag names the power of two that divides its
 * extent. So a free reads only those neighbours that it joins. It writes to the other neighbours,
 * and the processor does not wait for a write. The first node of a bin was written recently, so it
 * is likely in the cache.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_TLSF_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_TLSF_H

#include "core/placement/placement_bins.h"

/* Returns how many bins a space of this size needs. */
uint32_t maar_tlsf_bin_count(VkDeviceSize size);
/* Makes the space one free range. */
void maar_tlsf_reset(struct maar_placement* placement);
/* Places a range, as maar_placement_allocate does. */
enum maar_place_outcome maar_tlsf_allocate(struct maar_placement* placement,
                                           const struct maar_placement_request* request,
                                           struct maar_placement_range* range);
/* Removes a node and gives its extent to the free node beside it. If the nodes on both sides are
 * free, joins them as well. Returns the extent of the free node. */
uint64_t maar_tlsf_absorb(struct maar_placement* placement, uint32_t slot, uint64_t extent);
/* Frees a live node that is retired now. Its totals are subtracted already. Returns the extent of
 * the free node that now contains the range. */
uint64_t maar_tlsf_free_retired(struct maar_placement* placement, uint32_t slot, uint64_t extent);
/* Frees the live range at the end of the space. Returns the extent of the free node that now
 * contains the range. */
uint64_t maar_tlsf_free_last(struct maar_placement* placement, uint32_t slot);
/* Grows the space, as maar_placement_resize does. */
bool maar_tlsf_resize(struct maar_placement* placement, VkDeviceSize size);
/* Returns an upper bound of the largest free range. */
VkDeviceSize maar_tlsf_largest_free_bound(const struct maar_placement* placement);
/* Returns the first broken invariant, or NULL. */
const char* maar_tlsf_check(const struct maar_placement* placement);

/* Returns the number of bits by which an extent is shifted right to get its place in its octave. */
static inline uint32_t placement_tlsf_shift(uint64_t extent)
{
    const uint64_t least = (uint64_t)1 << (PLACEMENT_SIZE_SHIFT + PLACEMENT_BIN_BITS);
    return maar_top_bit(extent | least) - PLACEMENT_BIN_BITS;
}

/* Returns the bin of an extent: one for each size below 2^PLACEMENT_BIN_BITS, then that number of
 * bins an octave. */
static inline uint32_t placement_tlsf_bin(uint64_t extent)
{
    const uint32_t shift = placement_tlsf_shift(extent);
    return (shift << PLACEMENT_BIN_BITS) + (uint32_t)(extent >> shift) -
           (PLACEMENT_SIZE_SHIFT << PLACEMENT_BIN_BITS);
}

/* Puts a free node into the bin of its extent. */
static inline void placement_tlsf_insert(struct maar_placement* placement,
                                         struct placement_node* node, uint32_t slot)
{
    placement_bin_insert(placement, placement_tlsf_bin(node->extent), node, slot);
}

/* Makes the node of `link` the neighbour of the nodes of `prev` and `next`. All three are links. */
static inline void placement_tlsf_link(struct placement_node* nodes, uint32_t prev, uint32_t link,
                                       uint32_t next)
{
    nodes[prev & ~PLACEMENT_LINK_FREE].next = link;
    nodes[next & ~PLACEMENT_LINK_FREE].prev = link;
}

/* Returns whether a request of this alignment (0 means 1) and kind fits every free range of
 * sufficient size, at any place. The caller has checked that the size is 1 .. fast_size. */
static inline bool placement_tlsf_is_fast(const struct maar_placement* placement,
                                          VkDeviceSize alignment, uint32_t kind)
{
    return (alignment == placement->unit || (alignment | placement->unit) == 1) &&
           kind <= placement->fast_kind;
}

/* Splits a free node that is larger than needed: a new node takes its front. The new node is still
 * marked as free, and its extent holds only its generation. */
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

/* The parts of a request. They are pointers because it costs less to read the values twice than to
 * keep them in registers. */
struct placement_tlsf_need {
    const VkDeviceSize* size;
    const uint32_t* kind;
    const uint64_t* user;
};

/* Serves a request of the fast path. Takes the first node of the size's own bin or, if that node is
 * too small, the first node of the next filled bin, where every node is large enough. Returns
 * false, and changes nothing, if there is no such node, if it is retired and would become live, or
 * if there is no unused node for the rest of the range. The slow path then searches further. */
static inline bool placement_tlsf_allocate_fast(struct maar_placement* placement,
                                                struct placement_tlsf_need need, uint32_t* found,
                                                uint32_t* generation, VkDeviceSize* offset)
{
    const uint64_t extent = ((*need.size << PLACEMENT_SIZE_SHIFT) + placement->unit_extent - 1) &
                            (0 - placement->unit_extent);
    struct placement_node* nodes = placement->nodes;
    uint32_t bin = placement_tlsf_bin(extent);
    uint32_t slot = placement->bins[bin];
    struct placement_node* node = &nodes[slot];
    /* Equal extents mean a generation of 0, as every retired node has it, and any other node once
     * in 32,768 uses. */
    if (node->extent <= extent) {
        bin = placement_bin_next(placement, bin + 1);
        if (bin == UINT32_MAX) {
            return false;
        }
        slot = placement->bins[bin];
        node = &nodes[slot];
    }
    uint64_t rest = node->extent - extent;
    if (rest < (uint64_t)1 << PLACEMENT_SIZE_SHIFT) {
        MAAR_DEBUG_ASSERT(!placement_is_retired(node->where));
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
    node->u.user = *need.user;
    placement->range_count += 1;
    placement->free_extent -= extent;
    const VkDeviceSize size = *need.size;
    placement->used_size += size;
    node->extent = (size << PLACEMENT_SIZE_SHIFT) + rest;
    const uint64_t where =
        node->where + ((uint64_t)*need.kind << PLACEMENT_KIND_SHIFT) + placement->fast_meta;
    node->where = where;
    *offset = where >> PLACEMENT_OFFSET_SHIFT;
    *generation = ((uint32_t)where & PLACEMENT_NAME_MASK) << PLACEMENT_NAME_SHIFT | (uint32_t)rest;
    *found = slot;
    return true;
}

/* Returns the bytes that a live node occupies, as an extent without a generation. Must not be
 * called for the last range, since the space may end between two units. */
static inline uint64_t placement_tlsf_extent(const struct placement_node* node)
{
    const uint64_t below = ((uint64_t)1 << (node->where & PLACEMENT_TAG_MASK)) - 1;
    return ((node->extent - ((uint64_t)1 << PLACEMENT_SIZE_SHIFT)) | below) + 1;
}

/* Frees a live node of this extent. Returns the extent of the free node that now contains the freed
 * node. */
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
        where = placement_age(placement, where);
        if (placement_is_retired(where)) {
            return maar_tlsf_free_retired(placement, slot, extent);
        }
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

/* Frees a live node. Returns the extent of the free node that now contains the freed node. */
static inline uint64_t placement_tlsf_free(struct maar_placement* placement, uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
    return node->next == PLACEMENT_NONE
               ? maar_tlsf_free_last(placement, slot)
               : placement_tlsf_free_extent(placement, slot, placement_tlsf_extent(node));
}

#endif
