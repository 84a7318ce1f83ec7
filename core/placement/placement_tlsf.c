/*
 * The TLSF strategy: free ranges are in bins by size, 64 bins an octave. A two-level bitmap shows
 * the bins that are not empty.
 *
 * Ranges begin and end at multiples of a unit; only the last range may end at the end of the space
 * instead. The unit is the largest power of two, at most 256, that divides the alignments of all
 * ranges placed since the last reset. None of these ranges could have begun in the bytes that are
 * lost inside a unit. A size that is no multiple of the unit costs no extra time. Two free ranges
 * are never neighbours. A search tries a bounded number of nodes.
 */
#include "core/placement/placement_tlsf.h"

#include "core/placement/placement_granules.h"
#include "core/placement/placement_retired.h"

enum {
    /* The maximum number of nodes tried when alignment or kinds may make a large enough range
     * unfit: TLSF_LOOK_OWN in the bin of the size, then TLSF_LOOK_ABOVE in higher bins, of which
     * only the first node of each is tried. */
    TLSF_LOOK_OWN = 2,
    TLSF_LOOK_ABOVE = 6,
    /* The maximum number of nodes tried in the last search before a request fails. */
    TLSF_LOOK_LAST = 64,
    TLSF_UNIT_MAX = 256,
};

/* Returns whether a range may share a granule with a range of another kind. This is impossible if
 * the unit is a multiple of the granularity. */
static inline bool tlsf_minds_kind(const struct maar_placement* placement, uint32_t kind,
                                   VkDeviceSize unit)
{
    return kind != 0 && placement->granularity > unit;
}

struct tlsf_query {
    const struct maar_placement_request* request;
    VkDeviceSize rounded; /* size rounded up to the unit */
    /* a free range of this size has room for the request, wherever the range lies */
    VkDeviceSize sure;
    VkDeviceSize alignment_mask; /* alignment - 1 if that is a power of two, else UINT64_MAX */
    VkDeviceSize granule_mask;   /* granularity - 1 if minds_kind, else 0 */
    bool minds_kind;
};

struct tlsf_place {
    VkDeviceSize offset;
    uint32_t slot;
};

static inline uint32_t tlsf_bin(VkDeviceSize size)
{
    return placement_tlsf_bin(size << PLACEMENT_SIZE_SHIFT);
}

uint32_t maar_tlsf_bin_count(VkDeviceSize size)
{
    return tlsf_bin((size + TLSF_UNIT_MAX - 1) & ~(VkDeviceSize)(TLSF_UNIT_MAX - 1)) + 1;
}

/* Returns the meta of a live range whose extent is a multiple of this power of two. */
static uint64_t tlsf_live_meta(VkDeviceSize unit, uint32_t kind)
{
    return placement_meta(PLACEMENT_LIVE, kind, maar_top_bit(unit) + PLACEMENT_SIZE_SHIFT);
}

static void tlsf_set_unit(struct maar_placement* placement, VkDeviceSize unit)
{
    placement->unit = unit;
    placement->unit_extent = unit << PLACEMENT_SIZE_SHIFT;
    placement->fast_meta = tlsf_live_meta(unit, 0) - placement_meta(PLACEMENT_FREE, 0, 0);
    placement->fast_kind = placement->granularity <= unit ? MAAR_RANGE_MAX_KIND : 0;
}

/* Gives a free node another extent and moves it to the bin of that extent. Large nodes mostly stay
 * in their bin. */
static void tlsf_set_extent(struct maar_placement* placement, uint32_t slot, uint64_t extent)
{
    struct placement_node* node = &placement->nodes[slot];
    const uint64_t old = node->extent;
    node->extent = extent;
    if ((old ^ extent) >> placement_tlsf_shift(extent) != 0) {
        placement_bin_remove(placement, placement_tlsf_bin(old), node);
        placement_tlsf_insert(placement, node, slot);
    }
}

/* Adds a free range between two neighbours that are not free. */
static void tlsf_add(struct maar_placement* placement, uint32_t prev, uint32_t next,
                     VkDeviceSize begin, VkDeviceSize end)
{
    const uint32_t slot = placement_take_slot(placement);
    struct placement_node* node = &placement->nodes[slot];
    placement_set(node, placement_meta(PLACEMENT_FREE, 0, 0), begin, end - begin);
    node->prev = prev;
    node->next = next;
    placement_tlsf_link(placement->nodes, prev, slot | PLACEMENT_LINK_FREE, next);
    placement_tlsf_insert(placement, node, slot);
}

void maar_tlsf_reset(struct maar_placement* placement)
{
    tlsf_set_unit(placement, TLSF_UNIT_MAX);
    placement->fast_size = placement->size;
    tlsf_add(placement, PLACEMENT_NONE, PLACEMENT_NONE, 0, placement->size);
}

/* Returns the offset at which the query fits into a free node, or UINT64_MAX if it does not fit. */
static inline VkDeviceSize tlsf_fit(const struct maar_placement* placement,
                                    const struct tlsf_query* query, uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
    const VkDeviceSize begin = placement_offset(node);
    const VkDeviceSize end = begin + placement_size(node);
    if (query->alignment_mask != UINT64_MAX) {
        const VkDeviceSize mask = query->granule_mask;
        const VkDeviceSize offset = (begin + query->alignment_mask) & ~query->alignment_mask;
        const VkDeviceSize used_end = offset + query->request->size;
        if (used_end > end) {
            return UINT64_MAX;
        }
        /* Neighbours matter only if a granule that the range uses reaches beyond the free range. */
        if ((offset & ~mask) >= begin && ((used_end + mask) & ~mask) <= end) {
            return offset;
        }
    }
    return placement_fit(placement, query->request, node->prev, node->next, begin, end);
}

/* Returns the first large enough node among the first few of one bin. */
static uint32_t tlsf_look_by_size(const struct maar_placement* placement, VkDeviceSize rounded,
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

/* Returns the first node that fits among the first nodes of each of the bins in [bin, end). */
static inline struct tlsf_place tlsf_look(const struct maar_placement* placement,
                                          const struct tlsf_query* query, uint32_t bin,
                                          uint32_t end, uint32_t looks, uint32_t looks_in_bin)
{
    struct tlsf_place place = {.slot = PLACEMENT_NONE};
    if (bin >= placement->bin_count) {
        return place;
    }
    for (bin = placement_bin_next(placement, bin); bin < end;
         bin = placement_bin_next(placement, bin + 1)) {
        uint32_t left = looks_in_bin;
        for (uint32_t slot = placement->bins[bin]; slot != PLACEMENT_NONE && left != 0; --left) {
            place.offset = tlsf_fit(placement, query, slot);
            if (place.offset != UINT64_MAX) {
                place.slot = slot;
                return place;
            }
            if (--looks == 0) {
                return place;
            }
            slot = placement->nodes[slot].u.bin.next;
        }
    }
    return place;
}

/* Finds a range when alignment or kinds may make a range unfit. Tries some nodes of the bins in
 * [bin, sure). In the bins from `sure` on, every node fits. */
static struct tlsf_place tlsf_find_by_place(const struct maar_placement* placement,
                                            const struct tlsf_query* query)
{
    const uint32_t bin = tlsf_bin(query->rounded);
    const uint32_t sure =
        query->sure <= placement->size ? tlsf_bin(query->sure - 1) + 1 : UINT32_MAX;
    struct tlsf_place place =
        tlsf_look(placement, query, bin, bin + 1, TLSF_LOOK_OWN, TLSF_LOOK_OWN);
    if (place.slot == PLACEMENT_NONE) {
        place = tlsf_look(placement, query, bin + 1, sure, TLSF_LOOK_ABOVE, 1);
    }
    if (place.slot == PLACEMENT_NONE) {
        place = tlsf_look(placement, query, sure, UINT32_MAX, 1, 1);
    }
    if (place.slot == PLACEMENT_NONE) {
        place = tlsf_look(placement, query, bin, sure, TLSF_LOOK_LAST, TLSF_LOOK_LAST);
    }
    return place;
}

/* Tries the free ranges at the two ends of the space, which the search of the bins may have missed:
 * the end of the space need not be a multiple of the unit, and its beginning is a multiple of every
 * alignment. */
static struct tlsf_place tlsf_find_at_ends(const struct maar_placement* placement,
                                           const struct tlsf_query* query)
{
    struct tlsf_place place = {.slot = PLACEMENT_NONE};
    const struct placement_node* border = &placement->nodes[PLACEMENT_NONE];
    const uint32_t ends[2] = {placement_prev(border), placement_next(border)};
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

/* Returns a free node of at least this size, or PLACEMENT_NONE. */
static uint32_t tlsf_find_by_size(const struct maar_placement* placement, VkDeviceSize rounded)
{
    const uint32_t bin = tlsf_bin(rounded);
    uint32_t slot = tlsf_look_by_size(placement, rounded, placement->bins[bin], 1);
    if (slot == PLACEMENT_NONE) {
        const uint32_t next = placement_bin_next(placement, bin + 1);
        slot = next != UINT32_MAX
                   ? placement->bins[next]
                   : tlsf_look_by_size(placement, rounded, placement->bins[bin], TLSF_LOOK_LAST);
    }
    return slot;
}

static struct tlsf_place tlsf_find(const struct maar_placement* placement, struct tlsf_query* query,
                                   bool by_size)
{
    struct tlsf_place place = {.slot = PLACEMENT_NONE};
    const VkDeviceSize alignment = query->request->alignment;
    if (by_size) {
        place.slot = tlsf_find_by_size(placement, query->rounded);
        place.offset = placement_offset(&placement->nodes[place.slot]);
    } else {
        const bool is_large = alignment > MAAR_RANGE_MAX_SIZE;
        const bool is_power = !is_large && maar_is_power_of_two_or_zero(alignment);
        query->alignment_mask = is_power ? alignment - 1 : UINT64_MAX;
        query->sure = query->rounded + (is_large ? MAAR_RANGE_MAX_SIZE : alignment);
        if (query->minds_kind) {
            query->granule_mask = placement->granularity - 1;
            query->sure += 2 * placement->granularity;
        }
        place = tlsf_find_by_place(placement, query);
    }
    return place.slot != PLACEMENT_NONE ? place : tlsf_find_at_ends(placement, query);
}

/* Takes [offset, cut) out of a free node. Returns the node of that part, which is in no bin and has
 * only its generation and its links. The free node keeps the rest before the part, and the rest
 * behind the part gets a new node. If there is no rest before the part, the free node keeps the
 * rest behind it. */
static uint32_t tlsf_cut(struct maar_placement* placement, uint32_t slot, VkDeviceSize offset,
                         VkDeviceSize cut)
{
    struct placement_node* nodes = placement->nodes;
    struct placement_node* node = &nodes[slot];
    const VkDeviceSize begin = placement_offset(node);
    const VkDeviceSize end = begin + placement_size(node);
    if (offset == begin && cut >= end) {
        placement_bin_remove(placement, placement_tlsf_bin(node->extent), node);
        placement_tlsf_link(nodes, node->prev, slot, node->next);
        return placement_is_retired(node->where) ? maar_placement_replace(placement, slot) : slot;
    }
    const uint32_t part = placement_take_slot(placement);
    if (offset == begin) {
        placement_link(placement, node->prev, part, slot);
        nodes[part].next = slot | PLACEMENT_LINK_FREE;
        node->where += (cut - begin) << PLACEMENT_OFFSET_SHIFT;
        tlsf_set_extent(placement, slot, node->extent - ((cut - begin) << PLACEMENT_SIZE_SHIFT));
        return part;
    }
    const uint32_t next = node->next;
    placement_link(placement, slot, part, next);
    nodes[part].prev = slot | PLACEMENT_LINK_FREE;
    tlsf_set_extent(placement, slot, node->extent - ((end - offset) << PLACEMENT_SIZE_SHIFT));
    if (cut < end) {
        tlsf_add(placement, part, next, cut, end);
    }
    return part;
}

/* The slow path, for any alignment and any kind. */
static enum maar_place_outcome tlsf_allocate_slow(struct maar_placement* placement,
                                                  const struct maar_placement_request* request,
                                                  struct maar_placement_range* range)
{
    const VkDeviceSize divisor = request->alignment & (~request->alignment + 1);
    const VkDeviceSize unit = divisor < placement->unit ? divisor : placement->unit;
    struct tlsf_query query = {
        .request = request,
        .rounded = (request->size + unit - 1) & ~(unit - 1),
        .alignment_mask = UINT64_MAX,
        .minds_kind = tlsf_minds_kind(placement, request->kind, unit),
    };
    const bool by_size = request->alignment == unit && !query.minds_kind;
    const struct tlsf_place place = tlsf_find(placement, &query, by_size);
    if (place.slot == PLACEMENT_NONE) {
        return MAAR_PLACE_NO_ROOM;
    }
    if (!placement_has_slots(placement, 2)) {
        return MAAR_PLACE_WANTS_STORAGE;
    }
    const VkDeviceSize cut = place.offset + query.rounded;
    const VkDeviceSize end = cut < placement->size ? cut : placement->size;
    const uint32_t slot = tlsf_cut(placement, place.slot, place.offset, cut);
    placement_set(&placement->nodes[slot], tlsf_live_meta(unit, request->kind), place.offset,
                  request->size);
    placement_count_in(placement, request->size, end - place.offset);
    placement_report_range(placement, slot, request, range);
    if (unit != placement->unit) {
        tlsf_set_unit(placement, unit);
    }
    return MAAR_PLACED;
}

enum maar_place_outcome maar_tlsf_allocate(struct maar_placement* placement,
                                           const struct maar_placement_request* request,
                                           struct maar_placement_range* range)
{
    if (request->size > placement->size) {
        return MAAR_PLACE_NO_ROOM;
    }
    if (placement_tlsf_is_fast(placement, request->alignment, request->kind)) {
        const struct placement_tlsf_need need = {&request->size, &request->kind, &request->user};
        if (placement_tlsf_allocate_fast(placement, need, &range->node, &range->generation,
                                         &range->offset)) {
            range->size = request->size;
            return MAAR_PLACED;
        }
    }
    return tlsf_allocate_slow(placement, request, range);
}

uint64_t maar_tlsf_absorb(struct maar_placement* placement, uint32_t slot, uint64_t extent)
{
    struct placement_node* nodes = placement->nodes;
    const uint32_t prev = nodes[slot].prev;
    uint32_t next = nodes[slot].next;
    nodes[slot].next = placement->free_slot;
    placement->free_slot = slot;
    placement->slots_left += 1;
    if ((prev & PLACEMENT_LINK_FREE) == 0) {
        struct placement_node* higher = &nodes[next & ~PLACEMENT_LINK_FREE];
        higher->where -= extent << (PLACEMENT_OFFSET_SHIFT - PLACEMENT_SIZE_SHIFT);
        higher->prev = prev;
        nodes[prev].next = next;
        tlsf_set_extent(placement, next & ~PLACEMENT_LINK_FREE, higher->extent + extent);
        return higher->extent;
    }
    struct placement_node* lower = &nodes[prev & ~PLACEMENT_LINK_FREE];
    if ((next & PLACEMENT_LINK_FREE) != 0) {
        const uint32_t higher = next & ~PLACEMENT_LINK_FREE;
        extent += nodes[higher].extent & ~(uint64_t)PLACEMENT_GENERATION_MASK;
        next = nodes[higher].next;
        placement_bin_remove(placement, placement_tlsf_bin(nodes[higher].extent), &nodes[higher]);
        placement_drop_slot(placement, higher);
    }
    lower->next = next;
    nodes[next].prev = prev;
    tlsf_set_extent(placement, prev & ~PLACEMENT_LINK_FREE, lower->extent + extent);
    return lower->extent;
}

uint64_t maar_tlsf_free_retired(struct maar_placement* placement, uint32_t slot, uint64_t extent)
{
    struct placement_node* nodes = placement->nodes;
    struct placement_node* node = &nodes[slot];
    if (((node->prev | node->next) & PLACEMENT_LINK_FREE) == 0) {
        node->where = (node->where & ~(uint64_t)PLACEMENT_META_MASK) | PLACEMENT_ERA_MASK |
                      placement_meta(PLACEMENT_FREE, 0, 0);
        node->extent = extent;
        placement_tlsf_link(nodes, node->prev, slot | PLACEMENT_LINK_FREE, node->next);
        placement_tlsf_insert(placement, node, slot);
        return extent;
    }
    const uint64_t joined = maar_tlsf_absorb(placement, slot, extent);
    /* The node is on the stack now, at its top or below the node that was joined last. */
    uint32_t* link = &placement->free_slot;
    while (*link != slot) {
        link = &nodes[*link].next;
    }
    *link = node->next;
    placement->slots_left -= 1;
    placement_retire(node);
    return joined;
}

/* Returns the extent of a live range, which may be the last range. The space may end between two
 * units. */
static uint64_t tlsf_last_extent(const struct maar_placement* placement,
                                 const struct placement_node* node)
{
    const VkDeviceSize begin = placement_offset(node);
    const VkDeviceSize unit = (VkDeviceSize)1 << (placement_tag(node) - PLACEMENT_SIZE_SHIFT);
    const VkDeviceSize end = (begin + placement_size(node) + unit - 1) & (0 - unit);
    return ((end < placement->size ? end : placement->size) - begin) << PLACEMENT_SIZE_SHIFT;
}

uint64_t maar_tlsf_free_last(struct maar_placement* placement, uint32_t slot)
{
    const uint64_t extent = tlsf_last_extent(placement, &placement->nodes[slot]);
    return placement_tlsf_free_extent(placement, slot, extent);
}

bool maar_tlsf_resize(struct maar_placement* placement, VkDeviceSize size)
{
    const uint32_t bins = maar_tlsf_bin_count(size);
    if (bins > placement->bin_count) {
        placement->wanted_bins = bins;
        return false;
    }
    if (!placement_has_slots(placement, 1)) {
        return false;
    }
    const uint32_t last = placement_prev(&placement->nodes[PLACEMENT_NONE]);
    const struct placement_node* node = &placement->nodes[last];
    const uint64_t growth = (size - placement->size) << PLACEMENT_SIZE_SHIFT;
    if (placement_state(node) == PLACEMENT_FREE) {
        placement->free_extent += growth;
        tlsf_set_extent(placement, last, node->extent + growth);
    } else {
        /* The last live range takes the new bytes up to the next multiple of its unit. */
        const uint64_t before = tlsf_last_extent(placement, node);
        placement->size = size;
        const uint64_t extent = tlsf_last_extent(placement, node);
        const VkDeviceSize end = placement_offset(node) + (extent >> PLACEMENT_SIZE_SHIFT);
        placement->free_extent += growth - (extent - before);
        if (end < size) {
            tlsf_add(placement, last, PLACEMENT_NONE, end, size);
        }
    }
    placement->size = size;
    placement->fast_size = size;
    return true;
}

VkDeviceSize maar_tlsf_largest_free_bound(const struct maar_placement* placement)
{
    if (placement->bin_summary == 0) {
        return 0;
    }
    const uint32_t word = maar_top_bit(placement->bin_summary);
    const uint32_t bin = (word << 6) + maar_top_bit(placement->bin_words[word]);
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
                return "TLSF: the list of a bin has a bad link";
            }
            const struct placement_node* node = &placement->nodes[slot];
            if (placement_state(node) != PLACEMENT_FREE) {
                return "TLSF: a bin holds a node that is not free";
            }
            if (tlsf_bin(placement_size(node)) != bin) {
                return "TLSF: a free range is in the wrong bin";
            }
            if (node->u.bin.prev != prev) {
                return "TLSF: the list of a bin has a wrong backward link";
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
    const uint32_t first = placement_next(&placement->nodes[PLACEMENT_NONE]);
    if (first == PLACEMENT_NONE || placement_offset(&placement->nodes[first]) != 0) {
        return "TLSF: the first range does not begin at 0";
    }
    for (uint32_t slot = first; slot != PLACEMENT_NONE;) {
        const struct placement_node* node = &placement->nodes[slot];
        const VkDeviceSize offset = placement_offset(node);
        const bool is_free = placement_state(node) == PLACEMENT_FREE;
        const uint32_t next = placement_next(node);
        const VkDeviceSize end =
            next != PLACEMENT_NONE ? placement_offset(&placement->nodes[next]) : placement->size;
        if (offset < cursor || !placement_fits(offset, placement_size(node), end)) {
            return "TLSF: ranges overlap or leave the space";
        }
        if ((offset & (placement->unit - 1)) != 0) {
            return "TLSF: a range begins between two units";
        }
        if (is_free && (was_free || offset + placement_size(node) != end)) {
            return "TLSF: free ranges are not joined";
        }
        /* The tag of a damaged node may be too low for a unit. */
        const bool has_unit = placement_tag(node) - PLACEMENT_SIZE_SHIFT < 64;
        if (!is_free &&
            (!has_unit ||
             offset + (tlsf_last_extent(placement, node) >> PLACEMENT_SIZE_SHIFT) != end)) {
            return "TLSF: a live range does not reach its neighbour";
        }
        free_count += is_free ? 1 : 0;
        was_free = is_free;
        cursor = offset + placement_size(node);
        slot = next;
    }
    return tlsf_check_bins(placement, free_count);
}
