/*
 * Gives pending ranges to ordered requests. The slow path of an allocation calls this file.
 */
#ifndef MAAR_CORE_MEMORY_ORDERED_PLACE_H
#define MAAR_CORE_MEMORY_ORDERED_PLACE_H

#include "core/memory/arena_place.h"
#include "maar/ordered.h"

/* Gives a request a pending range of a pool, if there is one whose points `use` covers. With
 * `adds_waits`, points of declared submissions need not be covered: then adds them to the waits.
 * Returns whether it did. No lock may be held. */
bool maar_ordered_serve(struct maar_pool* pool, const struct maar_place_request* request,
                        const MaarOrderedUseInfo* use, bool adds_waits, struct maar_made* made);

#endif
