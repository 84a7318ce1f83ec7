/*
 * The end of a run that makes room: sees the moves end, joins the ranges of the window, and places
 * the request there.
 *
 * An allocation may be freed while it moves. Its old range is free then when its batch has ended,
 * and another request may take it. So the window is claimed once more after the moves.
 */
#include "core/memory/captured_slot.h"
#include "core/memory/kept_range.h"
#include "core/memory/margin.h"
#include "core/memory/moving_slot.h"
#include "core/memory/pool_kind.h"
#include "core/move/room_claim.h"

enum {
    /* Moves or ranges that are looked at in one part of the work. */
    LOOKS_AT_A_TIME = 32,
    /* Ranges that are joined under one lock. */
    JOINS_AT_A_TIME = 16
};

/* Whether a slot has its range in the window. */
static bool is_in_window(const struct maar_drain_run* run, const struct maar_slot* slot)
{
    const struct maar_room* room = run->room;
    const struct maar_block* block = maar_slot_enter(run->allocator, slot);
    const struct maar_span span = maar_slot_span(run->allocator, slot);
    const bool is_in = block->id == room->home.id && span.offset < room->end &&
                       span.offset + span.size > room->begin;
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return is_in;
}

/* Looks at a move that was handed out. */
static enum maar_room_look check_move(struct maar_drain_run* run, struct maar_move* move)
{
    MaarAllocator allocator = run->allocator;
    const struct maar_slot* twin = maar_slot_at(&allocator->slots, move->twin);
    if ((maar_atomic32_load_acquire(&twin->key) & MAAR_SLOT_MOVING) != 0) {
        return MAAR_ROOM_WAITS;
    }
    if (is_in_window(run, twin)) {
        return MAAR_ROOM_GOES_ON;
    }
    /* It has the new range still. */
    maar_kept_release(allocator, move->twin);
    move->is_dropped = true;
    const struct maar_slot* slot = maar_move_slot(allocator, move);
    const bool stays = maar_key_read(&slot->key) == move->handle >> 32;
    if (stays) {
        run->room->asked = move->handle;
    }
    return stays ? MAAR_ROOM_LOST : MAAR_ROOM_GOES_ON;
}

enum maar_room_look maar_room_check(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    for (uint32_t i = 0; i < LOOKS_AT_A_TIME; ++i) {
        if (room->checked_count == run->moves.count) {
            return MAAR_ROOM_ALL;
        }
        const enum maar_room_look look =
            check_move(run, maar_drain_move_at(run, room->checked_count));
        if (look != MAAR_ROOM_GOES_ON) {
            return look;
        }
        ++room->checked_count;
    }
    return MAAR_ROOM_GOES_ON;
}

enum maar_room_look maar_room_wait(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    for (uint32_t i = 0; i < LOOKS_AT_A_TIME; ++i) {
        if (room->checked_count == room->kept.count) {
            return MAAR_ROOM_ALL;
        }
        const uint32_t index = *maar_room_kept_at(room, room->checked_count);
        const struct maar_slot* slot = maar_slot_at(&run->allocator->slots, index);
        if ((maar_atomic32_load_acquire(&slot->key) & MAAR_SLOT_MOVING) != 0) {
            return MAAR_ROOM_WAITS;
        }
        ++room->checked_count;
    }
    return MAAR_ROOM_GOES_ON;
}

/* Joins some ranges. Called under the arena's lock. */
static enum maar_room_look join_some(struct maar_room* room, struct maar_arena* arena,
                                     struct maar_block* block)
{
    for (uint32_t i = 0; i < JOINS_AT_A_TIME; ++i) {
        struct maar_placement_range range;
        struct maar_made made;
        uint64_t tag = 0;
        uint32_t next = room->first_node;
        if (!maar_placement_next_live(block->placement, &next, &range, &tag) ||
            range.offset >= room->end) {
            return MAAR_ROOM_ALL;
        }
        const enum maar_pool_outcome outcome = maar_arena_bring(arena, block);
        if (outcome != MAAR_POOL_PLACED) {
            return outcome == MAAR_POOL_CHANGED ? MAAR_ROOM_GOES_ON : MAAR_ROOM_WAITS;
        }
        if (!maar_keep_joined(arena, block, room->first_node, next, room, &made)) {
            room->first_node = MAAR_PLACEMENT_NO_NODE;
            return MAAR_ROOM_LOST;
        }
        room->first_node = made.slot->node;
    }
    return MAAR_ROOM_GOES_ON;
}

enum maar_room_look maar_room_join(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    struct maar_arena* arena = NULL;
    struct maar_block* block = maar_drain_enter(run->allocator, room->home.id, &arena);
    MAAR_DEBUG_ASSERT(block != NULL && room->first_node != MAAR_PLACEMENT_NO_NODE);
    /* From now on the window itself says what is kept. */
    room->is_joined = true;
    room->kept.count = 0;
    run->moves.count = 0;
    run->handed_count = 0;
    const enum maar_room_look look = join_some(room, arena, block);
    maar_drain_leave(run->allocator, arena);
    return look;
}

VkResult maar_room_place(struct maar_drain_run* run, void* user_data, MaarAllocation* allocation)
{
    MaarAllocator allocator = run->allocator;
    struct maar_room* room = run->room;
    struct maar_arena* arena = NULL;
    struct maar_made made = {.slot = NULL};
    struct maar_place_request request = room->request;
    request.user_data = user_data;
    if (!maar_pool_claim_kind(room->home.pool, request.kind)) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    struct maar_block* block = maar_drain_enter(allocator, room->home.id, &arena);
    MAAR_DEBUG_ASSERT(block != NULL);
    enum maar_pool_outcome outcome = maar_arena_bring(arena, block);
    while (outcome == MAAR_POOL_CHANGED) {
        outcome = maar_arena_bring(arena, block);
    }
    if (outcome == MAAR_POOL_PLACED) {
        const uint32_t kind = maar_placement_kind(arena->pool, request.kind);
        outcome =
            maar_place_kept(arena, block, room->first_node, &request, kind, room->begin, &made);
        MAAR_DEBUG_ASSERT(outcome == MAAR_POOL_PLACED);
        block->has_kept = false;
        room->is_claimed = false;
        room->is_joined = false;
    }
    maar_drain_leave(allocator, arena);
    if (outcome != MAAR_POOL_PLACED) {
        maar_pool_disclaim_kind(room->home.pool, request.kind);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    (void)maar_margin_fill(allocator, &made); /* the mapping reports a failure */
    *allocation = maar_made_publish(&made);
    if (maar_may_capture(allocator)) {
        maar_capture_allocation(allocator, *allocation, NULL);
    }
    return VK_SUCCESS;
}
