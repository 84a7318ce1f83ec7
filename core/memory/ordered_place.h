/*
 * Gives pending ranges to ordered requests. The slow path of an allocation calls this file.
 */
#ifndef MAAR_CORE_MEMORY_ORDERED_PLACE_H
#define MAAR_CORE_MEMORY_ORDERED_PLACE_H

#include "core/memory/arena_place.h"
#include "maar/ordered.h"

enum maar_ordered_flag {
    /* Points of declared submissions need not be covered: then they are added to the waits. */
    MAAR_ORDERED_ADD_WAITS = 1,
    /* A small request may have a part of a range of any size. Without the flag only of one that is
     * at most 64 times as large: large ranges are for large requests, and small ones fit into free
     * bytes elsewhere. */
    MAAR_ORDERED_DIVIDE_ANY = 2
};

/* Gives a request a pending range of a pool, if there is one whose points `use` covers. Returns
 * whether it did. flags: enum maar_ordered_flag. No lock may be held. */
bool maar_ordered_serve(struct maar_pool* pool, const struct maar_place_request* request,
                        const MaarOrderedUseInfo* use, uint32_t flags, struct maar_made* made);

#endif
