/*
 * The idle blocks of an arena: blocks that are empty and not pinned. They form a binary heap with
 * the smallest block at the top, and of equal blocks the last one of the arena's list. So a surplus
 * block is found in O(1), and each change costs O(log n). The arena's lock guards the heap.
 */
#ifndef MAAR_CORE_MEMORY_IDLE_BLOCKS_H
#define MAAR_CORE_MEMORY_IDLE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct maar_block;

struct maar_idle_blocks {
    struct maar_block** heap; /* room for all blocks of the arena; in one host allocation with its
                                 list of blocks */
    uint32_t count;
};

/* Adds a block that is not in the heap. */
void maar_idle_blocks_add(struct maar_idle_blocks* idle, struct maar_block* block);
/* Removes a block if it is in the heap. */
void maar_idle_blocks_remove(struct maar_idle_blocks* idle, struct maar_block* block);
/* Returns a sentence about the first broken invariant, or NULL. */
const char* maar_idle_blocks_check(const struct maar_idle_blocks* idle);

/* Returns the block that is released first, or NULL if no block is idle. */
static inline struct maar_block* maar_idle_blocks_first(const struct maar_idle_blocks* idle)
{
    return idle->count > 0 ? idle->heap[0] : NULL;
}

#endif
