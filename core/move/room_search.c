/*
 * The search for the window that needs the fewest moves. A sweep moves a window of the request's
 * size over the ranges of a block. It stops wherever a range enters the window or leaves it, so it
 * sees each set of ranges that some window has, and there are at most twice as many as ranges.
 */
#include "core/move/room.h"

#include <string.h>

#include "core/bits.h"
#include "core/memory/allocate.h"
#include "core/memory/slot_home.h"

enum {
    /* Ranges that are looked at under one lock: a few microseconds. */
    RANGES_AT_A_TIME = 48,
    /* Stops of a sweep in one part of the work. */
    STOPS_AT_A_TIME = 512,
    /* How often a list may begin again before the run passes over the block. */
    MOST_RESTARTS = 16
};

bool maar_room_shape(const struct maar_room* room, const struct maar_pool* pool,
                     struct maar_place_request* request, VkDeviceSize* size,
                     VkDeviceSize* alignment)
{
    const struct maar_place_request general = {
        .size = room->asked_size, .alignment = room->asked_alignment, .kind = room->kind};
    *request = general;
    request->shown_kind = room->kind;
    if (!maar_shape_for_pool(&general, pool, request)) {
        return false;
    }
    *size = request->size;
    *alignment = request->alignment;
    if (pool->granularity > 1) {
        /* A window of whole granules: its neighbours may be of any kind. */
        *alignment = maar_common_multiple(*alignment, pool->granularity, MAAR_RANGE_MAX_SIZE);
        *size = maar_align_up(*size, pool->granularity);
    }
    return *alignment != 0 && *size < MAAR_RANGE_MAX_SIZE;
}

bool maar_room_rank(const struct maar_drain_run* run, struct maar_drain_block* block)
{
    struct maar_place_request request;
    VkDeviceSize size = 0;
    VkDeviceSize alignment = 0;
    if (!maar_room_shape(run->room, block->pool, &request, &size, &alignment) ||
        size > block->size) {
        return false;
    }
    /* What does not live may all be in the window. The rest of the window must move. */
    const VkDeviceSize rest = block->size - block->live;
    block->rank = size > rest ? size - rest : 0;
    return true;
}

/* ---- allocations that may not move ---- */

static uint32_t refused_place(uint64_t handle)
{
    return (uint32_t)handle * 2654435769u >> 16;
}

bool maar_room_is_refused(const struct maar_room* room, uint64_t handle)
{
    for (uint32_t at = refused_place(handle); room->refused_count > 0; ++at) {
        const uint64_t other = room->refused[at % (2 * MAAR_ROOM_REFUSED)];
        if (other == 0 || other == handle) {
            return other == handle;
        }
    }
    return false;
}

bool maar_room_refuse(struct maar_room* room, uint64_t handle)
{
    uint32_t at = refused_place(handle);
    if (room->refused_count == MAAR_ROOM_REFUSED) {
        return false;
    }
    while (room->refused[at % (2 * MAAR_ROOM_REFUSED)] != 0) {
        ++at;
    }
    room->refused[at % (2 * MAAR_ROOM_REFUSED)] = handle;
    ++room->refused_count;
    return true;
}

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
    const bool is_own = maar_slot_has(slot, MAAR_SLOT_INTERNAL) || slot->owned;
    if ((key & 1u) == 0) {
        return is_own || (key & MAAR_SLOT_MOVING) != 0 ? MAAR_ROOM_STAYS : MAAR_ROOM_LEAVES;
    }
    return is_own || (key & MAAR_SLOT_MOVING) != 0 || slot->mapped_for_life ||
                   maar_room_is_refused(run->room, maar_handle_make(index, key))
               ? MAAR_ROOM_STAYS
               : MAAR_ROOM_MOVES;
}

/* Lists some ranges. Called under the arena's lock. */
static enum maar_drain_result list_ranges(struct maar_drain_run* run,
                                          const struct maar_block* block)
{
    struct maar_room* room = run->room;
    for (uint32_t i = 0; i < RANGES_AT_A_TIME; ++i) {
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
    if (!maar_drain_list_reserve(allocator->callbacks, &room->ranges, RANGES_AT_A_TIME,
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
        result = list_ranges(run, block);
    } else {
        room->ranges.count = 0;
        room->cursor.node = MAAR_PLACEMENT_NO_NODE;
        result = ++room->cursor.restarts > MOST_RESTARTS ? MAAR_DRAIN_ABANDON : MAAR_DRAIN_MORE;
    }
    maar_drain_leave(allocator, arena);
    return result;
}

/* ---- the windows of a block ---- */

static bool is_better(const struct maar_room_window* one, const struct maar_room_window* other)
{
    return one->cost != other->cost ? one->cost < other->cost : one->count < other->count;
}

/* Keeps a window if it is one of the best. */
static void offer_window(struct maar_room* room, const struct maar_room_window* window)
{
    uint32_t at = room->window_count;
    if (at == MAAR_ROOM_WINDOWS) {
        if (!is_better(window, &room->windows[--at])) {
            return;
        }
    } else {
        ++room->window_count;
    }
    while (at > 0 && is_better(window, &room->windows[at - 1])) {
        room->windows[at] = room->windows[at - 1];
        --at;
    }
    room->windows[at] = *window;
}

/* Counts a range that enters or leaves the window. */
static void count_range(struct maar_room_sweep* sweep, const struct maar_room_range* range,
                        bool enters)
{
    const VkDeviceSize cost = range->kind == MAAR_ROOM_MOVES ? range->size : 0;
    sweep->cost = enters ? sweep->cost + cost : sweep->cost - cost;
    if (range->kind == MAAR_ROOM_STAYS) {
        sweep->stay_count += enters ? 1u : UINT32_MAX;
    }
}

/* Moves the window to the next aligned offset, and lets ranges enter and leave. */
static void advance(const struct maar_room* room, struct maar_room_sweep* sweep)
{
    sweep->offset = maar_align_up(sweep->offset, room->alignment);
    while (sweep->end < room->ranges.count &&
           maar_room_range_at(room, sweep->end)->offset < sweep->offset + room->size) {
        count_range(sweep, maar_room_range_at(room, sweep->end++), true);
    }
    while (sweep->first < sweep->end &&
           maar_room_range_at(room, sweep->first)->end <= sweep->offset) {
        count_range(sweep, maar_room_range_at(room, sweep->first++), false);
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
        advance(room, sweep);
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
