/*
 * Runs that make room for one request, for the calls on runs. The caller synchronizes the calls on
 * one run. No lock may be held. room_state.h says how such a run works.
 */
#ifndef MAAR_CORE_MOVE_ROOM_H
#define MAAR_CORE_MOVE_ROOM_H

#include "core/move/drain_state.h"

/* Makes the state of a run that makes room. */
VkResult maar_room_create(struct maar_drain_run* run, const MaarDefragmentationBeginInfo* info);
/* Frees it. The run may have none. */
void maar_room_destroy(struct maar_drain_run* run);
/* Does a part of the work. Sets *rests if there is nothing to do now. */
VkResult maar_room_work(struct maar_drain_run* run, bool* rests);
/* Whether the run has its moves ready to be handed out. */
bool maar_room_hands_out(const struct maar_drain_run* run);
/* Does what is left to do, and places the request in the room. */
VkResult maar_room_take(struct maar_drain_run* run, void* user_data, MaarAllocation* allocation);
/* Begins to give the room back, which further work completes. */
void maar_room_give_up(struct maar_drain_run* run);
/* Gives back what is left of a room that is given up. */
void maar_room_end(struct maar_drain_run* run);
/* Fills in what a run that makes room says of it. */
void maar_room_describe(const struct maar_drain_run* run, MaarDefragmentationInfo* info);

#endif
