/*
 * Bins of free nodes. TLSF has bins by size; buddy placements have bins by order. Each bin is a
 * doubly linked list. A two-level bitmap marks the bins that are not empty. Internal to
 * core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_BINS_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_BINS_H

#include "core/placement/placement_space.h"

/* Bins are numbered from PLACEMENT_BIN_BASE on. For TLSF it is what the highest bits of the number
 * 1 are as a double: see placement_tlsf_bin. A compiler subtracts the base where it adds the
 * address, at no cost. */
#define PLACEMENT_BIN_BASE ((size_t)1023 << PLACEMENT_BIN_BITS)
#define PLACEMENT_NO_BIN SIZE_MAX

/* Returns the place where a bin keeps its first node. */
static inline uint32_t* placement_bin_head(const struct maar_placement* placement, size_t bin)
{
    MAAR_DEBUG_ASSERT(bin - PLACEMENT_BIN_BASE < placement->bin_count);
    return &placement->bins[bin - PLACEMENT_BIN_BASE];
}

/* Returns the bit of a word of bins in bin_summary. */
static inline uint64_t placement_bin_word_bit(size_t bin)
{
    return (uint64_t)1 << (((bin - PLACEMENT_BIN_BASE) >> 6) & 63);
}

/* Sets the bits of a bin that is no longer empty. */
static inline void placement_bin_mark_filled(struct maar_placement* placement, size_t bin)
{
    placement->bin_words[(bin >> 6) - (PLACEMENT_BIN_BASE >> 6)] |= (uint64_t)1 << (bin & 63);
    placement->bin_summary |= placement_bin_word_bit(bin);
}

/* Clears the bits of a bin that has become empty. */
static inline void placement_bin_mark_empty(struct maar_placement* placement, size_t bin)
{
    uint64_t* word = &placement->bin_words[(bin >> 6) - (PLACEMENT_BIN_BASE >> 6)];
    MAAR_DEBUG_ASSERT((*word >> (bin & 63) & 1) != 0);
    *word ^= (uint64_t)1 << (bin & 63);
    if (*word == 0) {
        placement->bin_summary ^= placement_bin_word_bit(bin);
    }
}

/* Puts a node at the head of the list of a bin. Returns whether the bin was empty; its bits are not
 * set then. */
static inline bool placement_bin_link_first(struct maar_placement* placement, size_t bin,
                                            struct placement_node* node, uint32_t slot)
{
    uint32_t* head = placement_bin_head(placement, bin);
    const uint32_t next = *head;
    placement_follow(placement, head)->u.bin.prev = slot;
    *head = slot;
    node->u.bin.next = next;
    node->u.bin.prev = PLACEMENT_NONE;
    return next == PLACEMENT_NONE;
}

/* Puts a node at the head of a bin. */
static inline void placement_bin_insert(struct maar_placement* placement, size_t bin,
                                        struct placement_node* node, uint32_t slot)
{
    if (placement_bin_link_first(placement, bin, node, slot)) {
        placement_bin_mark_filled(placement, bin);
    }
}

/* Returns the bin whose first node is kept at `head`. */
static inline size_t placement_bin_of_head(const struct maar_placement* placement,
                                           const uint32_t* head)
{
    return PLACEMENT_BIN_BASE + (size_t)(head - placement->bins);
}

/* Takes the first node out of the list of its bin. Returns whether the bin is empty now; its bits
 * are still set then. */
static inline bool placement_bin_unlink_first(struct maar_placement* placement, uint32_t* head,
                                              const struct placement_node* node)
{
    const uint32_t next = node->u.bin.next;
    *head = next;
    placement_follow(placement, &node->u.bin.next)->u.bin.prev = PLACEMENT_NONE;
    return next == PLACEMENT_NONE;
}

/* Takes a node that is not the first one out of its bin. */
static inline void placement_bin_unlink(const struct maar_placement* placement,
                                        const struct placement_node* node)
{
    MAAR_DEBUG_ASSERT(node->u.bin.prev != PLACEMENT_NONE);
    placement_follow(placement, &node->u.bin.next)->u.bin.prev = node->u.bin.prev;
    placement_follow(placement, &node->u.bin.prev)->u.bin.next = node->u.bin.next;
}

/* Takes any node out of its bin. */
static inline void placement_bin_remove(struct maar_placement* placement, size_t bin,
                                        const struct placement_node* node)
{
    if (node->u.bin.prev != PLACEMENT_NONE) {
        placement_bin_unlink(placement, node);
    } else if (placement_bin_unlink_first(placement, placement_bin_head(placement, bin), node)) {
        placement_bin_mark_empty(placement, bin);
    }
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
