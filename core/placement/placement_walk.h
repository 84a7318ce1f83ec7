/*
 * A walk through a space in the order of offsets: live and free ranges are reported one after
 * another, and what lies between them is padding. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_WALK_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_WALK_H

#include "core/placement/placement_space.h"

struct placement_walk {
    maar_placement_visit visit;
    void* context;
    VkDeviceSize cursor;
    bool stopped;
};

void maar_placement_walk_live(const struct maar_placement* placement, struct placement_walk* walk,
                              uint32_t slot);
void maar_placement_walk_free(struct placement_walk* walk, VkDeviceSize offset, VkDeviceSize end);

#endif
