/*
 * The entry of the exact search: does a class fit into a number of bytes, and what is its least
 * peak?
 *
 * The planner searches only where the greedy placement does not meet the bound. On nearly all
 * frames of real programs the search visits no node. A reader of the planner can leave this folder
 * for later.
 */
#ifndef MAAR_CORE_PLAN_EXACT_EXACT_H
#define MAAR_CORE_PLAN_EXACT_EXACT_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

enum maar_exact_answer {
    MAAR_EXACT_YES,       /* the offsets are written */
    MAAR_EXACT_NO,        /* no placement fits */
    MAAR_EXACT_UNKNOWN,   /* nodes or the budget ran out */
    MAAR_EXACT_NO_MEMORY, /* the search could not begin: host memory is short */
};

/* Where alignments differ, fills in the levels of a problem (struct maar_plan_level) and raises its
 * proved bound. Returns VK_SUCCESS or VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult maar_exact_bound_cells(struct maar_plan_problem* problem, struct maar_host_stack* stack);

/* Returns whether the items fit into `capacity` bytes. The search visits at most node_limit
 * nodes. */
enum maar_exact_answer maar_exact_fit(const struct maar_plan_problem* problem,
                                      struct maar_host_stack* stack, uint64_t capacity,
                                      uint64_t node_limit, struct maar_plan_budget* budget,
                                      int64_t* offsets);
/*
 * Searches for the least peak. With a capacity other than UINT64_MAX, searches only for a peak that
 * is at most the capacity. Updates peak and proved_bound of the problem, and the offsets if a lower
 * peak is found. The budget's `stop` says why the search ended early.
 */
void maar_exact_improve(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                        uint64_t capacity, struct maar_plan_budget* budget, int64_t* offsets);

#endif
