/*
 * Finds items that overlap: see plan_clash.h.
 *
 * The walk keeps the set of items at the present address. While there is no clash, items of the set
 * follow one another in time, so a new item is compared with its two neighbours in time only. Where
 * kinds are mixed, items of one kind may share a granule at the same time, and a new item is
 * compared with the whole set.
 */
#include "core/plan/plan_clash.h"

#include "core/plan/plan_graph.h"
#include "core/plan/problem/plan_rank.h"
#include "core/plan/problem/plan_rank_set.h"

struct clash_walk {
    const struct maar_plan_problem* problem;
    int64_t* offsets;
    bool drop;
    struct maar_plan_key* events; /* by address; ends before begins */
    uint32_t event_count;
    uint32_t* by_begin; /* items in the order of their begin in time */
    uint32_t* begin_rank;
    struct maar_plan_rank_set present; /* ranks */
    struct maar_plan_clash* clash;
};

static bool overlap(const struct clash_walk* walk, uint32_t a, uint32_t b)
{
    const struct maar_plan_problem* problem = walk->problem;
    const int64_t at_a = walk->offsets[a];
    const int64_t at_b = walk->offsets[b];
    if (at_a >= maar_plan_top(problem, b, at_b, a) || at_b >= maar_plan_top(problem, a, at_a, b)) {
        return false;
    }
    /* The caller answers for fixed offsets, so they are judged by the true order. */
    const bool truly =
        problem->relaxed && walk->offsets[a] == problem->fixed[a] && at_b == problem->fixed[b];
    if (!truly) {
        return maar_plan_conflicts(problem, a, b);
    }
    const uint32_t one = problem->resource[a];
    const uint32_t other = problem->resource[b];
    return !maar_plan_resource_precedes(problem->graph, one, other) &&
           !maar_plan_resource_precedes(problem->graph, other, one);
}

/* Handles a clash. Returns whether the new item is dropped, or the walk ends. */
static bool loses(struct clash_walk* walk, uint32_t item, uint32_t other)
{
    const struct maar_plan_problem* problem = walk->problem;
    if (!walk->drop) {
        *walk->clash = (struct maar_plan_clash){
            .found = true,
            .one = item < other ? item : other,
            .other = item < other ? other : item,
        };
        return true;
    }
    const bool stays = problem->fixed[item] >= 0 ||
                       (problem->fixed[other] < 0 && problem->bytes[item] > problem->bytes[other]);
    const uint32_t loser = stays ? other : item;
    walk->offsets[loser] = -1;
    if (stays) {
        maar_plan_rank_set_remove(&walk->present, walk->begin_rank[other]);
    }
    return !stays;
}

/* Compares a new item with the items at its address, in the direction of time. Returns whether it
 * is dropped, or the walk ends. */
static bool meet(struct clash_walk* walk, uint32_t item, bool forward)
{
    const bool all = walk->problem->mixed;
    uint32_t rank = walk->begin_rank[item];
    for (;;) {
        rank = forward ? maar_plan_rank_set_next(&walk->present, rank + 1)
                       : maar_plan_rank_set_before(&walk->present, rank);
        if (rank == UINT32_MAX) {
            return false;
        }
        const uint32_t other = walk->by_begin[rank];
        const bool clashes = overlap(walk, item, other);
        if (clashes && loses(walk, item, other)) {
            return true;
        }
        if (!clashes && !all) {
            return false;
        }
    }
}

static void walk_events(struct clash_walk* walk)
{
    for (uint32_t k = 0; k < walk->event_count && !walk->clash->found; ++k) {
        const uint32_t item = walk->events[k].item;
        if (walk->offsets[item] < 0) {
            continue; /* dropped */
        }
        if (walk->events[k].second != 0) {
            maar_plan_rank_set_remove(&walk->present, walk->begin_rank[item]);
        } else if (!meet(walk, item, false) && !meet(walk, item, true)) {
            maar_plan_rank_set_add(&walk->present, walk->begin_rank[item]);
        }
    }
}

static void list_clash_events(struct clash_walk* walk, struct maar_plan_key* other)
{
    const struct maar_plan_problem* problem = walk->problem;
    const uint64_t granule = problem->mixed ? problem->granularity : 1;
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (walk->offsets[i] < 0) {
            continue;
        }
        const uint64_t begin = (uint64_t)walk->offsets[i] * problem->unit;
        const uint64_t end = begin + problem->bytes[i];
        walk->events[walk->event_count++] =
            (struct maar_plan_key){.first = UINT64_MAX - begin / granule, .item = i};
        walk->events[walk->event_count++] = (struct maar_plan_key){
            .first = UINT64_MAX - ((end - 1) / granule + 1), .second = 1, .item = i};
    }
    maar_plan_sort_keys(walk->events, other, walk->event_count);
}

VkResult maar_plan_find_clash(const struct maar_plan_problem* problem, int64_t* offsets, bool drop,
                              struct maar_host_stack* stack, struct maar_plan_clash* clash)
{
    const uint32_t count = problem->count;
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct maar_plan_key* order = NULL;
    struct maar_plan_key* other = maar_stack_grab(stack, count, 2 * sizeof *other);
    struct clash_walk walk = {
        .problem = problem,
        .offsets = offsets,
        .drop = drop,
        .events = maar_stack_grab(stack, count, 2 * sizeof *walk.events),
        .by_begin = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .begin_rank = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .clash = clash,
    };
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    *clash = (struct maar_plan_clash){.found = false};
    if (other != NULL && walk.events != NULL && walk.by_begin != NULL && walk.begin_rank != NULL &&
        maar_plan_rank_set_init(&walk.present, count, stack)) {
        result = maar_plan_order_by_begin(problem, stack, &order);
    }
    if (result == VK_SUCCESS) {
        for (uint32_t k = 0; k < count; ++k) {
            walk.by_begin[k] = order[k].item;
            walk.begin_rank[order[k].item] = k;
        }
        list_clash_events(&walk, other);
        walk_events(&walk);
    }
    maar_stack_return(stack, mark);
    return result;
}
