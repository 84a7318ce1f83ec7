/*
 * The begin and the end of a plan: takes the blocks of a pool into the map, and sorts the blocks of
 * all pools when all are planned. The caller synchronizes the calls on one run. No lock may be
 * held.
 */
#ifndef MAAR_CORE_MOVE_PLAN_LIST_H
#define MAAR_CORE_MOVE_PLAN_LIST_H

#include "core/move/drain_work.h"
#include "core/move/plan_state.h"

/* Goes on to the next pool. */
void maar_plan_next_pool(struct maar_drain_run* run);
/* Takes some blocks of the pool. */
enum maar_drain_result maar_plan_take(struct maar_drain_run* run);
/* Lists some ranges of a block. */
void maar_plan_list(struct maar_drain_run* run);
/* Sorts some of the blocks that are planned into those that the run empties. */
enum maar_drain_result maar_plan_sort(struct maar_drain_run* run);

#endif
