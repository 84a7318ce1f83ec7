/*
 * Ends a range of a block: what all ways to free one have in common. The arena's lock is held.
 */
#ifndef MAAR_CORE_MEMORY_RANGE_END_H
#define MAAR_CORE_MEMORY_RANGE_END_H

#include "core/memory/arena.h"

/* Called when a block has become empty, or has too few ranges for a list of far frees. */
void maar_note_few_ranges(struct maar_arena* arena, struct maar_block* block);
/* Ends a slot that is listed at a block: see far_list.h. */
void maar_end_listed_slot(struct maar_arena* arena, struct maar_block* block,
                          struct maar_slot* slot, uint32_t index);

/* Notes in the arena's indexes that a block now has a free range of this many bytes. */
static inline void maar_note_free_range(struct maar_arena* arena, struct maar_block* block,
                                        VkDeviceSize room)
{
    const uint32_t value = maar_size_class(room);
    if (arena->block_index.levels[block->at] < value) {
        maar_block_index_set(&arena->block_index, block, value);
    }
    if (block->least_bound < room) {
        maar_arena_raise_bounds(arena, block, room);
    }
    maar_block_set_quiet(block, room);
}

/* Frees a range of a block and sets *size to its bytes. Returns false, and sets *size to 0, if
 * there is no such range. */
static inline bool maar_release_range(struct maar_arena* arena, struct maar_block* block,
                                      uint32_t node, VkDeviceSize* size)
{
    struct maar_placement_freed freed;
    const bool known = maar_placement_free_into(block->placement, node, &freed);
    const VkDeviceSize room = freed.room;
    *size = freed.size;
    if (--block->range_count <= block->listing_floor) {
        maar_note_few_ranges(arena, block);
    }
    if (room > block->quiet_room) {
        maar_note_free_range(arena, block, room);
    }
    return known;
}

#endif
