/*
 * TLSF: free ranges in bins by size, 64 bins an octave, found by a two-level
 * bitmap.
 *
 * Ranges begin and end at multiples of a unit, the largest power of two (at
 * most 256) that divides every alignment asked for so far: what is lost inside
 * one could not have been used by any request seen, and sizes that are no
 * multiples of it cost no time. The last range may end at the end of the space.
 * Two free ranges never touch. A search looks at a bounded number of nodes.
 */
#include "core/placement/placement_nodes.h"

enum {
    /* Nodes looked at in the bin that a size falls into, whose ranges may be too
     * small. Measured in docs/placement.md. */
    TLSF_LOOK = 2,
    /* Nodes looked at when alignment or kinds may spoil ranges that are large
       enough. */
    TLSF_LOOK_ALIGNED = 24,
    /* Nodes looked at before a request is refused. */
    TLSF_LOOK_LAST = 64,
    TLSF_UNIT_MAX = 256,
};

/* Whether ranges of other kinds may be too near: not if all borders are borders of granules. */
static inline bool tlsf_minds_kind(const struct maar_placement* placement, uint32_t kind,
                                   VkDeviceSize unit)
{
    return kind != 0 && placement->granularity > unit;
}

struct tlsf_query {
    const struct maar_placement_request* request;
    VkDeviceSize rounded; /* size rounded up to the unit */
    VkDeviceSize sure;    /* a free range of this size fits, whatever its place */
    bool plain;           /* rounded is sure, and the range goes to the beginning */
};

struct tlsf_place {
    VkDeviceSize offset;
    uint32_t slot;
};

static inline uint32_t tlsf_bin(VkDeviceSize size)
{
    if (size < (1u << PLACEMENT_BIN_BITS)) {
        return (uint32_t)size;
    }
    const uint32_t top = placement_log2(size);
    const uint32_t below = (uint32_t)(size >> (top - PLACEMENT_BIN_BITS));
    return ((top - PLACEMENT_BIN_BITS) << PLACEMENT_BIN_BITS) + below;
}

uint32_t maar_tlsf_bin_count(VkDeviceSize size)
{
    return tlsf_bin(size) + 1;
}

static void tlsf_insert(struct maar_placement* placement, uint32_t slot)
{
    placement_bin_insert(placement, tlsf_bin(placement_size(&placement->nodes[slot])), slot);
}

static void tlsf_remove(struct maar_placement* placement, uint32_t slot)
{
    placement_bin_remove(placement, tlsf_bin(placement_size(&placement->nodes[slot])), slot);
}

/* Gives a free node other bounds; in most cases its bin stays the same only for
 * large ones. */
static void tlsf_move(struct maar_placement* placement, uint32_t slot, VkDeviceSize offset,
                      VkDeviceSize size)
{
    struct placement_node* node = &placement->nodes[slot];
    const uint32_t old_bin = tlsf_bin(placement_size(node));
    const uint32_t bin = tlsf_bin(size);
    placement_move(node, offset, size);
    if (bin != old_bin) {
        placement_bin_remove(placement, old_bin, slot);
        placement_bin_insert(placement, bin, slot);
    }
}

void maar_tlsf_reset(struct maar_placement* placement)
{
    placement->unit = TLSF_UNIT_MAX;
    const uint32_t slot = placement_take_slot(placement);
    placement_set(&placement->nodes[slot], PLACEMENT_FREE, 0, placement->size);
    placement_link(placement, PLACEMENT_NONE, slot, PLACEMENT_NONE);
    tlsf_insert(placement, slot);
}

/* Where the query lies in a free node, or UINT64_MAX. */
static VkDeviceSize tlsf_fit(const struct maar_placement* placement, const struct tlsf_query* query,
                             uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
    const VkDeviceSize begin = placement_offset(node);
    return maar_placement_fit(placement, query->request, node->prev, node->next, begin,
                              begin + placement_size(node));
}

/* The first large enough among the first few nodes of one bin. */
static uint32_t tlsf_look_plain(const struct maar_placement* placement, VkDeviceSize rounded,
                                uint32_t slot, uint32_t looks)
{
    for (; slot != PLACEMENT_NONE && looks != 0; --looks) {
        const struct placement_node* node = &placement->nodes[slot];
        if (placement_size(node) >= rounded) {
            return slot;
        }
        slot = node->u.bin.next;
    }
    return PLACEMENT_NONE;
}

/* A free node of at least this size, near the best, and its bin; PLACEMENT_NONE
 * if there is none. */
static inline uint32_t tlsf_find_plain(const struct maar_placement* placement, VkDeviceSize rounded,
                                       uint32_t* found_bin)
{
    const uint32_t bin = tlsf_bin(rounded);
    uint32_t head = PLACEMENT_NONE;
    *found_bin = bin;
    if (bin < placement->bin_count) {
        head = placement->bins[bin];
        const uint32_t slot = tlsf_look_plain(placement, rounded, head, TLSF_LOOK);
        if (slot != PLACEMENT_NONE) {
            return slot;
        }
    }
    const uint32_t next = placement_bin_next(placement, bin + 1);
    if (next == PLACEMENT_NONE) {
        return tlsf_look_plain(placement, rounded, head, TLSF_LOOK_LAST);
    }
    *found_bin = next;
    return placement->bins[next];
}

/* The first that fits among the first few nodes of bins in [bin, end). */
static struct tlsf_place tlsf_look(const struct maar_placement* placement,
                                   const struct tlsf_query* query, uint32_t bin, uint32_t end,
                                   uint32_t looks)
{
    struct tlsf_place place = {.slot = PLACEMENT_NONE};
    for (bin = placement_bin_next(placement, bin); bin < end && looks != 0;
         bin = placement_bin_next(placement, bin + 1)) {
        for (uint32_t slot = placement->bins[bin]; slot != PLACEMENT_NONE && looks != 0; --looks) {
            place.offset = tlsf_fit(placement, query, slot);
            if (place.offset != UINT64_MAX) {
                place.slot = slot;
                return place;
            }
            slot = placement->nodes[slot].u.bin.next;
        }
    }
    return place;
}

/* When alignment or kinds may spoil a range: in [bin, sure) each is tried, from
 * there on the first one fits. */
static struct tlsf_place tlsf_find_odd(const struct maar_placement* placement,
                                       const struct tlsf_query* query)
{
    const uint32_t bin = tlsf_bin(query->rounded);
    const uint32_t sure = tlsf_bin(query->sure - 1) + 1;
    struct tlsf_place place = tlsf_look(placement, query, bin, sure, TLSF_LOOK_ALIGNED);
    if (place.slot == PLACEMENT_NONE) {
        place = tlsf_look(placement, query, sure, PLACEMENT_NONE, 1);
    }
    if (place.slot == PLACEMENT_NONE) {
        place = tlsf_look(placement, query, bin, sure, TLSF_LOOK_LAST);
    }
    return place;
}

/* The end of the space need not be a multiple of the unit, and its beginning is
 * a multiple of any alignment: the bins may have missed these two. */
static struct tlsf_place tlsf_find_at_ends(const struct maar_placement* placement,
                                           const struct tlsf_query* query)
{
    struct tlsf_place place = {.slot = PLACEMENT_NONE};
    const uint32_t ends[2] = {placement->last, placement->first};
    for (uint32_t i = 0; i < 2; ++i) {
        if (placement_state(&placement->nodes[ends[i]]) == PLACEMENT_FREE) {
            place.offset = tlsf_fit(placement, query, ends[i]);
            if (place.offset != UINT64_MAX) {
                place.slot = ends[i];
                return place;
            }
        }
    }
    return place;
}

/* Not in line with the common case. */
static struct tlsf_place tlsf_find_rare(const struct maar_placement* placement,
                                        struct tlsf_query* query)
{
    struct tlsf_place place = {.slot = PLACEMENT_NONE};
    const VkDeviceSize alignment = query->request->alignment;
    if (!query->plain) {
        query->sure =
            query->rounded + (alignment < MAAR_RANGE_MAX_SIZE ? alignment : MAAR_RANGE_MAX_SIZE);
        if (placement_minds_kind(placement, query->request->kind)) {
            query->sure += 2 * placement->granularity;
        }
        place = tlsf_find_odd(placement, query);
    }
    return place.slot != PLACEMENT_NONE ? place : tlsf_find_at_ends(placement, query);
}

/* Cuts [offset, cut) out of a free node and returns the slot of that part, in
 * no bin. */
static uint32_t tlsf_cut(struct maar_placement* placement, uint32_t slot, VkDeviceSize offset,
                         VkDeviceSize cut)
{
    const struct placement_node* node = &placement->nodes[slot];
    const VkDeviceSize begin = placement_offset(node);
    const VkDeviceSize end = begin + placement_size(node);
    uint32_t part = slot;
    if (offset == begin && cut >= end) {
        tlsf_remove(placement, slot);
        return slot;
    }
    part = placement_take_slot(placement);
    if (offset == begin) {
        placement_link(placement, node->prev, part, slot);
        tlsf_move(placement, slot, cut, end - cut);
        return part;
    }
    placement_link(placement, slot, part, node->next);
    if (cut < end) {
        const uint32_t back = placement_take_slot(placement);
        placement_set(&placement->nodes[back], PLACEMENT_FREE, cut, end - cut);
        placement_link(placement, part, back, placement->nodes[part].next);
        tlsf_insert(placement, back);
    }
    tlsf_move(placement, slot, begin, offset - begin);
    return part;
}

/* Makes a node that tlsf_cut returned the live range of a request. */
static inline void tlsf_fill(struct maar_placement* placement, uint32_t slot,
                             const struct maar_placement_request* request, VkDeviceSize offset,
                             struct maar_placement_range* range)
{
    struct placement_node* node = &placement->nodes[slot];
    placement_set(node, PLACEMENT_LIVE, offset, request->size);
    placement_set_kind(node, request->kind);
    placement_tell_range(placement, slot, request, range);
}

/* Whatever the alignment and the kind, wherever the place is. */
static VkResult tlsf_allocate_rare(struct maar_placement* placement,
                                   const struct maar_placement_request* request,
                                   struct maar_placement_range* range)
{
    const VkDeviceSize divisor = request->alignment & (~request->alignment + 1);
    const VkDeviceSize unit = divisor < placement->unit ? divisor : placement->unit;
    struct tlsf_query query = {
        .request = request,
        .rounded = (request->size + unit - 1) & ~(unit - 1),
        .plain = request->alignment == unit && !tlsf_minds_kind(placement, request->kind, unit),
    };
    struct tlsf_place place = {.slot = PLACEMENT_NONE};
    if (query.plain) {
        uint32_t bin = 0;
        place.slot = tlsf_find_plain(placement, query.rounded, &bin);
    }
    if (place.slot != PLACEMENT_NONE) {
        place.offset = placement_offset(&placement->nodes[place.slot]);
    } else {
        place = tlsf_find_rare(placement, &query);
        if (place.slot == PLACEMENT_NONE) {
            return VK_ERROR_OUT_OF_POOL_MEMORY;
        }
    }
    if (!placement_has_slots(placement, 2)) {
        return VK_INCOMPLETE;
    }
    const VkDeviceSize cut = (place.offset + request->size + unit - 1) & ~(unit - 1);
    const VkDeviceSize end = cut < placement->size ? cut : placement->size;
    const uint32_t slot = tlsf_cut(placement, place.slot, place.offset, cut);
    tlsf_fill(placement, slot, request, place.offset, range);
    placement->unit = unit;
    placement_count_in(placement, request->size, end - place.offset);
    return VK_SUCCESS;
}

/* The common case, in line: the alignment is the unit, kinds do not matter, and
 * a bin has a range that is large enough. All else is left to
 * tlsf_allocate_rare. */
VkResult maar_tlsf_allocate(struct maar_placement* placement,
                            const struct maar_placement_request* request,
                            struct maar_placement_range* range)
{
    const VkDeviceSize size = request->size;
    const VkDeviceSize unit = placement->unit;
    if (size > placement->size) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    if (request->alignment != unit || tlsf_minds_kind(placement, request->kind, unit) ||
        placement->slots_left < 2) {
        return tlsf_allocate_rare(placement, request, range);
    }
    const VkDeviceSize rounded = (size + unit - 1) & ~(unit - 1);
    uint32_t bin = 0;
    uint32_t slot = tlsf_find_plain(placement, rounded, &bin);
    if (slot == PLACEMENT_NONE) {
        return tlsf_allocate_rare(placement, request, range);
    }
    struct placement_node* node = &placement->nodes[slot];
    const VkDeviceSize offset = placement_offset(node);
    const VkDeviceSize rest = placement_size(node) - rounded;
    if (rest == 0) {
        placement_bin_remove(placement, bin, slot);
    } else {
        const uint32_t part = placement_take_slot(placement);
        const uint32_t rest_bin = tlsf_bin(rest);
        placement_move(node, offset + rounded, rest);
        if (rest_bin != bin) {
            placement_bin_remove(placement, bin, slot);
            placement_bin_insert(placement, rest_bin, slot);
        }
        placement_link(placement, node->prev, part, slot);
        slot = part;
    }
    tlsf_fill(placement, slot, request, offset, range);
    placement_count_in(placement, size, rounded);
    return VK_SUCCESS;
}

void maar_tlsf_free(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* nodes = placement->nodes;
    struct placement_node* node = &nodes[slot];
    const uint32_t prev = node->prev;
    const uint32_t next = node->next;
    const VkDeviceSize begin = placement_offset(node);
    const VkDeviceSize end =
        next != PLACEMENT_NONE ? placement_offset(&nodes[next]) : placement->size;
    const bool joins_prev =
        prev != PLACEMENT_NONE && placement_state(&nodes[prev]) == PLACEMENT_FREE;
    const bool joins_next =
        next != PLACEMENT_NONE && placement_state(&nodes[next]) == PLACEMENT_FREE;
    placement_count_out(placement, placement_size(node), end - begin);
    if (!joins_prev && !joins_next) {
        placement_set(node, PLACEMENT_FREE, begin, end - begin);
        tlsf_insert(placement, slot);
        return;
    }
    /* The free neighbour takes the bytes over: of the nodes around, only those
     * are touched that were looked at anyway. */
    placement_drop_slot(placement, slot);
    if (!joins_prev) {
        placement_join(placement, prev, next);
        tlsf_move(placement, next, begin, end - begin + placement_size(&nodes[next]));
        return;
    }
    VkDeviceSize size = placement_size(&nodes[prev]) + (end - begin);
    uint32_t behind = next;
    if (joins_next) {
        size += placement_size(&nodes[next]);
        behind = nodes[next].next;
        tlsf_remove(placement, next);
        placement_drop_slot(placement, next);
    }
    placement_join(placement, prev, behind);
    tlsf_move(placement, prev, placement_offset(&nodes[prev]), size);
}

VkResult maar_tlsf_resize(struct maar_placement* placement, VkDeviceSize size)
{
    const uint32_t bins = maar_tlsf_bin_count(size);
    if (bins > placement->bin_count) {
        placement->wanted_bins = bins;
        return VK_INCOMPLETE;
    }
    if (!placement_has_slots(placement, 1)) {
        return VK_INCOMPLETE;
    }
    const VkDeviceSize begin = placement->size;
    const uint32_t last = placement->last;
    const struct placement_node* node = &placement->nodes[last];
    placement->size = size;
    if (placement_state(node) == PLACEMENT_FREE) {
        const VkDeviceSize offset = placement_offset(node);
        tlsf_move(placement, last, offset, size - offset);
        return VK_SUCCESS;
    }
    /* The old end becomes a border, which all borders' unit must divide. */
    while ((begin & (placement->unit - 1)) != 0) {
        placement->unit >>= 1;
    }
    const uint32_t slot = placement_take_slot(placement);
    placement_set(&placement->nodes[slot], PLACEMENT_FREE, begin, size - begin);
    placement_link(placement, last, slot, PLACEMENT_NONE);
    tlsf_insert(placement, slot);
    return VK_SUCCESS;
}

VkDeviceSize maar_tlsf_largest_free_bound(const struct maar_placement* placement)
{
    if (placement->bin_summary == 0) {
        return 0;
    }
    const uint32_t word = placement_log2(placement->bin_summary);
    const uint32_t bin = (word << 6) + placement_log2(placement->bin_words[word]);
    const struct placement_node* head = &placement->nodes[placement->bins[bin]];
    if (head->u.bin.next == PLACEMENT_NONE) {
        return placement_size(head);
    }
    const uint32_t octave = bin >> PLACEMENT_BIN_BITS;
    const uint32_t step = bin & ((1u << PLACEMENT_BIN_BITS) - 1);
    VkDeviceSize bound = bin;
    if (octave != 0) {
        bound = (((VkDeviceSize)step + (1u << PLACEMENT_BIN_BITS) + 1) << (octave - 1)) - 1;
    }
    return bound < placement->size ? bound : placement->size;
}

static const char* tlsf_check_bins(const struct maar_placement* placement, uint32_t free_count)
{
    uint32_t seen = 0;
    for (uint32_t bin = 0; bin < PLACEMENT_BIN_WORDS * 64u; ++bin) {
        if ((placement->bin_words[bin >> 6] >> (bin & 63) & 1) == 0) {
            continue;
        }
        if (bin >= placement->bin_count) {
            return "TLSF: a bin beyond the last one is marked as filled";
        }
        uint32_t prev = PLACEMENT_NONE;
        for (uint32_t slot = placement->bins[bin]; slot != PLACEMENT_NONE;) {
            if (slot >= placement->used_slots || ++seen > free_count) {
                return "TLSF: the list of a bin leads astray";
            }
            const struct placement_node* node = &placement->nodes[slot];
            if (placement_state(node) != PLACEMENT_FREE) {
                return "TLSF: a bin holds a node that is not free";
            }
            if (tlsf_bin(placement_size(node)) != bin) {
                return "TLSF: a free range is in the wrong bin";
            }
            if (node->u.bin.prev != prev) {
                return "TLSF: the list of a bin does not lead back";
            }
            prev = slot;
            slot = node->u.bin.next;
        }
        if (prev == PLACEMENT_NONE) {
            return "TLSF: an empty bin is marked as filled";
        }
    }
    return seen == free_count ? NULL : "TLSF: a free range is in no bin";
}

const char* maar_tlsf_check(const struct maar_placement* placement)
{
    uint32_t free_count = 0;
    VkDeviceSize cursor = 0;
    bool was_free = false;
    if (placement->first == PLACEMENT_NONE ||
        placement_offset(&placement->nodes[placement->first]) != 0) {
        return "TLSF: the first range does not begin at 0";
    }
    for (uint32_t slot = placement->first; slot != PLACEMENT_NONE;) {
        const struct placement_node* node = &placement->nodes[slot];
        const VkDeviceSize offset = placement_offset(node);
        const bool is_free = placement_state(node) == PLACEMENT_FREE;
        const VkDeviceSize end = node->next != PLACEMENT_NONE
                                     ? placement_offset(&placement->nodes[node->next])
                                     : placement->size;
        if (offset < cursor || !placement_fits(offset, placement_size(node), end)) {
            return "TLSF: ranges overlap or leave the space";
        }
        if ((offset & (placement->unit - 1)) != 0) {
            return "TLSF: a range begins between two units";
        }
        if (is_free && (was_free || offset + placement_size(node) != end)) {
            return "TLSF: free ranges are not joined";
        }
        free_count += is_free ? 1 : 0;
        was_free = is_free;
        cursor = offset + placement_size(node);
        slot = node->next;
    }
    return tlsf_check_bins(placement, free_count);
}
