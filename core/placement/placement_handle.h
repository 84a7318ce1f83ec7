/*
 * Public handles of ranges.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_HANDLE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_HANDLE_H

#include "maar/range.h"

/* Returns the public handle of a node of a generation. */
static inline MaarRange maar_placement_handle(uint32_t node, uint32_t generation)
{
    const uint64_t value = (uint64_t)generation << 32 | ((uint64_t)node + 1);
#if VK_USE_64_BIT_PTR_DEFINES == 1
    return (MaarRange)(uintptr_t)value;
#else
    return (MaarRange)value;
#endif
}

#endif
