/*
 * A local search for a placement below a capacity: items that do not fit push others out.
 *
 * The exact search goes from below and never takes a placed item out again, so it suits problems
 * that are tight nearly everywhere. This search suits problems with some room at most times and
 * many small items. It proves nothing.
 */
#ifndef MAAR_CORE_PLAN_EXACT_EXACT_EJECT_H
#define MAAR_CORE_PLAN_EXACT_EXACT_EJECT_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

struct maar_exact_eject;

/* Returns whether the search takes a problem: few items of one kind, no alignment beyond the unit,
 * no fixed offsets. */
bool maar_exact_eject_takes(const struct maar_plan_problem* problem);
/* Creates a search on the stack. Returns NULL when host memory is short. */
struct maar_exact_eject* maar_exact_eject_create(const struct maar_plan_problem* problem,
                                                 struct maar_host_stack* stack);
/* Starts again from a placement. */
void maar_exact_eject_load(struct maar_exact_eject* eject, const int64_t* offsets);
/* Continues at a capacity in bytes, for at most node_limit nodes. Returns true, and writes the
 * offsets, if it finds a placement that fits. No item is larger than the capacity. */
bool maar_exact_eject_run(struct maar_exact_eject* eject, uint64_t capacity, uint64_t node_limit,
                          struct maar_plan_budget* budget, int64_t* offsets);
/* Returns whether the search's own state is in order: sorted lists, and no two placed items that
 * conflict share an offset. */
bool maar_exact_eject_is_sound(const struct maar_exact_eject* eject);

#endif
