/*
 * The TLSF strategy: the inline steps of its fast path, and the functions that placement.c and
 * range.c call. Two operations take the fast path: an allocation whose alignment is the unit and
 * whose kind does not matter, and almost every free. placement_tlsf.c has the slow path and
 * explains the strategy.
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

#include <string.h>

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
uint64_t maar_tlsf_absorb(struct maar_placement* placement, struct placement_node* node,
                          uint32_t slot, uint64_t extent);
/* Frees any live range. Returns the extent of the free node that now contains the range. */
uint64_t maar_tlsf_free(struct maar_placement* placement, struct placement_node* node,
                        uint32_t slot);
/* Grows the space, as maar_placement_resize does. */
bool maar_tlsf_resize(struct maar_placement* placement, VkDeviceSize size);
/* Returns an upper bound of the largest free range. */
VkDeviceSize maar_tlsf_largest_free_bound(const struct maar_placement* placement);
/* Returns the first broken invariant, or NULL. */
const char* maar_tlsf_check(const struct maar_placement* placement);

/* Returns the bin of a size. An octave has 2^PLACEMENT_BIN_BITS bins. The logarithm of the size and
 * the bits below its highest bit are the highest bits of the size as a double. Every size is a
 * double exactly, so nothing is rounded. */
static inline size_t placement_tlsf_bin(VkDeviceSize size)
{
    const double number = (double)(int64_t)size;
    uint64_t bits = 0;
    MAAR_DEBUG_ASSERT(size != 0 && size <= MAAR_RANGE_MAX_SIZE);
    memcpy(&bits, &number, sizeof(bits));
    return (size_t)(bits >> (52 - PLACEMENT_BIN_BITS));
}

/* Returns the bin of a free node. */
static inline size_t placement_tlsf_bin_of(const struct placement_node* node)
{
    return placement_tlsf_bin(placement_size(node));
}

/* Puts a free node into the bin of its extent. */
static inline void placement_tlsf_insert(struct maar_placement* placement,
                                         struct placement_node* node, uint32_t slot)
{
    placement_bin_insert(placement, placement_tlsf_bin_of(node), node, slot);
}

/* Moves a free node, whose extent was `old` before, to the bin of its extent. Large nodes mostly
 * stay in their bin. */
MAAR_INLINE void placement_tlsf_move(struct maar_placement* placement, struct placement_node* node,
                                     uint32_t slot, uint64_t old)
{
    const size_t old_bin = placement_tlsf_bin(old >> PLACEMENT_SIZE_SHIFT);
    const size_t bin = placement_tlsf_bin_of(node);
    if (bin != old_bin) {
        placement_bin_remove(placement, old_bin, node);
        placement_bin_insert(placement, bin, node, slot);
    }
}

/* Returns whether a free node whose extent was `old` before has left its bin, of which it is not
 * the first node. Such a node is taken out of the list without looking for the bin. An octave has
 * 2^PLACEMENT_BIN_BITS bins, so growth by this part of the extent leaves a bin. */
MAAR_INLINE bool placement_tlsf_moves_freely(const struct placement_node* node, uint64_t old)
{
    return node->extent - old >= old >> PLACEMENT_BIN_BITS && node->u.bin.prev != PLACEMENT_NONE;
}

/* Moves such a node to the bin of its extent. */
MAAR_INLINE void placement_tlsf_move_freely(struct maar_placement* placement,
                                            struct placement_node* node, uint32_t slot)
{
    placement_bin_unlink(placement, node);
    placement_tlsf_insert(placement, node, slot);
}

/* Makes the node of `link` the neighbour of the nodes of `prev` and `next`. All three are links. */
static inline void placement_tlsf_link(const struct maar_placement* placement, uint32_t prev,
                                       uint32_t link, uint32_t next)
{
    placement_at(placement, prev & ~PLACEMENT_LINK_FREE)->next = link;
    placement_at(placement, next & ~PLACEMENT_LINK_FREE)->prev = link;
}

/* Returns whether a request of this alignment (0 means 1) and kind fits every free range of
 * sufficient size, at any place. The caller has checked that the size is 1 .. fast_size. `kind` may
 * have higher bits than a kind has; then the answer is no. */
static inline bool placement_tlsf_is_fast(const struct maar_placement* placement,
                                          VkDeviceSize alignment, uint64_t kind)
{
    return (alignment == placement->unit || (alignment | placement->unit) == 1) &&
           kind <= placement->fast_kind;
}

/* The parts of a request. They are pointers because it costs less to read the values twice than to
 * keep them in registers. */
struct placement_tlsf_need {
    const VkDeviceSize* size;
    const uint32_t* kind; /* NULL: kind 0 */
    const uint64_t* user;
};

/* Returns the bytes that a request occupies. */
static inline VkDeviceSize placement_tlsf_round(const struct maar_placement* placement,
                                                VkDeviceSize size)
{
    return (size + placement->unit - 1) & placement->unit_mask;
}

#endif
