/*
 * The state of batches of moves: which allocations move, and where their twins are
 * (core/memory/moving_slot.h).
 *
 * The caller synchronizes the calls on one batch. The list lock of the allocator guards the list of
 * batches.
 */
#ifndef MAAR_CORE_MOVE_MOVE_STATE_H
#define MAAR_CORE_MOVE_MOVE_STATE_H

#include <stdbool.h>

#include "core/memory/allocator_state.h"
#include "maar/move.h"

struct maar_drain_run;
struct maar_move_copies;
struct maar_moved_object;
struct maar_page_moves;

/* A move of one allocation. */
struct maar_move {
    uint64_t handle; /* of the allocation; it is in the slot of this handle */
    uint32_t twin;   /* the slot of its twin */
    bool is_dropped;
    bool is_copyable;                 /* by Maar, from block to block: see MaarMove::copiedByMaar */
    struct maar_moved_object* object; /* the new object of a movable object, or NULL */
};

struct maar_move_batch {
    struct maar_move_batch* next; /* under the list lock */
    struct maar_move_batch* previous;
    MaarAllocator allocator;
    uint64_t handle;
    struct maar_page_moves* pages;   /* moves of pages, and then no others; or NULL */
    struct maar_move_copies* copies; /* what the device uses to copy; see move_copy.h */
    MaarPoint copied;                /* of maarSubmitMoves */
    bool is_submitted;
    bool is_copied;       /* a call that copies has succeeded */
    bool has_failed_copy; /* one has failed */
    uint32_t* places;     /* finds a move by its allocation: the index of the move + 1, or 0. See
                           * move_index.h */
    uint32_t place_shift; /* 32 - the binary logarithm of the number of places */
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
    struct maar_move_batch* first;    /* under the list lock */
    struct maar_drain_run* first_run; /* the same */
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

#endif
