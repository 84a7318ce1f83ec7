/*
 * The buddy strategy, as placement.c calls it. placement_buddy.c explains it.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_BUDDY_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_BUDDY_H

#include "core/placement/placement_space.h"

/* Makes the whole space free, as a forest. */
void maar_buddy_reset(struct maar_placement* placement);
/* Places a range, as maar_placement_allocate does. */
enum maar_place_outcome maar_buddy_allocate(struct maar_placement* placement,
                                            const struct maar_placement_request* request,
                                            struct maar_placement_range* range);
/* Takes a range at an offset in a free node, which contains it. */
enum maar_place_outcome maar_buddy_allocate_at(struct maar_placement* placement,
                                               const struct maar_placement_request* request,
                                               VkDeviceSize offset, uint32_t slot,
                                               struct maar_placement_range* range);
/* Frees a live node. Returns an upper bound of the size of the largest free range. */
VkDeviceSize maar_buddy_free(struct maar_placement* placement, uint32_t slot);
/* Grows the space, as maar_placement_resize does. */
bool maar_buddy_resize(struct maar_placement* placement, VkDeviceSize size);
/* Returns an upper bound of the largest free range. */
VkDeviceSize maar_buddy_largest_free_bound(const struct maar_placement* placement);
/* Returns the first broken invariant, or NULL. */
const char* maar_buddy_check(const struct maar_placement* placement);

#endif
