/*
 * Public handles of ranges.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_HANDLE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_HANDLE_H

#include "core/handle.h"
#include "maar/range.h"

/* Returns the public handle of a node of a generation. */
static inline MaarRange maar_placement_handle(uint32_t node, uint32_t generation)
{
    const uint64_t value = (uint64_t)generation << 32 | ((uint64_t)node + 1);
    return MAAR_FROM_BITS(MaarRange, value);
}

#endif
