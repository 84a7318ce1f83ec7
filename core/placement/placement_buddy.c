/*
 * The buddy strategy: the sizes of free ranges are powers of two, and each free range is aligned to
 * its size. There is one list of free ranges for each order; the order of a range is the logarithm
 * of its size.
 *
 * A space of any size is a forest: from its beginning on, it is cut into the largest aligned powers
 * of two. Two free halves of one aligned range are always joined. No tree is stored: the buddy of a
 * range is its neighbour in the space, if that neighbour has the same order. A live range may lie
 * anywhere inside its node. The node's tag is its order. Order and offset together give the
 * beginning of the node.
 */
#include "core/placement/placement_buddy.h"

#include "core/placement/placement_bins.h"
#include "core/placement/placement_granules.h"
#include "core/placement/placement_retired.h"
#include "core/placement/placement_slots.h"

enum {
    /* The maximum number of nodes tried in each order. Alignment or kinds may make a node unfit. */
    BUDDY_LOOK = 8,
};

/* Returns the bin of an order. */
static inline size_t buddy_bin(uint32_t order)
{
    return PLACEMENT_BIN_BASE + order;
}

/* Returns the lowest order, from this one on, that has free nodes. Returns PLACEMENT_ORDERS if
 * there is none. */
static uint32_t buddy_next_order(const struct maar_placement* placement, uint32_t order)
{
    const size_t bin = placement_bin_next(placement, buddy_bin(order));
    return bin != PLACEMENT_NO_BIN ? (uint32_t)(bin - PLACEMENT_BIN_BASE) : PLACEMENT_ORDERS;
}

static VkDeviceSize buddy_size(const struct placement_node* node)
{
    return (VkDeviceSize)1 << placement_tag(node);
}

static VkDeviceSize buddy_begin(const struct placement_node* node)
{
    return placement_offset(node) & ~(buddy_size(node) - 1);
}

static void buddy_set_free(struct maar_placement* placement, uint32_t slot, VkDeviceSize offset,
                           uint32_t order)
{
    struct placement_node* node = placement_at(placement, slot);
    placement_set(node, placement_meta(PLACEMENT_FREE, 0, order), offset, (VkDeviceSize)1 << order);
}

/* Joins a node that is in no list with its free buddies, order by order. Then puts the joined node
 * into the list of its order. */
static void buddy_join(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* node = placement_at(placement, slot);
    uint32_t order = placement_tag(node);
    VkDeviceSize begin = placement_offset(node);
    while (order < PLACEMENT_OFFSET_BITS) {
        const VkDeviceSize size = (VkDeviceSize)1 << order;
        const bool is_lower = (begin & size) == 0;
        const uint32_t buddy = is_lower ? node->next : node->prev;
        const struct placement_node* other = placement_at(placement, buddy);
        if (buddy == PLACEMENT_NONE || placement_state(other) != PLACEMENT_FREE ||
            placement_tag(other) != order) {
            break;
        }
        placement_bin_remove(placement, buddy_bin(order), other, buddy);
        placement_join(placement, other->prev, other->next);
        placement_drop_slot(placement, buddy);
        begin &= ~size;
        order += 1;
    }
    buddy_set_free(placement, slot, begin, order);
    placement_bin_insert(placement, buddy_bin(order), node, slot);
}

/* Adds [begin, end) at the end of the space. The caller ensures that enough nodes are left. */
static void buddy_extend(struct maar_placement* placement, VkDeviceSize begin, VkDeviceSize end)
{
    while (begin < end) {
        uint32_t order = maar_top_bit(end - begin);
        if (begin != 0 && maar_low_bit(begin) < order) {
            order = maar_low_bit(begin);
        }
        const uint32_t slot = placement_take_slot(placement);
        buddy_set_free(placement, slot, begin, order);
        placement_link(placement, placement_at(placement, PLACEMENT_NONE)->prev, slot,
                       PLACEMENT_NONE);
        buddy_join(placement, slot);
        begin += (VkDeviceSize)1 << order;
    }
}

void maar_buddy_reset(struct maar_placement* placement)
{
    buddy_extend(placement, 0, placement->size);
}

bool maar_buddy_resize(struct maar_placement* placement, VkDeviceSize size)
{
    if (!placement_has_slots(placement, 2 * PLACEMENT_ORDERS)) {
        return false;
    }
    const VkDeviceSize begin = placement->size;
    placement->size = size;
    placement->free_extent += (size - begin) << PLACEMENT_SIZE_SHIFT;
    buddy_extend(placement, begin, size);
    return true;
}

/* Returns a free node that can hold the request, and sets *offset to a place in that node. Tries
 * the lowest sufficient order first. Returns PLACEMENT_NONE if no node that was tried fits. */
static uint32_t buddy_find(const struct maar_placement* placement,
                           const struct maar_placement_request* request, VkDeviceSize* offset)
{
    const uint32_t least = request->size > 1 ? maar_top_bit(request->size - 1) + 1 : 0;
    for (uint32_t order = buddy_next_order(placement, least); order < PLACEMENT_ORDERS;
         order = buddy_next_order(placement, order + 1)) {
        uint32_t slot = *placement_bin_head(placement, buddy_bin(order));
        for (uint32_t looks = 0; looks < BUDDY_LOOK && slot != PLACEMENT_NONE; ++looks) {
            const struct placement_node* node = placement_at(placement, slot);
            const VkDeviceSize begin = placement_offset(node);
            *offset = placement_fit(placement, request, node->prev, node->next, begin,
                                    begin + buddy_size(node));
            if (*offset != UINT64_MAX) {
                return slot;
            }
            slot = node->u.bin.next;
        }
    }
    return PLACEMENT_NONE;
}

enum maar_place_outcome maar_buddy_allocate(struct maar_placement* placement,
                                            const struct maar_placement_request* request,
                                            struct maar_placement_range* range)
{
    VkDeviceSize offset = UINT64_MAX;
    if (request->size > placement->size) {
        return MAAR_PLACE_NO_ROOM;
    }
    const uint32_t slot = buddy_find(placement, request, &offset);
    return slot != PLACEMENT_NONE ? maar_buddy_allocate_at(placement, request, offset, slot, range)
                                  : MAAR_PLACE_NO_ROOM;
}

enum maar_place_outcome maar_buddy_allocate_at(struct maar_placement* placement,
                                               const struct maar_placement_request* request,
                                               VkDeviceSize offset, uint32_t slot,
                                               struct maar_placement_range* range)
{
    struct placement_node* taken = placement_at(placement, slot);
    VkDeviceSize begin = placement_offset(taken);
    uint32_t order = placement_tag(taken);
    const bool is_retired = placement_is_retired(taken->where);
    if (!placement_has_slots(placement, order + (is_retired ? 1 : 0))) {
        return MAAR_PLACE_WANTS_STORAGE;
    }
    placement_bin_remove(placement, buddy_bin(order), taken, slot);
    if (is_retired) {
        slot = maar_placement_replace(placement, slot);
        taken = placement_at(placement, slot);
    }
    while (order != 0) {
        const VkDeviceSize half = (VkDeviceSize)1 << (order - 1);
        const bool is_lower = request->size <= half && offset - begin <= half - request->size;
        if (!is_lower && offset - begin < half) {
            break;
        }
        order -= 1;
        const uint32_t other = placement_take_slot(placement);
        if (is_lower) {
            buddy_set_free(placement, other, begin + half, order);
            placement_link(placement, slot, other, taken->next);
        } else {
            buddy_set_free(placement, other, begin, order);
            placement_link(placement, taken->prev, other, slot);
            begin += half;
        }
        placement_bin_insert(placement, buddy_bin(order), placement_at(placement, other), other);
    }
    placement_set(taken, placement_meta(PLACEMENT_LIVE, request->kind, order), offset,
                  request->size);
    placement_count_in(placement, request->size, (VkDeviceSize)1 << order);
    placement_report_range(placement, slot, request, range);
    return MAAR_PLACED;
}

VkDeviceSize maar_buddy_free(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* node = placement_at(placement, slot);
    const VkDeviceSize begin = buddy_begin(node);
    placement_count_out(placement, placement_size(node), buddy_size(node));
    buddy_set_free(placement, slot, begin, placement_tag(node));
    buddy_join(placement, slot);
    return maar_buddy_largest_free_bound(placement);
}

VkDeviceSize maar_buddy_largest_free_bound(const struct maar_placement* placement)
{
    const uint64_t orders = placement->bin_words[0];
    return orders != 0 ? (VkDeviceSize)1 << maar_top_bit(orders) : 0;
}

static const char* buddy_check_lists(const struct maar_placement* placement, uint32_t free_count)
{
    uint32_t seen = 0;
    for (uint32_t order = 0; order < PLACEMENT_ORDERS; ++order) {
        if ((placement->bin_words[0] >> order & 1) == 0) {
            continue;
        }
        uint32_t prev = PLACEMENT_NONE;
        for (uint32_t slot = placement->bins[order]; slot != PLACEMENT_NONE;) {
            if (!placement_is_used(placement, slot) || ++seen > free_count) {
                return "buddy: the list of an order has a bad link";
            }
            const struct placement_node* node = placement_at(placement, slot);
            if (placement_state(node) != PLACEMENT_FREE || placement_tag(node) != order) {
                return "buddy: a range is in the wrong list";
            }
            if (prev != PLACEMENT_NONE && node->u.bin.prev != prev) {
                return "buddy: the list of an order has a wrong backward link";
            }
            prev = slot;
            slot = node->u.bin.next;
        }
        if (prev == PLACEMENT_NONE) {
            return "buddy: an empty order is marked as filled";
        }
    }
    return seen == free_count ? NULL : "buddy: a free range is in no list";
}

const char* maar_buddy_check(const struct maar_placement* placement)
{
    uint32_t free_count = 0;
    VkDeviceSize cursor = 0;
    for (uint32_t slot = placement_at(placement, PLACEMENT_NONE)->next; slot != PLACEMENT_NONE;) {
        const struct placement_node* node = placement_at(placement, slot);
        const VkDeviceSize begin = buddy_begin(node);
        if (begin != cursor) {
            return "buddy: ranges overlap or leave a gap";
        }
        cursor = begin + buddy_size(node);
        if (!placement_fits(placement_offset(node), placement_size(node), cursor)) {
            return "buddy: a live range leaves its node";
        }
        if (placement_state(node) == PLACEMENT_FREE) {
            const bool is_lower = (begin & buddy_size(node)) == 0;
            free_count += 1;
            if (is_lower && node->next != PLACEMENT_NONE &&
                placement_state(placement_at(placement, node->next)) == PLACEMENT_FREE &&
                placement_tag(placement_at(placement, node->next)) == placement_tag(node)) {
                return "buddy: two free buddies are not joined";
            }
        }
        slot = node->next;
    }
    if (cursor != placement->size) {
        return "buddy: the nodes do not cover the space";
    }
    return buddy_check_lists(placement, free_count);
}
