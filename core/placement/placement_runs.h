/*
 * The three runs of nodes of a linear placement, which placement_linear.c explains. Internal to
 * core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_RUNS_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_RUNS_H

#include "core/placement/placement_space.h"

/* Return the index of the older or the younger upward run, and of a run's oldest or newest node. */
static inline uint32_t placement_linear_older(const struct maar_placement* placement)
{
    return placement->older_run;
}

static inline uint32_t placement_linear_younger(const struct maar_placement* placement)
{
    return placement->older_run ^ 1u;
}

static inline uint32_t placement_linear_oldest(const struct maar_placement* placement, uint32_t run)
{
    return placement->runs[run].oldest;
}

static inline uint32_t placement_linear_newest(const struct maar_placement* placement, uint32_t run)
{
    return placement->runs[run].newest;
}

/* Returns the node at the next lower offset, across the runs. */
static inline uint32_t placement_linear_lower(const struct maar_placement* placement, uint32_t slot)
{
    const struct placement_node* node = placement_at(placement, slot);
    const uint32_t run = placement_tag(node);
    const uint32_t older = placement_linear_older(placement);
    if (run == PLACEMENT_RUN_UPPER) {
        return node->next != PLACEMENT_NONE ? node->next
                                            : placement_linear_newest(placement, older);
    }
    if (node->prev == PLACEMENT_NONE && run == older) {
        return placement_linear_newest(placement, placement_linear_younger(placement));
    }
    return node->prev;
}

/* Returns the node at the next higher offset, across the runs. */
static inline uint32_t placement_linear_higher(const struct maar_placement* placement,
                                               uint32_t slot)
{
    const struct placement_node* node = placement_at(placement, slot);
    const uint32_t run = placement_tag(node);
    const uint32_t older = placement_linear_older(placement);
    if (run == PLACEMENT_RUN_UPPER) {
        return node->prev;
    }
    if (node->next != PLACEMENT_NONE) {
        return node->next;
    }
    return run == older ? placement_linear_newest(placement, PLACEMENT_RUN_UPPER)
                        : placement_linear_oldest(placement, older);
}

#endif
