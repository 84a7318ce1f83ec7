/*
 * Carries out the plan of a run that empties blocks: see drain_target.h.
 *
 * A placement finds no range by its offset. So the search for a place begins at an allocation that
 * lay before it when the block was listed, and goes over the ranges behind.
 */
#include "core/move/drain_target.h"

#include "core/memory/moving_slot.h"
#include "core/memory/slot_home.h"

enum {
    /* Items before a place that are tried as the begin of the search. */
    MOST_BEGINS = 16,
    /* Ranges behind the begin that are looked at. */
    MOST_BEHIND = 96
};

int32_t maar_target_level(const struct maar_drain_run* run)
{
    return maar_drain_block_at(&run->blocks, run->at)->map == MAAR_MAP_NONE
               ? 0
               : maar_plan_block_at(run->plan, maar_drain_block_at(&run->blocks, run->at)->map)
                     ->level;
}

void maar_target_begin_block(struct maar_drain_run* run)
{
    const uint32_t at = maar_drain_block_at(&run->blocks, run->at)->map;
    run->item_at = 0;
    run->item_end = 0;
    if (at != MAAR_MAP_NONE) {
        const struct maar_map_block* block = maar_map_block(&run->plan->map, at);
        run->item_at = block->first_item;
        run->item_end = block->first_item + block->item_count;
    }
}

uint32_t maar_target_item(struct maar_drain_run* run, VkDeviceSize offset, uint64_t handle)
{
    const struct maar_map* map = &run->plan->map;
    while (run->item_at < run->item_end &&
           maar_map_item(map, run->item_at)->origin_offset < offset) {
        ++run->item_at;
    }
    return run->item_at < run->item_end && maar_map_item(map, run->item_at)->handle == handle
               ? run->item_at
               : (uint32_t)MAAR_MAP_NONE;
}

/* ---- places ---- */

static uint64_t block_id(const struct maar_drain_run* run, uint32_t block)
{
    return maar_plan_block_at(run->plan, block)->about.id;
}

/* Whether the run has closed a block. */
static bool is_closed(const struct maar_drain_run* run, uint64_t id)
{
    for (uint32_t i = 0; i < run->closed.count; ++i) {
        if (*(const uint64_t*)maar_drain_list_at(&run->closed, i, sizeof(uint64_t)) == id) {
            return true;
        }
    }
    return false;
}

/* Whether the range of an item is still where it was listed. Called under the arena's lock. */
static bool is_listed_range(const struct maar_map_item* item, const struct maar_block* block)
{
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    return maar_placement_get(block->placement, item->node, &range, &tag, &kind) &&
           range.generation == item->generation;
}

/* Returns the first item of a block that was found at or behind an offset, or the end of them. */
static uint32_t first_item_from(const struct maar_map* map, uint32_t at, VkDeviceSize offset)
{
    const struct maar_map_block* about = maar_map_block(map, at);
    uint32_t low = about->first_item;
    uint32_t high = low + about->item_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (maar_map_item(map, middle)->origin_offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns a live node that ends before an offset, or MAAR_PLACEMENT_NO_NODE for the begin of the
 * block. Called under the arena's lock. */
static uint32_t node_near(const struct maar_map* map, uint32_t at, const struct maar_block* block,
                          VkDeviceSize offset)
{
    const uint32_t first = maar_map_block(map, at)->first_item;
    uint32_t item = first_item_from(map, at, offset);
    for (uint32_t i = 0; i < MOST_BEGINS && item > first; ++i) {
        const struct maar_map_item* about = maar_map_item(map, --item);
        if (about->origin_offset + about->extent <= offset && is_listed_range(about, block)) {
            return about->node;
        }
    }
    return MAAR_PLACEMENT_NO_NODE;
}

/* Whether a range that is in the way leaves: it was there when the block was listed, and now moves
 * or waits for points. Called under the arena's lock. */
static bool leaves(const struct maar_drain_run* run, uint32_t at, uint64_t tag,
                   const struct maar_placement_range* range)
{
    const struct maar_map* map = &run->plan->map;
    const struct maar_map_block* about = maar_map_block(map, at);
    const uint32_t item = first_item_from(map, at, range->offset);
    if (item == about->first_item + about->item_count ||
        maar_map_item(map, item)->node != range->node ||
        maar_map_item(map, item)->generation != range->generation) {
        return false;
    }
    const struct maar_slot* slot = maar_slot_at(&run->allocator->slots, maar_tag_slot(tag));
    const uint32_t key = maar_atomic32_load_acquire(&slot->key);
    return (key & 1u) == 0 || (key & MAAR_SLOT_MOVING) != 0;
}

/* Whether a neighbour of a place may share its granule. Called under the arena's lock. */
static bool agrees(const struct maar_map* map, const struct maar_map_item* item,
                   const struct maar_block* block, uint32_t node)
{
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    const VkDeviceSize mask = map->granularity - 1;
    if (!maar_placement_get(block->placement, node, &range, &tag, &kind) ||
        !maar_map_kinds_conflict(map, (uint8_t)kind, item->kind)) {
        return true;
    }
    return maar_placement_extent_end(block->placement, node) <= (item->offset & ~mask) ||
           (range.offset & ~mask) >= item->offset + item->size;
}

/* Looks at the neighbours of a place that is free behind a node. Called under the arena's lock. */
static enum maar_target_look look_beside(const struct maar_drain_run* run, uint32_t item,
                                         const struct maar_block* block, uint32_t before)
{
    const struct maar_map* map = &run->plan->map;
    const struct maar_map_item* about = maar_map_item(map, item);
    enum maar_target_look look = MAAR_TARGET_FREE;
    uint32_t node = before;
    for (uint32_t i = 0; map->granularity > 1 && i < 2; ++i) {
        struct maar_placement_range range;
        uint64_t tag = 0;
        uint32_t kind = 0;
        if (node != MAAR_PLACEMENT_NO_NODE && !agrees(map, about, block, node) &&
            maar_placement_get(block->placement, node, &range, &tag, &kind)) {
            if (!leaves(run, about->block, tag, &range)) {
                return MAAR_TARGET_TAKEN;
            }
            look = MAAR_TARGET_WAITS;
        }
        if (!maar_placement_next_live(block->placement, &node, &range, &tag)) {
            break;
        }
    }
    return look;
}

/* Looks at the place of an item. Called under the arena's lock. If it is free, sets *before to the
 * node before it. */
static enum maar_target_look look_at(const struct maar_drain_run* run, uint32_t item,
                                     const struct maar_block* block, uint32_t* before)
{
    const struct maar_map* map = &run->plan->map;
    const struct maar_map_item* about = maar_map_item(map, item);
    const VkDeviceSize end = about->offset + about->size;
    uint32_t node = node_near(map, about->block, block, about->offset);
    for (uint32_t i = 0; i < MOST_BEHIND; ++i) {
        struct maar_placement_range range;
        uint64_t tag = 0;
        const struct maar_span free = maar_placement_free_behind(block->placement, node);
        if (free.size != 0 && free.offset <= about->offset && end <= free.offset + free.size) {
            *before = node;
            return look_beside(run, item, block, node);
        }
        if (!maar_placement_next_live(block->placement, &node, &range, &tag) ||
            range.offset >= end) {
            return MAAR_TARGET_TAKEN;
        }
        if (maar_placement_extent_end(block->placement, node) > about->offset) {
            return leaves(run, about->block, tag, &range) ? MAAR_TARGET_WAITS : MAAR_TARGET_TAKEN;
        }
    }
    return MAAR_TARGET_TAKEN;
}

/* Enters the block of the place of an item, if the run may use it. */
static struct maar_block* enter_target(const struct maar_drain_run* run, uint32_t item,
                                       struct maar_arena** arena)
{
    const uint64_t id = block_id(run, maar_map_item(&run->plan->map, item)->block);
    struct maar_block* block = maar_drain_enter(run->allocator, id, arena);
    if (block != NULL && ((block->draining && !is_closed(run, id)) || block->has_kept)) {
        maar_drain_leave(run->allocator, *arena);
        return NULL;
    }
    return block;
}

enum maar_target_look maar_target_look(const struct maar_drain_run* run, uint32_t item)
{
    struct maar_arena* arena = NULL;
    uint32_t before = 0;
    const struct maar_block* block = enter_target(run, item, &arena);
    if (block == NULL) {
        return MAAR_TARGET_TAKEN;
    }
    const enum maar_target_look look = look_at(run, item, block, &before);
    maar_drain_leave(run->allocator, arena);
    return look;
}

enum maar_pool_outcome maar_target_place(struct maar_drain_run* run, uint32_t item,
                                         const struct maar_place_request* request,
                                         struct maar_made* made)
{
    const struct maar_map_item* about = maar_map_item(&run->plan->map, item);
    struct maar_arena* arena = NULL;
    uint32_t before = 0;
    enum maar_pool_outcome outcome = MAAR_POOL_CHANGED;
    struct maar_block* block = enter_target(run, item, &arena);
    if (block == NULL) {
        return MAAR_POOL_NO_ROOM;
    }
    while (outcome == MAAR_POOL_CHANGED) {
        outcome = look_at(run, item, block, &before) == MAAR_TARGET_FREE
                      ? maar_arena_place_at(arena, block, request, about->kind, about->offset,
                                            before, made)
                      : MAAR_POOL_NO_ROOM;
    }
    maar_drain_leave(run->allocator, arena);
    return outcome;
}

/* ---- those that make way ---- */

static const struct maar_plan_block* present_block(const struct maar_drain_run* run)
{
    return maar_plan_block_at(run->plan, maar_drain_block_at(&run->blocks, run->at)->map);
}

uint32_t maar_target_leaver_count(const struct maar_drain_run* run)
{
    return maar_target_level(run) > 0 ? present_block(run)->leaver_count : 0;
}

struct maar_drain_entry maar_drain_entry_of(const struct maar_drain_run* run,
                                            const struct maar_placement_range* range, uint64_t tag,
                                            uint64_t handle)
{
    const uint32_t index = maar_tag_slot(tag);
    const VkDeviceSize known = maar_tag_alignment(tag);
    return (struct maar_drain_entry){
        .handle = handle,
        .size = range->size,
        .alignment = known != 0 ? known : range->offset & (~range->offset + 1),
        .user_data = maar_slot_user_data(maar_slot_at(&run->allocator->slots, index), index),
        .next = MAAR_DRAIN_NONE,
        .item = MAAR_MAP_NONE,
    };
}

bool maar_target_leaver(const struct maar_drain_run* run, uint32_t at,
                        struct maar_drain_entry* entry)
{
    MaarAllocator allocator = run->allocator;
    const uint32_t item = maar_plan_mover_at(run->plan, present_block(run)->first_leaver + at);
    const struct maar_map_item* about = maar_map_item(&run->plan->map, item);
    struct maar_arena* arena = NULL;
    const struct maar_block* block =
        maar_drain_enter(allocator, block_id(run, about->origin), &arena);
    if (block == NULL) {
        return false;
    }
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t kind = 0;
    const uint32_t index = (uint32_t)about->handle - 1u;
    const struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    const bool is_here = maar_key_read(&slot->key) == about->handle >> 32 &&
                         is_listed_range(about, block) &&
                         maar_placement_get(block->placement, about->node, &range, &tag, &kind) &&
                         maar_tag_slot(tag) == index;
    if (is_here) {
        *entry = maar_drain_entry_of(run, &range, tag, about->handle);
        entry->item = item;
    }
    maar_drain_leave(allocator, arena);
    return is_here;
}

enum maar_drain_result maar_target_close(struct maar_drain_run* run, uint32_t at)
{
    MaarAllocator allocator = run->allocator;
    const uint32_t item = maar_plan_mover_at(run->plan, present_block(run)->first_leaver + at);
    const uint64_t id = block_id(run, maar_map_item(&run->plan->map, item)->origin);
    if (is_closed(run, id)) {
        return MAAR_DRAIN_MORE;
    }
    if (!maar_drain_list_reserve(allocator->callbacks, &run->closed, 1, sizeof id)) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    if (!maar_drain_close(allocator, id)) {
        return MAAR_DRAIN_ABANDON;
    }
    *(uint64_t*)maar_drain_list_at(&run->closed, run->closed.count++, sizeof id) = id;
    return MAAR_DRAIN_MORE;
}

bool maar_target_open_some(struct maar_drain_run* run, uint32_t* most)
{
    while (run->closed.count > 0 && *most > 0) {
        --run->closed.count;
        maar_drain_revive(run->allocator, *(const uint64_t*)maar_drain_list_at(
                                              &run->closed, run->closed.count, sizeof(uint64_t)));
        --*most;
    }
    return run->closed.count == 0;
}

void maar_target_open_all(struct maar_drain_run* run)
{
    uint32_t most = UINT32_MAX;
    (void)maar_target_open_some(run, &most);
}
