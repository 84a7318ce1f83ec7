/*
 * The work of a run that empties blocks: which blocks, and their allocations one after another. The
 * caller synchronizes the calls on one run. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_WORK_H
#define MAAR_CORE_MOVE_DRAIN_WORK_H

#include "core/move/drain_run.h"

/* The result of a part of the work. */
enum maar_drain_result {
    MAAR_DRAIN_MORE,     /* the part is not finished */
    MAAR_DRAIN_FINISHED, /* the next phase follows */
    MAAR_DRAIN_NO_ROOM,  /* an allocation has no room in the other blocks */
    MAAR_DRAIN_ABANDON,  /* the block cannot be emptied */
    MAAR_DRAIN_NO_HOST_MEMORY
};

/* ---- drain_choice.c ---- */

/* Chooses the blocks of a run and makes them drain. */
VkResult maar_drain_choose(struct maar_drain_run* run, uint32_t most);
/* Returns the present block under the lock of its arena, or NULL if it has left or drains no
 * longer. The caller unlocks *arena and leaves its pool by maar_pool_leave. */
struct maar_block* maar_drain_enter(MaarAllocator allocator, uint64_t id,
                                    struct maar_arena** arena);
/* Lets a block that drains take allocations again. */
void maar_drain_revive(MaarAllocator allocator, uint64_t id);
/* Sums up how many blocks, and of how many bytes, the pools of a run have released. */
void maar_drain_count_released(const struct maar_drain_run* run, uint32_t* count, uint64_t* bytes);

/* ---- drain_block.c ---- */

/* Begins with the present block. */
void maar_drain_begin_block(struct maar_drain_run* run);
/* Lists some allocations of the present block. */
enum maar_drain_result maar_drain_scan(struct maar_drain_run* run);
/* Takes twins for some of them. */
enum maar_drain_result maar_drain_reserve(struct maar_drain_run* run);
/* Takes back the moves from a number on. */
void maar_drain_take_back(struct maar_drain_run* run, uint32_t first);

#endif
