/*
 * The highest value in a range of places, where ranges are raised: a tree over the places. Both
 * operations cost O(log n).
 */
#ifndef MAAR_CORE_PLAN_PROBLEM_PLAN_FLOORS_H
#define MAAR_CORE_PLAN_PROBLEM_PLAN_FLOORS_H

#include "core/host_stack.h"

#include <stdbool.h>
#include <stdint.h>

struct maar_plan_floors {
    int64_t* most;  /* per node: the highest value below it */
    int64_t* all;   /* per node: the value to which all places below it were raised */
    uint32_t count; /* places, rounded up to a power of two */
};

/* Makes floors for places 0 to count - 1, all at 0. Returns false when host memory is short. */
bool maar_plan_floors_init(struct maar_plan_floors* floors, uint32_t count,
                           struct maar_host_stack* stack);
/* Sets all places to 0. */
void maar_plan_floors_reset(struct maar_plan_floors* floors);
/* Raises the places from first to last, both included, to at least a value. */
void maar_plan_floors_raise(struct maar_plan_floors* floors, uint32_t first, uint32_t last,
                            int64_t value);
/* Returns the highest value of the places from first to last. */
int64_t maar_plan_floors_highest(const struct maar_plan_floors* floors, uint32_t first,
                                 uint32_t last);

/* Whether all values are 0, as where a kind has no items. */
static inline bool maar_plan_floors_are_flat(const struct maar_plan_floors* floors)
{
    return floors->most[1] == 0;
}

#endif
