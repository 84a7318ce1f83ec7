/*
 * The work of a run that empties blocks: which blocks, and their allocations one after another. The
 * caller synchronizes the calls on one run. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_WORK_H
#define MAAR_CORE_MOVE_DRAIN_WORK_H

#include "core/move/drain_access.h"

/* The result of a part of the work. */
enum maar_drain_result {
    MAAR_DRAIN_MORE,     /* the part is not finished */
    MAAR_DRAIN_FINISHED, /* the next phase follows */
    MAAR_DRAIN_NO_ROOM,  /* an allocation has no room in the other blocks */
    MAAR_DRAIN_ABANDON,  /* the block cannot be emptied */
    MAAR_DRAIN_WAITS,    /* for batches that have not ended, or points that have not passed */
    MAAR_DRAIN_NO_HOST_MEMORY
};

/* ---- drain_choice.c ---- */

/* Whether the blocks of a pool take part in a run. */
bool maar_drain_takes_part(const struct maar_drain_run* run, const struct maar_pool* pool);
/* Looks at the sums of some blocks. */
enum maar_drain_result maar_drain_collect(struct maar_drain_run* run);
/* Ends a search for blocks before its end. */
void maar_drain_leave_collector(struct maar_drain_run* run);
/* Chooses some of the blocks that were seen and makes them drain. */
enum maar_drain_result maar_drain_choose(struct maar_drain_run* run);
/* Sums up how many blocks, and of how many bytes, the pools of a run have released. */
void maar_drain_count_released(const struct maar_drain_run* run, uint32_t* count, uint64_t* bytes);

/* ---- drain_block.c ---- */

/* Forgets the entries. */
void maar_drain_forget_entries(struct maar_drain_run* run);
/* Adds an entry for the live allocation of a range. The list has room. */
void maar_drain_add_entry(struct maar_drain_run* run, const struct maar_placement_range* range,
                          uint64_t tag, uint64_t handle);
/* Returns the largest entry that is left, or NULL. */
struct maar_drain_entry* maar_drain_largest(struct maar_drain_run* run);
/* Removes the largest entry. */
void maar_drain_drop_largest(struct maar_drain_run* run);
/* Returns the request for the new range of an entry. */
struct maar_place_request maar_drain_request(const struct maar_drain_run* run,
                                             const struct maar_drain_entry* entry);
/* Adds the move of an entry, whose twin was placed. The list has room. */
void maar_drain_add_move(struct maar_drain_run* run, const struct maar_drain_entry* entry,
                         const struct maar_made* made);
/* Begins with the present block. */
void maar_drain_begin_block(struct maar_drain_run* run);
/* Lists some allocations of the present block. */
enum maar_drain_result maar_drain_scan(struct maar_drain_run* run);
/* Asks whether some of them may move, and some of those that make way for them, and closes the
 * blocks of the latter. */
enum maar_drain_result maar_drain_ask(struct maar_drain_run* run);
/* Takes twins for some of those that make way. */
enum maar_drain_result maar_drain_make_way(struct maar_drain_run* run);
/* Takes twins for some of the allocations of the block. */
enum maar_drain_result maar_drain_reserve(struct maar_drain_run* run);
/* Whether the present block still drains. */
bool maar_drain_still_drains(const struct maar_drain_run* run);
/* Takes back at most so many of the moves from a number on, the last ones first. Returns whether
 * none is left. */
bool maar_drain_take_back(struct maar_drain_run* run, uint32_t first, uint32_t most);

#endif
