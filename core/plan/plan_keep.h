/*
 * Replanning: keeps offsets of the previous plan.
 */
#ifndef MAAR_CORE_PLAN_PLAN_KEEP_H
#define MAAR_CORE_PLAN_PLAN_KEEP_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/*
 * Moves items back to their offsets in the previous plan where possible, within the problem's peak.
 * Sets the bits in `held` of the items that then lie at their previous offsets. Returns false when
 * short time, cancellation or short memory ended the search early.
 */
bool maar_plan_keep(struct maar_plan_problem* problem, const MaarPlanCreateInfo* info,
                    struct maar_plan_budget* budget, struct maar_host_stack* stack,
                    int64_t* offsets, uint64_t* held);

#endif
