/*
 * Finds the aliasing edges of a placement: which resource takes over bytes of which other.
 */
#ifndef MAAR_CORE_PLAN_PLAN_EDGE_H
#define MAAR_CORE_PLAN_PLAN_EDGE_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* A list of edges that grows on a stack. */
struct maar_plan_edges {
    MaarPlanEdge* list;
    uint32_t count;
    uint32_t room;
    uint32_t cross_count;
};

/* Appends the edges within a frame to one list, and those from one frame to the next to another
 * one, ordered by `after`, then `before`. Either list may be NULL. An edge has the indices of its
 * resources. */
VkResult maar_plan_find_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                              struct maar_host_stack* stack, struct maar_plan_edges* edges,
                              struct maar_plan_edges* wrap_edges);

#endif
