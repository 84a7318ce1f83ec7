/*
 * The order in which locks may be taken: each thread takes them in rising rank only. Debug builds
 * check it, and that no lock is held where the driver or the caller's code is called, but for the
 * two ranks that may be. Release builds compile the checks away.
 */
#ifndef MAAR_CORE_LOCK_RANK_H
#define MAAR_CORE_LOCK_RANK_H

#include <stdbool.h>

enum maar_lock_rank {
    MAAR_LOCK_POOL_LIST = 1, /* the list of pools of an allocator */
    MAAR_LOCK_SLICES = 2,    /* the slices of one arena */
    MAAR_LOCK_POOL = 3,      /* a pool's settings, and which arenas it has */
    MAAR_LOCK_ARENA = 4,     /* blocks, placements and slots of one arena */
    MAAR_LOCK_SLOTS = 5,     /* free runs of the handle table */
    MAAR_LOCK_RETIRE = 6,    /* what is pending */
    MAAR_LOCK_PLANS = 7,     /* the plans of a cache */
    MAAR_LOCK_PAGING = 8,    /* pages, tables and what is recorded */
    MAAR_LOCK_SHARE = 9,     /* what hangs on blocks, and interop's own lists */
    MAAR_LOCK_MAP = 10       /* a block's mapping; may be held across vkMapMemory */
};

#if defined(MAAR_HEAVY_CHECKS)
void maar_lock_rank_enter(enum maar_lock_rank rank);
void maar_lock_rank_leave(enum maar_lock_rank rank);
/* Stops the program when this thread holds a lock that may not be held across foreign code. */
void maar_lock_rank_expect_none(void);
#else
static inline void maar_lock_rank_enter(enum maar_lock_rank rank)
{
    (void)rank;
}
static inline void maar_lock_rank_leave(enum maar_lock_rank rank)
{
    (void)rank;
}
static inline void maar_lock_rank_expect_none(void)
{
}
#endif

#endif
