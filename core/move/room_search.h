/*
 * The search of a run that makes room: which window, and whether there are places elsewhere for
 * what lies there. The caller synchronizes the calls on one run. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_ROOM_SEARCH_H
#define MAAR_CORE_MOVE_ROOM_SEARCH_H

#include "core/move/drain_work.h"
#include "core/move/room_state.h"

/* ---- room_search.c ---- */

/* Begins to list the ranges of room->block. */
void maar_room_begin_scan(struct maar_room* room);
/* Lists some of them. */
enum maar_drain_result maar_room_scan(struct maar_drain_run* run);
/* Finds some windows. */
enum maar_drain_result maar_room_sweep(struct maar_room* room);
/* ---- room_plan.c ---- */

/* Plans the window that is tried exactly, if its pool is small: finds its offset and a place for
 * each of its allocations. Returns false if there are none. */
bool maar_room_plan(struct maar_drain_run* run);
/* Places the twin of an allocation where the plan has a place for it. Returns MAAR_POOL_NO_ROOM if
 * there is no plan, or if the place is taken. */
enum maar_pool_outcome maar_room_place_planned(struct maar_drain_run* run, uint64_t handle,
                                               const struct maar_place_request* request,
                                               struct maar_made* made);

#endif
