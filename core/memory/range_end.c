/*
 * The rare steps of ending a range: see range_end.h.
 */
#include "core/memory/range_end.h"

#include "core/memory/allocator_state.h"
#include "core/memory/captured_slot.h"
#include "core/memory/far_list.h"
#include "core/memory/peak.h"
#include "core/memory/pool.h"

void maar_note_few_ranges(struct maar_arena* arena, struct maar_block* block)
{
    if (block->listing_floor != 0) {
        maar_far_close(arena, block);
    }
    if (block->range_count == 0) {
        maar_arena_count_empty(arena, block, true);
    }
}

void maar_end_listed_slot(struct maar_arena* arena, struct maar_block* block,
                          struct maar_slot* slot, uint32_t index)
{
    VkDeviceSize size = 0;
    if (arena->capture != NULL && maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD)) {
        maar_captured_slot_end(arena, slot, index);
    }
    if (!maar_release_range(arena, block, slot->node, &size)) {
        maar_poison(arena->pool->allocator); /* no message: the lock is held */
    }
    maar_arena_lose_live(arena, size);
    maar_slots_put(&arena->pool->allocator->slots, &arena->slots, slot, index);
}
