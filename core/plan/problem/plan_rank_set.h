/*
 * A set of numbers below a bound, with the next and the previous number in O(log64 n). Each bit of
 * a higher level stands for a word of the level below that is not empty.
 */
#ifndef MAAR_CORE_PLAN_PROBLEM_PLAN_RANK_SET_H
#define MAAR_CORE_PLAN_PROBLEM_PLAN_RANK_SET_H

#include "core/host_stack.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAAR_PLAN_SET_LEVELS = 6 };

struct maar_plan_rank_set {
    uint64_t* levels[MAAR_PLAN_SET_LEVELS]; /* the lowest first */
    uint32_t level_count;
    uint32_t bound;
};

/* Makes an empty set on a stack. Returns false when host memory is short. */
bool maar_plan_rank_set_init(struct maar_plan_rank_set* set, uint32_t bound,
                             struct maar_host_stack* stack);
void maar_plan_rank_set_add(struct maar_plan_rank_set* set, uint32_t number);
void maar_plan_rank_set_remove(struct maar_plan_rank_set* set, uint32_t number);
/* Returns the least number of the set at or above `from`, UINT32_MAX if there is none. */
uint32_t maar_plan_rank_set_next(const struct maar_plan_rank_set* set, uint32_t from);
/* Returns the largest number of the set below `end`, UINT32_MAX if there is none. */
uint32_t maar_plan_rank_set_before(const struct maar_plan_rank_set* set, uint32_t end);

#endif
