/*
 * The spans of resources: on each queue that a resource uses, its first and its last pass. Several
 * queues only.
 */
#ifndef MAAR_CORE_PLAN_PLAN_SPANS_H
#define MAAR_CORE_PLAN_PLAN_SPANS_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* Fills in the spans of a graph whose passes are in order. Costs O(uses). */
VkResult maar_plan_list_spans(struct maar_host_stack* stack, struct maar_plan_graph* graph);
/* Sets for each queue the place of a resource's first use there, UINT32_MAX for none. */
void maar_plan_list_begins(const struct maar_plan_graph* graph, uint32_t i, uint32_t* begins);
/* Sets for each queue the place from which on all passes come after every use of a resource,
 * UINT32_MAX for none. The graph has clocks. */
void maar_plan_list_ends(const struct maar_plan_graph* graph, uint32_t i, uint32_t* ends);
/* Returns whether every use of one resource comes before every use of another one. Neither of them
 * keeps its contents. */
bool maar_plan_spans_precede(const struct maar_plan_graph* graph, uint32_t one, uint32_t other);
/* Returns whether a last use of one resource and a first use of the other are on different
 * queues. */
bool maar_plan_crosses_queues(const struct maar_plan_graph* graph, uint32_t before, uint32_t after);

#endif
