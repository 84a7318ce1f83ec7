/*
 * The lower bound of many items on several queues.
 */
#ifndef MAAR_CORE_PLAN_PLAN_BOUND_H
#define MAAR_CORE_PLAN_PLAN_BOUND_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* Raises the bounds of a problem with several queues to the heaviest front that it finds. Each item
 * and each queue takes a few nanoseconds, sixteen times at most; looks at the clock. Returns
 * VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_plan_bound_fronts(struct maar_plan_problem* problem, struct maar_host_stack* stack);

#endif
