/*
 * Finds the windows for an allocation that has no gap: see drain_plan.h. The caller synchronizes
 * the calls on one run.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_WINDOWS_H
#define MAAR_CORE_MOVE_DRAIN_WINDOWS_H

#include "core/move/plan_state.h"

/* Begins to look for windows for an item. */
void maar_plan_begin_sweep(struct maar_drain_plan* plan, uint32_t item);
/* Looks at some windows. Returns whether all were seen. */
bool maar_plan_sweep_some(struct maar_drain_plan* plan);

#endif
