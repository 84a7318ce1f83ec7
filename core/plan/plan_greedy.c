/*
 * Quick placements: the orders that engines and inference runtimes use, and skylines. A skyline
 * always places the item that can lie lowest. Where several items can lie equally low, a fixed rank
 * decides. The exact search has to find a lower peak than the best of these placements.
 */
#include "core/plan/plan_greedy.h"

#include "core/plan/plan_apart.h"
#include "core/plan/plan_quick.h"
#include "core/plan/plan_skyline.h"
#include "core/plan/problem/plan_rank.h"

#include <string.h>

/* The largest number of items of a plan for orders that check each pair of items. Function suits()
 * says which orders larger problems get. */
enum { MAX_PAIRWISE = 4096 };
/* Steps between two readings of the clock. One step looks at all items, or, in skylines, at a few
 * sections. */
enum { PAIRED_PER_LOOK = 16, CHECKS_PER_LOOK = 1024 };
/* A skyline checks an item again and again while other items rise below it. After this number of
 * checks, and 16 for each item, no further skyline of a problem is placed in this way: one
 * that ends early is of no use. The number is above the square of two thousand items, so only
 * larger problems can reach it. Above MAX_PAIRWISE items it is a quarter, which all classes of the
 * plan share, so that 65,536 items take a second. */
enum { MOST_CHECKS = 1 << 22, CHECKS_PER_ITEM = 16 };

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

/* What all orders of one problem share. */
struct greedy {
    const struct maar_plan_problem* problem;
    struct maar_plan_budget* budget;
    struct maar_plan_measure* measures;
    struct maar_plan_key* keys;
    struct maar_plan_key* other_keys;
    uint32_t* order;
    uint32_t* rank; /* per item: its place in the order */
    int64_t* offsets;
    /* items not placed: a heap by `lowest`, or with several queues a list by rank */
    uint32_t* heap;
    int64_t* lowest; /* per item: its lowest offset when it was last checked */
    int64_t* floors; /* per clique and kind: the end of the highest item, units */
    /* Large problems: the quick placements, and trees in the place of `floors`. */
    struct maar_plan_quick* quick;
    struct maar_plan_skyline* skyline; /* of large problems of one kind */
    struct maar_plan_apart* apart;     /* of large problems of mixed kinds */
    uint64_t checks_left;              /* of skylines that check items again */
    bool may_stop; /* an order may end early, since there is a placement already */
};

/* Whether an order ends early after this number of steps. */
static bool is_stopped(const struct greedy* greedy, uint64_t steps, uint64_t per_look)
{
    return greedy->may_stop && steps % per_look == 0 && maar_plan_interrupted(greedy->budget);
}

/* Lists the fixed items by offset. Returns their number. */
static uint32_t list_fixed(struct greedy* greedy, uint32_t* placed)
{
    const struct maar_plan_problem* problem = greedy->problem;
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (problem->fixed[i] >= 0) {
            greedy->offsets[i] = problem->fixed[i];
            greedy->keys[count++] = (struct maar_plan_key){
                .first = UINT64_MAX - (uint64_t)problem->fixed[i], .item = i};
        }
    }
    maar_plan_sort_keys(greedy->keys, greedy->other_keys, count);
    for (uint32_t k = 0; k < count; ++k) {
        placed[k] = greedy->keys[k].item;
    }
    return count;
}

/* Makes one placement: first the fixed items, then every other item in the given order at its
 * lowest offset or, if `tightest` is true, in the smallest gap that holds it. Returns false if it
 * ended early. */
static bool fit_in_order(struct greedy* greedy, bool tightest)
{
    const struct maar_plan_problem* problem = greedy->problem;
    uint32_t* placed = greedy->heap;
    int64_t* offsets = greedy->offsets;
    uint32_t placed_count = list_fixed(greedy, placed);
    for (uint32_t k = 0; k < problem->count; ++k) {
        const uint32_t item = greedy->order[k];
        if (problem->fixed[item] >= 0) {
            continue;
        }
        if (is_stopped(greedy, placed_count, PAIRED_PER_LOOK)) {
            return false;
        }
        offsets[item] = find_offset(problem, placed, placed_count, item, tightest, offsets);
        insert_by_offset(placed, placed_count++, item, offsets);
    }
    return true;
}

static bool is_lower(const struct greedy* greedy, uint32_t a, uint32_t b)
{
    return greedy->lowest[a] < greedy->lowest[b] ||
           (greedy->lowest[a] == greedy->lowest[b] && greedy->rank[a] < greedy->rank[b]);
}

/* Moves the top item of a heap down to its place. */
static void sift_down(struct greedy* greedy, uint32_t count)
{
    uint32_t at = 0;
    uint32_t* heap = greedy->heap;
    const uint32_t item = heap[0];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && is_lower(greedy, heap[child + 1], heap[child])) {
            ++child;
        }
        if (!is_lower(greedy, heap[child], item)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

/* Returns the lowest offset for an item on top of all items placed in its sections. */
static int64_t lowest_now(const struct greedy* greedy, uint32_t item)
{
    const struct maar_plan_problem* problem = greedy->problem;
    if (greedy->quick != NULL) {
        return maar_plan_quick_top(greedy->quick, item);
    }
    const uint32_t kinds = problem->mixed ? 3 : 1;
    int64_t at = 0;
    for (uint32_t s = problem->first[item]; s <= problem->last[item]; ++s) {
        for (uint32_t k = 0; k < kinds; ++k) {
            int64_t floor = greedy->floors[(size_t)s * kinds + k];
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

static void raise_floors(struct greedy* greedy, uint32_t item, int64_t offset)
{
    const struct maar_plan_problem* problem = greedy->problem;
    if (greedy->quick != NULL) {
        maar_plan_quick_raise(greedy->quick, item, offset);
        return;
    }
    const uint32_t kinds = problem->mixed ? 3 : 1;
    const int64_t top = offset + problem->size[item];
    for (uint32_t s = problem->first[item]; s <= problem->last[item]; ++s) {
        int64_t* floor = &greedy->floors[(size_t)s * kinds + problem->kind_index[item]];
        *floor = top > *floor ? top : *floor;
    }
}

static void reset_floors(struct greedy* greedy)
{
    const struct maar_plan_problem* problem = greedy->problem;
    const uint32_t kinds = problem->mixed ? 3 : 1;
    for (uint32_t k = 0; k < kinds && greedy->quick != NULL; ++k) {
        maar_plan_floors_reset(&greedy->quick->floors[k]);
    }
    if (greedy->quick == NULL) {
        memset(greedy->floors, 0, (size_t)problem->clique_count * kinds * sizeof *greedy->floors);
    }
}

/* Whether orders may take steps in the square of the items. The classes of a plan share the square
 * of MAX_PAIRWISE in proportion to their items. */
static bool may_compare_pairs(const struct maar_plan_problem* problem)
{
    const uint64_t pairs = (uint64_t)problem->count * problem->graph->count;
    return problem->count <= MAAR_PLAN_SMALL || pairs <= (uint64_t)MAX_PAIRWISE * MAX_PAIRWISE;
}

/* The most checks of all skylines of a problem. */
static uint64_t most_checks(const struct maar_plan_problem* problem)
{
    const uint64_t shared = (uint64_t)MOST_CHECKS / 4 * problem->count / problem->graph->count;
    return (may_compare_pairs(problem) ? MOST_CHECKS : shared) +
           (uint64_t)problem->count * CHECKS_PER_ITEM;
}

/*
 * Places a skyline for intervals without fixed offsets. The lowest offset of an item can only rise
 * while other items are placed. So an item's place in the heap is corrected when the item reaches
 * the top. Returns false if it ended early, by the clock or after too many checks.
 */
static bool place_skyline(struct greedy* greedy)
{
    const struct maar_plan_problem* problem = greedy->problem;
    uint64_t steps = 0;
    reset_floors(greedy);
    memset(greedy->lowest, 0, problem->count * sizeof *greedy->lowest);
    /* All lowest offsets are equal at first, so the order of ranks is a heap. */
    memcpy(greedy->heap, greedy->order, problem->count * sizeof *greedy->heap);
    for (uint32_t left = problem->count; left > 0;) {
        const uint32_t item = greedy->heap[0];
        const int64_t at = lowest_now(greedy, item);
        if (greedy->checks_left == 0 || is_stopped(greedy, ++steps, CHECKS_PER_LOOK)) {
            return false;
        }
        if (at > greedy->lowest[item]) {
            --greedy->checks_left;
            greedy->lowest[item] = at;
            sift_down(greedy, left);
            continue;
        }
        greedy->offsets[item] = at;
        raise_floors(greedy, item, at);
        greedy->heap[0] = greedy->heap[--left];
        if (left > 0) {
            sift_down(greedy, left);
        }
    }
    return true;
}

/* Places a skyline for several queues. Checks each pair of items for a conflict. Returns false if
 * it ended early. */
static bool place_skyline_pairwise(struct greedy* greedy)
{
    const struct maar_plan_problem* problem = greedy->problem;
    uint32_t left = problem->count;
    uint32_t* list = greedy->heap;
    int64_t* lowest = greedy->lowest;
    memset(lowest, 0, problem->count * sizeof *lowest);
    memcpy(list, greedy->order, problem->count * sizeof *list);
    while (left > 0) {
        uint32_t best = 0;
        if (is_stopped(greedy, left, PAIRED_PER_LOOK)) {
            return false;
        }
        for (uint32_t k = 1; k < left; ++k) {
            if (lowest[list[k]] < lowest[list[best]]) {
                best = k;
            }
        }
        const uint32_t item = list[best];
        const int64_t offset = lowest[item];
        greedy->offsets[item] = offset;
        memmove(list + best, list + best + 1, (--left - best) * sizeof *list);
        for (uint32_t k = 0; k < left; ++k) {
            const uint32_t other = list[k];
            if (maar_plan_conflicts(problem, item, other)) {
                const int64_t top = maar_plan_align_up(maar_plan_top(problem, item, offset, other),
                                                       problem->align[other]);
                lowest[other] = top > lowest[other] ? top : lowest[other];
            }
        }
    }
    return true;
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

static VkResult create_greedy(const struct maar_plan_problem* problem,
                              struct maar_plan_budget* budget, struct maar_host_stack* stack,
                              struct greedy* greedy)
{
    const uint32_t count = problem->count;
    *greedy = (struct greedy){
        .problem = problem,
        .budget = budget,
        .checks_left = most_checks(problem),
        .keys = maar_stack_grab(stack, count, sizeof *greedy->keys),
        .other_keys = maar_stack_grab(stack, count, sizeof *greedy->other_keys),
        .order = maar_stack_grab(stack, count, sizeof *greedy->order),
        .rank = maar_stack_grab(stack, count, sizeof *greedy->rank),
        .offsets = maar_stack_grab(stack, count, sizeof *greedy->offsets),
        .floors = maar_stack_grab(stack, (size_t)problem->clique_count * 3, sizeof(int64_t)),
        .lowest = maar_stack_grab(stack, count, sizeof(int64_t)),
        .heap = maar_stack_grab(stack, count, sizeof(uint32_t)),
    };
    const bool complete = greedy->keys != NULL && greedy->other_keys != NULL &&
                          greedy->order != NULL && greedy->rank != NULL &&
                          greedy->offsets != NULL && greedy->floors != NULL &&
                          greedy->lowest != NULL && greedy->heap != NULL;
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

/* The most checks of pairs for one order of a large problem with fixed offsets: a fifth of a
 * second. */
enum { MOST_PAIRS = 1 << 27 };

/* Returns whether an order suits a problem. Skylines do not support fixed offsets. With many items,
 * checks of each pair take too long: they are made only for the items around fixed ones, where
 * these items are few. */
static bool suits(const struct maar_plan_problem* problem, const struct greedy_order* by,
                  uint32_t fixed_count)
{
    if (by->way == WAY_SKYLINE) {
        return fixed_count == 0 && (problem->conflict == NULL || may_compare_pairs(problem));
    }
    const uint64_t pairs = (uint64_t)(problem->count - fixed_count) * problem->count;
    return may_compare_pairs(problem) || (fixed_count > 0 && by->first == KEY_BEGIN &&
                                          by->way == WAY_LOWEST && pairs <= MOST_PAIRS);
}

/* Takes over a placement if its peak is the lowest so far. */
static void take_if_lower(const struct greedy* greedy, int64_t* offsets, uint64_t* peak)
{
    const uint64_t found = maar_plan_peak(greedy->problem, greedy->offsets);
    if (found < *peak) {
        *peak = found;
        memcpy(offsets, greedy->offsets, greedy->problem->count * sizeof *offsets);
    }
}

/* Whether whole granules for each item of mixed kinds take so much room that the kinds had better
 * lie apart: as a rule, items smaller than granules. */
static bool is_apart_better(const struct maar_plan_problem* problem)
{
    const uint64_t granule = problem->granularity;
    uint64_t bytes = 0;
    uint64_t rounded = 0;
    for (uint32_t i = 0; i < problem->count && problem->mixed; ++i) {
        bytes += problem->bytes[i];
        rounded += maar_align_up(problem->bytes[i], granule);
    }
    /* The peak grows by `rounded / bytes` in the one way, by two alignments at most in the other.
     */
    return problem->mixed &&
           rounded / bytes > 2 + 4 * problem->alignment / (problem->lower_bound + 1);
}

/* Places all items by one or two ways through time. Returns false if it cannot. */
static bool place_both_ways(struct greedy* greedy, struct maar_plan_quick* quick, bool apart,
                            int64_t* offsets, uint64_t* peak)
{
    for (uint32_t way = 0; way < 2; ++way) {
        const bool backward = way == 1;
        const bool placed = apart ? maar_plan_quick_apart(quick, backward, greedy->offsets)
                                  : maar_plan_quick_pass(quick, backward, greedy->offsets);
        if (placed) {
            take_if_lower(greedy, offsets, peak);
        }
        if (!placed || maar_plan_interrupted(greedy->budget)) {
            return placed || backward;
        }
    }
    return true;
}

/* Prepares skylines of a large problem. */
static void open_skylines(struct greedy* greedy, const struct maar_plan_problem* problem,
                          struct maar_host_stack* stack)
{
    if (problem->mixed) {
        greedy->apart = maar_plan_open_apart(problem, stack);
    } else {
        greedy->skyline = maar_plan_open_skyline(problem, stack);
    }
    greedy->budget->cut_short |= greedy->apart == NULL && greedy->skyline == NULL;
}

/* A large problem gets a placement in near-linear time first. So there is one, however early time
 * is up. */
static VkResult place_quickly(struct greedy* greedy, struct maar_host_stack* stack,
                              uint32_t fixed_count, int64_t* offsets, uint64_t* peak)
{
    const struct maar_plan_problem* problem = greedy->problem;
    const bool apart = fixed_count == 0 && is_apart_better(problem);
    struct maar_plan_quick* quick = maar_stack_grab(stack, 1, sizeof *quick);
    if (quick == NULL || maar_plan_quick_init(quick, problem, stack) != VK_SUCCESS) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (fixed_count > 0 || !place_both_ways(greedy, quick, apart, offsets, peak)) {
        maar_plan_quick_stack(quick, quick->by_first, greedy->offsets);
        take_if_lower(greedy, offsets, peak);
    }
    greedy->may_stop = true;
    if (problem->mixed && fixed_count == 0 && !maar_plan_interrupted(greedy->budget)) {
        (void)place_both_ways(greedy, quick, !apart, offsets, peak);
    }
    if (problem->conflict == NULL && problem->clique_count > MAAR_PLAN_FEW_CLIQUES) {
        greedy->quick = quick;
    }
    if (problem->conflict == NULL && (!problem->mixed || !may_compare_pairs(problem)) &&
        fixed_count == 0 && !maar_plan_interrupted(greedy->budget)) {
        open_skylines(greedy, problem, stack);
    }
    return VK_SUCCESS;
}

static bool place_by(struct greedy* greedy, const struct greedy_order* by)
{
    sort_items(greedy, by);
    if (by->way != WAY_SKYLINE) {
        return fit_in_order(greedy, by->way == WAY_TIGHTEST);
    }
    if (greedy->skyline != NULL) {
        return maar_plan_place_skyline(greedy->skyline, greedy->order, greedy->rank, greedy->budget,
                                       greedy->offsets);
    }
    return greedy->problem->conflict == NULL ? place_skyline(greedy)
                                             : place_skyline_pairwise(greedy);
}

VkResult maar_plan_greedy(const struct maar_plan_problem* problem, struct maar_host_stack* stack,
                          uint64_t enough, struct maar_plan_budget* budget, int64_t* offsets,
                          uint64_t* peak)
{
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct greedy greedy;
    VkResult result = create_greedy(problem, budget, stack, &greedy);
    uint32_t fixed_count = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        fixed_count += problem->fixed[i] >= 0 ? 1 : 0;
    }
    *peak = UINT64_MAX;
    if (result == VK_SUCCESS && problem->count > MAAR_PLAN_SMALL) {
        result = place_quickly(&greedy, stack, fixed_count, offsets, peak);
    }
    const size_t order_count = sizeof greedy_orders / sizeof greedy_orders[0];
    bool done = greedy.may_stop && (*peak <= enough || maar_plan_interrupted(budget));
    if (result == VK_SUCCESS && !done) {
        result = maar_plan_measure_items(problem, stack, &greedy.measures);
    }
    for (size_t k = 0; result == VK_SUCCESS && k < order_count && !done; ++k) {
        const struct greedy_order* by = &greedy_orders[k];
        if (!suits(problem, by, fixed_count)) {
            continue;
        }
        if (place_by(&greedy, by)) {
            take_if_lower(&greedy, offsets, peak);
        }
        if (greedy.apart != NULL && by->way == WAY_SKYLINE && !maar_plan_interrupted(budget) &&
            maar_plan_place_apart(greedy.apart, greedy.order, budget, greedy.offsets)) {
            take_if_lower(&greedy, offsets, peak);
        }
        done = *peak <= enough || maar_plan_interrupted(budget);
    }
    maar_stack_return(stack, mark);
    return result;
}
