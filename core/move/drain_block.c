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
#include "core/memory/moving_slot.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/pool_list.h"
#include "core/memory/slot_home.h"
#include "core/move/drain_work.h"

enum {
    /* Ranges that are looked at under one lock: a few microseconds. */
    RANGES_AT_A_TIME = 48,
    /* Allocations that get twins in one part of the work. */
    TWINS_AT_A_TIME = 16,
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
    run->cursor.restarts = 0;
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
    const uint32_t index = maar_tag_slot(tag);
    const VkDeviceSize known = maar_tag_alignment(tag);
    const uint32_t class = maar_size_class(range->size);
    *maar_drain_entry_at(run, run->entries.count) = (struct maar_drain_entry){
        .handle = handle,
        .size = range->size,
        .alignment = known != 0 ? known : range->offset & (~range->offset + 1),
        .user_data = maar_slot_user_data(maar_slot_at(&run->allocator->slots, index), index),
        .next = run->heads[class],
    };
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
    maar_drain_add_entry(run, range, tag, maar_handle_make(index, key));
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

bool maar_drain_is_cursor_valid(const struct maar_drain_cursor* cursor,
                                const struct maar_block* block)
{
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    return cursor->node == MAAR_PLACEMENT_NO_NODE ||
           (maar_placement_get(block->placement, cursor->node, &range, &tag, &kind) &&
            range.generation == cursor->generation);
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
    ENTRY_NO_MEMORY
};

/* Asks the program, and makes the allocation of an entry move. */
static enum entry_outcome begin_entry(struct maar_drain_run* run,
                                      const struct maar_drain_entry* entry)
{
    MaarAllocator allocator = run->allocator;
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_resolve(&allocator->slots, entry->handle, &index);
    if (slot == NULL) {
        return ENTRY_GONE;
    }
    if (run->may_move != NULL &&
        run->may_move(run->user_data, MAAR_FROM_BITS(MaarAllocation, entry->handle),
                      entry->user_data) == VK_FALSE) {
        return ENTRY_STAYS;
    }
    if (maar_slot_address(allocator, slot) != NULL || maar_ordered_holds(allocator, slot)) {
        return ENTRY_STAYS;
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

/* Takes a range for an entry in a block of its pool that does not drain. */
static enum maar_pool_outcome
place_twin(struct maar_drain_run* run, const struct maar_drain_entry* entry, struct maar_made* made)
{
    struct maar_pool* pool = maar_drain_block_at(&run->blocks, run->at)->pool;
    const struct maar_place_request request = maar_drain_request(run, entry);
    enum maar_pool_outcome outcome = maar_pool_place(pool, &request, false, made);
    if (outcome == MAAR_POOL_NO_ROOM) {
        outcome = maar_pool_place(pool, &request, true, made);
    }
    return outcome;
}

void maar_drain_add_move(struct maar_drain_run* run, const struct maar_drain_entry* entry,
                         const struct maar_made* made)
{
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

enum maar_drain_result maar_drain_reserve(struct maar_drain_run* run)
{
    if (!maar_drain_list_reserve(run->allocator->callbacks, &run->moves, TWINS_AT_A_TIME,
                                 sizeof(struct maar_move))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < TWINS_AT_A_TIME; ++i) {
        const struct maar_drain_entry* entry = maar_drain_largest(run);
        if (entry == NULL) {
            return MAAR_DRAIN_FINISHED;
        }
        const enum entry_outcome outcome = reserve_entry(run, entry);
        run->unplaced_size = entry->size;
        if (outcome == ENTRY_STAYS || outcome == ENTRY_NO_ROOM) {
            return outcome == ENTRY_STAYS ? MAAR_DRAIN_ABANDON : MAAR_DRAIN_NO_ROOM;
        }
        if (outcome == ENTRY_NO_MEMORY) {
            return MAAR_DRAIN_NO_HOST_MEMORY;
        }
        maar_drain_drop_largest(run);
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
