/*
 * Makes the graph from the input: which resources may share bytes.
 */
#ifndef MAAR_CORE_PLAN_PLAN_GRAPH_H
#define MAAR_CORE_PLAN_PLAN_GRAPH_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* Builds the graph. Rejects an input whose passes form a cycle. */
VkResult maar_plan_build_graph(const MaarPlanCreateInfo* info, struct maar_plan_budget* budget,
                               struct maar_host_stack* stack, struct maar_plan_graph* graph);
/* Returns whether a resource comes before another one in every execution. Looks at their uses, so
 * it knows more than intervals along a chain. */
bool maar_plan_resource_precedes(const struct maar_plan_graph* graph, uint32_t one, uint32_t other);

#endif
