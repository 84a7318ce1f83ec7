/*
 * The search for windows: consecutive allocations of a block, in whose place another allocation
 * fits. For each allocation or begin of a block there is at most one window that begins behind it
 * and that needs the fewest others to make way. One sweep over the items finds all of them.
 */
#include "core/move/drain_windows.h"

#include "core/bits.h"

enum {
    /* Steps of a sweep in one part of the work. */
    SWEPT_AT_A_TIME = 192
};

void maar_plan_begin_sweep(struct maar_drain_plan* plan, uint32_t item)
{
    plan->item = item;
    plan->window_count = 0;
    plan->sweep = (struct maar_plan_sweep){.block = plan->pool_first, .before = MAAR_MAP_NONE};
    plan->sweep.behind =
        maar_map_item_from(&plan->map, maar_map_block(&plan->map, plan->pool_first)->first_cell);
}

/* Whether an item may make way for the item of the search. What makes way is smaller. At level 0
 * nothing moves that would stay otherwise. */
static bool can_make_way(const struct maar_drain_plan* plan, const struct maar_map_item* item,
                         const struct maar_map_item* wanted)
{
    return item->handle != 0 && item->size < wanted->size &&
           (plan->level == 0 ? item->level == 0 : item->level != plan->level);
}

static bool is_cheaper(const struct maar_plan_window* one, const struct maar_plan_window* other)
{
    return one->cost != other->cost ? one->cost < other->cost : one->bytes < other->bytes;
}

/* Notes a window, if it is one of the best. */
static void note_way(struct maar_drain_plan* plan, const struct maar_plan_window* window)
{
    if (plan->window_count == MAAR_PLAN_WINDOWS) {
        if (!is_cheaper(window, &plan->windows[MAAR_PLAN_WINDOWS - 1])) {
            return;
        }
        --plan->window_count;
    }
    uint32_t at = plan->window_count++;
    while (at > 0 && is_cheaper(window, &plan->windows[at - 1])) {
        plan->windows[at] = plan->windows[at - 1];
        --at;
    }
    plan->windows[at] = *window;
}

/* Goes on to the next block that stays. Returns false if there is none. */
static bool next_block(struct maar_drain_plan* plan)
{
    struct maar_plan_sweep* sweep = &plan->sweep;
    const uint32_t block = sweep->block + 1;
    *sweep = (struct maar_plan_sweep){.block = block, .before = MAAR_MAP_NONE};
    if (block >= plan->blocks.count) {
        return false;
    }
    sweep->behind = maar_map_item_from(&plan->map, maar_map_block(&plan->map, block)->first_cell);
    return true;
}

static bool conflict(const struct maar_drain_plan* plan, uint32_t item, uint8_t kind)
{
    return item != MAAR_MAP_NONE &&
           maar_map_kinds_conflict(&plan->map, maar_map_item(&plan->map, item)->kind, kind);
}

/* Where a window behind an item begins, for an item of a kind. */
static VkDeviceSize window_begin(const struct maar_drain_plan* plan,
                                 const struct maar_map_item* wanted)
{
    const struct maar_map* map = &plan->map;
    const uint32_t before = plan->sweep.before;
    VkDeviceSize begin = 0;
    if (before != MAAR_MAP_NONE) {
        begin = maar_map_item_end(maar_map_item(map, before));
    }
    if (conflict(plan, before, wanted->kind)) {
        begin = maar_align_up(begin, map->granularity);
    }
    return maar_align_up(begin, wanted->alignment);
}

/* Where it must end at the latest. */
static VkDeviceSize window_end(const struct maar_drain_plan* plan,
                               const struct maar_map_item* wanted)
{
    const struct maar_map* map = &plan->map;
    const uint32_t behind = plan->sweep.behind;
    if (behind == MAAR_MAP_NONE) {
        return maar_map_block(map, plan->sweep.block)->size;
    }
    const VkDeviceSize end = maar_map_item(map, behind)->offset;
    return conflict(plan, behind, wanted->kind) ? end & ~(map->granularity - 1) : end;
}

/* Adds the next item to the run of those that make way, or begins anew behind it. */
static void absorb(struct maar_drain_plan* plan, const struct maar_map_item* wanted)
{
    struct maar_plan_sweep* sweep = &plan->sweep;
    const uint32_t at = sweep->behind;
    const struct maar_map_item* item = maar_map_item(&plan->map, at);
    sweep->behind = maar_map_item_from(&plan->map, item->next);
    if (!can_make_way(plan, item, wanted)) {
        sweep->before = at;
        sweep->cost = 0;
        sweep->bytes = 0;
        sweep->count = 0;
        return;
    }
    sweep->cost += item->level == MAAR_MAP_STAYS ? item->size : 0;
    sweep->bytes += item->size;
    ++sweep->count;
}

/* Begins the next window behind the first item of the present one. */
static void drop_first(struct maar_drain_plan* plan, uint32_t first)
{
    struct maar_plan_sweep* sweep = &plan->sweep;
    const struct maar_map_item* item = maar_map_item(&plan->map, first);
    sweep->before = first;
    if (sweep->count == 0) {
        sweep->behind = maar_map_item_from(&plan->map, item->next);
        return;
    }
    sweep->cost -= item->level == MAAR_MAP_STAYS ? item->size : 0;
    sweep->bytes -= item->size;
    --sweep->count;
}

/* One step of the sweep. Returns false at the end of the block. */
static bool sweep_once(struct maar_drain_plan* plan)
{
    struct maar_plan_sweep* sweep = &plan->sweep;
    const struct maar_map_item* wanted = maar_map_item(&plan->map, plan->item);
    const VkDeviceSize begin = window_begin(plan, wanted);
    if (begin + wanted->size > window_end(plan, wanted)) {
        if (sweep->behind == MAAR_MAP_NONE) {
            return false;
        }
        absorb(plan, wanted);
        return true;
    }
    const uint32_t first =
        maar_map_item_from(&plan->map, sweep->before != MAAR_MAP_NONE
                                           ? maar_map_item(&plan->map, sweep->before)->next
                                           : maar_map_block(&plan->map, sweep->block)->first_cell);
    if (sweep->count > 0 && plan->present.cost + sweep->cost < plan->present.most_cost) {
        const struct maar_plan_window window = {
            .cost = sweep->cost,
            .bytes = sweep->bytes,
            .offset = begin,
            .first = first,
            .count = sweep->count,
        };
        note_way(plan, &window);
    }
    if (first == MAAR_MAP_NONE) {
        return false;
    }
    drop_first(plan, first);
    return true;
}

bool maar_plan_sweep_some(struct maar_drain_plan* plan)
{
    uint32_t steps = 0;
    while (steps < SWEPT_AT_A_TIME) {
        const bool is_seen = maar_map_block(&plan->map, plan->sweep.block)->is_source;
        ++steps;
        if ((is_seen || !sweep_once(plan)) && !next_block(plan)) {
            plan->work_left -= plan->work_left < steps ? plan->work_left : steps;
            return true;
        }
    }
    plan->work_left -= plan->work_left < steps ? plan->work_left : steps;
    return false;
}
