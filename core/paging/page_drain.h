/*
 * Empties page blocks. All pages of a pool are alike, so the pages of a block can go to any free
 * pages of the other blocks. A run counts which pages can move, makes blocks drain, and then
 * collects the pages of some of them into batches of moves (page_move.h).
 *
 * Which tables have pages in a block is found by a walk over all tables, a few leaves under one
 * lock. A table that ends meanwhile leaves the cursor of each walk.
 *
 * The caller synchronizes the calls on one run. No lock may be held by callers, unless a function
 * says otherwise.
 */
#ifndef MAAR_CORE_PAGING_PAGE_DRAIN_H
#define MAAR_CORE_PAGING_PAGE_DRAIN_H

#include <stdbool.h>

#include "core/paging/page_move.h"
#include "core/paging/page_walk.h"

/* The part of a run that this room has. */
struct maar_page_drain {
    struct maar_paging* paging;
    uint64_t number;               /* marks the blocks of the run */
    const struct maar_pool* owner; /* a pool that stitches; NULL: pools of no MaarPool */
    uint32_t type_bits;
    PFN_maarMayMove may_move; /* or NULL */
    void* user_data;
    struct maar_page_cursor cursor;
};

/* A block that a run may empty. */
struct maar_page_candidate {
    uint32_t number; /* of the block; page_block.h */
    uint64_t age;
    uint32_t live; /* pages */
    VkDeviceSize page_size;
    VkDeviceSize size;
};

/* Begins a run. Paging is open. */
void maar_page_drain_begin(struct maar_page_drain* drain, struct maar_paging* paging);
/* Ends the walk that is under way, if there is one. */
void maar_page_drain_stop(struct maar_page_drain* drain);
/* Counts the pages that can move, in some leaves. Returns whether the walk is at its end. */
bool maar_page_drain_survey(struct maar_page_drain* drain);
/* Looks at some blocks from a number on, and lists those whose pages can all move. Returns the
 * number after the last one, or UINT32_MAX at the end. */
uint32_t maar_page_drain_look(struct maar_page_drain* drain, uint32_t from, uint32_t capacity,
                              struct maar_page_candidate* candidates, uint32_t* count);
/* Makes a block drain if it has at most so many live pages, and the other blocks of its pool have
 * enough free ones. */
bool maar_page_drain_choose(struct maar_page_drain* drain, uint32_t number, uint64_t age,
                            uint32_t live);
/* Begins to look for the pages of a block that drains. */
void maar_page_drain_enter(struct maar_page_drain* drain, uint32_t number, uint64_t age);
/* Adds pages of the blocks that were entered to a batch, at most so many in all. Returns whether
 * the walk is at its end. */
bool maar_page_drain_collect(struct maar_page_drain* drain, struct maar_page_moves* moves,
                             uint64_t most);
/* Ends the search for the pages of a block. Returns whether all of its pages leave; if not, the
 * block serves requests again. */
bool maar_page_drain_leave(struct maar_page_drain* drain, uint32_t number, uint64_t age);
/* Lets a block serve requests again, unless it has left, or another run has it. */
void maar_page_drain_revive(struct maar_page_drain* drain, uint32_t number, uint64_t age);
/* Sums up the blocks that the pools of a run have given back after they had drained. */
void maar_page_drain_count(const struct maar_page_drain* drain, uint32_t* count, uint64_t* bytes);

#endif
