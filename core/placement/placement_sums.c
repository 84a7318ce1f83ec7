/*
 * Adds up the entries of a walk. The walk calls this file, so this file calls no other .c file of
 * placement.
 */
#include "core/placement/placement_sums.h"

bool maar_placement_sum_up(void* context, const MaarRangeInfo* info)
{
    struct placement_sums* sums = context;
    const VkDeviceSize granularity = sums->placement->granularity;
    if (info->offset != sums->cursor ||
        !placement_fits(info->offset, info->size, sums->placement->size)) {
        sums->broken = "entries of a walk overlap or leave a gap";
        return false;
    }
    sums->cursor = info->offset + info->size;
    if (info->state == MAAR_RANGE_STATE_FREE) {
        sums->free_size += info->size;
    }
    if (info->state != MAAR_RANGE_STATE_LIVE) {
        return true;
    }
    sums->range_count += 1;
    sums->used_size += info->size;
    if (granularity > 1 && info->kind != 0) {
        if (sums->kind != 0 && sums->kind != info->kind &&
            ((sums->kind_end - 1) & ~(granularity - 1)) == (info->offset & ~(granularity - 1))) {
            sums->broken = "ranges of different kinds share a granule";
            return false;
        }
        sums->kind = info->kind;
        sums->kind_end = sums->cursor;
    }
    return true;
}
