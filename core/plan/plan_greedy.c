/*
 * Quick placements: the orders that engines and inference runtimes use, and skylines. A skyline
 * always places the item that can lie lowest. Where several items can lie equally low, a fixed rank
 * decides. The exact search has to find a lower peak than the best of these placements.
 */
#include "core/plan/plan_greedy.h"

#include "core/plan/problem/plan_rank.h"

#include <string.h>

/* The largest number of items for orders that check each pair of items. Function suits() says which
 * orders larger problems get. */
enum { MAX_PAIRWISE = 4096 };

/* Returns the end of an item, or the end of its granule where kinds are mixed. */
static int64_t far_top(const struct maar_plan_problem* problem, uint32_t item, int64_t offset)
{
    if (!problem->mixed) {
        return offset + problem->size[item];
    }
    return maar_plan_granule_top(problem, (uint64_t)offset * problem->unit + problem->bytes[item]);
}

/* Returns the lowest offset for an item among the placed items, which are sorted by offset. If
 * `tightest` is true, returns the offset in the smallest gap that holds the item. */
static int64_t find_offset(const struct maar_plan_problem* problem, const uint32_t* placed,
                           uint32_t placed_count, uint32_t item, bool tightest,
                           const int64_t* offsets)
{
    int64_t at = 0;
    int64_t best = -1;
    int64_t best_gap = INT64_MAX;
    for (uint32_t k = 0; k < placed_count; ++k) {
        const uint32_t other = placed[k];
        if (!maar_plan_conflicts(problem, item, other)) {
            continue;
        }
        const int64_t offset = offsets[other];
        if (offset >= far_top(problem, item, at)) {
            if (!tightest) {
                return at;
            }
            if (offset - at < best_gap) {
                best = at;
                best_gap = offset - at;
            }
        }
        const int64_t top = maar_plan_top(problem, other, offset, item);
        if (top > at) {
            at = maar_plan_align_up(top, problem->align[item]);
        }
    }
    return best >= 0 ? best : at;
}

static void insert_by_offset(uint32_t* placed, uint32_t placed_count, uint32_t item,
                             const int64_t* offsets)
{
    uint32_t at = placed_count;
    while (at > 0 && offsets[placed[at - 1]] > offsets[item]) {
        --at;
    }
    memmove(placed + at + 1, placed + at, (placed_count - at) * sizeof *placed);
    placed[at] = item;
}

/* Makes one placement: first the fixed items, then every other item in the given order at its
 * lowest offset or, if `tightest` is true, in the smallest gap that holds it. `scratch` has room
 * for all items. */
static void fit_in_order(const struct maar_plan_problem* problem, const uint32_t* order,
                         bool tightest, int64_t* offsets, uint32_t* scratch)
{
    uint32_t placed_count = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (problem->fixed[i] >= 0) {
            offsets[i] = problem->fixed[i];
            insert_by_offset(scratch, placed_count++, i, offsets);
        }
    }
    for (uint32_t k = 0; k < problem->count; ++k) {
        const uint32_t item = order[k];
        if (problem->fixed[item] < 0) {
            offsets[item] = find_offset(problem, scratch, placed_count, item, tightest, offsets);
            insert_by_offset(scratch, placed_count++, item, offsets);
        }
    }
}

struct skyline {
    const struct maar_plan_problem* problem;
    const uint32_t* rank; /* per item */
    int64_t* floors;      /* per clique and kind: the end of the highest item, units */
    int64_t* lowest;      /* per item: its lowest offset when it was last checked */
    /* items not placed: a heap by `lowest`, or with several queues a list by rank */
    uint32_t* heap;
};

static bool is_lower(const struct skyline* skyline, uint32_t a, uint32_t b)
{
    return skyline->lowest[a] < skyline->lowest[b] ||
           (skyline->lowest[a] == skyline->lowest[b] && skyline->rank[a] < skyline->rank[b]);
}

/* Moves the top item of a heap down to its place. */
static void sift_down(struct skyline* skyline, uint32_t count)
{
    uint32_t at = 0;
    const uint32_t item = skyline->heap[0];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count &&
            is_lower(skyline, skyline->heap[child + 1], skyline->heap[child])) {
            ++child;
        }
        if (!is_lower(skyline, skyline->heap[child], item)) {
            break;
        }
        skyline->heap[at] = skyline->heap[child];
        at = child;
    }
    skyline->heap[at] = item;
}

/* Returns the lowest offset for an item on top of all items placed in its sections. */
static int64_t lowest_now(const struct skyline* skyline, uint32_t item)
{
    const struct maar_plan_problem* problem = skyline->problem;
    const uint32_t kinds = problem->mixed ? 3 : 1;
    int64_t at = 0;
    for (uint32_t s = problem->first[item]; s <= problem->last[item]; ++s) {
        for (uint32_t k = 0; k < kinds; ++k) {
            int64_t floor = skyline->floors[(size_t)s * kinds + k];
            if (problem->mixed && floor > 0) {
                floor = k == problem->kind_index[item]
                            ? floor
                            : (int64_t)((uint64_t)maar_plan_granule_top(
                                  problem, (uint64_t)floor * problem->unit));
            }
            at = floor > at ? floor : at;
        }
    }
    return maar_plan_align_up(at, problem->align[item]);
}

static void raise_floors(struct skyline* skyline, uint32_t item, int64_t offset)
{
    const struct maar_plan_problem* problem = skyline->problem;
    const uint32_t kinds = problem->mixed ? 3 : 1;
    const int64_t top = offset + problem->size[item];
    for (uint32_t s = problem->first[item]; s <= problem->last[item]; ++s) {
        int64_t* floor = &skyline->floors[(size_t)s * kinds + problem->kind_index[item]];
        *floor = top > *floor ? top : *floor;
    }
}

/*
 * Places a skyline for one queue without fixed offsets. The lowest offset of an item can only rise
 * while other items are placed. So an item's place in the heap is corrected when the item reaches
 * the top.
 */
static void place_skyline(struct skyline* skyline, const uint32_t* order, int64_t* offsets)
{
    const struct maar_plan_problem* problem = skyline->problem;
    const uint32_t kinds = problem->mixed ? 3 : 1;
    memset(skyline->floors, 0, (size_t)problem->clique_count * kinds * sizeof *skyline->floors);
    memset(skyline->lowest, 0, problem->count * sizeof *skyline->lowest);
    /* All lowest offsets are equal at first, so the order of ranks is a heap. */
    memcpy(skyline->heap, order, problem->count * sizeof *skyline->heap);
    for (uint32_t left = problem->count; left > 0;) {
        const uint32_t item = skyline->heap[0];
        const int64_t at = lowest_now(skyline, item);
        if (at > skyline->lowest[item]) {
            skyline->lowest[item] = at;
            sift_down(skyline, left);
            continue;
        }
        offsets[item] = at;
        raise_floors(skyline, item, at);
        skyline->heap[0] = skyline->heap[--left];
        if (left > 0) {
            sift_down(skyline, left);
        }
    }
}

/* Places a skyline for several queues. Checks each pair of items for a conflict. */
static void place_skyline_pairwise(struct skyline* skyline, const uint32_t* order, int64_t* offsets)
{
    const struct maar_plan_problem* problem = skyline->problem;
    uint32_t left = problem->count;
    memset(skyline->lowest, 0, problem->count * sizeof *skyline->lowest);
    memcpy(skyline->heap, order, problem->count * sizeof *skyline->heap);
    while (left > 0) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < left; ++k) {
            if (skyline->lowest[skyline->heap[k]] < skyline->lowest[skyline->heap[best]]) {
                best = k;
            }
        }
        const uint32_t item = skyline->heap[best];
        offsets[item] = skyline->lowest[item];
        memmove(skyline->heap + best, skyline->heap + best + 1,
                (--left - best) * sizeof *skyline->heap);
        for (uint32_t k = 0; k < left; ++k) {
            const uint32_t other = skyline->heap[k];
            if (maar_plan_conflicts(problem, item, other)) {
                const int64_t top = maar_plan_align_up(
                    maar_plan_top(problem, item, offsets[item], other), problem->align[other]);
                skyline->lowest[other] =
                    top > skyline->lowest[other] ? top : skyline->lowest[other];
            }
        }
    }
}

/* The key by which items are sorted, and how they are placed in that order. */
enum greedy_key { KEY_SPAN, KEY_TOTAL, KEY_AREA, KEY_SIZE, KEY_BEGIN };
enum greedy_way { WAY_SKYLINE, WAY_LOWEST, WAY_TIGHTEST };

static const struct greedy_order {
    enum greedy_key first;
    enum greedy_key second;
    enum greedy_way way;
} greedy_orders[] = {
    {KEY_SPAN, KEY_AREA, WAY_SKYLINE},  {KEY_TOTAL, KEY_AREA, WAY_SKYLINE},
    {KEY_TOTAL, KEY_SPAN, WAY_SKYLINE}, {KEY_AREA, KEY_SPAN, WAY_SKYLINE},
    {KEY_SIZE, KEY_SPAN, WAY_TIGHTEST}, {KEY_SIZE, KEY_SPAN, WAY_LOWEST},
    {KEY_BEGIN, KEY_SIZE, WAY_LOWEST},  {KEY_BEGIN, KEY_SIZE, WAY_TIGHTEST},
    {KEY_SPAN, KEY_SIZE, WAY_LOWEST},   {KEY_SPAN, KEY_SIZE, WAY_TIGHTEST},
    {KEY_TOTAL, KEY_SIZE, WAY_LOWEST},  {KEY_TOTAL, KEY_SIZE, WAY_TIGHTEST},
    {KEY_AREA, KEY_SIZE, WAY_LOWEST},   {KEY_AREA, KEY_SIZE, WAY_TIGHTEST},
};

static uint64_t key_of(const struct maar_plan_measure* measure, enum greedy_key key)
{
    switch (key) {
    case KEY_SPAN:
        return measure->span;
    case KEY_TOTAL:
        return measure->total;
    case KEY_AREA:
        return measure->area;
    case KEY_SIZE:
        return measure->size;
    case KEY_BEGIN:
        return UINT64_MAX - measure->begin;
    }
    return 0;
}

struct greedy {
    const struct maar_plan_problem* problem;
    struct maar_plan_measure* measures;
    struct maar_plan_key* keys;
    struct maar_plan_key* other_keys;
    uint32_t* order;
    uint32_t* rank;
    int64_t* offsets;
    struct skyline skyline;
};

static VkResult create_greedy(const struct maar_plan_problem* problem,
                              struct maar_host_stack* stack, struct greedy* greedy)
{
    const uint32_t count = problem->count;
    *greedy = (struct greedy){
        .problem = problem,
        .keys = maar_stack_grab(stack, count, sizeof *greedy->keys),
        .other_keys = maar_stack_grab(stack, count, sizeof *greedy->other_keys),
        .order = maar_stack_grab(stack, count, sizeof *greedy->order),
        .rank = maar_stack_grab(stack, count, sizeof *greedy->rank),
        .offsets = maar_stack_grab(stack, count, sizeof *greedy->offsets),
    };
    const VkResult result = maar_plan_measure_items(problem, stack, &greedy->measures);
    greedy->skyline = (struct skyline){
        .problem = problem,
        .rank = greedy->rank,
        .floors = maar_stack_grab(stack, (size_t)problem->clique_count * 3, sizeof(int64_t)),
        .lowest = maar_stack_grab(stack, count, sizeof(int64_t)),
        .heap = maar_stack_grab(stack, count, sizeof(uint32_t)),
    };
    const bool complete = result == VK_SUCCESS && greedy->keys != NULL &&
                          greedy->other_keys != NULL && greedy->order != NULL &&
                          greedy->rank != NULL && greedy->offsets != NULL &&
                          greedy->skyline.floors != NULL && greedy->skyline.lowest != NULL &&
                          greedy->skyline.heap != NULL;
    return complete ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void sort_items(struct greedy* greedy, const struct greedy_order* by)
{
    for (uint32_t i = 0; i < greedy->problem->count; ++i) {
        greedy->keys[i] = (struct maar_plan_key){
            .first = key_of(&greedy->measures[i], by->first),
            .second = key_of(&greedy->measures[i], by->second),
            .item = i,
        };
    }
    maar_plan_sort_keys(greedy->keys, greedy->other_keys, greedy->problem->count);
    for (uint32_t k = 0; k < greedy->problem->count; ++k) {
        greedy->order[k] = greedy->keys[k].item;
        greedy->rank[greedy->keys[k].item] = k;
    }
}

/* Returns whether an order suits a problem. Skylines do not support fixed offsets. With many items,
 * checks of each pair take too long. Then only one order with such checks is tried, and only where
 * no skyline is. */
static bool suits(const struct maar_plan_problem* problem, const struct greedy_order* by,
                  bool has_fixed)
{
    if (by->way == WAY_SKYLINE) {
        return !has_fixed && (problem->conflict == NULL || problem->count <= MAX_PAIRWISE);
    }
    return problem->count <= MAX_PAIRWISE || ((has_fixed || problem->conflict != NULL) &&
                                              by->first == KEY_BEGIN && by->way == WAY_LOWEST);
}

VkResult maar_plan_greedy(const struct maar_plan_problem* problem, struct maar_host_stack* stack,
                          uint64_t enough, struct maar_plan_budget* budget, int64_t* offsets,
                          uint64_t* peak)
{
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct greedy greedy;
    const VkResult result = create_greedy(problem, stack, &greedy);
    bool has_fixed = false;
    for (uint32_t i = 0; i < problem->count; ++i) {
        has_fixed |= problem->fixed[i] >= 0;
    }
    *peak = UINT64_MAX;
    const size_t order_count = sizeof greedy_orders / sizeof greedy_orders[0];
    bool done = false;
    for (size_t k = 0; result == VK_SUCCESS && k < order_count && !done; ++k) {
        const struct greedy_order* by = &greedy_orders[k];
        if (!suits(problem, by, has_fixed)) {
            continue;
        }
        sort_items(&greedy, by);
        if (by->way != WAY_SKYLINE) {
            fit_in_order(problem, greedy.order, by->way == WAY_TIGHTEST, greedy.offsets,
                         greedy.skyline.heap);
        } else if (problem->conflict == NULL) {
            place_skyline(&greedy.skyline, greedy.order, greedy.offsets);
        } else {
            place_skyline_pairwise(&greedy.skyline, greedy.order, greedy.offsets);
        }
        const uint64_t found = maar_plan_peak(problem, greedy.offsets);
        if (found < *peak) {
            *peak = found;
            memcpy(offsets, greedy.offsets, problem->count * sizeof *offsets);
        }
        done = *peak <= enough || maar_plan_interrupted(budget);
    }
    maar_stack_return(stack, mark);
    return result;
}
