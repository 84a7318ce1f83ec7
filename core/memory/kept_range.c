/*
 * Ranges of a block that are kept for one allocation: see kept_range.h.
 */
#include "core/memory/kept_range.h"

#include "core/memory/captured_slot.h"
#include "core/memory/moving_slot.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/peak.h"
#include "core/memory/pending_count.h"
#include "core/memory/range_end.h"

enum maar_kept maar_slot_kept(const struct maar_slot* slot, uint32_t index, const void* owner)
{
    const uint32_t key = maar_atomic32_load_acquire(&slot->key);
    if ((key & 1u) != 0 || maar_slot_user_data(slot, index) != owner) {
        return MAAR_KEPT_NOT;
    }
    return (key & MAAR_SLOT_MOVING) != 0 ? MAAR_KEPT_WAITS : MAAR_KEPT_PASSED;
}

enum maar_pool_outcome maar_keep_free(struct maar_arena* arena, struct maar_block* block,
                                      uint32_t before, struct maar_span part, void* owner,
                                      struct maar_made* made)
{
    const struct maar_place_request request = {
        .size = part.size,
        .alignment = MAAR_PLACEMENT_MOST_UNIT,
        .kind = MAAR_RESOURCE_KIND_UNKNOWN,
        .shown_kind = MAAR_RESOURCE_KIND_UNKNOWN,
        .internal = true,
        .user_data = owner,
    };
    maar_assert_held(&arena->lock);
    /* Every kind may be beside it: the owner's window consists of whole granules. */
    const enum maar_pool_outcome outcome =
        maar_arena_place_at(arena, block, &request, 0, part.offset, before, made);
    if (outcome == MAAR_POOL_PLACED) {
        maar_slot_mark(made->slot, MAAR_SLOT_PENDING, true);
        maar_count_pending(arena, block, part.size);
        --arena->made_count;
        maar_arena_drop_live(arena, part.size);
        if (arena->capture != NULL) {
            maar_captured_pending(arena, made->slot, made->index);
        }
    }
    return outcome;
}

void maar_keep_moving(struct maar_slot* slot, uint32_t index, void* owner, char** name)
{
    *name = maar_slot_set_name(slot, index, NULL);
    maar_slot_set_user_data(slot, index, owner);
}

bool maar_keep_pending(MaarAllocator allocator, struct maar_slot* slot, uint32_t index, void* owner,
                       char** name)
{
    const uint32_t key = maar_atomic32_load_acquire(&slot->key);
    if (!maar_slot_has(slot, MAAR_SLOT_PENDING) || maar_slot_has(slot, MAAR_SLOT_INTERNAL) ||
        (key & (1u | MAAR_SLOT_MOVING)) != 0 || !maar_ordered_withhold(allocator, slot, index)) {
        return false;
    }
    maar_atomic32_store_release(&slot->key, key | MAAR_SLOT_MOVING);
    maar_keep_moving(slot, index, owner, name);
    return true;
}

/* Ends a kept slot that has passed, with its range. */
static void end_kept(struct maar_arena* arena, struct maar_block* block, uint32_t node)
{
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    VkDeviceSize size = 0;
    (void)maar_placement_get(block->placement, node, &range, &tag, &kind);
    const uint32_t index = maar_tag_slot(tag);
    struct maar_slot_table* slots = &arena->pool->allocator->slots;
    struct maar_slot* slot = maar_slot_at(slots, index);
    if (maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD)) {
        maar_captured_slot_end(arena, slot, index);
    }
    (void)maar_release_range(arena, block, node, &size);
    maar_uncount_pending(arena, block, size);
    maar_slots_put(slots, &arena->slots, slot, index);
}

bool maar_keep_joined(struct maar_arena* arena, struct maar_block* block, uint32_t node,
                      uint32_t next, void* owner, struct maar_made* made)
{
    const struct maar_span lower = maar_placement_span(block->placement, node);
    const struct maar_span upper = maar_placement_span(block->placement, next);
    const uint32_t before = maar_placement_live_before(block->placement, node);
    const struct maar_span both = {lower.offset, upper.offset + upper.size - lower.offset};
    maar_assert_held(&arena->lock);
    end_kept(arena, block, next);
    end_kept(arena, block, node);
    return maar_keep_free(arena, block, before, both, owner, made) == MAAR_POOL_PLACED;
}

enum maar_pool_outcome maar_place_kept(struct maar_arena* arena, struct maar_block* block,
                                       uint32_t node, const struct maar_place_request* request,
                                       uint32_t kind, VkDeviceSize offset, struct maar_made* made)
{
    const uint32_t before = maar_placement_live_before(block->placement, node);
    maar_assert_held(&arena->lock);
    end_kept(arena, block, node);
    return maar_arena_place_at(arena, block, request, kind, offset, before, made);
}

void maar_kept_release(MaarAllocator allocator, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    /* The other party may need the bytes for a long time. They are nobody's for the owner then. */
    maar_slot_set_user_data(slot, index, NULL);
    const bool is_first = maar_key_leave_move(&slot->key);
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    if (!is_first) {
        maar_twin_end(allocator, index);
    }
}
