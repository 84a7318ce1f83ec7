/*
 * Claims the window that a run tries: keeps its free ranges, makes its allocations move, and takes
 * a twin for each of them. Behind the cursor everything in the window is kept or moves, so nobody
 * else can take any of it: the bytes of an allocation that is freed while it moves stay until the
 * run lets go.
 */
#include "core/move/room_claim.h"
#include "core/bits.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/kept_range.h"
#include "core/memory/location_epoch.h"
#include "core/memory/mapping.h"
#include "core/memory/moving_slot.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/pool.h"
#include "core/move/room_search.h"
#include "core/move/room_shape.h"

enum {
    /* Ranges that are claimed under one lock. */
    CLAIMS_AT_A_TIME = 32,
    /* Twins that are taken in one part of the work: some ten microseconds. */
    NEW_TWINS_AT_A_TIME = 8,
    /* How often a claim may begin again, or find a range that another thread is freeing. */
    MOST_CLAIM_RESTARTS = 64
};

bool maar_room_begin_claim(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    struct maar_arena* arena = NULL;
    struct maar_block* block = maar_drain_enter(run->allocator, room->home.id, &arena);
    if (block == NULL) {
        return false;
    }
    const bool is_ours = !block->draining && !block->has_kept;
    if (is_ours) {
        block->has_kept = true;
        room->is_claimed = true;
        room->memory = block->memory;
    }
    maar_drain_leave(run->allocator, arena);
    return is_ours;
}

/* What a look at a range of the window leads to. */
enum claim_result {
    CLAIM_PASSED,  /* the cursor goes on behind it */
    CLAIM_ASKS,    /* the run must ask_program whether room->asked may move */
    CLAIM_BUSY,    /* another thread is freeing it */
    CLAIM_REFUSED, /* room->asked may not move */
    CLAIM_FAILED
};

/* Claims a range whose allocation lives. */
static enum claim_result claim_live(struct maar_drain_run* run, struct maar_slot* slot,
                                    const struct maar_placement_range* range, uint64_t tag,
                                    uint32_t key)
{
    struct maar_room* room = run->room;
    const uint32_t index = maar_tag_slot(tag);
    room->asked = maar_handle_make(index, key & ~MAAR_SLOT_MOVING);
    room->asked_data = maar_slot_user_data(slot, index);
    if ((key & MAAR_SLOT_MOVING) != 0 || maar_slot_has(slot, MAAR_SLOT_INTERNAL) ||
        slot->mapped_for_life || maar_room_is_refused(room, room->asked) ||
        maar_slot_owner_obstacle(run->allocator, slot) != MAAR_MOVE_OBSTACLE_NONE ||
        maar_ordered_holds(run->allocator, slot)) {
        return CLAIM_REFUSED;
    }
    if (room->approved != room->asked) {
        return CLAIM_ASKS;
    }
    if (!maar_slot_begin_move(slot, room->asked)) {
        return CLAIM_BUSY;
    }
    maar_drain_add_entry(run, range, tag, room->asked);
    return CLAIM_PASSED;
}

/* Claims a range of the window that is not free. */
static enum claim_result claim_range(struct maar_drain_run* run,
                                     const struct maar_placement_range* range, uint64_t tag,
                                     char** name)
{
    struct maar_room* room = run->room;
    const uint32_t index = maar_tag_slot(tag);
    struct maar_slot* slot = maar_slot_at(&run->allocator->slots, index);
    const uint32_t key = maar_atomic32_load_acquire(&slot->key);
    if ((key & 1u) != 0) {
        return claim_live(run, slot, range, tag, key);
    }
    if (maar_slot_kept(slot, index, room) != MAAR_KEPT_NOT) {
        return CLAIM_PASSED;
    }
    if (maar_keep_pending(run->allocator, slot, index, room, name)) {
        *maar_room_kept_at(room, room->kept.count++) = index;
        return CLAIM_PASSED;
    }
    return maar_slot_has(slot, MAAR_SLOT_INTERNAL) ? CLAIM_FAILED : CLAIM_BUSY;
}

/* Keeps the part of the window that is free behind the cursor. Returns MAAR_POOL_NO_ROOM if none
 * is. */
static enum maar_pool_outcome claim_free(struct maar_drain_run* run, struct maar_arena* arena,
                                         struct maar_block* block)
{
    struct maar_room* room = run->room;
    const VkDeviceSize unit = MAAR_PLACEMENT_MOST_UNIT;
    const struct maar_span span = maar_placement_free_behind(block->placement, room->cursor.node);
    const VkDeviceSize low = room->begin & ~(unit - 1);
    const VkDeviceSize high = maar_align_up(room->end, unit);
    const VkDeviceSize begin = span.offset > low ? span.offset : low;
    const VkDeviceSize end = span.offset + span.size < high ? span.offset + span.size : high;
    struct maar_made made;
    if (span.size == 0 || span.offset >= room->end || span.offset + span.size <= room->begin) {
        return MAAR_POOL_NO_ROOM;
    }
    const enum maar_pool_outcome outcome = maar_keep_free(
        arena, block, room->cursor.node, (struct maar_span){begin, end - begin}, room, &made);
    if (outcome == MAAR_POOL_PLACED) {
        *maar_room_kept_at(room, room->kept.count++) = made.index;
        room->cursor.node = made.slot->node;
    }
    return outcome;
}

/* Sets the cursor to a range. The window begins with the first one that reaches into it. */
static void pass_range(struct maar_room* room, const struct maar_block* block, uint32_t node)
{
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    (void)maar_placement_get(block->placement, node, &range, &tag, &kind);
    room->cursor.node = node;
    room->cursor.generation = range.generation;
    if (room->first_node == MAAR_PLACEMENT_NO_NODE &&
        maar_placement_extent_end(block->placement, node) > room->begin) {
        room->first_node = node;
    }
}

/* Claims some ranges. Called under the arena's lock. */
static enum maar_drain_result claim_some(struct maar_drain_run* run, struct maar_arena* arena,
                                         struct maar_block* block, enum claim_result* claimed,
                                         char** name)
{
    struct maar_room* room = run->room;
    *claimed = CLAIM_PASSED;
    for (uint32_t i = 0; i < CLAIMS_AT_A_TIME && *name == NULL; ++i) {
        struct maar_placement_range range;
        uint64_t tag = 0;
        uint32_t node = room->cursor.node;
        const enum maar_pool_outcome outcome = claim_free(run, arena, block);
        if (outcome == MAAR_POOL_PLACED) {
            pass_range(room, block, room->cursor.node);
            continue;
        }
        if (outcome != MAAR_POOL_NO_ROOM) {
            return outcome == MAAR_POOL_CHANGED ? MAAR_DRAIN_MORE : MAAR_DRAIN_NO_HOST_MEMORY;
        }
        if (!maar_placement_next_live(block->placement, &node, &range, &tag) ||
            range.offset >= room->end) {
            return MAAR_DRAIN_FINISHED;
        }
        if (maar_placement_extent_end(block->placement, node) > room->begin) {
            *claimed = claim_range(run, &range, tag, name);
            if (*claimed != CLAIM_PASSED) {
                return MAAR_DRAIN_MORE;
            }
        }
        pass_range(room, block, node);
    }
    return MAAR_DRAIN_MORE;
}

/* Asks whether an allocation may move, and prepares its move. */
static enum maar_drain_result ask_program(struct maar_drain_run* run)
{
    MaarAllocator allocator = run->allocator;
    struct maar_room* room = run->room;
    uint32_t index = 0;
    const struct maar_slot* slot = maar_slot_resolve(&allocator->slots, room->asked, &index);
    if (slot == NULL) {
        return MAAR_DRAIN_MORE; /* it was freed */
    }
    const bool may_move =
        (run->may_move == NULL ||
         run->may_move(run->user_data, MAAR_FROM_BITS(MaarAllocation, room->asked),
                       room->asked_data) != VK_FALSE) &&
        !maar_slot_is_mapped(allocator, slot, room->asked);
    if (!may_move) {
        return MAAR_DRAIN_ABANDON;
    }
    if (maar_epoch_reserve(&allocator->epochs, allocator->callbacks, room->asked) != VK_SUCCESS) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    room->approved = room->asked;
    return MAAR_DRAIN_MORE;
}

/* Does what a claim could not do under the lock. */
static enum maar_drain_result follow_claim(struct maar_drain_run* run, enum claim_result claimed,
                                           enum maar_drain_result result)
{
    switch (claimed) {
    case CLAIM_ASKS:
        return ask_program(run);
    case CLAIM_BUSY:
        return ++run->room->cursor.restarts > MOST_CLAIM_RESTARTS ? MAAR_DRAIN_NO_ROOM
                                                                  : MAAR_DRAIN_MORE;
    case CLAIM_REFUSED:
        return MAAR_DRAIN_ABANDON;
    case CLAIM_FAILED:
        return MAAR_DRAIN_NO_ROOM;
    default:
        return result;
    }
}

/* Whether the claim can go on behind its cursor. Ordered reuse may have joined a range before the
 * window, at which the cursor stands, with bytes of the window. */
static bool can_go_on(const struct maar_room* room, const struct maar_block* block)
{
    return maar_drain_is_cursor_valid(&room->cursor, block) &&
           (room->first_node != MAAR_PLACEMENT_NO_NODE ||
            room->cursor.node == MAAR_PLACEMENT_NO_NODE ||
            maar_placement_extent_end(block->placement, room->cursor.node) <= room->begin);
}

enum maar_drain_result maar_room_claim(struct maar_drain_run* run)
{
    MaarAllocator allocator = run->allocator;
    struct maar_room* room = run->room;
    struct maar_arena* arena = NULL;
    enum claim_result claimed = CLAIM_PASSED;
    enum maar_drain_result result = MAAR_DRAIN_MORE;
    char* name = NULL;
    if (!maar_drain_list_reserve(allocator->callbacks, &run->entries, CLAIMS_AT_A_TIME,
                                 sizeof(struct maar_drain_entry)) ||
        !maar_drain_list_reserve(allocator->callbacks, &room->kept, CLAIMS_AT_A_TIME,
                                 sizeof(uint32_t))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    struct maar_block* block = maar_drain_enter(allocator, room->home.id, &arena);
    if (block == NULL) {
        return MAAR_DRAIN_NO_ROOM;
    }
    maar_arena_take_in_if_any(arena);
    if (can_go_on(room, block)) {
        result = claim_some(run, arena, block, &claimed, &name);
    } else {
        room->cursor.node = MAAR_PLACEMENT_NO_NODE;
        room->first_node = MAAR_PLACEMENT_NO_NODE;
        result =
            ++room->cursor.restarts > MOST_CLAIM_RESTARTS ? MAAR_DRAIN_NO_ROOM : MAAR_DRAIN_MORE;
    }
    maar_drain_leave(allocator, arena);
    maar_host_free(allocator->callbacks, name);
    return follow_claim(run, claimed, result);
}

/* ---- twins ---- */

/* Keeps the twin of a move beyond the end of its batch. */
static void hold_twin(MaarAllocator allocator, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    maar_atomic32_store_release(&slot->key, maar_atomic32_load(&slot->key) | MAAR_SLOT_MOVING);
    maar_mutex_unlock(&maar_block_arena(block)->lock);
}

/* Keeps the range of an allocation that was freed after it had begun to move. */
static void keep_freed(struct maar_drain_run* run, uint32_t index)
{
    MaarAllocator allocator = run->allocator;
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    char* name = NULL;
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    maar_keep_moving(slot, index, run->room, &name);
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    maar_host_free(allocator->callbacks, name);
    *maar_room_kept_at(run->room, run->room->kept.count++) = index;
}

/* Takes a twin for an entry. */
static enum maar_drain_result take_twin_for(struct maar_drain_run* run,
                                            const struct maar_drain_entry* entry)
{
    MaarAllocator allocator = run->allocator;
    struct maar_room* room = run->room;
    const uint32_t index = (uint32_t)entry->handle - 1u;
    const struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    if (maar_key_read(&slot->key) != entry->handle >> 32) {
        keep_freed(run, index);
        return MAAR_DRAIN_MORE;
    }
    struct maar_place_request request = maar_drain_request(run, entry);
    struct maar_made made;
    request.user_data = room;
    enum maar_pool_outcome outcome = maar_room_place_planned(run, entry->handle, &request, &made);
    if (outcome == MAAR_POOL_NO_ROOM) {
        outcome = maar_pool_place(room->home.pool, &request, false, &made);
    }
    if (outcome == MAAR_POOL_NO_ROOM) {
        outcome = maar_pool_place(room->home.pool, &request, true, &made);
    }
    if (outcome != MAAR_POOL_PLACED) {
        return outcome == MAAR_POOL_NO_HOST_MEMORY ? MAAR_DRAIN_NO_HOST_MEMORY : MAAR_DRAIN_NO_ROOM;
    }
    maar_drain_add_move(run, entry, &made);
    hold_twin(allocator, made.index);
    return MAAR_DRAIN_MORE;
}

enum maar_drain_result maar_room_reserve(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    const VkAllocationCallbacks* callbacks = run->allocator->callbacks;
    if (!maar_drain_list_reserve(callbacks, &run->moves, NEW_TWINS_AT_A_TIME,
                                 sizeof(struct maar_move)) ||
        !maar_drain_list_reserve(callbacks, &room->kept, NEW_TWINS_AT_A_TIME, sizeof(uint32_t))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < NEW_TWINS_AT_A_TIME; ++i) {
        const struct maar_drain_entry* entry = maar_drain_largest(run);
        if (entry == NULL) {
            return MAAR_DRAIN_FINISHED;
        }
        const enum maar_drain_result result = take_twin_for(run, entry);
        if (result != MAAR_DRAIN_MORE) {
            return result;
        }
        maar_drain_drop_largest(run);
    }
    return MAAR_DRAIN_MORE;
}

/* ---- giving up ---- */

/* Lets an allocation stay, or, if it was freed, its bytes go. */
static void abandon_move(MaarAllocator allocator, uint64_t handle)
{
    const uint32_t index = (uint32_t)handle - 1u;
    if (!maar_slot_abandon_move(maar_slot_at(&allocator->slots, index), handle)) {
        maar_slot_settle(allocator, index);
    }
}

/* Gives the last move back. Those that were handed out belong to their batches, and their
 * allocations move no more in this run. */
static void release_move(struct maar_drain_run* run)
{
    MaarAllocator allocator = run->allocator;
    struct maar_room* room = run->room;
    const struct maar_move move = *maar_drain_move_at(run, --run->moves.count);
    const bool is_handed = run->moves.count < run->handed_count;
    if (!is_handed) {
        if (run->moves.count < room->claim_count) {
            run->sums.moveCount -= 1;
            run->sums.moveBytes -= maar_slot_span(allocator, maar_move_twin(allocator, &move)).size;
        }
        abandon_move(allocator, move.handle);
        maar_kept_release(allocator, move.twin);
        maar_twin_end(allocator, move.twin);
        return;
    }
    if (!move.is_dropped) {
        maar_kept_release(allocator, move.twin);
    }
    if (!maar_room_is_refused(room, move.handle) && !maar_room_refuse(room, move.handle)) {
        room->window_count = 0; /* there are too many of them */
        run->seen.count = 0;
    }
}

/* Ends one of the window's ranges, which all belong to the run. Returns whether none is left. */
static bool release_joined(struct maar_drain_run* run)
{
    MaarAllocator allocator = run->allocator;
    struct maar_room* room = run->room;
    struct maar_arena* arena = NULL;
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    uint32_t node = room->first_node;
    const struct maar_block* block =
        node != MAAR_PLACEMENT_NO_NODE ? maar_drain_enter(allocator, room->home.id, &arena) : NULL;
    if (block == NULL) {
        return true;
    }
    (void)maar_placement_get(block->placement, node, &range, &tag, &kind);
    const uint32_t index = maar_tag_slot(tag);
    const bool has_next =
        maar_placement_next_live(block->placement, &node, &range, &tag) && range.offset < room->end;
    room->first_node = has_next ? node : MAAR_PLACEMENT_NO_NODE;
    maar_drain_leave(allocator, arena);
    maar_kept_release(allocator, index);
    return !has_next;
}

/* Another run may keep ranges of the block from now on. */
static void unclaim(struct maar_drain_run* run)
{
    struct maar_arena* arena = NULL;
    struct maar_block* block =
        run->room->is_claimed ? maar_drain_enter(run->allocator, run->room->home.id, &arena) : NULL;
    if (block != NULL) {
        block->has_kept = false;
        maar_drain_leave(run->allocator, arena);
    }
    run->room->is_claimed = false;
}

bool maar_room_release(struct maar_drain_run* run, uint32_t most)
{
    MaarAllocator allocator = run->allocator;
    struct maar_room* room = run->room;
    unclaim(run);
    for (; most > 0; --most) {
        const struct maar_drain_entry* entry = maar_drain_largest(run);
        if (room->is_joined) {
            room->is_joined = !release_joined(run);
        } else if (entry != NULL) {
            abandon_move(allocator, entry->handle);
            maar_drain_drop_largest(run);
        } else if (run->moves.count > 0) {
            release_move(run);
        } else if (room->kept.count > 0) {
            maar_kept_release(allocator, *maar_room_kept_at(room, --room->kept.count));
        } else {
            maar_drain_forget_entries(run);
            run->handed_count = 0;
            return true;
        }
    }
    return false;
}
