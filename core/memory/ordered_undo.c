/*
 * Gives a range back whose request fails in a later step: see ordered_reuse.h.
 *
 * A rest that nobody has taken is merged with the range again, and its item leaves the retire
 * queue. If the item has left the queue already, because its points have passed, the record of the
 * rest stays until the item ends, and holds the whole range.
 */
#include "core/memory/captured_slot.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/peak.h"
#include "core/memory/pending_count.h"
#include "core/memory/pool.h"
#include "core/memory/pool_kind.h"
#include "core/memory/range_free.h"
#include "core/memory/slot_home.h"
#include "core/placement/placement_divide.h"

/* What an undone request had. */
struct given {
    struct maar_ordered_range* range; /* NULL: the slot has no range any more */
    uint32_t rest_slot;               /* of a rest that is merged; else MAAR_SLOT_NONE */
    struct maar_ordered_range* rest;  /* to be freed, with its item; or NULL */
    struct maar_retire_item* item;
};

/* Merges a rest with the range before it. Called under the lock. */
static void merge_rest(MaarAllocator allocator, struct maar_ordered* state, struct given* given,
                       struct maar_ordered_range* rest)
{
    given->rest_slot = rest->slot;
    maar_ordered_leave(state, rest);
    if (rest->item != NULL && maar_retire_withdraw(&allocator->retire, rest->item)) {
        given->item = rest->item;
        --rest->hold_count;
    }
    if (rest->hold_count == 0) {
        given->rest = rest;
    } else {
        rest->item = NULL;
        rest->state = MAAR_ORDERED_MERGED;
        rest->into = given->range;
        ++given->range->hold_count;
    }
}

/* Takes the range of a slot, and merges its rest with it if that is still there. */
static struct given take_given(MaarAllocator allocator, struct maar_ordered* state, uint32_t index)
{
    struct given given = {.rest_slot = MAAR_SLOT_NONE};
    maar_mutex_lock(&state->lock);
    struct maar_ordered_range* range = maar_ordered_tree_find(state->by_slot, index);
    given.range = range;
    if (range != NULL) {
        range->state = MAAR_ORDERED_TAKEN;
        --state->live_count;
    }
    if (range != NULL && range->rest_slot != MAAR_SLOT_NONE) {
        struct maar_ordered_range* rest = maar_ordered_tree_find(state->by_slot, range->rest_slot);
        if (rest != NULL && rest->serial == range->rest_serial && rest->is_offered) {
            merge_rest(allocator, state, &given, rest);
        }
    }
    maar_mutex_unlock(&state->lock);
    return given;
}

/* Puts the bytes of a rest back into the range before it, and ends the slot of the rest. Called
 * under the arena's lock. */
static void reunite(MaarAllocator allocator, struct maar_arena* arena, struct maar_block* block,
                    const struct maar_slot* slot, uint32_t rest_slot, VkDeviceSize size)
{
    uint32_t node = MAAR_PLACEMENT_NO_NODE;
    if (rest_slot != MAAR_SLOT_NONE) {
        struct maar_slot* rest = maar_slot_at(&allocator->slots, rest_slot);
        node = rest->node;
        maar_uncount_pending(arena, block, maar_slot_span(allocator, rest).size);
        --block->range_count;
        maar_slots_put(&allocator->slots, &arena->slots, rest, rest_slot);
    }
    maar_placement_reunite(block->placement, slot->node, node, size);
}

/* Makes the bytes of a slot pending again, as if they had never been live. Returns the name. Called
 * under the arena's lock. */
static char* make_pending_again(MaarAllocator allocator, struct maar_block* block,
                                struct maar_slot* slot, const struct maar_ordered_range* range,
                                uint32_t rest_slot)
{
    struct maar_arena* arena = maar_block_arena(block);
    const uint32_t index = range->slot;
    if (maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD)) {
        maar_captured_slot_end(arena, slot, index);
        maar_slot_mark(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD, false);
    }
    char* name = maar_slot_set_name(slot, index, NULL);
    --arena->made_count;
    maar_arena_drop_live(arena, maar_slot_span(allocator, slot).size);
    const bool is_whole = rest_slot != MAAR_SLOT_NONE || range->rest_slot == MAAR_SLOT_NONE;
    if (is_whole) {
        reunite(allocator, arena, block, slot, rest_slot, range->whole_size);
    }
    maar_slot_mark(slot, MAAR_SLOT_PENDING, true);
    maar_count_pending(arena, block, maar_slot_span(allocator, slot).size);
    return name;
}

bool maar_ordered_undo(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    struct maar_ordered* state = maar_ordered_of(allocator);
    /* Under one lock: nobody may keep the bytes of a rest whose range is merged already. */
    struct maar_block* block = maar_slot_enter(allocator, slot);
    struct maar_arena* arena = maar_block_arena(block);
    const struct given given = take_given(allocator, state, index);
    struct maar_ordered_range* range = given.range;
    if (range == NULL) {
        maar_mutex_unlock(&arena->lock);
        return false;
    }
    struct maar_pool* pool = range->pool;
    const MaarResourceKind kind = (MaarResourceKind)maar_slot_kind(slot);
    char* name = make_pending_again(allocator, block, slot, range, given.rest_slot);
    maar_mutex_unlock(&arena->lock);
    maar_host_free(allocator->callbacks, name);
    maar_host_free(allocator->callbacks, given.rest);
    maar_retire_discard(&allocator->retire, given.item);
    maar_pool_disclaim_kind(pool, kind);
    maar_mutex_lock(&state->lock);
    range->size = maar_slot_span(allocator, slot).size;
    const bool has_passed = range->hold_count == 0;
    if (has_passed) {
        maar_ordered_leave(state, range);
    } else {
        maar_ordered_offer(state, range);
    }
    maar_mutex_unlock(&state->lock);
    if (has_passed) {
        maar_host_free(allocator->callbacks, range);
        maar_pool_end_pending(allocator, index);
    }
    return true;
}
