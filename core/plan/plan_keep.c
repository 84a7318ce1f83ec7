/*
 * Replanning: items stay at their offsets of the previous plan where they can, within the peak that
 * a fresh plan needs. These items are fixed, and the other items are placed around them. If the
 * peak would rise, fewer items are fixed. The items that conflict with the most new items lose
 * their offset first.
 */
#include "core/plan/plan_keep.h"

#include "core/plan/exact/exact.h"
#include "core/plan/plan_clash.h"
#include "core/plan/plan_greedy.h"
#include "core/plan/plan_result.h"
#include "core/plan/problem/plan_rank.h"

#include <string.h>

/* The most nodes of one trial's search. */
enum { TRIAL_NODES = 5000 };

/* The most trials with more than MAAR_PLAN_SMALL items. Each takes as long as a fresh plan. */
enum { MOST_TRIALS = 8 };

/* The number of items between two readings of the clock. With several queues each of them is
 * compared with all other items, of which there are a few thousand. */
enum { ITEMS_PER_LOOK = 64 };

struct keeper {
    const struct maar_plan_problem* problem;
    const MaarPlanCreateInfo* info;
    uint64_t peak;
    int64_t* previous; /* per item: units, or -1 if it cannot stay */
    struct maar_plan_key* keys;
    uint32_t kept_count;
};

/* Returns the previous offset of an item in units, or -1 if it had none or cannot lie there again.
 * */
static int64_t recall_offset(const struct keeper* keeper, uint32_t item)
{
    const struct maar_plan_problem* problem = keeper->problem;
    const MaarPlanCreateInfo* info = keeper->info;
    const struct MaarPlan_T* previous = info->previous;
    const uint32_t resource = problem->resource[item];
    uint64_t offset = 0;
    if (!maar_plan_previous_offset(info, resource, &offset) || offset % problem->unit != 0 ||
        offset + problem->bytes[item] > keeper->peak) {
        return -1;
    }
    const uint32_t index =
        info->previousIndexCount != 0 ? info->pPreviousIndices[resource] : resource;
    const MaarPlanClass* class = &previous->classes[previous->placements[index].classIndex];
    return (class->memoryTypeBits & problem->type_bits) != 0 ? (int64_t)(offset / problem->unit)
                                                             : -1;
}

/* Looks up the previous offset of each item without a fixed offset. Whether other items are in the
 * way is checked later (resolve_clashes). */
static void recall_offsets(struct keeper* keeper)
{
    for (uint32_t i = 0; i < keeper->problem->count; ++i) {
        keeper->previous[i] = keeper->problem->fixed[i] < 0 ? recall_offset(keeper, i) : -1;
    }
}

/* Drops previous offsets until the remaining ones do not overlap. The larger of two items keeps its
 * offset. Returns false when host memory was short. */
static bool resolve_clashes(struct keeper* keeper, struct maar_host_stack* stack)
{
    const struct maar_plan_problem* problem = keeper->problem;
    struct maar_plan_clash clash;
    for (uint32_t i = 0; i < problem->count; ++i) {
        keeper->previous[i] = problem->fixed[i] >= 0 ? problem->fixed[i] : keeper->previous[i];
    }
    const bool complete =
        maar_plan_find_clash(problem, keeper->previous, true, stack, &clash) == VK_SUCCESS;
    for (uint32_t i = 0; i < problem->count; ++i) {
        keeper->previous[i] = problem->fixed[i] >= 0 ? -1 : keeper->previous[i];
    }
    return complete;
}

static bool is_new(const struct keeper* keeper, uint32_t item)
{
    return keeper->previous[item] < 0 && keeper->problem->fixed[item] < 0;
}

/* Intervals: counts for each section the new items that begin before it, and those that end before
 * it. counts has two arrays, each with one entry more than there are sections. */
static void count_new(const struct keeper* keeper, uint32_t* begun, uint32_t* ended)
{
    const struct maar_plan_problem* problem = keeper->problem;
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (is_new(keeper, i)) {
            ++begun[problem->first[i] + 1];
            ++ended[problem->last[i] + 1];
        }
    }
    for (uint32_t s = 0; s < problem->clique_count; ++s) {
        begun[s + 1] += begun[s];
        ended[s + 1] += ended[s];
    }
}

/* Returns the number of new items that conflict with an item. */
static uint64_t count_beside(const struct keeper* keeper, const uint32_t* begun,
                             const uint32_t* ended, uint32_t item)
{
    const struct maar_plan_problem* problem = keeper->problem;
    if (problem->conflict == NULL) {
        return begun[problem->last[item] + 1] - ended[problem->first[item]];
    }
    uint64_t beside = 0;
    for (uint32_t k = 0; k < problem->count; ++k) {
        beside += is_new(keeper, k) && k != item && maar_plan_conflicts(problem, item, k);
    }
    return beside;
}

/* Lists the items that can stay. Those that conflict with the fewest new items come first. Returns
 * false when time or memory ran out before the end. */
static bool order_kept(struct keeper* keeper, struct maar_plan_budget* budget,
                       struct maar_host_stack* stack, struct maar_plan_key* other)
{
    const struct maar_plan_problem* problem = keeper->problem;
    const size_t sections = (size_t)problem->clique_count + 1;
    uint32_t* begun = maar_stack_grab_zeroed(stack, sections, sizeof *begun);
    uint32_t* ended = maar_stack_grab_zeroed(stack, sections, sizeof *ended);
    keeper->kept_count = 0;
    if (begun == NULL || ended == NULL) {
        return false;
    }
    if (problem->conflict == NULL) {
        count_new(keeper, begun, ended);
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (i % ITEMS_PER_LOOK == 0 && maar_plan_interrupted(budget)) {
            return false;
        }
        if (keeper->previous[i] >= 0) {
            const uint64_t beside = count_beside(keeper, begun, ended, i);
            keeper->keys[keeper->kept_count++] =
                (struct maar_plan_key){.first = UINT64_MAX - beside, .item = i};
        }
    }
    maar_plan_sort_keys(keeper->keys, other, keeper->kept_count);
    return true;
}

/* Tries to keep the peak while the first `count` items of the list stay. If that works, writes the
 * offsets and sets *works. */
static VkResult try_kept(const struct keeper* keeper, uint32_t count,
                         struct maar_plan_budget* budget, struct maar_host_stack* stack,
                         int64_t* offsets, bool* works)
{
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct maar_plan_problem trial = *keeper->problem;
    int64_t* found = maar_stack_grab(stack, trial.count, sizeof *found);
    trial.fixed = maar_stack_grab(stack, trial.count, sizeof *trial.fixed);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    uint64_t peak = UINT64_MAX;
    *works = false;
    if (found != NULL && trial.fixed != NULL) {
        memcpy(trial.fixed, keeper->problem->fixed, trial.count * sizeof *trial.fixed);
        for (uint32_t k = 0; k < count; ++k) {
            const uint32_t item = keeper->keys[k].item;
            trial.fixed[item] = keeper->previous[item];
        }
        result = maar_plan_greedy(&trial, stack, keeper->peak, budget, found, &peak);
    }
    if (result == VK_SUCCESS && peak > keeper->peak && budget->nodes_left > 0) {
        const uint64_t limit = budget->nodes_left < TRIAL_NODES ? budget->nodes_left : TRIAL_NODES;
        const enum maar_exact_answer answer =
            maar_exact_fit(&trial, stack, keeper->peak, limit, budget, found);
        peak = answer == MAAR_EXACT_YES ? maar_plan_peak(&trial, found) : peak;
        result = answer == MAAR_EXACT_NO_MEMORY ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
    }
    if (result == VK_SUCCESS && peak <= keeper->peak) {
        *works = true;
        memcpy(offsets, found, trial.count * sizeof *offsets);
    }
    maar_stack_return(stack, mark);
    return result;
}

bool maar_plan_keep(struct maar_plan_problem* problem, const MaarPlanCreateInfo* info,
                    struct maar_plan_budget* budget, struct maar_host_stack* stack,
                    int64_t* offsets, uint64_t* held)
{
    /* The placement exists already. If a trial ends early, the reason is not recorded as the
     * placement's. */
    struct maar_plan_budget trials = *budget;
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct keeper keeper = {.problem = problem, .info = info, .peak = problem->peak};
    keeper.previous = maar_stack_grab(stack, problem->count, sizeof *keeper.previous);
    keeper.keys = maar_stack_grab(stack, problem->count, sizeof *keeper.keys);
    struct maar_plan_key* other = maar_stack_grab(stack, problem->count, sizeof *other);
    bool complete = keeper.previous != NULL && keeper.keys != NULL && other != NULL;
    uint32_t low = 0;
    uint32_t high = 0;
    if (complete) {
        recall_offsets(&keeper);
        complete = !maar_plan_interrupted(&trials) && resolve_clashes(&keeper, stack) &&
                   order_kept(&keeper, &trials, stack, other);
        high = keeper.kept_count;
    }
    /* Finds the largest number of items that can stay, by bisection. Begins with all items, since
     * in most cases all can stay. */
    const uint32_t most = problem->count > MAAR_PLAN_SMALL ? MOST_TRIALS : UINT32_MAX;
    uint32_t trial_count = 0;
    for (uint32_t count = high; low < high && complete && trial_count < most; ++trial_count) {
        bool works = false;
        complete = !maar_plan_interrupted(&trials) &&
                   try_kept(&keeper, count, &trials, stack, offsets, &works) == VK_SUCCESS;
        low = works ? count : low;
        high = works ? high : count - 1;
        count = low + (high - low + 1) / 2;
    }
    maar_plan_budget_rejoin(budget, &trials);
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (recall_offset(&keeper, i) == offsets[i]) {
            maar_plan_put(held, i);
        }
    }
    maar_stack_return(stack, mark);
    return complete && trials.stop == budget->stop;
}
