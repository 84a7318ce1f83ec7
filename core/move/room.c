/*
 * The phases of a run that makes room: see room.h.
 */
#include "core/move/room.h"

#include "core/memory/pool.h"
#include "core/move/drain_seen.h"
#include "core/move/room_claim.h"
#include "core/move/room_search.h"
#include "core/move/room_shape.h"

enum {
    /* What one part of the work gives back. */
    RELEASES_AT_A_TIME = 16,
    /* Pieces of lists that one part of the work frees. */
    FREES_AT_A_TIME = 8
};

VkResult maar_room_create(struct maar_drain_run* run, const MaarDefragmentationBeginInfo* info)
{
    struct maar_room* room = maar_host_calloc(run->allocator->callbacks, 1, sizeof *room);
    if (room == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    room->asked_size = info->roomSize;
    room->asked_alignment = info->roomAlignment != 0 ? info->roomAlignment : 1;
    room->kind = info->roomKind;
    run->room = room;
    maar_drain_forget_entries(run);
    return VK_SUCCESS;
}

void maar_room_destroy(struct maar_drain_run* run)
{
    const VkAllocationCallbacks* callbacks = run->allocator->callbacks;
    if (run->room != NULL) {
        maar_drain_list_free(callbacks, &run->room->ranges);
        maar_drain_list_free(callbacks, &run->room->listed);
        maar_drain_list_free(callbacks, &run->room->kept);
        maar_host_free(callbacks, run->room);
    }
}

/* ---- which window ---- */

static void give_up(struct maar_room* room)
{
    room->state = MAAR_DEFRAGMENTATION_ROOM_IMPOSSIBLE;
    room->phase = MAAR_ROOM_END;
}

/* Begins with the best window. */
static void try_window(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    VkDeviceSize size = 0;
    room->window = room->windows[0];
    --room->window_count;
    for (uint32_t i = 0; i < room->window_count; ++i) {
        room->windows[i] = room->windows[i + 1];
    }
    room->home = *maar_drain_block_at(&room->listed, room->window.listed);
    (void)maar_room_shape(room, room->home.pool, &room->request, &size, &room->window_alignment);
    room->begin = room->window.first;
    room->end = room->window.first + size;
    room->cursor = (struct maar_drain_cursor){
        .node = room->window.node,
        .generation = room->window.generation,
    };
    room->first_node = MAAR_PLACEMENT_NO_NODE;
    room->approved = 0;
    room->claim_count = 0;
    run->block_bytes = 0;
    if (!maar_room_plan(run)) {
        return; /* its allocations have no places elsewhere */
    }
    room->phase = maar_room_begin_claim(run) ? MAAR_ROOM_CLAIM : MAAR_ROOM_RELEASE;
}

/* Begins to list a block. */
static enum maar_drain_result begin_list(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    struct maar_place_request request;
    if (!maar_drain_list_reserve(run->allocator->callbacks, &room->listed, 1, sizeof room->block)) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    (void)maar_drain_pop_seen(run, &room->block);
    (void)maar_room_shape(room, room->block.pool, &request, &room->size, &room->alignment);
    *maar_drain_block_at(&room->listed, room->listed.count++) = room->block;
    maar_room_begin_scan(room);
    room->phase = MAAR_ROOM_SCAN;
    return MAAR_DRAIN_MORE;
}

/* Tries the best window when no block can have a better one. */
static enum maar_drain_result pick(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    const bool has_blocks = run->seen.count > 0;
    if (room->window_count > 0 &&
        (!has_blocks || room->windows[0].cost <= maar_drain_block_at(&run->seen, 0)->rank)) {
        try_window(run);
    } else if (has_blocks) {
        return begin_list(run);
    } else {
        give_up(room);
    }
    return MAAR_DRAIN_MORE;
}

/* Forgets the windows of the block of the window that is tried, and lists the block again: one of
 * its allocations may not move. */
static enum maar_drain_result list_again(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    uint32_t count = 0;
    if (!maar_room_is_refused(room, room->asked) && !maar_room_refuse(room, room->asked)) {
        room->window_count = 0;
        run->seen.count = 0;
        return MAAR_DRAIN_NO_ROOM;
    }
    if (!maar_drain_push_seen(run, &room->home)) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < room->window_count; ++i) {
        const struct maar_room_window window = room->windows[i];
        if (maar_drain_block_at(&room->listed, window.listed)->id != room->home.id) {
            room->windows[count++] = window;
        }
    }
    room->window_count = count;
    return MAAR_DRAIN_NO_ROOM;
}

/* ---- the window that is tried ---- */

/* All allocations of the window have twins. */
static void find_room(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    run->sums.moveCount += run->moves.count - room->claim_count;
    run->sums.moveBytes += run->block_bytes;
    run->block_bytes = 0;
    room->state = MAAR_DEFRAGMENTATION_ROOM_FOUND;
    room->checked_count = room->claim_count;
    room->claim_count = run->moves.count;
    maar_drain_forget_entries(run);
    room->phase = MAAR_ROOM_HAND_OUT;
}

/* Claims the window once more after its moves have ended. */
static void claim_again(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    room->cursor = (struct maar_drain_cursor){
        .node = room->window.node,
        .generation = room->window.generation,
    };
    room->first_node = MAAR_PLACEMENT_NO_NODE;
    room->phase = MAAR_ROOM_CLAIM;
}

/* All of the window is kept or moves. After the first claim twins are taken, even if there is
 * nothing to move. */
static void end_claim(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    const bool is_kept = room->state == MAAR_DEFRAGMENTATION_ROOM_FOUND && run->entries.count == 0;
    room->checked_count = 0;
    room->phase = is_kept ? MAAR_ROOM_WAIT : MAAR_ROOM_RESERVE;
}

/* Goes on after a look at moves or kept ranges. Returns whether there is nothing to do now. */
static bool follow_look(struct maar_drain_run* run, enum maar_room_look look,
                        enum maar_room_phase next)
{
    struct maar_room* room = run->room;
    if (look == MAAR_ROOM_ALL) {
        room->phase = next;
        room->checked_count = 0;
    } else if (look == MAAR_ROOM_LOST) {
        room->phase = MAAR_ROOM_RELEASE;
    }
    return look == MAAR_ROOM_WAITS;
}

/* Does a part of the search. */
static enum maar_drain_result work_on_search(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    enum maar_drain_result result = MAAR_DRAIN_MORE;
    switch (room->phase) {
    case MAAR_ROOM_COLLECT:
        result = maar_drain_collect(run);
        room->phase = result == MAAR_DRAIN_FINISHED ? MAAR_ROOM_PICK : MAAR_ROOM_COLLECT;
        break;
    case MAAR_ROOM_PICK:
        result = pick(run);
        break;
    case MAAR_ROOM_SCAN:
        result = maar_room_scan(run);
        if (result == MAAR_DRAIN_FINISHED || result == MAAR_DRAIN_ABANDON) {
            room->phase = result == MAAR_DRAIN_FINISHED ? MAAR_ROOM_SWEEP : MAAR_ROOM_PICK;
        }
        break;
    default:
        result = maar_room_sweep(room);
        room->phase = result == MAAR_DRAIN_FINISHED ? MAAR_ROOM_PICK : MAAR_ROOM_SWEEP;
        break;
    }
    return result;
}

/* Does a part of a claim. */
static enum maar_drain_result work_on_claim(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    enum maar_drain_result result = MAAR_DRAIN_MORE;
    if (room->phase == MAAR_ROOM_CLAIM) {
        result = maar_room_claim(run);
        if (result == MAAR_DRAIN_FINISHED) {
            end_claim(run);
        }
    } else {
        result = maar_room_reserve(run);
        if (result == MAAR_DRAIN_FINISHED) {
            find_room(run);
        }
    }
    if (result == MAAR_DRAIN_ABANDON) {
        result = list_again(run);
    }
    if (result == MAAR_DRAIN_NO_ROOM) {
        room->phase = MAAR_ROOM_RELEASE;
    }
    return result;
}

/* Gives a part of a window back. */
static void work_on_release(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    if (maar_room_release(run, RELEASES_AT_A_TIME)) {
        room->state = MAAR_DEFRAGMENTATION_ROOM_NONE;
        room->phase = run->gives_up ? MAAR_ROOM_END : MAAR_ROOM_PICK;
        run->sums.abandonedCount += run->gives_up ? 0 : 1;
    }
}

/* Frees some host memory of a run that has ended. Returns whether none is left. */
static bool shrink_lists(struct maar_drain_run* run)
{
    const VkAllocationCallbacks* callbacks = run->allocator->callbacks;
    uint32_t most = FREES_AT_A_TIME;
    return maar_drain_list_shrink(callbacks, &run->room->ranges, &most) &&
           maar_drain_list_shrink(callbacks, &run->room->listed, &most) &&
           maar_drain_list_shrink(callbacks, &run->seen, &most);
}

/* Does a part of the work after the moves were planned. Returns whether there is nothing to do now.
 */
static bool work_on_end(struct maar_drain_run* run, enum maar_drain_result* result)
{
    struct maar_room* room = run->room;
    enum maar_room_look look = MAAR_ROOM_GOES_ON;
    bool rests = false;
    switch (room->phase) {
    case MAAR_ROOM_HAND_OUT:
        /* Only when all are handed out. */
        room->phase = run->is_dry ? MAAR_ROOM_HAND_OUT : MAAR_ROOM_CHECK;
        rests = run->is_dry;
        break;
    case MAAR_ROOM_CHECK:
        look = maar_room_check(run);
        if (look == MAAR_ROOM_LOST) {
            (void)list_again(run);
        }
        rests = follow_look(run, look, MAAR_ROOM_CLAIM);
        if (look == MAAR_ROOM_ALL) {
            claim_again(run);
        }
        break;
    case MAAR_ROOM_WAIT:
        rests = follow_look(run, maar_room_wait(run), MAAR_ROOM_JOIN);
        break;
    case MAAR_ROOM_JOIN:
        look = maar_room_join(run);
        if (look == MAAR_ROOM_WAITS) {
            *result = MAAR_DRAIN_NO_HOST_MEMORY;
        }
        (void)follow_look(run, look, MAAR_ROOM_READY);
        break;
    case MAAR_ROOM_RELEASE:
        work_on_release(run);
        break;
    case MAAR_ROOM_END:
        rests = shrink_lists(run);
        break;
    default:
        rests = true;
        break;
    }
    return rests;
}

VkResult maar_room_work(struct maar_drain_run* run, bool* rests)
{
    struct maar_room* room = run->room;
    enum maar_drain_result result = MAAR_DRAIN_MORE;
    if (room->phase <= MAAR_ROOM_SWEEP) {
        result = work_on_search(run);
    } else if (room->phase <= MAAR_ROOM_RESERVE) {
        result = work_on_claim(run);
    } else {
        *rests = work_on_end(run, &result);
    }
    if (room->phase == MAAR_ROOM_READY) {
        room->state = MAAR_DEFRAGMENTATION_ROOM_READY;
    }
    return result == MAAR_DRAIN_NO_HOST_MEMORY ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

bool maar_room_hands_out(const struct maar_drain_run* run)
{
    return run->room->phase == MAAR_ROOM_HAND_OUT && !run->is_dry;
}

VkResult maar_room_take(struct maar_drain_run* run, void* user_data, MaarAllocation* allocation)
{
    struct maar_room* room = run->room;
    VkResult result = VK_SUCCESS;
    bool rests = false;
    /* What is left of a window that was found. Other work is for a step. */
    while (result == VK_SUCCESS && !rests && room->state == MAAR_DEFRAGMENTATION_ROOM_FOUND &&
           (room->phase != MAAR_ROOM_HAND_OUT || run->handed_count == run->moves.count)) {
        result = maar_room_work(run, &rests);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if (room->phase == MAAR_ROOM_END) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    if (room->phase != MAAR_ROOM_READY) {
        return VK_NOT_READY;
    }
    result = maar_room_place(run, user_data, allocation);
    if (result == VK_SUCCESS) {
        room->state = MAAR_DEFRAGMENTATION_ROOM_TAKEN;
        room->phase = MAAR_ROOM_END;
    }
    return result;
}

void maar_room_give_up(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    if (room->phase != MAAR_ROOM_END) {
        room->state = MAAR_DEFRAGMENTATION_ROOM_NONE;
        room->phase = MAAR_ROOM_RELEASE;
    }
}

void maar_room_end(struct maar_drain_run* run)
{
    if (run->room->phase != MAAR_ROOM_END) {
        (void)maar_room_release(run, UINT32_MAX);
    }
}

void maar_room_describe(const struct maar_drain_run* run, MaarDefragmentationInfo* info)
{
    const struct maar_room* room = run->room;
    info->room = room->state;
    if (room->state == MAAR_DEFRAGMENTATION_ROOM_FOUND ||
        room->state == MAAR_DEFRAGMENTATION_ROOM_READY ||
        room->state == MAAR_DEFRAGMENTATION_ROOM_TAKEN) {
        info->roomMemory = room->memory;
        info->roomOffset = room->begin;
    }
}
