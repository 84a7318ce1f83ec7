/*
 * Reports the entries of a walk.
 */
#include "core/placement/placement_walk.h"

/* Reports the padding before an entry, then the entry. */
static void walk_report(struct placement_walk* walk, const MaarRangeInfo* info)
{
    if (!walk->stopped && info->offset > walk->cursor) {
        const MaarRangeInfo padding = {
            .sType = MAAR_STRUCTURE_TYPE_RANGE_INFO,
            .state = MAAR_RANGE_STATE_PADDING,
            .offset = walk->cursor,
            .size = info->offset - walk->cursor,
        };
        walk->stopped = !walk->visit(walk->context, &padding);
    }
    if (!walk->stopped && info->size != 0) {
        walk->stopped = !walk->visit(walk->context, info);
    }
    walk->cursor = info->offset + info->size;
}

void maar_placement_walk_live(const struct maar_placement* placement, struct placement_walk* walk,
                              uint32_t slot)
{
    const struct placement_node* node = placement_at(placement, slot);
    const MaarRangeInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_INFO,
        .state = MAAR_RANGE_STATE_LIVE,
        .kind = placement_kind(node),
        .offset = placement_offset(node),
        .size = placement_size(node),
        .userData = node->u.user,
        .range = maar_placement_handle(slot, placement_node_generation(node)),
    };
    walk_report(walk, &info);
}

void maar_placement_walk_free(struct placement_walk* walk, VkDeviceSize offset, VkDeviceSize end)
{
    const MaarRangeInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_INFO,
        .state = MAAR_RANGE_STATE_FREE,
        .offset = offset,
        .size = end - offset,
    };
    walk_report(walk, &info);
}
