/*
 * Finds the lowest offset at which a request fits, for TLSF and buddy placements: see
 * placement_lowest.h.
 */
#include "core/placement/placement_lowest.h"

#include "core/placement/placement_granules.h"
#include "core/placement/placement_tlsf_bins.h"

/* The walk through the bins of sufficient size. */
struct lowest_bins {
    size_t bin;    /* PLACEMENT_NO_BIN: all bins have been seen */
    uint32_t slot; /* the next node to look at */
};

/* Returns the first bin that may hold a node of a sufficient size. */
static size_t lowest_first_bin(const struct maar_placement* placement, VkDeviceSize size)
{
    const bool is_buddy = placement->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY;
    const uint32_t order = size > 1 ? maar_top_bit(size - 1) + 1 : 0;
    const size_t bin = is_buddy ? PLACEMENT_BIN_BASE + order : placement_tlsf_bin(size);
    return bin < PLACEMENT_BIN_BASE + placement->bin_count ? placement_bin_next(placement, bin)
                                                           : PLACEMENT_NO_BIN;
}

static struct lowest_bins lowest_enter(const struct maar_placement* placement, size_t bin)
{
    return (struct lowest_bins){.bin = bin,
                                .slot = bin != PLACEMENT_NO_BIN
                                            ? *placement_bin_head(placement, bin)
                                            : (uint32_t)PLACEMENT_NONE};
}

static struct lowest_bins lowest_next(const struct maar_placement* placement,
                                      struct lowest_bins bins)
{
    bins.slot = placement_at(placement, bins.slot)->u.bin.next;
    return bins.slot != PLACEMENT_NONE
               ? bins
               : lowest_enter(placement, placement_bin_next(placement, bins.bin + 1));
}

/* Returns the lowest offset at which a request fits into a free node, or UINT64_MAX. */
static VkDeviceSize lowest_fit(const struct maar_placement* placement,
                               const struct maar_placement_request* request, uint32_t slot)
{
    const struct placement_node* node = placement_at(placement, slot);
    const VkDeviceSize begin = placement_offset(node);
    return placement_fit(placement, request, placement_prev(node), placement_next(node), begin,
                         begin + placement_size(node));
}

struct placement_lowest maar_placement_find_lowest(const struct maar_placement* placement,
                                                   const struct maar_placement_request* request)
{
    struct placement_lowest best = {.offset = UINT64_MAX, .slot = PLACEMENT_NONE};
    uint32_t slot = placement_next(placement_at(placement, PLACEMENT_NONE));
    MAAR_DEBUG_ASSERT(placement->strategy != MAAR_PLACEMENT_STRATEGY_LINEAR);
    MAAR_DEBUG_ASSERT(request->size <= placement->size);
    struct lowest_bins bins = lowest_enter(placement, lowest_first_bin(placement, request->size));
    while (bins.bin != PLACEMENT_NO_BIN && slot != PLACEMENT_NONE) {
        const struct placement_node* node = placement_at(placement, slot);
        if (placement_offset(node) >= best.offset) {
            break;
        }
        if (placement_state(node) == PLACEMENT_FREE) {
            const VkDeviceSize offset = lowest_fit(placement, request, slot);
            if (offset != UINT64_MAX) {
                return (struct placement_lowest){offset, slot};
            }
        }
        slot = placement_next(node);
        const VkDeviceSize offset = lowest_fit(placement, request, bins.slot);
        if (offset < best.offset) {
            best = (struct placement_lowest){offset, bins.slot};
        }
        bins = lowest_next(placement, bins);
    }
    return best;
}
