/*
 * The end of runs that empty blocks, part by part: what a run has not handed out is taken back, its
 * blocks take allocations again, and its host memory is freed. The caller synchronizes the calls on
 * one run. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_END_H
#define MAAR_CORE_MOVE_DRAIN_END_H

#include "core/move/drain_work.h"

/* Begins to take back the moves of the present block that are not handed out. The pool has needed
 * the room, so they would not empty the block, or the run is given up. */
void maar_drain_abandon_rest(struct maar_drain_run* run);
/* Begins to give up a run. */
void maar_drain_give_up(struct maar_drain_run* run);
/* Gives back all that is left of a run that is given up, in one part. */
void maar_drain_give_all_back(struct maar_drain_run* run);
/* Does a part of the work of the phases that take back, give up and shrink. */
void maar_drain_work_on_end(struct maar_drain_run* run);

#endif
