/*
 * The buddy strategy, as placement.c calls it. placement_buddy.c explains it.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_BUDDY_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_BUDDY_H

#include "core/placement/placement_space.h"

/* Starts from an empty space. */
void maar_buddy_reset(struct maar_placement* placement);
enum maar_place_outcome maar_buddy_allocate(struct maar_placement* placement,
                                            const struct maar_placement_request* request,
                                            struct maar_placement_range* range);
/* Returns an upper bound of the free range that contains the node now. */
VkDeviceSize maar_buddy_free(struct maar_placement* placement, uint32_t slot);
bool maar_buddy_resize(struct maar_placement* placement, VkDeviceSize size);
VkDeviceSize maar_buddy_largest_free_bound(const struct maar_placement* placement);
const char* maar_buddy_check(const struct maar_placement* placement);

#endif
