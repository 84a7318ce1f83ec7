/*
 * Empties one block: lists its allocations, a few at a time, and takes a twin for each of them.
 *
 * The list is complete before the first twin is taken, so the largest allocation gets its place
 * first. Between two locks the program may free allocations. The search goes on behind the last
 * range that it has seen. If that range has ended, the search begins again.
 */
#include <string.h>

#include "core/memory/allocation_handle.h"
#include "core/memory/arena_place.h"
#include "core/memory/mapping.h"
#include "core/memory/margin.h"
#include "core/memory/moving_slot.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/pool_list.h"
#include "core/memory/slot_home.h"
#include "core/move/drain_target.h"

enum {
    /* Ranges that are looked at under one lock: a few microseconds. */
    RANGES_AT_A_TIME = 48,
    /* Allocations that get twins in one part of the work: some ten microseconds. */
    TWINS_AT_A_TIME = 8,
    /* How often the search may begin again before the run gives up the block. */
    MOST_RESTARTS = 16
};

void maar_drain_forget_entries(struct maar_drain_run* run)
{
    for (uint32_t i = 0; i < MAAR_DRAIN_CLASSES; ++i) {
        run->heads[i] = MAAR_DRAIN_NONE;
    }
    run->entries.count = 0;
    run->top = 0;
    run->cursor.node = MAAR_PLACEMENT_NO_NODE;
}

void maar_drain_begin_block(struct maar_drain_run* run)
{
    maar_drain_forget_entries(run);
    maar_target_begin_block(run);
    run->cursor.restarts = 0;
    run->leaver_at = 0;
    run->asked_at = 0;
    run->agreed_count = 0;
    run->opens = false;
    run->block_bytes = 0;
    if (!run->is_dry) {
        run->moves.count = 0;
        run->handed_count = 0;
    }
    run->first_move = run->moves.count;
    run->phase = MAAR_DRAIN_SCAN;
}

void maar_drain_add_entry(struct maar_drain_run* run, const struct maar_placement_range* range,
                          uint64_t tag, uint64_t handle)
{
    const uint32_t class = maar_size_class(range->size);
    struct maar_drain_entry* entry = maar_drain_entry_at(run, run->entries.count);
    *entry = maar_drain_entry_of(run, range, tag, handle);
    entry->next = run->heads[class];
    run->heads[class] = (int32_t)run->entries.count++;
    run->top = class > run->top ? class : run->top;
}

/* Lists an allocation. Returns false if it cannot move. Called under the arena's lock; the array
 * has room. */
static bool list_allocation(struct maar_drain_run* run, const struct maar_placement_range* range,
                            uint64_t tag)
{
    const uint32_t index = maar_tag_slot(tag);
    const struct maar_slot* slot = maar_slot_at(&run->allocator->slots, index);
    const uint32_t key = maar_atomic32_load_acquire(&slot->key);
    if ((key & 1u) == 0) {
        return true; /* it was freed, and leaves by itself */
    }
    if ((key & MAAR_SLOT_MOVING) != 0 || maar_slot_has(slot, MAAR_SLOT_INTERNAL) ||
        maar_slot_owner_obstacle(run->allocator, slot) != MAAR_MOVE_OBSTACLE_NONE) {
        return false;
    }
    const uint64_t handle = maar_handle_make(index, key);
    maar_drain_add_entry(run, range, tag, handle);
    maar_drain_entry_at(run, run->entries.count - 1)->item =
        maar_target_item(run, range->offset, handle);
    return true;
}

/* Lists some allocations of the present block, whose arena's lock is held. */
static enum maar_drain_result list_some(struct maar_drain_run* run, const struct maar_block* block)
{
    for (uint32_t i = 0; i < RANGES_AT_A_TIME; ++i) {
        struct maar_placement_range range;
        uint64_t tag = 0;
        uint32_t node = run->cursor.node;
        if (!maar_placement_next_live(block->placement, &node, &range, &tag)) {
            return MAAR_DRAIN_FINISHED;
        }
        run->cursor.node = node;
        run->cursor.generation = range.generation;
        if (!list_allocation(run, &range, tag)) {
            return MAAR_DRAIN_ABANDON;
        }
    }
    return MAAR_DRAIN_MORE;
}

enum maar_drain_result maar_drain_scan(struct maar_drain_run* run)
{
    MaarAllocator allocator = run->allocator;
    struct maar_arena* arena = NULL;
    if (!maar_drain_list_reserve(allocator->callbacks, &run->entries, RANGES_AT_A_TIME,
                                 sizeof(struct maar_drain_entry))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    const uint64_t id = maar_drain_block_at(&run->blocks, run->at)->id;
    struct maar_block* block = maar_drain_enter(allocator, id, &arena);
    if (block == NULL) {
        maar_drain_forget_entries(run);
        return MAAR_DRAIN_FINISHED; /* it has become empty, and has left */
    }
    enum maar_drain_result result = MAAR_DRAIN_MORE;
    if (!block->draining) {
        result = MAAR_DRAIN_ABANDON;
    } else if (maar_drain_is_cursor_valid(&run->cursor, block)) {
        result = list_some(run, block);
    } else {
        maar_drain_forget_entries(run);
        maar_target_begin_block(run);
        result = ++run->cursor.restarts > MOST_RESTARTS ? MAAR_DRAIN_ABANDON : MAAR_DRAIN_MORE;
    }
    maar_drain_leave(allocator, arena);
    return result;
}

struct maar_drain_entry* maar_drain_largest(struct maar_drain_run* run)
{
    while (run->top > 0 && run->heads[run->top] == MAAR_DRAIN_NONE) {
        --run->top;
    }
    const int32_t at = run->entries.count > 0 ? run->heads[run->top] : MAAR_DRAIN_NONE;
    return at != MAAR_DRAIN_NONE ? maar_drain_entry_at(run, (uint32_t)at) : NULL;
}

void maar_drain_drop_largest(struct maar_drain_run* run)
{
    run->heads[run->top] = maar_drain_largest(run)->next;
}

/* What becomes of an entry. */
enum entry_outcome {
    ENTRY_MOVES,
    ENTRY_GONE,  /* it was freed */
    ENTRY_STAYS, /* it cannot move */
    ENTRY_NO_ROOM,
    ENTRY_WAITS, /* its place is not free yet */
    ENTRY_NO_MEMORY
};

/* Asks whether the allocation of an entry may move. */
static enum entry_outcome ask_entry(const struct maar_drain_run* run,
                                    const struct maar_drain_entry* entry)
{
    uint32_t index = 0;
    const struct maar_slot* slot = maar_slot_resolve(&run->allocator->slots, entry->handle, &index);
    if (slot == NULL) {
        return ENTRY_GONE;
    }
    if (!entry->is_asked && run->may_move != NULL &&
        run->may_move(run->user_data, MAAR_FROM_BITS(MaarAllocation, entry->handle),
                      entry->user_data) == VK_FALSE) {
        return ENTRY_STAYS;
    }
    return maar_slot_is_mapped(run->allocator, slot, entry->handle) ||
                   maar_ordered_inherits(run->allocator, slot, entry->handle)
               ? ENTRY_STAYS
               : ENTRY_MOVES;
}

/* Asks the program, and makes the allocation of an entry move. */
static enum entry_outcome begin_entry(const struct maar_drain_run* run,
                                      const struct maar_drain_entry* entry)
{
    MaarAllocator allocator = run->allocator;
    const enum entry_outcome asked = ask_entry(run, entry);
    struct maar_slot* slot = maar_slot_at(&allocator->slots, (uint32_t)entry->handle - 1u);
    if (asked != ENTRY_MOVES) {
        return asked;
    }
    if (maar_epoch_reserve(&allocator->epochs, allocator->callbacks, entry->handle) != VK_SUCCESS) {
        return ENTRY_NO_MEMORY;
    }
    if (maar_slot_begin_move(slot, entry->handle)) {
        return ENTRY_MOVES;
    }
    return maar_key_read(&slot->key) == entry->handle >> 32 ? ENTRY_STAYS : ENTRY_GONE;
}

struct maar_place_request maar_drain_request(const struct maar_drain_run* run,
                                             const struct maar_drain_entry* entry)
{
    const struct maar_slot* slot =
        maar_slot_at(&run->allocator->slots, (uint32_t)entry->handle - 1u);
    return (struct maar_place_request){
        .size = entry->size,
        .alignment = entry->alignment,
        .kind =
            slot->can_alias ? MAAR_RESOURCE_KIND_UNKNOWN : (MaarResourceKind)maar_slot_kind(slot),
        .shown_kind = (MaarResourceKind)maar_slot_kind(slot),
        .can_alias = slot->can_alias,
        .tightly = true,
        .internal = true,
    };
}

/* Takes a range for an entry: that of the plan, or another one in a block of its pool that does not
 * drain. */
static enum maar_pool_outcome
place_twin(struct maar_drain_run* run, const struct maar_drain_entry* entry, struct maar_made* made)
{
    struct maar_pool* pool = maar_drain_block_at(&run->blocks, run->at)->pool;
    const struct maar_place_request request = maar_drain_request(run, entry);
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    if (entry->item != MAAR_MAP_NONE) {
        outcome = maar_target_place(run, entry->item, &request, made);
    }
    if (outcome == MAAR_POOL_NO_ROOM) {
        outcome = maar_pool_place(pool, &request, false, made);
    }
    if (outcome == MAAR_POOL_NO_ROOM) {
        outcome = maar_pool_place(pool, &request, true, made);
    }
    return outcome;
}

void maar_drain_add_move(struct maar_drain_run* run, const struct maar_drain_entry* entry,
                         const struct maar_made* made)
{
    /* If the driver does not map the block, the mapping has reported that. */
    (void)maar_margin_fill(run->allocator, made);
    maar_slot_make_twin(run->allocator, maar_made_publish(made));
    *maar_drain_move_at(run, run->moves.count++) = (struct maar_move){
        .handle = entry->handle,
        .twin = made->index,
        .is_copyable = (MaarResourceKind)maar_slot_kind(made->slot) == MAAR_RESOURCE_KIND_LINEAR,
    };
    run->block_bytes += entry->size;
}

/* Gives an entry a twin. */
static enum entry_outcome reserve_entry(struct maar_drain_run* run,
                                        const struct maar_drain_entry* entry)
{
    MaarAllocator allocator = run->allocator;
    struct maar_made made;
    if (entry->item != MAAR_MAP_NONE && maar_target_level(run) > 0 &&
        maar_target_look(run, entry->item) == MAAR_TARGET_WAITS) {
        return ENTRY_WAITS;
    }
    const enum entry_outcome begun = begin_entry(run, entry);
    if (begun != ENTRY_MOVES) {
        return begun;
    }
    const enum maar_pool_outcome outcome = place_twin(run, entry, &made);
    if (outcome != MAAR_POOL_PLACED) {
        struct maar_slot* slot = maar_slot_at(&allocator->slots, (uint32_t)entry->handle - 1u);
        if (!maar_slot_abandon_move(slot, entry->handle)) {
            maar_slot_settle(allocator, (uint32_t)entry->handle - 1u);
        }
        return outcome == MAAR_POOL_NO_HOST_MEMORY ? ENTRY_NO_MEMORY : ENTRY_NO_ROOM;
    }
    maar_drain_add_move(run, entry, &made);
    return ENTRY_MOVES;
}

bool maar_drain_still_drains(const struct maar_drain_run* run)
{
    struct maar_arena* arena = NULL;
    const struct maar_block* block =
        maar_drain_enter(run->allocator, maar_drain_block_at(&run->blocks, run->at)->id, &arena);
    if (block == NULL) {
        return false;
    }
    const bool drains = block->draining;
    maar_drain_leave(run->allocator, arena);
    return drains;
}

/* What an outcome means for the block. */
static enum maar_drain_result follow_entry(enum entry_outcome outcome)
{
    switch (outcome) {
    case ENTRY_STAYS:
        return MAAR_DRAIN_ABANDON;
    case ENTRY_NO_ROOM:
        return MAAR_DRAIN_NO_ROOM;
    case ENTRY_WAITS:
        return MAAR_DRAIN_WAITS;
    case ENTRY_NO_MEMORY:
        return MAAR_DRAIN_NO_HOST_MEMORY;
    default:
        return MAAR_DRAIN_MORE;
    }
}

enum maar_drain_result maar_drain_reserve(struct maar_drain_run* run)
{
    if (!maar_drain_list_reserve(run->allocator->callbacks, &run->moves, TWINS_AT_A_TIME,
                                 sizeof(struct maar_move))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    if (maar_target_level(run) > 0 && !maar_drain_still_drains(run)) {
        return MAAR_DRAIN_ABANDON;
    }
    for (uint32_t i = 0; i < TWINS_AT_A_TIME; ++i) {
        const struct maar_drain_entry* entry = maar_drain_largest(run);
        if (entry == NULL) {
            return MAAR_DRAIN_FINISHED;
        }
        const enum maar_drain_result result = follow_entry(reserve_entry(run, entry));
        run->unplaced_size = entry->size;
        if (result != MAAR_DRAIN_MORE) {
            return result;
        }
        maar_drain_drop_largest(run);
    }
    return MAAR_DRAIN_MORE;
}

/* ---- above level 0 ---- */

/* Asks about one of those that make way, and closes its block. */
static enum maar_drain_result ask_leaver(struct maar_drain_run* run, uint32_t at)
{
    struct maar_drain_entry entry;
    if (!maar_target_leaver(run, at, &entry)) {
        return MAAR_DRAIN_MORE;
    }
    if (ask_entry(run, &entry) == ENTRY_STAYS) {
        return MAAR_DRAIN_ABANDON;
    }
    if (run->is_dry) {
        ++run->agreed_count;
        run->block_bytes += entry.size;
        return MAAR_DRAIN_MORE;
    }
    return maar_target_close(run, at);
}

enum maar_drain_result maar_drain_ask(struct maar_drain_run* run)
{
    for (uint32_t i = 0; i < TWINS_AT_A_TIME; ++i) {
        if (run->asked_at < run->entries.count) {
            struct maar_drain_entry* entry = maar_drain_entry_at(run, run->asked_at);
            if (ask_entry(run, entry) == ENTRY_STAYS) {
                return MAAR_DRAIN_ABANDON;
            }
            entry->is_asked = true;
            run->agreed_count += run->is_dry ? 1 : 0;
            run->block_bytes += run->is_dry ? entry->size : 0;
            ++run->asked_at;
        } else if (run->leaver_at < maar_target_leaver_count(run)) {
            const enum maar_drain_result result = ask_leaver(run, run->leaver_at);
            if (result != MAAR_DRAIN_MORE) {
                return result;
            }
            ++run->leaver_at;
        } else {
            run->leaver_at = 0;
            return MAAR_DRAIN_FINISHED;
        }
    }
    return MAAR_DRAIN_MORE;
}

enum maar_drain_result maar_drain_make_way(struct maar_drain_run* run)
{
    if (!maar_drain_list_reserve(run->allocator->callbacks, &run->moves, TWINS_AT_A_TIME,
                                 sizeof(struct maar_move))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < TWINS_AT_A_TIME; ++i) {
        struct maar_drain_entry entry;
        if (run->leaver_at == maar_target_leaver_count(run)) {
            return MAAR_DRAIN_FINISHED;
        }
        if (maar_target_leaver(run, run->leaver_at, &entry)) {
            entry.is_asked = true;
            const enum maar_drain_result result = follow_entry(reserve_entry(run, &entry));
            if (result != MAAR_DRAIN_MORE) {
                return result == MAAR_DRAIN_NO_ROOM ? MAAR_DRAIN_ABANDON : result;
            }
        }
        ++run->leaver_at;
    }
    return MAAR_DRAIN_MORE;
}

bool maar_drain_take_back(struct maar_drain_run* run, uint32_t first, uint32_t most)
{
    MaarAllocator allocator = run->allocator;
    while (run->moves.count > first && most > 0) {
        const struct maar_move* move = maar_drain_move_at(run, --run->moves.count);
        if (!maar_slot_abandon_move(maar_move_slot(allocator, move), move->handle)) {
            maar_slot_settle(allocator, (uint32_t)move->handle - 1u);
        }
        maar_twin_end(allocator, move->twin);
        --most;
    }
    return run->moves.count <= first;
}
