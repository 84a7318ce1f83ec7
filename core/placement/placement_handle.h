/*
 * Public handles of ranges.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_HANDLE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_HANDLE_H

#include "core/handle.h"
#include "maar/range.h"

/* Numbers of nodes are multiples of this. */
#define MAAR_PLACEMENT_NODE_STEP 4u
/* Generations are below 2^30. They are the highest bits of a handle. */
#define MAAR_PLACEMENT_GENERATION_BITS 30

/* Returns the public handle of a node of a generation. No node of a range is 0, so no handle is. */
static inline MaarRange maar_placement_handle(uint32_t node, uint32_t generation)
{
    const uint64_t value = (uint64_t)generation << (64 - MAAR_PLACEMENT_GENERATION_BITS) |
                           node / MAAR_PLACEMENT_NODE_STEP;
    return MAAR_FROM_BITS(MaarRange, value);
}

/* Returns the node of a handle. Every number is the handle of some node, which may not exist. */
static inline uint32_t maar_placement_handle_node(uint64_t handle)
{
    return (uint32_t)handle * MAAR_PLACEMENT_NODE_STEP;
}

static inline uint32_t maar_placement_handle_generation(uint64_t handle)
{
    return (uint32_t)(handle >> (64 - MAAR_PLACEMENT_GENERATION_BITS));
}

#endif
