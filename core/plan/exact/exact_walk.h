/*
 * One walk through the tree of the search.
 */
#ifndef MAAR_CORE_PLAN_EXACT_EXACT_WALK_H
#define MAAR_CORE_PLAN_EXACT_EXACT_WALK_H

#include "core/plan/exact/exact_search.h"

/* Walks the tree and visits at most node_limit nodes. With MAAR_EXACT_YES, search->offset has the
 * offsets by rank. */
enum maar_exact_answer maar_exact_walk(struct maar_exact_search* search, uint64_t node_limit,
                                       struct maar_plan_budget* budget);

#endif
