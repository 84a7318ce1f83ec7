/*
 * The size of a placement.
 */
#include "core/plan/problem/plan_problem.h"

uint64_t maar_plan_peak(const struct maar_plan_problem* problem, const int64_t* offsets)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t end = maar_plan_end(problem, i, offsets[i]);
        peak = end > peak ? end : peak;
    }
    return peak;
}
