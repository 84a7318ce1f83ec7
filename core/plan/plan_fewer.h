/*
 * Finds a placement with fewer aliasing edges at the same peak.
 */
#ifndef MAAR_CORE_PLAN_PLAN_FEWER_H
#define MAAR_CORE_PLAN_PLAN_FEWER_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* Larger classes are left as they are: the search takes 8 bytes for each pair of items. */
enum { MAAR_PLAN_MOST_MOVED = 1024 };

/* Whether maar_plan_fewer_edges may move items of a class. */
static inline bool maar_plan_may_move(const struct maar_plan_problem* problem)
{
    return problem->count >= 2 && problem->count <= MAAR_PLAN_MOST_MOVED;
}

/* Moves items within the peak so that the placement has fewer edges, and sets *moved if it moved
 * any. Items whose bit is set in `held` stay. Returns false when time or memory ran out before the
 * end. */
bool maar_plan_fewer_edges(const struct maar_plan_problem* problem, const uint64_t* held,
                           uint64_t peak, struct maar_host_stack* stack, int64_t* offsets,
                           bool* moved);

#endif
