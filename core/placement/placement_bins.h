/*
 * Bins of free nodes. TLSF has bins by size; buddy placements have bins by order. Each bin is a
 * doubly linked list. A two-level bitmap marks the bins that are not empty. Internal to
 * core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_BINS_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_BINS_H

#include "core/placement/placement_space.h"

/* Sets the bits of a bin that is no longer empty. */
static inline void placement_bin_mark_filled(struct maar_placement* placement, uint32_t bin)
{
    MAAR_DEBUG_ASSERT(bin < placement->bin_count);
    placement->bin_words[bin >> 6] |= (uint64_t)1 << (bin & 63);
    placement->bin_summary |= (uint64_t)1 << (bin >> 6);
}

/* Clears the bits of a bin that has become empty. */
static inline void placement_bin_mark_empty(struct maar_placement* placement, uint32_t bin)
{
    uint64_t* word = &placement->bin_words[bin >> 6];
    MAAR_DEBUG_ASSERT((*word >> (bin & 63) & 1) != 0);
    *word ^= (uint64_t)1 << (bin & 63);
    if (*word == 0) {
        placement->bin_summary ^= (uint64_t)1 << (bin >> 6);
    }
}

/* Puts a node at the head of a bin. */
static inline void placement_bin_insert(struct maar_placement* placement, uint32_t bin,
                                        struct placement_node* node, uint32_t slot)
{
    const uint32_t next = placement->bins[bin];
    placement->bins[bin] = slot;
    node->u.bin.next = next;
    node->u.bin.prev = PLACEMENT_NONE;
    placement->nodes[next].u.bin.prev = slot;
    if (next == PLACEMENT_NONE) {
        placement_bin_mark_filled(placement, bin);
    }
}

/* Takes the first node out of its bin. */
static inline void placement_bin_pop(struct maar_placement* placement, uint32_t bin,
                                     const struct placement_node* node)
{
    const uint32_t next = node->u.bin.next;
    placement->bins[bin] = next;
    placement->nodes[next].u.bin.prev = PLACEMENT_NONE;
    if (next == PLACEMENT_NONE) {
        placement_bin_mark_empty(placement, bin);
    }
}

/* Takes any node out of its bin. */
static inline void placement_bin_remove(struct maar_placement* placement, uint32_t bin,
                                        const struct placement_node* node)
{
    const uint32_t prev = node->u.bin.prev;
    if (prev == PLACEMENT_NONE) {
        placement_bin_pop(placement, bin, node);
        return;
    }
    const uint32_t next = node->u.bin.next;
    placement->nodes[next].u.bin.prev = prev;
    placement->nodes[prev].u.bin.next = next;
}

/* Returns the lowest bin, from `bin` on, that is not empty. Returns UINT32_MAX if there is none. */
static inline uint32_t placement_bin_next(const struct maar_placement* placement, uint32_t bin)
{
    const uint32_t word = bin >> 6;
    MAAR_DEBUG_ASSERT(word < PLACEMENT_BIN_WORDS);
    const uint64_t bits = placement->bin_words[word] >> (bin & 63);
    if (bits != 0) {
        return bin + maar_low_bit(bits);
    }
    const uint64_t words = placement->bin_summary & (UINT64_MAX << 1 << word);
    if (words == 0) {
        return UINT32_MAX;
    }
    const uint32_t next = maar_low_bit(words);
    return (next << 6) + maar_low_bit(placement->bin_words[next]);
}

#endif
