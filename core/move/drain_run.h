/*
 * Runs of defragmentation: the end of those that a program forgets. drain_state.h says how a run
 * works.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_RUN_H
#define MAAR_CORE_MOVE_DRAIN_RUN_H

#include "maar/move.h"

struct maar_pool;

/* Ends the runs of a custom pool, or all runs if pool is NULL, before the pool or the allocator
 * ends. */
void maar_drain_end_runs(MaarAllocator allocator, const struct maar_pool* pool);

#endif
