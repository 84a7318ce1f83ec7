/*
 * The begin and the end of a plan: see plan_list.h.
 *
 * A block is listed a few ranges at a time. Other threads may allocate and free meanwhile. So the
 * map may be wrong about some ranges. When a range is taken for a move it is looked at again.
 */
#include "core/move/plan_list.h"

#include "core/bits.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/moving_slot.h"
#include "core/memory/ordered_reuse.h"
#include "core/move/drain_seen.h"

enum {
    /* Ranges that are looked at under one lock: a few microseconds. */
    MAPPED_AT_A_TIME = 32,
    /* Blocks that are taken or sorted in one part of the work. */
    BLOCKS_OF_PART = 16,
    /* How often a list may begin again before the plan leaves the block out. */
    MOST_MAP_RESTARTS = 16
};
/* The alignment of an allocation that does not know its own. */
#define LARGEST_ALIGNMENT 0x80000000u

void maar_plan_next_pool(struct maar_drain_run* run)
{
    struct maar_drain_plan* plan = run->plan;
    plan->pool_first = plan->blocks.count;
    plan->free = 0;
    plan->live = 0;
    plan->at = 0;
    plan->phase = MAAR_PLAN_TAKE;
    if (plan->pool_count == run->pools.count) {
        plan->phase = MAAR_PLAN_SORT;
    }
    ++plan->pool_count;
}

/* Begins to list the ranges of a block. */
static void begin_block_list(struct maar_drain_plan* plan)
{
    plan->cursor.node = MAAR_PLACEMENT_NO_NODE;
    plan->last_cell = MAAR_MAP_NONE;
}

enum maar_drain_result maar_plan_take(struct maar_drain_run* run)
{
    struct maar_drain_plan* plan = run->plan;
    struct maar_map* map = &plan->map;
    const VkAllocationCallbacks* callbacks = run->allocator->callbacks;
    if (!maar_drain_list_reserve(callbacks, &plan->blocks, BLOCKS_OF_PART,
                                 sizeof(struct maar_plan_block)) ||
        !maar_drain_list_reserve(callbacks, &map->blocks, BLOCKS_OF_PART,
                                 sizeof(struct maar_map_block))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < BLOCKS_OF_PART && plan->at < plan->candidates.count; ++i) {
        const struct maar_drain_block* block = maar_drain_block_at(&plan->candidates, plan->at++);
        if (block->pool_number + 1 != plan->pool_count) {
            continue;
        }
        if (plan->pool_first == plan->blocks.count) {
            maar_map_begin_pool(map, block->pool->granularity);
        }
        plan->free += block->free;
        *maar_plan_block_at(plan, plan->blocks.count) = (struct maar_plan_block){.about = *block};
        maar_plan_block_at(plan, plan->blocks.count++)->about.map = map->blocks.count;
        *maar_map_block(map, map->blocks.count++) = (struct maar_map_block){
            .size = block->size,
            .first_cell = MAAR_MAP_NONE,
            .leaver = MAAR_MAP_NONE,
        };
    }
    if (plan->at == plan->candidates.count) {
        const bool is_empty = plan->pool_first == plan->blocks.count;
        plan->at = plan->pool_first;
        plan->cursor.restarts = 0;
        begin_block_list(plan);
        plan->phase = is_empty ? MAAR_PLAN_POOL : MAAR_PLAN_LIST;
    }
    return MAAR_DRAIN_MORE;
}

/* ---- the ranges of a block ---- */

/* Whether the allocation of a range can move, by what is known of it. Called under the arena's
 * lock. */
static bool can_move(const struct maar_drain_run* run, const struct maar_slot* slot, uint32_t key)
{
    return (key & MAAR_SLOT_MOVING) == 0 && !maar_slot_has(slot, MAAR_SLOT_INTERNAL) &&
           !slot->mapped_for_life &&
           maar_slot_owner_obstacle(run->allocator, slot) == MAAR_MOVE_OBSTACLE_NONE &&
           !maar_ordered_holds(run->allocator, slot);
}

/* Describes a range. Called under the arena's lock. */
static struct maar_map_item item_of(const struct maar_drain_run* run, uint32_t at,
                                    const struct maar_block* block,
                                    const struct maar_placement_range* range, uint64_t tag)
{
    const uint32_t index = maar_tag_slot(tag);
    const struct maar_slot* slot = maar_slot_at(&run->allocator->slots, index);
    const uint32_t key = maar_atomic32_load_acquire(&slot->key);
    const VkDeviceSize alignment = maar_tag_alignment(tag);
    const VkDeviceSize unit = alignment != 0 && alignment < MAAR_PLACEMENT_MOST_UNIT
                                  ? alignment
                                  : MAAR_PLACEMENT_MOST_UNIT;
    struct maar_placement_range again;
    uint64_t same = 0;
    uint32_t kind = 0;
    (void)maar_placement_get(block->placement, range->node, &again, &same, &kind);
    const bool moves = (key & 1u) != 0 && can_move(run, slot, key);
    return (struct maar_map_item){
        .handle = moves ? maar_handle_make(index, key) : 0,
        .origin_offset = range->offset,
        .offset = range->offset,
        .size = maar_align_up(range->size, unit),
        .extent = maar_placement_extent_end(block->placement, range->node) - range->offset,
        .alignment = alignment != 0 ? (uint32_t)alignment : LARGEST_ALIGNMENT,
        .node = range->node,
        .generation = range->generation,
        .origin = at,
        .block = at,
        .level = MAAR_MAP_STAYS,
        .kind = (uint8_t)kind,
        .next_leaver = (key & 1u) != 0 && !moves ? 1 : 0,
    };
}

/* Where the last cell of the block that is listed ends. */
static VkDeviceSize end_of_cells(const struct maar_drain_plan* plan)
{
    const uint32_t cell = plan->last_cell;
    if (cell == MAAR_MAP_NONE) {
        return 0;
    }
    if ((cell & MAAR_MAP_GAP) != 0) {
        return maar_map_gap(&plan->map, cell)->offset + maar_map_gap(&plan->map, cell)->size;
    }
    return maar_map_item_end(maar_map_item(&plan->map, cell));
}

/* Lists some ranges. Called under the arena's lock. Returns MAAR_DRAIN_ABANDON if the block has
 * changed meanwhile. */
static enum maar_drain_result map_some(const struct maar_drain_run* run,
                                       const struct maar_block* block)
{
    struct maar_drain_plan* plan = run->plan;
    struct maar_map* map = &plan->map;
    for (uint32_t i = 0; i < MAPPED_AT_A_TIME; ++i) {
        struct maar_placement_range range;
        uint64_t tag = 0;
        uint32_t node = plan->cursor.node;
        const struct maar_span free = maar_placement_free_behind(block->placement, node);
        if (free.size != 0) {
            if (free.offset < end_of_cells(plan)) {
                return MAAR_DRAIN_ABANDON;
            }
            plan->last_cell =
                maar_map_add_gap(map, plan->at, plan->last_cell, free.offset, free.size);
        }
        if (!maar_placement_next_live(block->placement, &node, &range, &tag)) {
            return MAAR_DRAIN_FINISHED;
        }
        if (range.offset < end_of_cells(plan)) {
            return MAAR_DRAIN_ABANDON;
        }
        struct maar_map_item item = item_of(run, plan->at, block, &range, tag);
        if (item.next_leaver != 0) {
            maar_map_block(map, plan->at)->is_stuck = true;
        }
        item.next_leaver = MAAR_MAP_NONE;
        plan->last_cell = maar_map_add_item(map, plan->last_cell, &item);
        plan->cursor.node = node;
        plan->cursor.generation = range.generation;
    }
    return MAAR_DRAIN_MORE;
}

/* Lists some ranges of the present block, which has a lock of its own for the time. */
static enum maar_drain_result map_present(const struct maar_drain_run* run)
{
    struct maar_drain_plan* plan = run->plan;
    struct maar_arena* arena = NULL;
    const struct maar_block* block =
        maar_drain_enter(run->allocator, maar_plan_block_at(plan, plan->at)->about.id, &arena);
    enum maar_drain_result result = MAAR_DRAIN_ABANDON;
    if (block == NULL) {
        return MAAR_DRAIN_NO_ROOM;
    }
    if (maar_drain_is_cursor_valid(&plan->cursor, block)) {
        result = map_some(run, block);
    }
    maar_drain_leave(run->allocator, arena);
    return result;
}

void maar_plan_list(struct maar_drain_run* run)
{
    struct maar_drain_plan* plan = run->plan;
    if (plan->at == plan->blocks.count) {
        plan->at = plan->pool_first;
        plan->phase = MAAR_PLAN_BEGIN;
        return;
    }
    struct maar_map_block* block = maar_map_block(&plan->map, plan->at);
    if (plan->last_cell == MAAR_MAP_NONE) {
        block->first_item = plan->map.items.count;
    }
    const enum maar_drain_result result = map_present(run);
    if (result == MAAR_DRAIN_MORE) {
        return;
    }
    const bool begins_again =
        result == MAAR_DRAIN_ABANDON && ++plan->cursor.restarts <= MOST_MAP_RESTARTS;
    if (result != MAAR_DRAIN_FINISHED) {
        maar_map_forget(&plan->map, plan->at);
        block->is_stuck = !begins_again;
    }
    begin_block_list(plan);
    if (!begins_again) {
        plan->cursor.restarts = 0;
        ++plan->at;
    }
}

/* ---- the order of the blocks ---- */

/* Sorts one block of the plan. Returns false if there is no host memory. */
static bool sort_block(struct maar_drain_run* run, uint32_t at)
{
    struct maar_plan_block* block = maar_plan_block_at(run->plan, at);
    if (block->is_planned) {
        return maar_drain_push_seen(run, &block->about);
    }
    if (block->about.drains) {
        maar_drain_revive(run->allocator, block->about.id);
        ++run->sums.abandonedCount;
    }
    return true;
}

/* Blocks of pools without a plan are known before; they are sorted in like the others. */
static bool sort_known(struct maar_drain_run* run)
{
    if (!maar_drain_push_seen(run, maar_drain_block_at(&run->blocks, run->blocks.count - 1))) {
        return false;
    }
    --run->blocks.count;
    return true;
}

enum maar_drain_result maar_plan_sort(struct maar_drain_run* run)
{
    struct maar_drain_plan* plan = run->plan;
    if (!maar_drain_list_reserve(run->allocator->callbacks, &run->blocks, BLOCKS_OF_PART,
                                 sizeof(struct maar_drain_block))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    if (!plan->is_sorting) {
        plan->at = 0;
        plan->is_sorting = true;
    }
    for (uint32_t i = 0; i < BLOCKS_OF_PART; ++i) {
        struct maar_drain_block next;
        if (plan->at < plan->blocks.count) {
            if (!sort_block(run, plan->at)) {
                return MAAR_DRAIN_NO_HOST_MEMORY;
            }
            ++plan->at;
        } else if (!plan->are_known_sorted && run->blocks.count > 0) {
            if (!sort_known(run)) {
                return MAAR_DRAIN_NO_HOST_MEMORY;
            }
        } else if (maar_drain_pop_seen(run, &next)) {
            plan->are_known_sorted = true;
            *maar_drain_block_at(&run->blocks, run->blocks.count++) = next;
        } else {
            plan->phase = MAAR_PLAN_END;
            break;
        }
    }
    return MAAR_DRAIN_MORE;
}
