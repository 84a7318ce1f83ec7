/*
 * Batches of moves: which allocations move, and where their twins are (core/memory/moving_slot.h).
 *
 * The caller synchronizes the calls on one batch. The list lock of the allocator guards the list of
 * batches. A batch that the program forgets ends with its pools.
 */
#ifndef MAAR_CORE_MOVE_MOVE_BATCH_H
#define MAAR_CORE_MOVE_MOVE_BATCH_H

#include <stdbool.h>

#include "core/memory/allocator_state.h"
#include "core/memory/moving_slot.h"
#include "maar/move.h"

struct maar_move_copies;

/* A move of one allocation. */
struct maar_move {
    uint64_t handle; /* of the allocation; it is in the slot of this handle */
    uint32_t twin;   /* the slot of its twin */
    bool is_dropped;
    bool is_copyable; /* by Maar: see MaarMove::copiedByMaar */
};

struct maar_move_batch {
    struct maar_move_batch* next; /* under the list lock */
    struct maar_move_batch* previous;
    MaarAllocator allocator;
    uint64_t handle;
    struct maar_move_copies* copies; /* what the device uses to copy; see move_copy.h */
    MaarPoint copied;                /* of maarSubmitMoves */
    bool is_submitted;
    uint32_t count;
    struct maar_move moves[];
};

/* A timeline of a queue to which moves were submitted, and its last value. The queue's lock guards
 * the value. */
struct maar_move_timeline {
    VkSemaphore semaphore;
    uint64_t value;
};

/* The state of this room in an allocator. */
struct maar_moves {
    struct maar_move_batch* first; /* under the list lock */
    /* by the index of the queue; NULL before its first submission */
    maar_atomic_pointer timelines[];
};

/* Returns the slot of the allocation of a move. */
static inline struct maar_slot* maar_move_slot(MaarAllocator allocator,
                                               const struct maar_move* move)
{
    return maar_slot_at(&allocator->slots, (uint32_t)move->handle - 1u);
}
/* Returns the slot of the twin of a move. */
static inline struct maar_slot* maar_move_twin(MaarAllocator allocator,
                                               const struct maar_move* move)
{
    return maar_slot_at(&allocator->slots, move->twin);
}

/* Returns the state of the room, or NULL if there is no host memory for it. */
struct maar_moves* maar_moves_open(MaarAllocator allocator);
/* Adds a batch to the list, and takes it off again. */
void maar_move_batch_list(struct maar_moves* moves, struct maar_move_batch* batch);
void maar_move_batch_unlist(struct maar_move_batch* batch);
/* Returns the index of a move of an allocation, or the number of moves if there is none. */
uint32_t maar_move_batch_find(const struct maar_move_batch* batch, MaarAllocation allocation);
/* Returns what keeps a slot from moving, apart from a move that is under way. */
MaarMoveObstacle maar_slot_obstacle(const struct maar_slot* slot);
/* Returns why a move of a batch would not change its allocation's home. */
MaarMoveObstacle maar_move_obstacle(MaarAllocator allocator, const struct maar_move* move);

/* Ends all moves of a batch and frees the batch. With commits, allocations change homes unless
 * their moves are dropped. Adds the point of the batch's own submission to the points. Returns the
 * number of allocations that have changed homes in *moved. On failure nothing has changed. */
VkResult maar_move_batch_end(struct maar_move_batch* batch, bool commits, uint32_t point_count,
                             const MaarPoint* points, uint32_t* moved);

#endif
