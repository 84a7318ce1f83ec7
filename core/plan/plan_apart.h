/*
 * Skylines of many items of mixed kinds: the items of each kind get a skyline of their own, and the
 * skylines lie one above the other. So no two kinds meet on a granule, and nothing is rounded up.
 * Takes O(n log^2 n), like a skyline of one kind.
 */
#ifndef MAAR_CORE_PLAN_PLAN_APART_H
#define MAAR_CORE_PLAN_PLAN_APART_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

struct maar_plan_apart;

/* Prepares the skylines of a problem of mixed kinds, which must stay. Its items are intervals
 * without fixed offsets. Returns NULL for want of host memory. */
struct maar_plan_apart* maar_plan_open_apart(const struct maar_plan_problem* problem,
                                             struct maar_host_stack* stack);
/* Places all items in the order given. Returns false if the budget ended the placement, or the
 * alignments leave no room for a second kind; the offsets are then undefined. */
bool maar_plan_place_apart(struct maar_plan_apart* apart, const uint32_t* order,
                           struct maar_plan_budget* budget, int64_t* offsets);

#endif
