/*
 * Granules: a new range is compared with its neighbours in the order of their offsets. The
 * comparison ends at a neighbour outside the first or last granule of the range, at a neighbour
 * whose kind decides, or after GRANULE_NEIGHBOURS neighbours.
 */
#include "core/placement/placement_granules.h"

#include "core/placement/placement_runs.h"

enum {
    /* The number of neighbours that are passed over inside one granule because they are not live or
     * have kind 0. After them a conflict is assumed. The limit bounds the time; an assumed conflict
     * moves the range to the next granule or rejects the place. */
    GRANULE_NEIGHBOURS = 8,
};

static uint32_t granule_lower(const struct maar_placement* placement, uint32_t slot)
{
    return placement->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR
               ? placement_linear_lower(placement, slot)
               : placement_prev(placement_at(placement, slot));
}

static uint32_t granule_higher(const struct maar_placement* placement, uint32_t slot)
{
    return placement->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR
               ? placement_linear_higher(placement, slot)
               : placement_next(placement_at(placement, slot));
}

VkDeviceSize maar_placement_clear_below(const struct maar_placement* placement, uint32_t below,
                                        uint32_t kind, VkDeviceSize offset)
{
    const VkDeviceSize granule = offset & ~(placement->granularity - 1);
    uint32_t slot = below;
    MAAR_DEBUG_ASSERT(placement_minds_kind(placement, kind));
    for (uint32_t step = 0; slot != PLACEMENT_NONE; ++step) {
        const struct placement_node* node = placement_at(placement, slot);
        if (placement_offset(node) + placement_size(node) <= granule) {
            return offset;
        }
        const bool is_kind = placement_state(node) == PLACEMENT_LIVE && placement_kind(node) != 0;
        if (is_kind && placement_kind(node) == kind) {
            /* A neighbour of this kind is in the granule already, so every range below it in the
             * granule is compatible. */
            return offset;
        }
        if (is_kind || step == GRANULE_NEIGHBOURS) {
            return offset == granule ? offset : granule + placement->granularity;
        }
        slot = granule_lower(placement, slot);
    }
    return offset;
}

bool maar_placement_clear_above(const struct maar_placement* placement, uint32_t above,
                                uint32_t kind, VkDeviceSize end)
{
    const VkDeviceSize granule_end =
        placement_align_up(end, placement->granularity); /* end of the range's last granule */
    uint32_t slot = above;
    MAAR_DEBUG_ASSERT(placement_minds_kind(placement, kind));
    for (uint32_t step = 0; slot != PLACEMENT_NONE; ++step) {
        const struct placement_node* node = placement_at(placement, slot);
        if (placement_offset(node) >= granule_end) {
            return true;
        }
        if (placement_state(node) == PLACEMENT_LIVE && placement_kind(node) != 0) {
            return placement_kind(node) == kind;
        }
        if (step == GRANULE_NEIGHBOURS) {
            return false;
        }
        slot = granule_higher(placement, slot);
    }
    return true;
}

VkDeviceSize maar_placement_fit_kind(const struct maar_placement* placement,
                                     const struct maar_placement_request* request, uint32_t below,
                                     uint32_t above, VkDeviceSize offset, VkDeviceSize end)
{
    const VkDeviceSize clear = maar_placement_clear_below(placement, below, request->kind, offset);
    if (clear != offset) {
        offset = placement_align_up(clear, request->alignment);
    }
    if (!placement_fits(offset, request->size, end) ||
        !maar_placement_clear_above(placement, above, request->kind, offset + request->size)) {
        return UINT64_MAX;
    }
    return offset;
}
