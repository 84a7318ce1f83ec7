/*
 * A node's generation as its owner sees it.
 */
#ifndef MAAR_TESTS_MODEL_PLACEMENT_NAME_H
#define MAAR_TESTS_MODEL_PLACEMENT_NAME_H

#include "core/placement/placement.h"

#define NO_GENERATION UINT32_MAX

/* NO_GENERATION where the node names no live range. */
static inline uint32_t generation_of(const struct maar_placement* placement, uint32_t node)
{
    struct maar_placement_range range;
    uint64_t user = 0;
    uint32_t kind = 0;
    return maar_placement_get(placement, node, &range, &user, &kind) ? range.generation
                                                                     : NO_GENERATION;
}

#endif
