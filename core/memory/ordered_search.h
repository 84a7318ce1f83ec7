/*
 * The search for pending ranges that serve an ordered request: shared by ordered_place.c, which
 * takes one range, and ordered_join.c, which makes one of several neighbours.
 */
#ifndef MAAR_CORE_MEMORY_ORDERED_SEARCH_H
#define MAAR_CORE_MEMORY_ORDERED_SEARCH_H

#include "core/memory/ordered_reuse.h"

/* What a request looks for. */
struct maar_ordered_search {
    struct maar_ordered* state;
    struct maar_pool* pool;
    const struct maar_place_request* request;
    const MaarOrderedUseInfo* use;
    bool adds_waits;   /* points of declared submissions need not be covered */
    VkDeviceSize most; /* size of a range that may be divided */
    /* Kinds for the placement: of the request, and of what is left if the range is divided. */
    uint32_t kind;
    uint32_t rest_kind;
    /* maar_ordered_begin_search sets these. The numbers of timelines in them may change as soon as
     * the lock is left. */
    struct maar_clock_reach reach;  /* what the program's points cover */
    struct maar_clock_reach limits; /* the values up to which points need no cover */
    uint32_t wait_capacity;
    uint32_t added_count; /* of points in the waits, for the range that was found */
    bool is_joined;       /* that range was made of several */
};

/* ---- under the lock of the state; ordered_search.c ---- */

void maar_ordered_begin_search(struct maar_ordered_search* search);
/* Whether all points are below the limits, and few enough are not covered. */
bool maar_ordered_fits(const struct maar_ordered_search* search,
                       const struct maar_ordered_points* points);
/* Adds the points that are not covered to the waits. Returns their number. */
uint32_t maar_ordered_add_waits(const struct maar_ordered_search* search,
                                const struct maar_ordered_points* points);

/* ---- no lock may be held ---- */

/* Ends the taking of a range: with its new owner if it is given, or as it was. The slot ends if
 * nobody has got the range and its points have passed meanwhile. ordered_search.c */
void maar_ordered_put_back(const struct maar_ordered_search* search,
                           struct maar_ordered_range* range, bool is_given);
/* Makes a range for a request that no single range serves, out of neighbours of a TLSF pool:
 * pending ranges whose points are covered, and free bytes between, before and behind them. Takes
 * it, and sets the waits that it needs. Returns NULL if there are none. ordered_join.c */
struct maar_ordered_range* maar_ordered_join(struct maar_ordered_search* search);

#endif
