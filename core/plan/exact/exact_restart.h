/*
 * Answers one question, whether the items fit, by many walks.
 */
#ifndef MAAR_CORE_PLAN_EXACT_EXACT_RESTART_H
#define MAAR_CORE_PLAN_EXACT_EXACT_RESTART_H

#include "core/plan/exact/exact_search.h"

/* Creates a search on the stack. Returns NULL when host memory is short. */
struct maar_exact_search* maar_exact_search_create(const struct maar_plan_problem* problem,
                                                   struct maar_host_stack* stack);
/* Returns whether the items fit into `capacity` bytes. Writes the offsets only with
 * MAAR_EXACT_YES. */
enum maar_exact_answer maar_exact_search_run(struct maar_exact_search* search, uint64_t capacity,
                                             uint64_t node_limit, struct maar_plan_budget* budget,
                                             int64_t* offsets);
/* Does the same by deep walks, each of at most walk_limit nodes. */
enum maar_exact_answer maar_exact_search_deep(struct maar_exact_search* search, uint64_t capacity,
                                              uint64_t walk_limit, uint64_t walks,
                                              struct maar_plan_budget* budget, int64_t* offsets);

#endif
