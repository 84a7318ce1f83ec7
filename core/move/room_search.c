/*
 * The search for the window that needs the fewest moves. A sweep moves a window of the request's
 * size over the ranges of a block. It stops wherever a range enters the window or leaves it, so it
 * sees each set of ranges that some window has, and there are at most twice as many as ranges.
 */
#include "core/move/room_search.h"

#include <string.h>

#include "core/bits.h"
#include "core/memory/allocation_handle.h"
#include "core/move/room_shape.h"

enum {
    /* Ranges that are looked at under one lock: a few microseconds. */
    LISTED_AT_A_TIME = 48,
    /* Stops of a sweep in one part of the work. */
    STOPS_AT_A_TIME = 512,
    /* How often a list may begin again before the run passes over the block. */
    MOST_LIST_RESTARTS = 16
};

/* ---- the ranges of a block ---- */

void maar_room_begin_scan(struct maar_room* room)
{
    room->ranges.count = 0;
    room->cursor = (struct maar_drain_cursor){.node = MAAR_PLACEMENT_NO_NODE};
    room->sweep = (struct maar_room_sweep){0};
}

/* Returns how a range stands in the way. Called under the arena's lock. */
static enum maar_room_range_kind kind_of_range(const struct maar_drain_run* run, uint64_t tag)
{
    const uint32_t index = maar_tag_slot(tag);
    const struct maar_slot* slot = maar_slot_at(&run->allocator->slots, index);
    const uint32_t key = maar_atomic32_load_acquire(&slot->key);
    if (maar_slot_has(slot, MAAR_SLOT_INTERNAL) || (key & MAAR_SLOT_MOVING) != 0) {
        return MAAR_ROOM_STAYS;
    }
    if ((key & 1u) == 0) {
        return MAAR_ROOM_LEAVES;
    }
    return slot->mapped_for_life ||
                   maar_slot_owner_obstacle(run->allocator, slot) != MAAR_MOVE_OBSTACLE_NONE ||
                   maar_room_is_refused(run->room, maar_handle_make(index, key))
               ? MAAR_ROOM_STAYS
               : MAAR_ROOM_MOVES;
}

/* Lists some ranges. Called under the arena's lock. */
static enum maar_drain_result list_some_ranges(struct maar_drain_run* run,
                                               const struct maar_block* block)
{
    struct maar_room* room = run->room;
    for (uint32_t i = 0; i < LISTED_AT_A_TIME; ++i) {
        struct maar_placement_range range;
        uint64_t tag = 0;
        uint32_t node = room->cursor.node;
        if (!maar_placement_next_live(block->placement, &node, &range, &tag)) {
            return MAAR_DRAIN_FINISHED;
        }
        room->cursor.node = node;
        room->cursor.generation = range.generation;
        *maar_room_range_at(room, room->ranges.count++) = (struct maar_room_range){
            .offset = range.offset,
            .end = maar_placement_extent_end(block->placement, node),
            .size = range.size,
            .node = node,
            .generation = range.generation,
            .kind = kind_of_range(run, tag),
        };
    }
    return MAAR_DRAIN_MORE;
}

enum maar_drain_result maar_room_scan(struct maar_drain_run* run)
{
    MaarAllocator allocator = run->allocator;
    struct maar_room* room = run->room;
    struct maar_arena* arena = NULL;
    if (!maar_drain_list_reserve(allocator->callbacks, &room->ranges, LISTED_AT_A_TIME,
                                 sizeof(struct maar_room_range))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    const struct maar_block* block = maar_drain_enter(allocator, room->block.id, &arena);
    if (block == NULL) {
        return MAAR_DRAIN_ABANDON;
    }
    enum maar_drain_result result = MAAR_DRAIN_MORE;
    if (block->draining || block->has_kept) {
        result = MAAR_DRAIN_ABANDON;
    } else if (maar_drain_is_cursor_valid(&room->cursor, block)) {
        result = list_some_ranges(run, block);
    } else {
        room->ranges.count = 0;
        room->cursor.node = MAAR_PLACEMENT_NO_NODE;
        result =
            ++room->cursor.restarts > MOST_LIST_RESTARTS ? MAAR_DRAIN_ABANDON : MAAR_DRAIN_MORE;
    }
    maar_drain_leave(allocator, arena);
    return result;
}

/* ---- the windows of a block ---- */

static bool is_better_window(const struct maar_room_window* one,
                             const struct maar_room_window* other)
{
    return one->cost != other->cost ? one->cost < other->cost : one->count < other->count;
}

/* Keeps a window if it is one of the best. */
static void offer_window(struct maar_room* room, const struct maar_room_window* window)
{
    uint32_t at = room->window_count;
    if (at == MAAR_ROOM_WINDOWS) {
        if (!is_better_window(window, &room->windows[--at])) {
            return;
        }
    } else {
        ++room->window_count;
    }
    while (at > 0 && is_better_window(window, &room->windows[at - 1])) {
        room->windows[at] = room->windows[at - 1];
        --at;
    }
    room->windows[at] = *window;
}

/* Counts a range that enters or leaves the window. */
static void count_in_window(struct maar_room_sweep* sweep, const struct maar_room_range* range,
                            bool enters)
{
    const VkDeviceSize cost = range->kind == MAAR_ROOM_MOVES ? range->size : 0;
    sweep->cost = enters ? sweep->cost + cost : sweep->cost - cost;
    if (range->kind == MAAR_ROOM_STAYS) {
        sweep->stay_count += enters ? 1u : UINT32_MAX;
    }
}

/* Moves the window to the next aligned offset, and lets ranges enter and leave. */
static void advance_window(const struct maar_room* room, struct maar_room_sweep* sweep)
{
    sweep->offset = maar_align_up(sweep->offset, room->alignment);
    while (sweep->end < room->ranges.count &&
           maar_room_range_at(room, sweep->end)->offset < sweep->offset + room->size) {
        count_in_window(sweep, maar_room_range_at(room, sweep->end++), true);
    }
    while (sweep->first < sweep->end &&
           maar_room_range_at(room, sweep->first)->end <= sweep->offset) {
        count_in_window(sweep, maar_room_range_at(room, sweep->first++), false);
    }
}

/* Returns the last offset to which the window moves without a range that enters or leaves. */
static VkDeviceSize last_offset(const struct maar_room* room, const struct maar_room_sweep* sweep)
{
    VkDeviceSize last = room->block.size - room->size;
    if (sweep->end < room->ranges.count) {
        const VkDeviceSize limit = maar_room_range_at(room, sweep->end)->offset - room->size;
        last = limit < last ? limit : last;
    }
    if (sweep->first < sweep->end) {
        const VkDeviceSize limit = maar_room_range_at(room, sweep->first)->end - 1;
        last = limit < last ? limit : last;
    }
    return last - last % room->alignment;
}

enum maar_drain_result maar_room_sweep(struct maar_room* room)
{
    struct maar_room_sweep* sweep = &room->sweep;
    for (uint32_t i = 0; i < STOPS_AT_A_TIME; ++i) {
        advance_window(room, sweep);
        if (sweep->offset > room->block.size - room->size) {
            return MAAR_DRAIN_FINISHED;
        }
        const VkDeviceSize last = last_offset(room, sweep);
        if (sweep->stay_count == 0) {
            const struct maar_room_range* before =
                sweep->first > 0 ? maar_room_range_at(room, sweep->first - 1) : NULL;
            const struct maar_room_window window = {
                .listed = room->listed.count - 1,
                .first = sweep->offset,
                .last = last,
                .cost = sweep->cost,
                .count = sweep->end - sweep->first,
                .node = before != NULL ? before->node : MAAR_PLACEMENT_NO_NODE,
                .generation = before != NULL ? before->generation : 0,
            };
            offer_window(room, &window);
        }
        sweep->offset = last + 1;
    }
    return MAAR_DRAIN_MORE;
}
