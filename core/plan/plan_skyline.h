/*
 * Skylines of many items: each item lies as low as it can, on top of what is placed already, and of
 * the items that can lie lowest the one of the least rank comes next. Takes O(n log^2 n) for n
 * items whose lives are intervals, of one kind, without fixed offsets. See docs/design/planner.md.
 */
#ifndef MAAR_CORE_PLAN_PLAN_SKYLINE_H
#define MAAR_CORE_PLAN_PLAN_SKYLINE_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

struct maar_plan_skyline;

/* Prepares skylines of a problem, which must stay. Returns NULL for want of host memory. */
struct maar_plan_skyline* maar_plan_open_skyline(const struct maar_plan_problem* problem,
                                                 struct maar_host_stack* stack);
/* Places all items. `order` has the items by rank, and `rank` the rank of each item. Returns false
 * if the budget ended the placement; the offsets are then undefined. */
bool maar_plan_place_skyline(struct maar_plan_skyline* skyline, const uint32_t* order,
                             const uint32_t* rank, struct maar_plan_budget* budget,
                             int64_t* offsets);

#endif
