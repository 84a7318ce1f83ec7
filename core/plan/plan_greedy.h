/*
 * Quick placements of one class.
 */
#ifndef MAAR_CORE_PLAN_PLAN_GREEDY_H
#define MAAR_CORE_PLAN_PLAN_GREEDY_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/*
 * Writes the best of the quick placements. *peak receives its size in bytes, or UINT64_MAX after a
 * failure. Stops when the peak is at most `enough`. When time is up or the caller cancels, finishes
 * the order that it is trying.
 */
VkResult maar_plan_greedy(const struct maar_plan_problem* problem, struct maar_host_stack* stack,
                          uint64_t enough, struct maar_plan_budget* budget, int64_t* offsets,
                          uint64_t* peak);

#endif
