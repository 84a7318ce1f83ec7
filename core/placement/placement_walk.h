/*
 * A walk through a space in the order of offsets. The strategies report live and free ranges one
 * after another; the bytes between them are reported as padding. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_WALK_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_WALK_H

#include "core/placement/placement_space.h"

/* The caller's visitor, and how far the walk has come. */
struct placement_walk {
    maar_placement_visit visit;
    void* context;
    VkDeviceSize cursor;
    bool stopped;
};

/* Report a live node or a free range. The padding before it is reported first. */
void maar_placement_walk_live(const struct maar_placement* placement, struct placement_walk* walk,
                              uint32_t slot);
void maar_placement_walk_free(struct placement_walk* walk, VkDeviceSize offset, VkDeviceSize end);

#endif
