/*
 * Batches of moves: their list, their obstacles and their end. A batch that the program forgets
 * ends with its pools. move_state.h says who may call what.
 */
#ifndef MAAR_CORE_MOVE_MOVE_BATCH_H
#define MAAR_CORE_MOVE_MOVE_BATCH_H

#include "core/memory/moving_slot.h"
#include "core/move/move_state.h"

/* Returns the state of the room, or NULL if there is no host memory for it. */
struct maar_moves* maar_moves_open(MaarAllocator allocator);
/* Makes a batch whose moves the caller fills in. Returns NULL if there is no host memory. The room
 * is open. */
struct maar_move_batch* maar_move_batch_make(MaarAllocator allocator, uint32_t count);
/* Gives a batch, whose moves are filled in, its handle, and adds it to the list. */
VkResult maar_move_batch_open(struct maar_move_batch* batch);
/* Enters a call that uses a batch, and finds the batch: see maar_object_enter. */
VkResult maar_move_batch_enter(MaarAllocator allocator, const char* call, MaarMoveBatch batch,
                               struct maar_move_batch** own);
/* The same for a call that lists what the batch has: pCount may not be NULL. */
VkResult maar_move_batch_enter_list(MaarAllocator allocator, const char* call, MaarMoveBatch batch,
                                    const uint32_t* count, struct maar_move_batch** own);
/* Returns what keeps an allocation from moving, apart from a move that is under way. */
MaarMoveObstacle maar_slot_obstacle(MaarAllocator allocator, const struct maar_slot* slot,
                                    uint64_t handle);
/* Returns why a move of a batch would not change its allocation's home. */
MaarMoveObstacle maar_move_obstacle(MaarAllocator allocator, const struct maar_move* move);

/* Ends all moves of a batch and frees the batch. With commits, allocations change homes unless
 * their moves are dropped. Adds the point of the batch's own submission to the points. Returns the
 * number of allocations that have changed homes in *moved. On failure nothing has changed. */
VkResult maar_move_batch_end(struct maar_move_batch* batch, bool commits, uint32_t point_count,
                             const MaarPoint* points, uint32_t* moved);

#endif
