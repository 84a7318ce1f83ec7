/*
 * The plan of a run that empties blocks: see drain_plan.h.
 */
#include "core/move/drain_plan.h"

#include "core/move/drain_windows.h"
#include "core/move/plan_list.h"

enum {
    /* Cells, items or changes in one part of the work. */
    CELLS_AT_A_TIME = 64,
    /* Searches for a gap in one part of the work: some microseconds. */
    FITS_AT_A_TIME = 8,
    /* Attempts after one has succeeded: another block may be cheaper. */
    MORE_ATTEMPTS = 8
};
/* Steps of sweeps for a pool, beside those for each of its allocations: some ten milliseconds in
 * all. */
#define LEAST_WORK (UINT64_C(1) << 21)
#define WORK_FOR_ITEM ((uint64_t)32)

/* ---- life ---- */

struct maar_drain_plan* maar_drain_plan_create(MaarAllocator allocator)
{
    struct maar_drain_plan* plan = maar_host_calloc(allocator->callbacks, 1, sizeof *plan);
    if (plan != NULL) {
        maar_map_begin(&plan->map, allocator->callbacks);
    }
    return plan;
}

void maar_drain_plan_destroy(MaarAllocator allocator, struct maar_drain_plan* plan)
{
    const VkAllocationCallbacks* callbacks = allocator->callbacks;
    if (plan != NULL) {
        maar_map_destroy(&plan->map);
        maar_drain_list_free(callbacks, &plan->candidates);
        maar_drain_list_free(callbacks, &plan->blocks);
        maar_drain_list_free(callbacks, &plan->heap);
        maar_drain_list_free(callbacks, &plan->leavers);
        maar_drain_list_free(callbacks, &plan->movers);
        maar_host_free(callbacks, plan);
    }
}

bool maar_drain_plan_shrink(MaarAllocator allocator, struct maar_drain_plan* plan, uint32_t* most)
{
    struct maar_drain_list* const lists[] = {&plan->map.items,  &plan->map.gaps, &plan->map.changes,
                                             &plan->map.blocks, &plan->heap,     &plan->leavers,
                                             &plan->movers,     &plan->blocks,   &plan->candidates};
    bool is_done = true;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && is_done; ++i) {
        is_done = maar_drain_list_shrink(allocator->callbacks, lists[i], most);
    }
    return is_done;
}

bool maar_drain_plan_reserve(struct maar_drain_run* run)
{
    return maar_drain_list_reserve(run->allocator->callbacks, &run->plan->candidates, 1,
                                   sizeof(struct maar_drain_block));
}

void maar_drain_plan_add(struct maar_drain_run* run, const struct maar_drain_block* block)
{
    struct maar_drain_list* candidates = &run->plan->candidates;
    *maar_drain_block_at(candidates, candidates->count++) = *block;
}

/* ---- heaps of items ---- */

static uint32_t* heap_at(const struct maar_drain_list* heap, uint32_t at)
{
    return maar_drain_list_at(heap, at, sizeof(uint32_t));
}

/* Whether an item comes first: the larger one, which has fewer places. */
static bool is_larger(const struct maar_map* map, uint32_t one, uint32_t other)
{
    const struct maar_map_item* a = maar_map_item(map, one);
    const struct maar_map_item* b = maar_map_item(map, other);
    if (a->size != b->size) {
        return a->size > b->size;
    }
    return a->alignment != b->alignment ? a->alignment > b->alignment : one < other;
}

/* The list has room. */
static void push_item(const struct maar_map* map, struct maar_drain_list* heap, uint32_t item)
{
    uint32_t at = heap->count++;
    while (at > 0 && is_larger(map, item, *heap_at(heap, (at - 1) / 2))) {
        *heap_at(heap, at) = *heap_at(heap, (at - 1) / 2);
        at = (at - 1) / 2;
    }
    *heap_at(heap, at) = item;
}

/* Takes the largest item out, or returns MAAR_MAP_NONE. */
static uint32_t pop_item(const struct maar_map* map, struct maar_drain_list* heap)
{
    if (heap->count == 0) {
        return MAAR_MAP_NONE;
    }
    const uint32_t first = *heap_at(heap, 0);
    const uint32_t last = *heap_at(heap, --heap->count);
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count &&
            is_larger(map, *heap_at(heap, child + 1), *heap_at(heap, child))) {
            ++child;
        }
        if (!is_larger(map, *heap_at(heap, child), last)) {
            break;
        }
        *heap_at(heap, at) = *heap_at(heap, child);
        at = child;
    }
    if (heap->count > 0) {
        *heap_at(heap, at) = last;
    }
    return first;
}

/* ---- an attempt ---- */

/* Whether an attempt empties a block. */
static bool is_tried(const struct maar_drain_plan* plan, uint32_t at)
{
    return !maar_map_block(&plan->map, at)->is_stuck && !maar_plan_block_at(plan, at)->is_planned;
}

/* Goes to the next block that the attempt empties, from one on. Returns false at the end. */
static bool enter_block(struct maar_drain_plan* plan, uint32_t at)
{
    while (at < plan->present.end && !is_tried(plan, at)) {
        ++at;
    }
    plan->at = at;
    plan->cell = at < plan->present.end ? maar_map_block(&plan->map, at)->first_cell
                                        : (uint32_t)MAAR_MAP_NONE;
    return at < plan->present.end;
}

static void begin_try(struct maar_drain_plan* plan, uint32_t first, uint32_t end,
                      VkDeviceSize most_cost, bool is_final)
{
    plan->present = (struct maar_plan_try){
        .most_cost = most_cost,
        .first = first,
        .end = end,
        .change_count = plan->map.changes.count,
        .is_final = is_final,
    };
    plan->heap.count = 0;
    plan->leavers.count = 0;
    plan->phase = enter_block(plan, first) ? MAAR_PLAN_MARK : MAAR_PLAN_PLACE;
}

/* Hides the gaps of the blocks of the attempt, or shows them again. Returns whether that is done.
 */
static bool mark_some(struct maar_drain_plan* plan, bool is_source)
{
    struct maar_map* map = &plan->map;
    for (uint32_t i = 0; i < CELLS_AT_A_TIME; ++i) {
        if (plan->cell == MAAR_MAP_NONE) {
            maar_map_block(map, plan->at)->is_source = is_source;
            if (!enter_block(plan, plan->at + 1)) {
                return true;
            }
            continue;
        }
        if ((plan->cell & MAAR_MAP_GAP) != 0) {
            maar_map_show_gap(map, plan->cell, !is_source);
        }
        plan->cell = maar_map_next(map, plan->cell);
    }
    return false;
}

/* Collects what lies in the blocks of the attempt. Returns whether that is done. */
static bool fill_some(struct maar_drain_plan* plan)
{
    struct maar_map* map = &plan->map;
    for (uint32_t i = 0; i < CELLS_AT_A_TIME; ++i) {
        const uint32_t cell = plan->cell;
        if (cell == MAAR_MAP_NONE) {
            if (!enter_block(plan, plan->at + 1)) {
                return true;
            }
            continue;
        }
        if ((cell & MAAR_MAP_GAP) == 0 && maar_map_item(map, cell)->handle != 0) {
            push_item(map, &plan->heap, cell);
        }
        plan->cell = maar_map_next(map, cell);
    }
    return false;
}

/* Ends an attempt. */
static void end_try(struct maar_drain_plan* plan, bool has_succeeded)
{
    plan->present.has_succeeded = has_succeeded;
    plan->at = plan->present.first;
    plan->phase = has_succeeded && plan->present.is_final ? MAAR_PLAN_ACCEPT : MAAR_PLAN_UNDO;
}

/* The level of an item, and that at which its new place must be free. */
static int32_t level_of(const struct maar_drain_plan* plan, const struct maar_map_item* item)
{
    return item->level == MAAR_MAP_STAYS ? plan->level : item->level;
}

static int32_t place_level(const struct maar_drain_plan* plan, const struct maar_map_item* item)
{
    return level_of(plan, item) - (item->is_leaver ? 1 : 0);
}

/* Moves an item of the blocks of the attempt to a gap. */
static void place_item(struct maar_drain_plan* plan, uint32_t item, uint32_t gap,
                       VkDeviceSize offset)
{
    const struct maar_map_item* about = maar_map_item(&plan->map, item);
    (void)maar_map_take(&plan->map, item);
    maar_map_plan(&plan->map, item, level_of(plan, about), about->is_leaver);
    maar_map_put(&plan->map, item, gap, offset);
}

/* Finds gaps for some items. */
static void place_some(struct maar_drain_plan* plan)
{
    for (uint32_t i = 0; i < FITS_AT_A_TIME; ++i) {
        struct maar_map_place place;
        const uint32_t item = pop_item(&plan->map, &plan->heap);
        if (item == MAAR_MAP_NONE) {
            end_try(plan, true);
            return;
        }
        const struct maar_map_item* about = maar_map_item(&plan->map, item);
        if (maar_map_fit(&plan->map, item, place_level(plan, about), &place)) {
            place_item(plan, item, place.gap, place.offset);
            continue;
        }
        if (plan->stage == MAAR_PLAN_FIRST || level_of(plan, about) != plan->level ||
            about->is_leaver || plan->work_left == 0) {
            end_try(plan, false);
        } else {
            maar_plan_begin_sweep(plan, item);
            plan->phase = MAAR_PLAN_SWEEP;
        }
        return;
    }
}

/* ---- a window ---- */

/* Notes that there is no window for an item in any other block than its own. */
static void note_failure(struct maar_drain_plan* plan)
{
    const VkDeviceSize size = maar_map_item(&plan->map, plan->item)->size;
    if (plan->present.most_cost != UINT64_MAX || plan->stage != MAAR_PLAN_WAYS) {
        return; /* there may be a dearer one */
    }
    if (size < plan->smallest_failed) {
        plan->too_large = plan->smallest_failed;
        plan->smallest_failed = size;
    } else if (size < plan->too_large) {
        plan->too_large = size;
    }
}

/* Begins with the next window, or gives up. */
static void open_window(struct maar_drain_plan* plan)
{
    if (plan->window_at == plan->window_count) {
        note_failure(plan);
        end_try(plan, false);
        return;
    }
    const struct maar_map_item* item = maar_map_item(&plan->map, plan->item);
    plan->window_changes = plan->map.changes.count;
    (void)maar_map_take(&plan->map, plan->item);
    maar_map_plan(&plan->map, plan->item, level_of(plan, item), false);
    plan->left_count = plan->windows[plan->window_at].count;
    plan->cell = plan->windows[plan->window_at].first;
    plan->leavers.count = 0;
    plan->phase = MAAR_PLAN_MAKE_WAY;
}

/* Takes some items out of the window, and puts the item of the search there. */
static void make_way(struct maar_drain_plan* plan)
{
    struct maar_map* map = &plan->map;
    for (uint32_t i = 0; i < CELLS_AT_A_TIME; ++i) {
        const uint32_t item = plan->cell;
        const struct maar_map_item* about = maar_map_item(map, item);
        const uint32_t gap = maar_map_take(map, item);
        maar_map_plan(map, item, level_of(plan, about),
                      about->is_leaver || about->level == MAAR_MAP_STAYS);
        push_item(map, &plan->leavers, item);
        plan->cell = maar_map_gap(map, gap)->next;
        if (--plan->left_count == 0) {
            maar_map_put(map, plan->item, gap, plan->windows[plan->window_at].offset);
            plan->phase = MAAR_PLAN_REPLACE;
            return;
        }
    }
}

/* Finds gaps for what has made way. */
static void replace_some(struct maar_drain_plan* plan)
{
    for (uint32_t i = 0; i < FITS_AT_A_TIME; ++i) {
        struct maar_map_place place;
        const uint32_t item = pop_item(&plan->map, &plan->leavers);
        if (item == MAAR_MAP_NONE) {
            plan->present.cost += plan->windows[plan->window_at].cost;
            plan->phase = MAAR_PLAN_PLACE;
            return;
        }
        if (!maar_map_fit(&plan->map, item, place_level(plan, maar_map_item(&plan->map, item)),
                          &place)) {
            plan->phase = MAAR_PLAN_CLOSE_WINDOW;
            return;
        }
        maar_map_put(&plan->map, item, place.gap, place.offset);
    }
}

/* ---- what is tried next ---- */

/* Counts blocks as long as those behind have as many free bytes as live in them. Then begins with
 * all of these. */
static void begin_some(struct maar_drain_plan* plan)
{
    const uint32_t first_item = maar_map_block(&plan->map, plan->pool_first)->first_item;
    for (uint32_t i = 0; i < CELLS_AT_A_TIME; ++i) {
        const struct maar_drain_block* block =
            plan->at < plan->blocks.count ? &maar_plan_block_at(plan, plan->at)->about : NULL;
        if (block == NULL || plan->live + block->live > plan->free - block->free) {
            plan->work_left = LEAST_WORK + WORK_FOR_ITEM * (plan->map.items.count - first_item);
            plan->stage = MAAR_PLAN_FIRST;
            plan->level = 0;
            plan->planned_count = 0;
            plan->last_rank = 0;
            plan->low = 0;
            plan->high = plan->at - plan->pool_first + 1;
            begin_try(plan, plan->pool_first, plan->at, UINT64_MAX, true);
            return;
        }
        plan->live += block->live;
        plan->free -= block->free;
        ++plan->at;
    }
}

/* Notes the items that make way for the block of the attempt. */
static void note_leavers(struct maar_drain_plan* plan, struct maar_plan_block* block)
{
    block->first_leaver = plan->movers.count;
    for (uint32_t i = plan->present.change_count; i < plan->map.changes.count; ++i) {
        const struct maar_map_change* change =
            maar_drain_list_at(&plan->map.changes, i, sizeof(struct maar_map_change));
        if (change->is_taken && change->level == MAAR_MAP_STAYS &&
            maar_map_item(&plan->map, change->item)->is_leaver) {
            *heap_at(&plan->movers, plan->movers.count++) = change->item;
        }
    }
    block->leaver_count = plan->movers.count - block->first_leaver;
}

/* Plans some blocks of the attempt, which has succeeded. */
static void accept_some(struct maar_drain_plan* plan)
{
    for (uint32_t i = 0; i < CELLS_AT_A_TIME; ++i) {
        if (plan->at == plan->present.end) {
            plan->phase = MAAR_PLAN_NEXT;
            return;
        }
        struct maar_plan_block* block = maar_plan_block_at(plan, plan->at);
        if (is_tried(plan, plan->at)) {
            block->is_planned = true;
            block->level = plan->level;
            if (plan->level > 0) {
                /* Its plan counts on those before. */
                block->about.rank =
                    plan->best_cost > plan->last_rank ? plan->best_cost : plan->last_rank + 1;
                note_leavers(plan, block);
            }
            plan->last_rank =
                block->about.rank > plan->last_rank ? block->about.rank : plan->last_rank;
            ++plan->planned_count;
        }
        ++plan->at;
    }
}

/* Begins to look for the next block whose allocations need windows. */
static void begin_ways(struct maar_drain_plan* plan)
{
    plan->stage = MAAR_PLAN_WAYS;
    ++plan->level;
    plan->best_at = MAAR_MAP_NONE;
    plan->best_cost = UINT64_MAX;
    plan->more_count = 0;
    plan->smallest_failed = UINT64_MAX;
    plan->too_large = UINT64_MAX;
    plan->present.end = plan->pool_first;
}

/* Tries another block at the present level, or the best one once more. */
static void seek_some(struct maar_drain_plan* plan)
{
    const bool has_best = plan->best_at != MAAR_MAP_NONE;
    uint32_t at = plan->present.end;
    for (uint32_t i = 0; i < CELLS_AT_A_TIME && at < plan->blocks.count; ++i) {
        if (is_tried(plan, at) && maar_map_block(&plan->map, at)->largest < plan->too_large) {
            break;
        }
        plan->present.end = ++at;
    }
    const bool is_over = at == plan->blocks.count || plan->work_left == 0 ||
                         plan->more_count > MORE_ATTEMPTS ||
                         (has_best && maar_map_block(&plan->map, at)->stay >= plan->best_cost);
    if (is_over && !has_best) {
        plan->phase = MAAR_PLAN_POOL;
    } else if (is_over) {
        begin_try(plan, plan->best_at, plan->best_at + 1, UINT64_MAX, true);
    } else if (is_tried(plan, at) && maar_map_block(&plan->map, at)->largest < plan->too_large) {
        const VkDeviceSize stay = maar_map_block(&plan->map, at)->stay;
        begin_try(plan, at, at + 1, has_best ? plan->best_cost - stay : UINT64_MAX, false);
    }
}

/* After an attempt with one block at a level of its own. */
static void follow_ways(struct maar_drain_plan* plan)
{
    const struct maar_plan_try* present = &plan->present;
    if (present->has_succeeded && present->is_final) {
        begin_ways(plan);
        return;
    }
    if (present->is_final) { /* it has succeeded before: no work is left */
        plan->best_at = MAAR_MAP_NONE;
        plan->work_left = 0;
        return;
    }
    plan->more_count += plan->best_at != MAAR_MAP_NONE ? 1 : 0;
    if (present->has_succeeded) {
        plan->best_at = present->first;
        plan->best_cost = present->cost + maar_map_block(&plan->map, present->first)->stay;
    }
}

/* After an attempt with many blocks. */
static void follow_first(struct maar_drain_plan* plan)
{
    const uint32_t count = plan->present.end - plan->present.first;
    if (plan->present.has_succeeded && plan->present.is_final) {
        plan->stage = MAAR_PLAN_MORE;
        plan->low = count;
    } else if (plan->present.has_succeeded) {
        plan->low = count;
    } else {
        plan->high = count;
        plan->low = plan->low < count ? plan->low : count - 1;
    }
}

/* Chooses what is tried next. */
static void choose_try(struct maar_drain_plan* plan, uint32_t most_blocks)
{
    const uint32_t first = plan->pool_first;
    switch (plan->stage) {
    case MAAR_PLAN_FIRST: {
        const bool is_known = plan->low + 1 >= plan->high;
        const uint32_t count = is_known ? plan->low : (plan->low + plan->high) / 2;
        begin_try(plan, first, first + count, UINT64_MAX, is_known);
        break;
    }
    case MAAR_PLAN_MORE:
        while (first + plan->low < plan->blocks.count && !is_tried(plan, first + plan->low)) {
            ++plan->low;
        }
        if (first + plan->low == plan->blocks.count || plan->planned_count >= most_blocks) {
            plan->phase = MAAR_PLAN_POOL;
        } else {
            begin_try(plan, first + plan->low, first + plan->low + 1, UINT64_MAX, true);
        }
        break;
    default:
        plan->phase = plan->planned_count >= most_blocks ? MAAR_PLAN_POOL : MAAR_PLAN_SEEK;
        break;
    }
}

/* Goes on after an attempt. */
static void follow_try(struct maar_drain_plan* plan, uint32_t most_blocks)
{
    if (plan->stage == MAAR_PLAN_FIRST) {
        follow_first(plan);
    } else if (plan->stage == MAAR_PLAN_WAYS) {
        follow_ways(plan);
    } else if (!plan->present.has_succeeded) {
        begin_ways(plan);
    }
    choose_try(plan, most_blocks);
}

/* ---- the parts of the work ---- */

/* Takes an attempt back. */
static void work_back(struct maar_drain_plan* plan)
{
    if (plan->phase == MAAR_PLAN_UNDO) {
        if (maar_map_undo(&plan->map, plan->present.change_count, CELLS_AT_A_TIME)) {
            plan->phase =
                enter_block(plan, plan->present.first) ? MAAR_PLAN_UNMARK : MAAR_PLAN_NEXT;
        }
    } else if (plan->phase == MAAR_PLAN_UNMARK) {
        plan->phase = mark_some(plan, false) ? MAAR_PLAN_NEXT : MAAR_PLAN_UNMARK;
    } else if (maar_map_undo(&plan->map, plan->window_changes, CELLS_AT_A_TIME)) {
        ++plan->window_at;
        open_window(plan);
    }
}

/* Does a part of an attempt. */
static void work_on_try(struct maar_drain_plan* plan)
{
    switch (plan->phase) {
    case MAAR_PLAN_MARK:
        if (mark_some(plan, true)) {
            (void)enter_block(plan, plan->present.first);
            plan->phase = MAAR_PLAN_FILL;
        }
        break;
    case MAAR_PLAN_FILL:
        plan->phase = fill_some(plan) ? MAAR_PLAN_PLACE : MAAR_PLAN_FILL;
        break;
    case MAAR_PLAN_PLACE:
        place_some(plan);
        break;
    case MAAR_PLAN_SWEEP:
        if (maar_plan_sweep_some(plan)) {
            plan->window_at = 0;
            open_window(plan);
        }
        break;
    case MAAR_PLAN_MAKE_WAY:
        make_way(plan);
        break;
    case MAAR_PLAN_REPLACE:
        replace_some(plan);
        break;
    default:
        work_back(plan);
        break;
    }
}

/* Ensures that a part of the work has the host memory that it may need. */
static bool reserve_for_part(struct maar_drain_run* run)
{
    const VkAllocationCallbacks* callbacks = run->allocator->callbacks;
    struct maar_drain_plan* plan = run->plan;
    return maar_map_reserve(&plan->map, CELLS_AT_A_TIME + 1) &&
           maar_drain_list_reserve(callbacks, &plan->heap, CELLS_AT_A_TIME, sizeof(uint32_t)) &&
           maar_drain_list_reserve(callbacks, &plan->leavers, CELLS_AT_A_TIME, sizeof(uint32_t)) &&
           maar_drain_list_reserve(callbacks, &plan->movers,
                                   plan->map.changes.count - plan->present.change_count,
                                   sizeof(uint32_t));
}

enum maar_drain_result maar_drain_plan_work(struct maar_drain_run* run)
{
    struct maar_drain_plan* plan = run->plan;
    if (!reserve_for_part(run)) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    switch (plan->phase) {
    case MAAR_PLAN_POOL:
        maar_plan_next_pool(run);
        return MAAR_DRAIN_MORE;
    case MAAR_PLAN_TAKE:
        return maar_plan_take(run);
    case MAAR_PLAN_LIST:
        maar_plan_list(run);
        return MAAR_DRAIN_MORE;
    case MAAR_PLAN_BEGIN:
        begin_some(plan);
        return MAAR_DRAIN_MORE;
    case MAAR_PLAN_SEEK:
        seek_some(plan);
        return MAAR_DRAIN_MORE;
    case MAAR_PLAN_ACCEPT:
        accept_some(plan);
        return MAAR_DRAIN_MORE;
    case MAAR_PLAN_NEXT:
        follow_try(plan, run->most_blocks);
        return MAAR_DRAIN_MORE;
    case MAAR_PLAN_SORT:
        return maar_plan_sort(run);
    case MAAR_PLAN_END:
        return MAAR_DRAIN_FINISHED;
    default:
        work_on_try(plan);
        return MAAR_DRAIN_MORE;
    }
}
