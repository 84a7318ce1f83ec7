/*
 * The visitor of maarWalkRanges. It passes each entry of a walk on to the caller's function.
 */
#ifndef MAAR_CORE_PLACEMENT_RANGE_VISITOR_H
#define MAAR_CORE_PLACEMENT_RANGE_VISITOR_H

#include <stdbool.h>

#include "maar/range.h"

/* The caller's function and its argument. */
struct range_visitor {
    PFN_maarVisitRange visit;
    void* user_data;
};

/* Calls the caller's function for an entry. Returns whether the walk continues. */
static inline bool range_visit(void* context, const MaarRangeInfo* info)
{
    const struct range_visitor* visitor = context;
    return visitor->visit(visitor->user_data, info) != VK_FALSE;
}

#endif
