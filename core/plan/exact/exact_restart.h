/*
 * Many walks that answer one question.
 */
#ifndef MAAR_CORE_PLAN_EXACT_EXACT_RESTART_H
#define MAAR_CORE_PLAN_EXACT_EXACT_RESTART_H

#include "core/plan/exact/exact_search.h"

/* Creates a search on the stack, or returns NULL without memory. */
struct maar_exact_search* maar_exact_search_create(const struct maar_plan_problem* problem,
                                                   struct maar_host_stack* stack);
/* Answers whether the items fit into `capacity` bytes. Writes offsets only with MAAR_EXACT_YES. */
enum maar_exact_answer maar_exact_search_run(struct maar_exact_search* search, uint64_t capacity,
                                             uint64_t node_limit, struct maar_plan_budget* budget,
                                             int64_t* offsets);

#endif
