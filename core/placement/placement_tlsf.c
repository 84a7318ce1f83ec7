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

#include "core/placement/placement_fast.h"
#include "core/placement/placement_granules.h"
#include "core/placement/placement_joins.h"
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

/* The largest size that the fast path places. Even rounded up to a unit, its extent is a positive
 * signed number. */
#define TLSF_FAST_SIZE_MAX (MAAR_RANGE_MAX_SIZE - TLSF_UNIT_MAX)

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

uint32_t maar_tlsf_bin_count(VkDeviceSize size)
{
    const VkDeviceSize units = (size + TLSF_UNIT_MAX - 1) & ~(VkDeviceSize)(TLSF_UNIT_MAX - 1);
    return (uint32_t)(placement_tlsf_bin(units) - PLACEMENT_BIN_BASE) + 1;
}

/* Returns the meta of a live range whose extent is a multiple of this power of two. */
static uint64_t tlsf_live_meta(VkDeviceSize unit, uint32_t kind)
{
    return placement_meta(PLACEMENT_LIVE, kind, maar_top_bit(unit) + PLACEMENT_SIZE_SHIFT);
}

static void tlsf_set_unit(struct maar_placement* placement, VkDeviceSize unit)
{
    placement->unit = unit;
    placement->unit_mask = unit - 1;
    placement->unit_is_one = unit == 1 ? 1 : 0;
    placement->fast_meta = tlsf_live_meta(unit, 0) - placement_meta(PLACEMENT_FREE, 0, 0);
    placement->fast_kind = placement->granularity <= unit ? MAAR_RANGE_MAX_KIND : 0;
}

static void tlsf_set_size(struct maar_placement* placement, VkDeviceSize size)
{
    placement->size = size;
    placement->fast_size = size < TLSF_FAST_SIZE_MAX ? size : TLSF_FAST_SIZE_MAX;
}

/* Gives a free node another extent, and moves it to the bin of that extent. */
static void tlsf_set_extent(struct maar_placement* placement, uint32_t slot, uint64_t extent)
{
    struct placement_node* node = placement_at(placement, slot);
    const uint64_t old = node->extent;
    node->extent = extent;
    placement_tlsf_move(placement, node, slot, old);
}

/* Adds a free range between two neighbours that are not free. */
static void tlsf_add(struct maar_placement* placement, uint32_t prev, uint32_t next,
                     VkDeviceSize begin, VkDeviceSize end)
{
    const uint32_t slot = placement_take_slot(placement);
    struct placement_node* node = placement_at(placement, slot);
    placement_set(node, placement_meta(PLACEMENT_FREE, 0, 0), begin, end - begin);
    node->prev = prev;
    node->next = next;
    placement_tlsf_link(placement, prev, slot | PLACEMENT_LINK_FREE, next);
    placement_tlsf_insert(placement, node, slot);
}

void maar_tlsf_reset(struct maar_placement* placement)
{
    tlsf_set_unit(placement, TLSF_UNIT_MAX);
    tlsf_set_size(placement, placement->size);
    tlsf_add(placement, PLACEMENT_NONE, PLACEMENT_NONE, 0, placement->size);
}

/* Returns the offset at which the query fits into a free node, or UINT64_MAX if it does not fit. */
static inline VkDeviceSize tlsf_fit(const struct maar_placement* placement,
                                    const struct tlsf_query* query, uint32_t slot)
{
    const struct placement_node* node = placement_at(placement, slot);
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
        const struct placement_node* node = placement_at(placement, slot);
        if (placement_size(node) >= rounded) {
            return slot;
        }
        slot = node->u.bin.next;
    }
    return PLACEMENT_NONE;
}

/* Returns the first node that fits among the first nodes of each of the bins in [bin, end). */
static inline struct tlsf_place tlsf_look(const struct maar_placement* placement,
                                          const struct tlsf_query* query, size_t bin, size_t end,
                                          uint32_t looks, uint32_t looks_in_bin)
{
    struct tlsf_place place = {.slot = PLACEMENT_NONE};
    if (bin >= PLACEMENT_BIN_BASE + placement->bin_count) {
        return place;
    }
    for (bin = placement_bin_next(placement, bin); bin < end;
         bin = placement_bin_next(placement, bin + 1)) {
        uint32_t left = looks_in_bin;
        for (uint32_t slot = *placement_bin_head(placement, bin);
             slot != PLACEMENT_NONE && left != 0; --left) {
            place.offset = tlsf_fit(placement, query, slot);
            if (place.offset != UINT64_MAX) {
                place.slot = slot;
                return place;
            }
            if (--looks == 0) {
                return place;
            }
            slot = placement_at(placement, slot)->u.bin.next;
        }
    }
    return place;
}

/* Finds a range when alignment or kinds may make a range unfit. Tries some nodes of the bins in
 * [bin, sure). In the bins from `sure` on, every node fits. */
static struct tlsf_place tlsf_find_by_place(const struct maar_placement* placement,
                                            const struct tlsf_query* query)
{
    const size_t bin = placement_tlsf_bin(query->rounded);
    const size_t sure =
        query->sure <= placement->size ? placement_tlsf_bin(query->sure - 1) + 1 : PLACEMENT_NO_BIN;
    struct tlsf_place place =
        tlsf_look(placement, query, bin, bin + 1, TLSF_LOOK_OWN, TLSF_LOOK_OWN);
    if (place.slot == PLACEMENT_NONE) {
        place = tlsf_look(placement, query, bin + 1, sure, TLSF_LOOK_ABOVE, 1);
    }
    if (place.slot == PLACEMENT_NONE) {
        place = tlsf_look(placement, query, sure, PLACEMENT_NO_BIN, 1, 1);
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
    const struct placement_node* border = placement_at(placement, PLACEMENT_NONE);
    const uint32_t ends[2] = {placement_prev(border), placement_next(border)};
    for (uint32_t i = 0; i < 2; ++i) {
        if (placement_state(placement_at(placement, ends[i])) == PLACEMENT_FREE) {
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
    const size_t bin = placement_tlsf_bin(rounded);
    uint32_t slot = tlsf_look_by_size(placement, rounded, *placement_bin_head(placement, bin), 1);
    if (slot == PLACEMENT_NONE) {
        const size_t next = placement_bin_next(placement, bin + 1);
        slot = next != PLACEMENT_NO_BIN
                   ? *placement_bin_head(placement, next)
                   : tlsf_look_by_size(placement, rounded, *placement_bin_head(placement, bin),
                                       TLSF_LOOK_LAST);
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
        place.offset = placement_offset(placement_at(placement, place.slot));
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
    struct placement_node* node = placement_at(placement, slot);
    const VkDeviceSize begin = placement_offset(node);
    const VkDeviceSize end = begin + placement_size(node);
    if (offset == begin && cut >= end) {
        placement_bin_remove(placement, placement_tlsf_bin_of(node), node, slot);
        placement_tlsf_link(placement, node->prev, slot, node->next);
        return placement_is_retired(node->where) ? maar_placement_replace(placement, slot) : slot;
    }
    const uint32_t part = placement_take_slot(placement);
    if (offset == begin) {
        placement_link(placement, node->prev, part, slot);
        placement_at(placement, part)->next = slot | PLACEMENT_LINK_FREE;
        node->where += (cut - begin) << PLACEMENT_OFFSET_SHIFT;
        tlsf_set_extent(placement, slot, node->extent - ((cut - begin) << PLACEMENT_SIZE_SHIFT));
        return part;
    }
    const uint32_t next = node->next;
    placement_link(placement, slot, part, next);
    placement_at(placement, part)->prev = slot | PLACEMENT_LINK_FREE;
    tlsf_set_extent(placement, slot, node->extent - ((end - offset) << PLACEMENT_SIZE_SHIFT));
    if (cut < end) {
        tlsf_add(placement, part, next, cut, end);
    }
    return part;
}

/* Returns whether the fast path may free a live range, which occupies this extent. If not, the
 * range is odd: the space ends inside its last unit, or the extent is no positive signed number.
 * Only the last range can be odd. */
static bool tlsf_frees_fast(const struct placement_node* node, uint64_t extent)
{
    return extent == placement_tlsf_extent(node) && extent <= INT64_MAX;
}

/* Takes a place in a free node for a request. There are nodes enough. */
static void tlsf_take(struct maar_placement* placement,
                      const struct maar_placement_request* request, struct tlsf_place place,
                      VkDeviceSize unit, struct maar_placement_range* range)
{
    const VkDeviceSize cut = place.offset + ((request->size + unit - 1) & ~(unit - 1));
    const VkDeviceSize end = cut < placement->size ? cut : placement->size;
    const uint32_t slot = tlsf_cut(placement, place.slot, place.offset, cut);
    struct placement_node* node = placement_at(placement, slot);
    placement_set(node, tlsf_live_meta(unit, request->kind), place.offset, request->size);
    if (!tlsf_frees_fast(node, (end - place.offset) << PLACEMENT_SIZE_SHIFT)) {
        MAAR_DEBUG_ASSERT(node->next == PLACEMENT_NONE);
        node->next = PLACEMENT_NONE | PLACEMENT_LINK_ODD;
    }
    placement_count_in(placement, request->size, end - place.offset);
    placement_report_range(placement, slot, request, range);
    if (unit != placement->unit) {
        tlsf_set_unit(placement, unit);
    }
}

/* Returns the last place in a free node at which the request fits. If the granules there belong to
 * another kind, returns the place as it was. */
static struct tlsf_place tlsf_last(const struct maar_placement* placement,
                                   const struct maar_placement_request* request,
                                   struct tlsf_place place)
{
    const struct placement_node* node = placement_at(placement, place.slot);
    const bool minds_kind = placement_minds_kind(placement, request->kind);
    VkDeviceSize end = placement_offset(node) + placement_size(node);
    if (minds_kind &&
        !maar_placement_clear_above(placement, placement_next(node), request->kind, end)) {
        end &= ~(placement->granularity - 1);
    }
    const VkDeviceSize high = end > request->size ? end - request->size : 0;
    const VkDeviceSize offset = high - high % request->alignment;
    place.offset = offset > place.offset ? offset : place.offset;
    /* What is above a clear place in the same free range is clear below, too. */
    MAAR_DEBUG_ASSERT(!minds_kind ||
                      maar_placement_clear_below(placement, placement_prev(node), request->kind,
                                                 place.offset) == place.offset);
    return place;
}

/* Whether the live range before a free node has at least so many bytes. */
static bool tlsf_follows(const struct maar_placement* placement, uint32_t slot, VkDeviceSize size)
{
    const uint32_t before = placement_prev(placement_at(placement, slot));
    return size == 0 ||
           (before != PLACEMENT_NONE && placement_size(placement_at(placement, before)) >= size);
}

/* Places a request of any size, alignment and kind. after: see maar_placement_allocate_last. */
MAAR_INLINE enum maar_place_outcome tlsf_allocate_any(struct maar_placement* placement,
                                                      const struct maar_placement_request* request,
                                                      VkDeviceSize after,
                                                      struct maar_placement_range* range)
{
    if (request->size > placement->size) {
        return MAAR_PLACE_NO_ROOM;
    }
    const VkDeviceSize divisor = request->alignment & (~request->alignment + 1);
    const VkDeviceSize unit = divisor < placement->unit ? divisor : placement->unit;
    struct tlsf_query query = {
        .request = request,
        .rounded = (request->size + unit - 1) & ~(unit - 1),
        .alignment_mask = UINT64_MAX,
        .minds_kind = tlsf_minds_kind(placement, request->kind, unit),
    };
    const bool by_size = request->alignment == unit && !query.minds_kind;
    struct tlsf_place place = tlsf_find(placement, &query, by_size);
    if (place.slot == PLACEMENT_NONE) {
        return MAAR_PLACE_NO_ROOM;
    }
    if (!placement_has_slots(placement, 2)) {
        return MAAR_PLACE_WANTS_STORAGE;
    }
    if (after != UINT64_MAX && tlsf_follows(placement, place.slot, after)) {
        place = tlsf_last(placement, request, place);
    }
    tlsf_take(placement, request, place, unit, range);
    return MAAR_PLACED;
}

/* The slow path, for any size, alignment and kind. */
MAAR_NOINLINE enum maar_place_outcome
tlsf_allocate_slow(struct maar_placement* placement, const struct maar_placement_request* request,
                   struct maar_placement_range* range)
{
    return tlsf_allocate_any(placement, request, UINT64_MAX, range);
}

enum maar_place_outcome maar_tlsf_allocate_last(struct maar_placement* placement,
                                                const struct maar_placement_request* request,
                                                VkDeviceSize after,
                                                struct maar_placement_range* range)
{
    return tlsf_allocate_any(placement, request, after, range);
}

/* The node that is cut and its new neighbours need so many nodes. */
static uint32_t tlsf_nodes_for(const struct placement_node* node, VkDeviceSize offset,
                               VkDeviceSize cut)
{
    const VkDeviceSize begin = placement_offset(node);
    const VkDeviceSize end = begin + placement_size(node);
    if (offset == begin && cut >= end) {
        return placement_is_retired(node->where) ? 1 : 0;
    }
    return offset != begin && cut < end ? 2 : 1;
}

enum maar_place_outcome maar_tlsf_allocate_at(struct maar_placement* placement,
                                              const struct maar_placement_request* request,
                                              VkDeviceSize offset, uint32_t slot,
                                              struct maar_placement_range* range)
{
    const struct placement_node* node = placement_at(placement, slot);
    const VkDeviceSize divisor = request->alignment & (~request->alignment + 1);
    const VkDeviceSize unit = divisor < placement->unit ? divisor : placement->unit;
    if (slot == PLACEMENT_NONE || placement_state(node) != PLACEMENT_FREE ||
        (offset & (unit - 1)) != 0 || offset < placement_offset(node) ||
        !placement_fits(offset, request->size, placement_offset(node) + placement_size(node))) {
        return MAAR_PLACE_NO_ROOM;
    }
    const VkDeviceSize cut = offset + ((request->size + unit - 1) & ~(unit - 1));
    if (!placement_has_slots(placement, tlsf_nodes_for(node, offset, cut))) {
        return MAAR_PLACE_WANTS_STORAGE;
    }
    tlsf_take(placement, request, (struct tlsf_place){offset, slot}, unit, range);
    return MAAR_PLACED;
}

/* The last step of the fast path, where a bin has become empty. */
MAAR_NOINLINE enum maar_place_outcome tlsf_end_empty(struct maar_placement* placement,
                                                     const uint32_t* head)
{
    placement_bin_mark_empty(placement, head);
    return MAAR_PLACED;
}

/* The last step of the fast path, where a bin is no longer empty. The other bin may have become
 * empty. */
MAAR_NOINLINE enum maar_place_outcome tlsf_end_filled(struct maar_placement* placement,
                                                      const uint32_t* head, const uint32_t* other)
{
    placement_bin_mark_filled(placement, head);
    return *other == PLACEMENT_NONE ? tlsf_end_empty(placement, other) : MAAR_PLACED;
}

/* The last step of the fast path after a request took the front of a free node: moves the rest to
 * its bin. */
MAAR_INLINE enum maar_place_outcome tlsf_end_front(struct maar_placement* placement,
                                                   struct placement_node* rest, uint32_t slot,
                                                   uint32_t* head)
{
    const struct placement_tlsf_moved moved =
        placement_tlsf_move_first(placement, rest, slot, head);
    if (moved.is_filled) {
        return tlsf_end_filled(placement, moved.head, head);
    }
    return moved.is_empty ? tlsf_end_empty(placement, head) : MAAR_PLACED;
}

/* Places a request in the front of a free node when no node is on the stack. */
MAAR_NOINLINE enum maar_place_outcome
tlsf_allocate_fresh(struct maar_placement* placement, const struct maar_placement_request* request,
                    struct maar_placement_range* range, uint64_t extent, uint32_t* head)
{
    const struct placement_tlsf_need need = {&request->size, &request->kind, &request->user};
    if (placement->fresh_left == 0) {
        return tlsf_allocate_slow(placement, request, range);
    }
    const uint32_t slot = *head;
    range->node = placement_take_fresh_slot(placement);
    struct placement_node* rest = placement_at(placement, slot);
    struct placement_node* part = placement_at(placement, range->node);
    placement_tlsf_take_front(placement, rest, part, extent, need);
    range->generation = placement_node_generation(part);
    placement_tlsf_link_front(placement, rest, slot, part, range->node);
    return tlsf_end_front(placement, rest, slot, head);
}

/* Places a request in the front of a free node. */
MAAR_NOINLINE enum maar_place_outcome
tlsf_allocate_front(struct maar_placement* placement, const struct maar_placement_request* request,
                    struct maar_placement_range* range, uint64_t extent,
                    struct placement_node* rest, uint32_t* head)
{
    const struct placement_tlsf_need need = {&request->size, &request->kind, &request->user};
    if (placement->free_slot == PLACEMENT_NONE) {
        return tlsf_allocate_fresh(placement, request, range, extent, head);
    }
    const uint32_t slot = *head;
    const uint32_t part_slot = placement->free_slot;
    struct placement_node* part = placement_follow(placement, &placement->free_slot);
    placement->free_slot = part->next;
    range->node = part_slot;
    placement_tlsf_take_front(placement, rest, part, extent, need);
    range->generation = placement_node_generation(part);
    placement_tlsf_link_front(placement, rest, slot, part, part_slot);
    return tlsf_end_front(placement, rest, slot, head);
}

/* Places a request in a node of a bin above its own, where every node is larger than the request.
 */
MAAR_NOINLINE enum maar_place_outcome
tlsf_allocate_above(struct maar_placement* placement, const struct maar_placement_request* request,
                    struct maar_placement_range* range, uint64_t extent, uint32_t* head)
{
    const uint64_t bits = placement_bins_above(placement, head);
    head =
        bits != 0 ? head + 1 + maar_low_bit(bits) : placement_bin_in_next_octave(placement, head);
    if (head == NULL) {
        return tlsf_allocate_slow(placement, request, range);
    }
    struct placement_node* node = placement_follow(placement, head);
    range->offset = placement_offset(node);
    range->size = request->size;
    return tlsf_allocate_front(placement, request, range, extent, node, head);
}

/* Like maarAllocateRange, this is in several functions, each of which calls the next one last. */
enum maar_place_outcome maar_tlsf_allocate(struct maar_placement* placement,
                                           const struct maar_placement_request* request,
                                           struct maar_placement_range* range)
{
    if (request->size > placement->fast_size ||
        !placement_tlsf_is_fast(placement, request->alignment, request->kind)) {
        return tlsf_allocate_slow(placement, request, range);
    }
    const uint64_t extent = placement_tlsf_round(placement, request->size);
    const size_t bin = placement_tlsf_bin_of_extent(extent);
    const struct placement_tlsf_found found = placement_tlsf_first(placement, bin, extent);
    if (found.surplus < 0) {
        return tlsf_allocate_above(placement, request, range, extent, found.head);
    }
    range->offset = placement_offset(found.node);
    range->size = request->size;
    const enum placement_tlsf_use use = placement_tlsf_use(&found);
    if (use != PLACEMENT_USE_WHOLE) {
        return use == PLACEMENT_USE_FRONT
                   ? tlsf_allocate_front(placement, request, range, extent, found.node, found.head)
                   : tlsf_allocate_slow(placement, request, range);
    }
    const struct placement_tlsf_need need = {&request->size, &request->kind, &request->user};
    const bool is_empty = placement_tlsf_take_whole(placement, &found, extent, need, NULL);
    range->node = found.slot;
    range->generation = placement_node_generation(found.node);
    return is_empty ? tlsf_end_empty(placement, found.head) : MAAR_PLACED;
}

uint64_t maar_tlsf_absorb(struct maar_placement* placement, struct placement_node* node,
                          uint32_t slot, uint64_t extent)
{
    if ((node->prev & node->next & PLACEMENT_LINK_FREE) != 0) {
        const uint32_t next = placement_next(node);
        struct placement_node* higher = placement_at(placement, next);
        extent += higher->extent & ~(uint64_t)PLACEMENT_GENERATION_MASK;
        node->next = higher->next;
        placement_bin_remove(placement, placement_tlsf_bin_of(higher), higher, next);
        placement_drop_slot(placement, next);
    }
    const struct placement_tlsf_joined joined =
        placement_tlsf_join_one(placement, node, slot, extent);
    placement_tlsf_move(placement, joined.node, joined.slot, joined.old);
    return joined.node->extent;
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

/* Frees a live node that is alone. `era` and `generation` are those of the free node. */
static void tlsf_free_alone(struct maar_placement* placement, struct placement_node* node,
                            uint32_t slot, uint64_t extent, uint64_t era, uint64_t generation)
{
    node->where =
        (node->where & ~(uint64_t)PLACEMENT_META_MASK) | era | placement_meta(PLACEMENT_FREE, 0, 0);
    node->extent = extent | generation;
    placement_tlsf_link(placement, node->prev, slot | PLACEMENT_LINK_FREE, node->next);
    placement_tlsf_insert(placement, node, slot);
}

/* Frees a live node that is retired now. Its totals are subtracted already. Returns the extent of
 * the free node that now contains the range. */
static uint64_t tlsf_free_retired(struct maar_placement* placement, struct placement_node* node,
                                  uint32_t slot, uint64_t extent)
{
    if (placement_tlsf_is_alone(node)) {
        /* The fast path takes no whole node of the last generation: see PLACEMENT_USE_SLOW. */
        tlsf_free_alone(placement, node, slot, extent, PLACEMENT_ERA_MASK,
                        PLACEMENT_GENERATION_MASK);
        return extent;
    }
    const uint64_t joined = maar_tlsf_absorb(placement, node, slot, extent);
    /* The node is on the top of the stack now. */
    MAAR_DEBUG_ASSERT(placement->free_slot == slot);
    placement->free_slot = node->next;
    placement_retire(node);
    return joined;
}

/* Frees a live node that is not odd. Its totals are subtracted already. Returns the extent of the
 * free node that now contains the range. */
static uint64_t tlsf_free_counted(struct maar_placement* placement, struct placement_node* node,
                                  uint32_t slot, uint64_t extent)
{
    const uint64_t generation = placement_following_generation(node);
    if (generation == 0) {
        node->where = placement_age(placement, node->where);
        if (placement_is_retired(node->where)) {
            return tlsf_free_retired(placement, node, slot, extent);
        }
    }
    if (placement_tlsf_is_alone(node)) {
        tlsf_free_alone(placement, node, slot, extent, node->where & PLACEMENT_ERA_MASK,
                        generation);
        return extent;
    }
    placement_tlsf_clear(node, generation);
    return maar_tlsf_absorb(placement, node, slot, extent);
}

uint64_t maar_tlsf_free(struct maar_placement* placement, struct placement_node* node,
                        uint32_t slot)
{
    const uint64_t extent = placement_next(node) == PLACEMENT_NONE
                                ? tlsf_last_extent(placement, node)
                                : placement_tlsf_extent(node);
    placement_tlsf_count_out(placement, node, extent);
    node->next &= ~PLACEMENT_LINK_ODD;
    return tlsf_free_counted(placement, node, slot, extent);
}

uint64_t maar_tlsf_free_odd(struct maar_placement* placement, struct placement_node* node,
                            uint32_t slot, uint64_t counted)
{
    const uint64_t extent = tlsf_last_extent(placement, node);
    placement->free_extent += extent - counted;
    node->next &= ~PLACEMENT_LINK_ODD;
    return tlsf_free_counted(placement, node, slot, extent);
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
    const uint32_t last = placement_prev(placement_at(placement, PLACEMENT_NONE));
    const struct placement_node* node = placement_at(placement, last);
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
    tlsf_set_size(placement, size);
    return true;
}

VkDeviceSize maar_tlsf_largest_free_bound(const struct maar_placement* placement)
{
    if (placement->bin_summary == 0) {
        return 0;
    }
    const uint32_t word = maar_top_bit(placement->bin_summary);
    const uint32_t step = maar_top_bit(placement->bin_words[word]);
    const size_t bin = PLACEMENT_BIN_BASE + ((size_t)word << PLACEMENT_BIN_BITS) + step;
    const uint32_t slot = *placement_bin_head(placement, bin);
    const struct placement_node* head = placement_at(placement, slot);
    if (head->u.bin.next == PLACEMENT_NONE) {
        return placement_size(head);
    }
    /* The highest size below the next bin. */
    const VkDeviceSize next = (VkDeviceSize)(step + (1u << PLACEMENT_BIN_BITS) + 1) << word;
    const VkDeviceSize bound = (next - 1) >> PLACEMENT_BIN_BITS;
    return bound < placement->size ? bound : placement->size;
}

/* Checks the list of a bin. Adds its nodes to *seen. */
static const char* tlsf_check_bin(const struct maar_placement* placement, size_t bin,
                                  uint32_t free_count, uint32_t* seen)
{
    uint32_t prev = PLACEMENT_NONE;
    if (bin - PLACEMENT_BIN_BASE >= placement->bin_count) {
        return "TLSF: a bin beyond the last one is marked as filled";
    }
    for (uint32_t slot = *placement_bin_head(placement, bin); slot != PLACEMENT_NONE;) {
        if (!placement_is_used(placement, slot) || ++*seen > free_count) {
            return "TLSF: the list of a bin has a bad link";
        }
        const struct placement_node* node = placement_at(placement, slot);
        if (placement_state(node) != PLACEMENT_FREE) {
            return "TLSF: a bin holds a node that is not free";
        }
        if (placement_size(node) == 0 || placement_tlsf_bin_of(node) != bin) {
            return "TLSF: a free range is in the wrong bin";
        }
        if (prev != PLACEMENT_NONE && node->u.bin.prev != prev) {
            return "TLSF: the list of a bin has a wrong backward link";
        }
        prev = slot;
        slot = node->u.bin.next;
    }
    return prev != PLACEMENT_NONE ? NULL : "TLSF: an empty bin is marked as filled";
}

static const char* tlsf_check_bins(const struct maar_placement* placement, uint32_t free_count)
{
    uint32_t seen = 0;
    const char* broken = NULL;
    for (uint32_t word = 0; word < PLACEMENT_BIN_WORDS && broken == NULL; ++word) {
        const uint64_t bits = placement->bin_words[word];
        for (uint32_t bit = 0; bit < 64 && bits >> bit != 0 && broken == NULL; ++bit) {
            if ((bits >> bit & 1) != 0) {
                const size_t bin = PLACEMENT_BIN_BASE + ((size_t)word << 6) + bit;
                broken = tlsf_check_bin(placement, bin, free_count, &seen);
            }
        }
    }
    if (broken == NULL && seen != free_count) {
        broken = "TLSF: a free range is in no bin";
    }
    return broken;
}

/* Checks that the fast path leaves a node alone where it has to. `extent` is that of the node. */
static const char* tlsf_check_fast(const struct placement_node* node, uint64_t extent)
{
    const bool is_odd = (node->next & PLACEMENT_LINK_ODD) != 0;
    if (placement_state(node) == PLACEMENT_LIVE) {
        return is_odd || tlsf_frees_fast(node, extent) ? NULL
                                                       : "TLSF: an odd range is not flagged as one";
    }
    if (is_odd) {
        return "TLSF: a free range is flagged as odd";
    }
    return !placement_is_retired(node->where) || (~extent & PLACEMENT_GENERATION_MASK) == 0
               ? NULL
               : "TLSF: a retired node does not have the last generation";
}

const char* maar_tlsf_check(const struct maar_placement* placement)
{
    uint32_t free_count = 0;
    VkDeviceSize cursor = 0;
    bool was_free = false;
    const uint32_t first = placement_next(placement_at(placement, PLACEMENT_NONE));
    if (first == PLACEMENT_NONE || placement_offset(placement_at(placement, first)) != 0) {
        return "TLSF: the first range does not begin at 0";
    }
    for (uint32_t slot = first; slot != PLACEMENT_NONE;) {
        const struct placement_node* node = placement_at(placement, slot);
        const VkDeviceSize offset = placement_offset(node);
        const bool is_free = placement_state(node) == PLACEMENT_FREE;
        const uint32_t next = placement_next(node);
        const VkDeviceSize end = next != PLACEMENT_NONE
                                     ? placement_offset(placement_at(placement, next))
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
        /* The tag of a damaged node may be too low for a unit. */
        const bool has_unit = placement_tag(node) - PLACEMENT_SIZE_SHIFT < 64;
        if (!is_free &&
            (!has_unit ||
             offset + (tlsf_last_extent(placement, node) >> PLACEMENT_SIZE_SHIFT) != end)) {
            return "TLSF: a live range does not reach its neighbour";
        }
        const char* broken =
            tlsf_check_fast(node, is_free ? node->extent : tlsf_last_extent(placement, node));
        if (broken != NULL) {
            return broken;
        }
        free_count += is_free ? 1 : 0;
        was_free = is_free;
        cursor = offset + placement_size(node);
        slot = next;
    }
    return tlsf_check_bins(placement, free_count);
}
