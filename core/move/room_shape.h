/*
 * What a run that makes room wants of a block, and which allocations it leaves alone. The caller
 * synchronizes the calls on one run.
 */
#ifndef MAAR_CORE_MOVE_ROOM_SHAPE_H
#define MAAR_CORE_MOVE_ROOM_SHAPE_H

#include "core/move/room_state.h"

/* Adapts the request to a pool. Returns false if it is out of bounds. */
bool maar_room_shape(const struct maar_room* room, const struct maar_pool* pool,
                     struct maar_place_request* request, VkDeviceSize* size,
                     VkDeviceSize* alignment);
/* Whether an allocation may not move. */
bool maar_room_is_refused(const struct maar_room* room, uint64_t handle);
/* Ranks a block by the fewest bytes that a window there may cost. Returns false if the block is too
 * small. */
bool maar_room_rank(const struct maar_room* room, struct maar_drain_block* block);
/* Notes that an allocation may not move. Returns false if there are too many of them. */
bool maar_room_refuse(struct maar_room* room, uint64_t handle);

#endif
