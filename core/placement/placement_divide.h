/*
 * Dividing a live range of a placement, undoing that, and joining neighbours. The owner's lock
 * guards the placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_DIVIDE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_DIVIDE_H

#include "core/placement/placement.h"

/* Divides a live range: the node keeps its first `size` bytes, and *rest gets what is left behind
 * them, with the tag `user` and the same kind. Returns MAAR_PLACE_NO_ROOM if nothing is left: then
 * the bytes behind are padding. In buddy and linear placements nothing is ever left. */
enum maar_place_outcome maar_placement_divide(struct maar_placement* placement, uint32_t node,
                                              VkDeviceSize size, uint64_t user,
                                              struct maar_placement_range* rest);
/* Undoes that: the live range `rest`, if it is not MAAR_PLACEMENT_NO_NODE, becomes a part of the
 * range before it again, which has `size` bytes then. */
void maar_placement_reunite(struct maar_placement* placement, uint32_t node, uint32_t rest,
                            VkDeviceSize size);
/* Makes one live range of two neighbours of a TLSF placement: the second one becomes a part of the
 * first one, and gets its kind. No free range is between them. */
void maar_placement_join(struct maar_placement* placement, uint32_t node, uint32_t next);

/* The bytes of a range that is to get another kind, and the nearest live nodes around them
 * (MAAR_PLACEMENT_NO_NODE: there is none). */
struct maar_placement_hull {
    uint32_t below;
    uint32_t above;
    VkDeviceSize begin;
    VkDeviceSize end;
};
/* Returns whether a range of this kind would share no granule with a range of another kind. */
bool maar_placement_kind_fits(const struct maar_placement* placement, uint32_t kind,
                              const struct maar_placement_hull* hull);
/* Gives a live range another kind. The caller knows that kinds allow it. */
void maar_placement_set_kind(struct maar_placement* placement, uint32_t node, uint32_t kind);

#endif
