/*
 * The linear strategy, as placement.c calls it, and its three runs of nodes. placement_linear.c
 * explains them.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_LINEAR_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_LINEAR_H

#include "core/placement/placement_walk.h"

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

/* Returns the neighbour by offset, across the runs. */
static inline uint32_t placement_linear_lower(const struct maar_placement* placement, uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
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

static inline uint32_t placement_linear_higher(const struct maar_placement* placement,
                                               uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
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

/* Starts from an empty space. */
void maar_linear_reset(struct maar_placement* placement);
enum maar_place_outcome maar_linear_allocate(struct maar_placement* placement,
                                             const struct maar_placement_request* request,
                                             struct maar_placement_range* range);
/* Returns an upper bound of the largest free range. */
VkDeviceSize maar_linear_free(struct maar_placement* placement, uint32_t slot);
VkDeviceSize maar_linear_free_size(const struct maar_placement* placement);
VkDeviceSize maar_linear_largest_free_bound(const struct maar_placement* placement);
void maar_linear_walk(const struct maar_placement* placement, struct placement_walk* walk);
const char* maar_linear_check(const struct maar_placement* placement);

#endif
