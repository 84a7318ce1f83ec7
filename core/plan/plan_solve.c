/*
 * From a problem to its placement: the best greedy order.
 */
#include "core/plan/plan_internal.h"

#include "core/port_time.h"

bool maar_plan_interrupted(struct maar_plan_budget* budget)
{
    if (budget->deadline_ns != UINT64_MAX && maar_now_ns() >= budget->deadline_ns) {
        budget->stop = MAAR_PLAN_STOP_TIME_LIMIT;
        return true;
    }
    if (budget->cancel != NULL && budget->cancel(budget->cancel_user_data) != VK_FALSE) {
        budget->stop = MAAR_PLAN_STOP_CANCELLED;
        return true;
    }
    return false;
}

VkResult maar_plan_solve(struct maar_plan_problem* problem, struct maar_plan_arena* arena,
                         uint64_t capacity, bool greedy_only, struct maar_plan_budget* budget,
                         int64_t* offsets, struct maar_plan_outcome* outcome)
{
    const bool asked = capacity != UINT64_MAX;
    uint64_t peak = 0;
    uint64_t enough = problem->proved_bound;
    enough = asked && capacity > enough ? capacity : enough;
    VkResult result = maar_plan_greedy(problem, arena, enough, offsets, &peak);
    if (result != VK_SUCCESS) {
        return result;
    }
    problem->greedy_peak = peak;
    outcome->fits = peak <= capacity                   ? MAAR_PLAN_ANSWER_YES
                    : problem->proved_bound > capacity ? MAAR_PLAN_ANSWER_NO
                                                       : MAAR_PLAN_ANSWER_UNKNOWN;
    const bool settled =
        problem->proved_bound == peak || (asked && outcome->fits != MAAR_PLAN_ANSWER_UNKNOWN);
    if (!settled && greedy_only) {
        budget->stop = MAAR_PLAN_STOP_GREEDY;
    } else if (!settled) {
        budget->stop = MAAR_PLAN_STOP_NODE_LIMIT;
    }
    outcome->peak = peak;
    outcome->proved = problem->proved_bound == peak;
    return VK_SUCCESS;
}
