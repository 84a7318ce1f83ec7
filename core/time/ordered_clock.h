/*
 * What is known of the order of timelines: a vector clock for each of the latest declared values of
 * each timeline. A point covers another one if it can pass only after it.
 *
 * A timeline signals its values in rising order, so a point covers all lower values of its own
 * timeline. A declared submission adds: its signals cover its waits, and what these cover. All
 * tables are bounded. What they have no room for is forgotten, so that a point covers less.
 *
 * Not synchronized: the owner's lock guards a clock.
 */
#ifndef MAAR_CORE_TIME_ORDERED_CLOCK_H
#define MAAR_CORE_TIME_ORDERED_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "maar/allocator.h"

enum {
    /* Timelines that have numbers. Number 0 is the host timeline. Programs have one timeline for
     * each queue, and a few more. */
    MAAR_CLOCK_TIMELINES = 32,
    /* Values that each timeline remembers: some frames in flight with tens of submissions each. A
     * history has 17 KB. */
    MAAR_CLOCK_DEPTH = 64,
    MAAR_CLOCK_NONE = MAAR_CLOCK_TIMELINES /* no number */
};

/* For each timeline, the highest value that is covered; 0: none. */
struct maar_clock_reach {
    uint64_t values[MAAR_CLOCK_TIMELINES];
};

/* A declared value of a timeline, and what it covers. */
struct maar_clock_entry {
    uint64_t value;
    struct maar_clock_reach reach;
};

/* The latest declared values of one timeline, in rising order, in a ring. */
struct maar_clock_history {
    uint32_t first;
    uint32_t count;
    struct maar_clock_entry entries[MAAR_CLOCK_DEPTH];
};

struct maar_clock_timeline {
    VkSemaphore semaphore;
    bool is_known;                      /* has a number, and is not forgotten */
    uint32_t use_count;                 /* ranges whose points name it */
    uint64_t used;                      /* when it was last named: see maar_clock::tick */
    uint64_t declared;                  /* the highest declared signal */
    struct maar_clock_history* history; /* NULL before the first signal was declared */
};

struct maar_clock {
    uint64_t tick;
    struct maar_clock_timeline timelines[MAAR_CLOCK_TIMELINES];
};

/* Makes a clock that knows only the host timeline. The memory is zeroed. */
void maar_clock_init(struct maar_clock* clock);

/* Returns the number of a timeline, or MAAR_CLOCK_NONE. */
uint32_t maar_clock_find(const struct maar_clock* clock, VkSemaphore semaphore);
/* Does the same, and gives the timeline a number if it has none. Another timeline that no range
 * names may lose its number; then *freed is its history, which the caller frees, else NULL. Returns
 * MAAR_CLOCK_NONE if there is no number left. */
uint32_t maar_clock_number(struct maar_clock* clock, VkSemaphore semaphore,
                           struct maar_clock_history** freed);
/* Counts a range that names a timeline, or that names it no longer. */
void maar_clock_hold(struct maar_clock* clock, uint32_t number);
void maar_clock_leave(struct maar_clock* clock, uint32_t number);
/* Forgets a timeline. Returns its history, which the caller frees, or NULL. */
struct maar_clock_history* maar_clock_forget(struct maar_clock* clock, VkSemaphore semaphore);

/* Adds to *reach what a point covers, itself included. */
void maar_clock_cover(const struct maar_clock* clock, MaarPoint point,
                      struct maar_clock_reach* reach);
/* Declares that a value of a timeline, which has a number and a history, passes after *reach. */
void maar_clock_declare(struct maar_clock* clock, uint32_t number, uint64_t value,
                        const struct maar_clock_reach* reach);

/* Returns the number of timelines that are known. */
uint32_t maar_clock_count(const struct maar_clock* clock);
/* Returns the first broken invariant, or NULL. */
const char* maar_clock_check(const struct maar_clock* clock);

#endif
