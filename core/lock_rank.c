/*
 * Checks lock ranks in builds with MAAR_HEAVY_CHECKS. Each thread has one bit for each rank.
 */
#include "core/lock_rank.h"

#if defined(MAAR_HEAVY_CHECKS)

#include "core/check.h"

static _Thread_local unsigned held_ranks;

void maar_lock_rank_enter(enum maar_lock_rank rank)
{
    if ((held_ranks >> (unsigned)rank) != 0) {
        maar_trap();
    }
    held_ranks |= 1u << (unsigned)rank;
}

void maar_lock_rank_leave(enum maar_lock_rank rank)
{
    held_ranks &= ~(1u << (unsigned)rank);
}

void maar_lock_rank_expect_none(void)
{
    if ((held_ranks & ~(1u << (unsigned)MAAR_LOCK_MAP)) != 0) {
        maar_trap();
    }
}

#else

/* C does not allow an empty translation unit. */
extern const char maar_lock_rank_off;
const char maar_lock_rank_off = 0;

#endif
