/*
 * Bins of free nodes. TLSF has bins by size; buddy placements have bins by order. Each bin is a
 * doubly linked list, whose first node has no defined previous node: who removes a node compares it
 * with the head. So taking the first node does not touch the second. A two-level bitmap marks the
 * bins that are not empty. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_BINS_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_BINS_H

#include "core/placement/placement_space.h"

/* Bins are numbered from PLACEMENT_BIN_BASE on. For TLSF it is what the highest bits of the extent
 * of size 1 are as a double: see placement_tlsf_bin_of_extent. A compiler subtracts the base where
 * it adds the address, at no cost. */
#define PLACEMENT_BIN_BASE ((size_t)(1023 + PLACEMENT_SIZE_SHIFT) << PLACEMENT_BIN_BITS)
#define PLACEMENT_NO_BIN SIZE_MAX

/* Returns the head of a bin: the place where the bin keeps its first node. */
static inline uint32_t* placement_bin_head(const struct maar_placement* placement, size_t bin)
{
    MAAR_DEBUG_ASSERT(bin - PLACEMENT_BIN_BASE < placement->bin_count);
    return &placement->bins[bin - PLACEMENT_BIN_BASE];
}

/* Returns the number of the bin of a head, counted from 0. */
static inline size_t placement_bin_number(const struct maar_placement* placement,
                                          const uint32_t* head)
{
    MAAR_DEBUG_ASSERT((size_t)(head - placement->bins) < placement->bin_count);
    return (size_t)(head - placement->bins);
}

/* Sets the bits of a bin that is no longer empty. */
static inline void placement_bin_mark_filled(struct maar_placement* placement, const uint32_t* head)
{
    const size_t number = placement_bin_number(placement, head);
    placement->bin_words[number >> 6] |= (uint64_t)1 << (number & 63);
    placement->bin_summary |= (uint64_t)1 << (number >> 6 & 63);
}

/* Clears the bits of a bin that has become empty. */
static inline void placement_bin_mark_empty(struct maar_placement* placement, const uint32_t* head)
{
    const size_t number = placement_bin_number(placement, head);
    uint64_t* word = &placement->bin_words[number >> 6];
    MAAR_DEBUG_ASSERT((*word >> (number & 63) & 1) != 0);
    *word ^= (uint64_t)1 << (number & 63);
    if (*word == 0) {
        placement->bin_summary ^= (uint64_t)1 << (number >> 6 & 63);
    }
}

/* Puts a node at the head of the list of a bin. Returns whether the bin was empty; its bits are not
 * set then. */
static inline bool placement_bin_link_first(const struct maar_placement* placement, uint32_t* head,
                                            struct placement_node* node, uint32_t slot)
{
    const uint32_t next = *head;
    placement_follow(placement, head)->u.bin.prev = slot;
    *head = slot;
    node->u.bin.next = next;
    return next == PLACEMENT_NONE;
}

/* Puts a node at the head of a bin. */
static inline void placement_bin_insert(struct maar_placement* placement, size_t bin,
                                        struct placement_node* node, uint32_t slot)
{
    uint32_t* head = placement_bin_head(placement, bin);
    if (placement_bin_link_first(placement, head, node, slot)) {
        placement_bin_mark_filled(placement, head);
    }
}

/* Takes the first node out of the list of its bin. Returns whether the bin is empty now; its bits
 * are still set then. */
static inline bool placement_bin_unlink_first(uint32_t* head, const struct placement_node* node)
{
    const uint32_t next = node->u.bin.next;
    *head = next;
    return next == PLACEMENT_NONE;
}

/* Takes a node that is not the first one out of its bin. */
static inline void placement_bin_unlink(const struct maar_placement* placement,
                                        const struct placement_node* node)
{
    placement_follow(placement, &node->u.bin.next)->u.bin.prev = node->u.bin.prev;
    placement_follow(placement, &node->u.bin.prev)->u.bin.next = node->u.bin.next;
}

/* Takes any node out of its bin. */
static inline void placement_bin_remove(struct maar_placement* placement, size_t bin,
                                        const struct placement_node* node, uint32_t slot)
{
    uint32_t* head = placement_bin_head(placement, bin);
    if (*head != slot) {
        placement_bin_unlink(placement, node);
    } else if (placement_bin_unlink_first(head, node)) {
        placement_bin_mark_empty(placement, head);
    }
}

/* Returns the bits of the filled bins above that of `head` in its octave. The lowest bit is that of
 * the next bin. */
static inline uint64_t placement_bins_above(const struct maar_placement* placement,
                                            const uint32_t* head)
{
    const size_t number = placement_bin_number(placement, head);
    return placement->bin_words[number >> 6] >> (number & 63) >> 1;
}

/* Returns the head of the lowest filled bin in the octaves above that of `head`, or NULL. */
static inline uint32_t* placement_bin_in_next_octave(const struct maar_placement* placement,
                                                     const uint32_t* head)
{
    const uint32_t above = (uint32_t)(placement_bin_number(placement, head) >> 6) + 1;
    const uint64_t higher = placement->bin_summary >> above << above;
    if (higher == 0) {
        return NULL;
    }
    const size_t word = maar_low_bit(higher);
    return placement->bins + (word << 6) + maar_low_bit(placement->bin_words[word]);
}

/* Returns the lowest bin, from `bin` on, that is not empty. Returns PLACEMENT_NO_BIN if there is
 * none. */
static inline size_t placement_bin_next(const struct maar_placement* placement, size_t bin)
{
    const size_t base = PLACEMENT_BIN_BASE >> 6;
    MAAR_DEBUG_ASSERT((bin >> 6) - base < PLACEMENT_BIN_WORDS);
    const uint64_t bits = placement->bin_words[(bin >> 6) - base] >> (bin & 63);
    if (bits != 0) {
        return bin + maar_low_bit(bits);
    }
    const uint32_t above = (uint32_t)((bin >> 6) - base) + 1;
    const uint64_t higher = placement->bin_summary >> above << above;
    if (higher == 0) {
        return PLACEMENT_NO_BIN;
    }
    const size_t word = maar_low_bit(higher);
    return PLACEMENT_BIN_BASE + (word << 6) + maar_low_bit(placement->bin_words[word]);
}

#endif
