/*
 * Checks lock ranks in builds that lock_rank.h names. Each thread has one bit for each rank. Builds
 * with MAAR_LOCK_HOLDS measure holds instead.
 */
#include "core/lock_rank.h"

#if defined(MAAR_LOCK_HOLDS)

#include <string.h>

#include "core/port_time.h"

/* The locks of a rank that this thread holds. Where it holds two, the hold is from the first to the
 * last. */
struct rank_hold {
    uint32_t depth;
    uint64_t since_ns;
    const void* place;
};

static _Thread_local struct rank_hold present_holds[MAAR_LOCK_RANKS];
static _Thread_local struct maar_lock_hold longest_holds[MAAR_LOCK_RANKS];

void maar_lock_rank_enter(enum maar_lock_rank rank)
{
    struct rank_hold* hold = &present_holds[rank];
    if (hold->depth++ == 0) {
        hold->place = __builtin_return_address(0);
        hold->since_ns = maar_now_ns();
    }
}

void maar_lock_rank_leave(enum maar_lock_rank rank)
{
    struct rank_hold* hold = &present_holds[rank];
    if (--hold->depth == 0) {
        const uint64_t held_ns = maar_now_ns() - hold->since_ns;
        if (held_ns > longest_holds[rank].longest_ns) {
            longest_holds[rank] = (struct maar_lock_hold){held_ns, hold->place};
        }
    }
}

void maar_lock_rank_expect_none(void)
{
}

void maar_lock_holds_take(struct maar_lock_hold holds[MAAR_LOCK_RANKS])
{
    memcpy(holds, longest_holds, sizeof longest_holds);
    memset(longest_holds, 0, sizeof longest_holds);
}

#elif defined(MAAR_HEAVY_CHECKS) || defined(MAAR_LOCK_CHECKS)

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
