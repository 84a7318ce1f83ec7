/*
 * Each thread takes locks in rising rank. The only exception: maar_arena_lock_both takes two
 * arenas. Builds with MAAR_HEAVY_CHECKS check this, and so do debug builds with tests, which define
 * MAAR_LOCK_CHECKS. They also check that a thread that calls foreign code holds no lock except
 * MAAR_LOCK_MAP. Builds with MAAR_LOCK_HOLDS measure for how long each thread holds locks of each
 * rank, for bench_defragmentation_slices. All other builds do neither.
 */
#ifndef MAAR_CORE_LOCK_RANK_H
#define MAAR_CORE_LOCK_RANK_H

#include <stdbool.h>
#include <stdint.h>

enum maar_lock_rank {
    /* lists of an allocator: pools, free object handles, recycled headers */
    MAAR_LOCK_POOL_LIST = 1,
    MAAR_LOCK_SLICES = 2,     /* the slices of one arena; also the set of slice arenas */
    MAAR_LOCK_POOL = 3,       /* a pool's settings, and which arenas it has */
    MAAR_LOCK_ARENA = 4,      /* blocks, placements and slots of one arena */
    MAAR_LOCK_SLOTS = 5,      /* free runs of the handle table */
    MAAR_LOCK_BLOCK_IDS = 6,  /* which block has which id */
    MAAR_LOCK_ORDERED = 7,    /* the ranges and the clock of ordered reuse */
    MAAR_LOCK_RETIRE = 8,     /* the queue of pending frees */
    MAAR_LOCK_PLANS = 9,      /* the plans of a cache */
    MAAR_LOCK_PAGING = 10,    /* page pools, page tables and recorded binds */
    MAAR_LOCK_LEAVING = 11,   /* memory on its way to the driver */
    MAAR_LOCK_SHARE = 12,     /* attachments of blocks, and lists of interop */
    MAAR_LOCK_MAP = 13,       /* a block's mapping; may be held across vkMapMemory */
    MAAR_LOCK_CAPTURE = 14,   /* which chunks of a capture are mapped */
    MAAR_LOCK_RESIDENCY = 15, /* the lists of work of a manager of residents */
    MAAR_LOCK_STORE = 16,     /* requests and room of a file store */
    MAAR_LOCK_RANKS = 17      /* no lock */
};

#if defined(MAAR_LOCK_HOLDS)
/* The longest time for which a thread has held a lock of a rank. */
struct maar_lock_hold {
    uint64_t longest_ns;
    const void* place; /* in the code: where the lock was taken */
};
/* Returns the longest holds of this thread by rank, and forgets them. A hold begins before the
 * thread waits for the lock. */
void maar_lock_holds_take(struct maar_lock_hold holds[MAAR_LOCK_RANKS]);
#endif

#if defined(MAAR_HEAVY_CHECKS) || defined(MAAR_LOCK_CHECKS) || defined(MAAR_LOCK_HOLDS)
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
