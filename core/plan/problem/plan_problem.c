/*
 * The peak of a placement, and the check of a placement.
 */
#include "core/plan/problem/plan_problem.h"

#include "core/chain.h"

uint64_t maar_plan_seed(const MaarPlanCreateInfo* info)
{
    const MaarPlanSeedInfo* seed = maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_PLAN_SEED_INFO);
    return seed != NULL ? seed->seed : 0;
}

uint64_t maar_plan_peak(const struct maar_plan_problem* problem, const int64_t* offsets)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t end = maar_plan_end(problem, i, offsets[i]);
        peak = end > peak ? end : peak;
    }
    return peak;
}

/* The largest number of items for which each pair is checked. */
enum { MAX_CHECKED_PAIRWISE = 4096 };

static bool are_apart(const struct maar_plan_problem* problem, const int64_t* offsets, uint32_t a,
                      uint32_t b)
{
    return offsets[a] >= maar_plan_top(problem, b, offsets[b], a) ||
           offsets[b] >= maar_plan_top(problem, a, offsets[a], b);
}

bool maar_plan_is_sound(const struct maar_plan_problem* problem, const int64_t* offsets)
{
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (offsets[i] < 0 || offsets[i] % problem->align[i] != 0 ||
            (problem->fixed[i] >= 0 && offsets[i] != problem->fixed[i])) {
            return false;
        }
        for (uint32_t k = 0; k < i && problem->count <= MAX_CHECKED_PAIRWISE; ++k) {
            /* Fixed offsets are checked when the problem is built, by the true order. */
            const bool checked = problem->fixed[i] >= 0 && problem->fixed[k] >= 0;
            if (!checked && maar_plan_conflicts(problem, i, k) &&
                !are_apart(problem, offsets, i, k)) {
                return false;
            }
        }
    }
    return true;
}
