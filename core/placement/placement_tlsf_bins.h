/*
 * The bins of TLSF: which bin a size belongs to, and moves between bins. Internal to
 * core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_TLSF_BINS_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_TLSF_BINS_H

#include "core/placement/placement_bins.h"

#include <string.h>

/* Returns the highest bits of a number as a double: its logarithm, and the bits below its highest
 * bit. `number` has at most 49 significant bits, so it is a double exactly, and nothing is
 * rounded. */
static inline size_t placement_tlsf_logarithm(int64_t number)
{
    const double exact = (double)number;
    uint64_t bits = 0;
    memcpy(&bits, &exact, sizeof(bits));
    return (size_t)(bits >> (52 - PLACEMENT_BIN_BITS));
}

/* Returns the bin of a size. An octave has 2^PLACEMENT_BIN_BITS bins. */
static inline size_t placement_tlsf_bin(VkDeviceSize size)
{
    MAAR_DEBUG_ASSERT(size != 0 && size <= MAAR_RANGE_MAX_SIZE);
    return placement_tlsf_logarithm((int64_t)size) +
           ((size_t)PLACEMENT_SIZE_SHIFT << PLACEMENT_BIN_BITS);
}

/* Returns the bin of an extent without a generation. Its size is below MAAR_RANGE_MAX_SIZE. */
static inline size_t placement_tlsf_bin_of_extent(uint64_t extent)
{
    MAAR_DEBUG_ASSERT(extent != 0 && extent <= INT64_MAX);
    MAAR_DEBUG_ASSERT((extent & PLACEMENT_GENERATION_MASK) == 0);
    return placement_tlsf_logarithm((int64_t)extent);
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
static inline void placement_tlsf_move(struct maar_placement* placement,
                                       struct placement_node* node, uint32_t slot, uint64_t old)
{
    const size_t old_bin = placement_tlsf_bin(old >> PLACEMENT_SIZE_SHIFT);
    const size_t bin = placement_tlsf_bin_of(node);
    if (bin != old_bin) {
        placement_bin_remove(placement, old_bin, node, slot);
        placement_bin_insert(placement, bin, node, slot);
    }
}

/* Makes the node of `link` the neighbour of the nodes of `prev` and `next`. All three are links. */
static inline void placement_tlsf_link(const struct maar_placement* placement, uint32_t prev,
                                       uint32_t link, uint32_t next)
{
    placement_at(placement, prev & ~PLACEMENT_LINK_FLAGS)->next = link;
    placement_at(placement, next & ~PLACEMENT_LINK_FLAGS)->prev = link;
}

/* Returns whether a request of this alignment (0 means 1) and kind fits every free range of
 * sufficient size, at any place. The caller has checked that the size is 1 .. fast_size. `kind` may
 * have higher bits than a kind has; then the answer is no. */
static inline bool placement_tlsf_is_fast(const struct maar_placement* placement,
                                          VkDeviceSize alignment, uint64_t kind)
{
    return (alignment | placement->unit_is_one) == placement->unit && kind <= placement->fast_kind;
}

/* The parts of a request. They are pointers because it costs less to read the values twice than to
 * keep them in registers. */
struct placement_tlsf_need {
    const VkDeviceSize* size;
    const uint32_t* kind; /* NULL: kind 0 */
    const uint64_t* user;
};

/* Returns the bytes that a request occupies, as an extent without a generation. */
static inline uint64_t placement_tlsf_round(const struct maar_placement* placement,
                                            VkDeviceSize size)
{
    return (((size - 1) | placement->unit_mask) + 1) << PLACEMENT_SIZE_SHIFT;
}

#endif
