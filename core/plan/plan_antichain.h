/*
 * Builds a class of a frame with several queues: conflicts, cliques and the lower bound.
 * plan_class.c calls this function.
 */
#ifndef MAAR_CORE_PLAN_PLAN_ANTICHAIN_H
#define MAAR_CORE_PLAN_PLAN_ANTICHAIN_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* Fills in conflicts, cliques and the lower bound of a problem. Returns false, with `conflict`
 * NULL, when time or memory did not suffice. */
bool maar_plan_build_antichains(struct maar_plan_problem* problem, struct maar_host_stack* stack);

#endif
