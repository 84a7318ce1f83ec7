/*
 * The window that a run tries: claims it, sees its moves end, and places the request there. The
 * caller synchronizes the calls on one run. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_ROOM_CLAIM_H
#define MAAR_CORE_MOVE_ROOM_CLAIM_H

#include "core/move/drain_work.h"
#include "core/move/room_state.h"

/* ---- room_claim.c ---- */

/* Begins to claim the window that is tried. Returns false if its block is not there any more. */
bool maar_room_begin_claim(struct maar_drain_run* run);
/* Claims some ranges of the window. */
enum maar_drain_result maar_room_claim(struct maar_drain_run* run);
/* Takes some twins. */
enum maar_drain_result maar_room_reserve(struct maar_drain_run* run);
/* Gives some of the window back. Returns whether all is given back. */
bool maar_room_release(struct maar_drain_run* run, uint32_t most);

/* ---- room_end.c ---- */

/* What a look at moves or kept ranges finds. */
enum maar_room_look { MAAR_ROOM_WAITS, MAAR_ROOM_GOES_ON, MAAR_ROOM_ALL, MAAR_ROOM_LOST };
/* Looks at some of the moves. */
enum maar_room_look maar_room_check(struct maar_drain_run* run);
/* Looks at some of the kept ranges. */
enum maar_room_look maar_room_wait(struct maar_drain_run* run);
/* Joins some of the window's ranges. */
enum maar_room_look maar_room_join(struct maar_drain_run* run);
/* Places the request where the window was. */
VkResult maar_room_place(struct maar_drain_run* run, void* user_data, MaarAllocation* allocation);

#endif
