/*
 * Joins neighbours for an ordered request: see maar_ordered_join.
 *
 * The search begins at the pending ranges that are nearly large enough, or that are of another
 * kind. Of each it lists the neighbours on both sides, as long as they are free or pending with
 * points that are covered, and chooses the window with the fewest free bytes. The first pending
 * range of the window gets all bytes, which have the kind of the request from then on. The others
 * are merged with it (MAAR_ORDERED_MERGED): their slots end, and the items that hold them hold the
 * whole range through them. All numbers of steps are bounded.
 */
#include <string.h>

#include "core/memory/arena_set.h"
#include "core/memory/captured_slot.h"
#include "core/memory/mapping.h"
#include "core/memory/ordered_search.h"
#include "core/memory/peak.h"
#include "core/memory/pending_count.h"
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"
#include "core/placement/placement_divide.h"

enum {
    /* A range is looked at if it has at least a 2 to the power of OCTAVES of the size. */
    OCTAVES = 6,
    TIMELINE_LOOKS = 3,   /* ranges of an octave and timeline */
    MOST_CANDIDATES = 24, /* ranges whose neighbours are listed */
    SIDE = 12             /* neighbours on each side, with free ranges */
};

/* ---- candidates ---- */

struct candidate {
    uint32_t slot;
    uint64_t serial;
};

struct candidates {
    uint32_t count;
    struct candidate all[MOST_CANDIDATES];
};

/* Sizes in bytes, both ends included. */
struct size_limits {
    VkDeviceSize least;
    VkDeviceSize most;
};

/* Adds some ranges of a kind and a timeline that have from `least` to `most` bytes. Under the lock
 * of the state. */
static void look_on_timeline(const struct maar_ordered_search* search, uint32_t kind,
                             uint32_t number, struct size_limits sizes, struct candidates* list)
{
    struct maar_ordered_place from = {
        .pool = search->pool,
        .kind = kind,
        .number = number,
        .size = sizes.least,
    };
    for (uint32_t look = 0; look < TIMELINE_LOOKS && list->count < MOST_CANDIDATES; ++look) {
        const struct maar_ordered_range* found =
            maar_ordered_tree_first(search->state->by_place, &from, search->limits.values[number]);
        if (found == NULL || found->size > sizes.most) {
            return;
        }
        if (maar_ordered_fits(search, &found->points)) {
            list->all[list->count++] = (struct candidate){found->slot, found->serial};
        }
        from = maar_ordered_place_of(found);
        ++from.serial;
    }
}

/* Adds some ranges of a kind that have from `least` to `most` bytes. */
static void look_on_timelines(const struct maar_ordered_search* search, uint32_t kind,
                              struct size_limits sizes, struct candidates* list)
{
    for (uint32_t i = 0; i < MAAR_CLOCK_TIMELINES; ++i) {
        if (search->limits.values[i] != 0 && sizes.least != 0) {
            look_on_timeline(search, kind, i, sizes, list);
        }
    }
}

/* Lists where the search begins, the largest ranges first. One that is larger than the request is
 * of another kind, or else it would serve alone. */
static void list_candidates(struct maar_ordered_search* search, struct candidates* list)
{
    const uint32_t own = search->kind;
    list->count = 0;
    maar_mutex_lock(&search->state->lock);
    maar_ordered_begin_search(search);
    struct size_limits sizes = {search->request->size, search->most};
    for (uint32_t octave = 0; octave <= OCTAVES && search->state->by_place != NULL; ++octave) {
        look_on_timelines(search, own, sizes, list);
        for (uint32_t kind = 1; kind <= MAAR_PLACEMENT_KINDS && own != 0; ++kind) {
            if (kind != own) {
                look_on_timelines(search, kind, sizes, list);
            }
        }
        sizes = (struct size_limits){sizes.least / 2, sizes.least - 1};
    }
    maar_mutex_unlock(&search->state->lock);
}

/* Takes a candidate, so that its slot stays. Returns NULL if somebody else has it now. */
static struct maar_ordered_range* take_candidate(const struct maar_ordered_search* search,
                                                 struct candidate candidate)
{
    struct maar_ordered* state = search->state;
    maar_mutex_lock(&state->lock);
    struct maar_ordered_range* range = maar_ordered_tree_find(state->by_slot, candidate.slot);
    if (range != NULL && (range->serial != candidate.serial || !range->is_offered)) {
        range = NULL;
    }
    if (range != NULL) {
        maar_ordered_withdraw(state, range);
        range->state = MAAR_ORDERED_TAKEN;
    }
    maar_mutex_unlock(&state->lock);
    return range;
}

/* ---- neighbours; under the locks of the arena and of the state ---- */

/* A free or pending range. */
struct row_part {
    VkDeviceSize begin;
    VkDeviceSize end; /* where the next part begins */
    uint32_t node;
    uint32_t kind;                    /* of a pending range */
    struct maar_ordered_range* range; /* NULL: free */
};

/* Neighbours in the order of their offsets. */
struct row {
    const struct maar_ordered_search* search;
    MaarAllocator allocator;
    struct maar_block* block;
    struct maar_ordered_range* own; /* taken by this thread */
    uint32_t count;
    struct row_part parts[2 * SIDE + 3];
};

/* Returns the range of a live node if it can be a part, else NULL. */
static struct maar_ordered_range* range_of_node(const struct row* row, uint32_t node)
{
    struct maar_placement_range place;
    uint64_t tag = 0;
    uint32_t kind = 0;
    (void)maar_placement_get(row->block->placement, node, &place, &tag, &kind);
    const uint32_t index = maar_tag_slot(tag);
    const struct maar_slot* slot = maar_slot_at(&row->allocator->slots, index);
    if (!slot->ordered || slot->map_count != 0) {
        return NULL;
    }
    struct maar_ordered_range* range = maar_ordered_tree_find(row->search->state->by_slot, index);
    if (range == row->own) {
        return range;
    }
    return range != NULL && range->is_offered && maar_ordered_fits(row->search, &range->points)
               ? range
               : NULL;
}

static void add_free_part(struct row* row, struct maar_span span)
{
    if (span.size != 0) {
        row->parts[row->count++] = (struct row_part){
            .begin = span.offset,
            .end = span.offset + span.size,
            .node = MAAR_PLACEMENT_NO_NODE,
        };
    }
}

static void add_pending_part(struct row* row, uint32_t node, struct maar_ordered_range* range)
{
    row->parts[row->count++] = (struct row_part){
        .begin = maar_placement_span(row->block->placement, node).offset,
        .end = maar_placement_extent_end(row->block->placement, node),
        .node = node,
        .kind = range->kind,
        .range = range,
    };
}

/* Returns the node from which the row begins: pending, or the one that a free part precedes. */
static uint32_t leftmost_node(const struct row* row, uint32_t node)
{
    VkDeviceSize missing = row->search->request->size;
    for (uint32_t i = 0; i < SIDE / 2; ++i) {
        const uint32_t before = maar_placement_live_before(row->block->placement, node);
        if (before == MAAR_PLACEMENT_NO_NODE || range_of_node(row, before) == NULL) {
            return node;
        }
        const VkDeviceSize bytes = maar_placement_span(row->block->placement, node).offset -
                                   maar_placement_span(row->block->placement, before).offset;
        node = before;
        if (bytes >= missing) {
            return node;
        }
        missing -= bytes;
    }
    return node;
}

/* Lists the neighbours of the own range. */
static void list_row(struct row* row)
{
    const struct maar_placement* placement = row->block->placement;
    const uint32_t own = maar_slot_at(&row->allocator->slots, row->own->slot)->node;
    uint32_t node = leftmost_node(row, own);
    struct maar_ordered_range* range = range_of_node(row, node);
    VkDeviceSize behind_own = 0;
    row->count = 0;
    add_free_part(
        row, maar_placement_free_behind(placement, maar_placement_live_before(placement, node)));
    while (range != NULL && row->count < 2 * SIDE && behind_own < row->search->request->size) {
        struct maar_placement_range place;
        uint64_t tag = 0;
        add_pending_part(row, node, range);
        add_free_part(row, maar_placement_free_behind(placement, node));
        const struct row_part* last = &row->parts[row->count - 1];
        behind_own = last->end > row->own->offset ? last->end - row->own->offset : 0;
        range = maar_placement_next_live(placement, &node, &place, &tag) ? range_of_node(row, node)
                                                                         : NULL;
    }
}

/* The parts of a row that a request gets. */
struct window {
    uint32_t first;
    uint32_t last;
    VkDeviceSize begin;
    VkDeviceSize end;
    VkDeviceSize free_bytes; /* UINT64_MAX: there is none */
};

/* Returns the nearest live node behind a live one. */
static uint32_t live_behind(const struct maar_placement* placement, uint32_t node)
{
    struct maar_placement_range place;
    uint64_t tag = 0;
    return maar_placement_next_live(placement, &node, &place, &tag) ? node : MAAR_PLACEMENT_NO_NODE;
}

/* Whether bytes that may still be used by another kind are in the granule at an edge of a window.
 * Its other bytes are free for the kind of the request, now or later. */
static bool has_stale_edge(const struct row* row, const struct window* window, VkDeviceSize edge)
{
    const VkDeviceSize granule = edge & ~(row->search->pool->granularity - 1);
    bool is_stale = false;
    for (uint32_t i = window->first; i <= window->last && granule != edge; ++i) {
        const struct row_part* part = &row->parts[i];
        is_stale = is_stale ||
                   (part->range != NULL && part->kind != row->search->kind &&
                    part->begin < granule + row->search->pool->granularity && part->end > granule);
    }
    return is_stale;
}

/* Whether no granule of a window is used by another kind beside it. If its last part is of another
 * kind, what is left of that part stays so; else it has the kind of the request. */
static bool kinds_allow(const struct row* row, const struct window* window)
{
    const struct maar_placement* placement = row->block->placement;
    const struct row_part* first = &row->parts[window->first];
    const struct row_part* last = &row->parts[window->last];
    const bool ends_free = last->range == NULL;
    const uint32_t first_node = first->range != NULL ? first->node : first[1].node;
    const bool keeps_kind = !ends_free && last->kind != row->search->kind;
    const struct maar_placement_hull hull = {
        .below = maar_placement_live_before(placement, first_node),
        .begin = window->begin,
        .end = ends_free || keeps_kind ? window->end : last->end,
        .above = live_behind(placement, ends_free ? last[-1].node : last->node),
    };
    return row->search->kind == 0 ||
           (!has_stale_edge(row, window, hull.begin) && !has_stale_edge(row, window, hull.end) &&
            maar_placement_kind_fits(placement, row->search->kind, &hull));
}

/* Finds where a window begins in a part: at the beginning of a pending one, and as high as possible
 * in a free one. */
static bool begin_window(const struct row* row, const struct row_part* part, VkDeviceSize* begin)
{
    const struct maar_place_request* request = row->search->request;
    const VkDeviceSize end = row->parts[row->count - 1].end;
    *begin = part->begin;
    if (part->range == NULL) {
        VkDeviceSize high = end > request->size ? end - request->size : 0;
        high = high < part->end ? high : part->end - 1;
        *begin = high - high % request->alignment;
    }
    return *begin >= part->begin && *begin % request->alignment == 0;
}

/* Returns the window that begins in a part. */
static struct window window_from(const struct row* row, uint32_t first)
{
    const struct maar_place_request* request = row->search->request;
    const struct row_part* part = &row->parts[first];
    struct window window = {.first = first, .free_bytes = UINT64_MAX};
    if (!begin_window(row, part, &window.begin)) {
        return window;
    }
    window.end = window.begin + request->size;
    VkDeviceSize free_bytes = 0;
    bool has_pending = false;
    uint32_t at = first;
    for (; at < row->count; ++at) {
        const struct row_part* next = &row->parts[at];
        const VkDeviceSize begin = next->begin > window.begin ? next->begin : window.begin;
        const VkDeviceSize end = next->end < window.end ? next->end : window.end;
        free_bytes += next->range == NULL ? end - begin : 0;
        has_pending = has_pending || next->range != NULL;
        if (next->end >= window.end) {
            break;
        }
    }
    window.last = at;
    if (at < row->count && has_pending && kinds_allow(row, &window)) {
        window.free_bytes = free_bytes;
    }
    return window;
}

static struct window best_window(const struct row* row)
{
    struct window best = {.free_bytes = UINT64_MAX};
    for (uint32_t i = 0; i < row->count; ++i) {
        const struct window window = window_from(row, i);
        best = window.free_bytes < best.free_bytes ? window : best;
    }
    return best;
}

/* ---- joining ---- */

/* What is left to do without locks. */
struct leftovers {
    uint32_t count;
    char* names[2 * SIDE + 3];
    struct maar_ordered_range* range; /* to be freed; or NULL */
};

/* Makes the points of a window. Returns false if there are too many. */
static bool join_points(const struct row* row, const struct window* window,
                        struct maar_ordered_points* points)
{
    for (uint32_t i = window->first; i <= window->last; ++i) {
        const struct maar_ordered_range* range = row->parts[i].range;
        for (uint32_t k = 0; range != NULL && k < range->points.count; ++k) {
            if (!maar_ordered_add_point(points, range->points.numbers[k],
                                        range->points.values[k])) {
                return false;
            }
        }
    }
    return true;
}

/* Gives a range the points of its window. */
static void set_points(struct maar_ordered* state, struct maar_ordered_range* range,
                       const struct maar_ordered_points* points)
{
    for (uint32_t i = 0; i < points->count; ++i) {
        maar_clock_hold(&state->clock, points->numbers[i]);
    }
    maar_ordered_drop_points(state, range);
    range->points = *points;
}

/* Merges a range with another one. */
static void merge_range(struct maar_ordered* state, struct maar_ordered_range* range,
                        struct maar_ordered_range* into, struct leftovers* leftovers)
{
    maar_ordered_leave(state, range);
    range->item = NULL;
    if (range->hold_count == 0) { /* it was taken, and its points have passed meanwhile */
        leftovers->range = range;
        return;
    }
    range->state = MAAR_ORDERED_MERGED;
    range->into = into;
    ++into->hold_count;
}

/* Forgets what was known of a pending slot. */
static void strip_slot(struct maar_arena* arena, struct maar_slot* slot, uint32_t index,
                       struct leftovers* leftovers)
{
    if (maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD)) {
        maar_captured_slot_end(arena, slot, index);
        maar_slot_mark(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD, false);
    }
    leftovers->names[leftovers->count++] = maar_slot_set_name(slot, index, NULL);
}

/* Ends the slot of a range that is merged. */
static void end_merged_slot(const struct row* row, uint32_t index, struct leftovers* leftovers)
{
    struct maar_arena* arena = maar_block_arena(row->block);
    struct maar_slot* slot = maar_slot_at(&row->allocator->slots, index);
    maar_uncount_pending(arena, row->block, maar_slot_span(row->allocator, slot).size);
    --row->block->range_count;
    strip_slot(arena, slot, index, leftovers);
    maar_slots_put(&row->allocator->slots, &arena->slots, slot, index);
}

/* Takes free bytes behind a node out of the placement, as a live node. There are nodes enough. */
static uint32_t take_free_bytes(const struct row* row, uint32_t before, VkDeviceSize begin,
                                VkDeviceSize end)
{
    const VkDeviceSize most = MAAR_PLACEMENT_MOST_UNIT;
    const VkDeviceSize unit = begin & (~begin + 1);
    const struct maar_placement_request request = {
        .size = end - begin,
        .alignment = begin == 0 || unit > most ? most : unit,
        .kind = row->search->kind,
    };
    struct maar_placement_range range = {.node = MAAR_PLACEMENT_NO_NODE};
    const enum maar_place_outcome outcome =
        maar_placement_allocate_at(row->block->placement, &request, begin, before, &range);
    MAAR_DEBUG_ASSERT(outcome == MAAR_PLACED);
    (void)outcome;
    return range.node;
}

/* Makes one node of a window. Returns it. */
static uint32_t join_nodes(const struct row* row, const struct window* window)
{
    struct maar_placement* placement = row->block->placement;
    uint32_t node = MAAR_PLACEMENT_NO_NODE;
    for (uint32_t i = window->first; i <= window->last; ++i) {
        const struct row_part* part = &row->parts[i];
        uint32_t next = part->node;
        if (part->range == NULL) {
            const bool is_first = node == MAAR_PLACEMENT_NO_NODE;
            const uint32_t before =
                is_first ? maar_placement_live_before(placement, row->parts[i + 1].node) : node;
            next = take_free_bytes(row, before, is_first ? window->begin : part->begin,
                                   part->end < window->end ? part->end : window->end);
        }
        if (node != MAAR_PLACEMENT_NO_NODE) {
            maar_placement_join(placement, node, next);
        } else {
            node = next;
        }
    }
    maar_placement_set_kind(placement, node, row->search->kind);
    return node;
}

/* Gives the first pending range of a window all of it. Returns that range. */
static struct maar_ordered_range* join_window(const struct row* row, const struct window* window,
                                              const struct maar_ordered_points* points,
                                              struct leftovers* leftovers)
{
    struct maar_ordered* state = row->search->state;
    struct maar_arena* arena = maar_block_arena(row->block);
    struct maar_ordered_range* base = NULL;
    for (uint32_t i = window->first; i <= window->last; ++i) {
        struct maar_ordered_range* range = row->parts[i].range;
        if (range == NULL) {
            continue;
        }
        maar_ordered_withdraw(state, range);
        if (base == NULL) {
            base = range;
            base->state = MAAR_ORDERED_TAKEN;
            set_points(state, base, points);
        } else {
            merge_range(state, range, base, leftovers);
            end_merged_slot(row, range->slot, leftovers);
        }
    }
    struct maar_slot* slot = maar_slot_at(&row->allocator->slots, base->slot);
    maar_uncount_pending(arena, row->block, maar_slot_span(row->allocator, slot).size);
    strip_slot(arena, slot, base->slot, leftovers);
    const uint32_t node = join_nodes(row, window);
    maar_slot_set_home(slot, row->block, node);
    maar_placement_set_user(row->block->placement, node, maar_range_tag(base->slot, 1));
    const struct maar_span span = maar_slot_span(row->allocator, slot);
    maar_count_pending(arena, row->block, span.size);
    maar_arena_note_room(arena, row->block);
    base->offset = span.offset;
    base->size = span.size;
    base->kind = row->search->kind;
    base->item = NULL;
    /* With another serial it is no longer the rest of a request that may be undone. */
    maar_ordered_tree_remove(&state->by_slot, base, MAAR_ORDERED_BY_SLOT);
    base->serial = state->serial++;
    maar_ordered_tree_add(&state->by_slot, base, MAAR_ORDERED_BY_SLOT);
    base->rest_slot = MAAR_SLOT_NONE;
    return base;
}

/* Joins the neighbours of the own range, if they serve the request. Returns NULL if not. */
static struct maar_ordered_range* join_row(struct maar_ordered_search* search, struct row* row,
                                           struct leftovers* leftovers)
{
    struct maar_ordered_points points = {.count = 0};
    maar_ordered_begin_search(search);
    list_row(row);
    const struct window window = best_window(row);
    /* Together they may need more waits than the program takes. */
    if (window.free_bytes == UINT64_MAX || !join_points(row, &window, &points) ||
        !maar_ordered_fits(search, &points)) {
        return NULL;
    }
    search->added_count = maar_ordered_add_waits(search, &points);
    const struct row_part* last = &row->parts[window.last];
    search->is_joined = window.last > window.first;
    search->rest_kind = last->range != NULL ? last->kind : search->kind;
    return join_window(row, &window, &points, leftovers);
}

/* Ensures that a placement has nodes for all free parts of a row. May leave the lock for a time. */
static bool bring_nodes(MaarAllocator allocator, struct maar_arena* arena, struct maar_block* block)
{
    VkResult brought = VK_SUCCESS;
    maar_arena_pin(arena, block);
    while (brought == VK_SUCCESS && !maar_placement_has_nodes(block->placement, SIDE + 2)) {
        brought = maar_bring_storage(allocator->callbacks, &arena->lock, block->placement);
    }
    maar_arena_unpin(arena, block);
    return brought == VK_SUCCESS;
}

/* Tries to serve the request by a range and its neighbours. The range is taken, and put back if it
 * is no part of the result. Returns the result, or NULL. */
static struct maar_ordered_range* join_around(struct maar_ordered_search* search,
                                              struct maar_ordered_range* own)
{
    MaarAllocator allocator = search->pool->allocator;
    struct maar_slot* slot = maar_slot_at(&allocator->slots, own->slot);
    struct maar_ordered_range* made = NULL;
    struct leftovers leftovers = {0};
    bool is_part = false;
    while (slot->map_count > 0 && maar_slot_unmap(allocator, slot, 0)) {
    }
    struct maar_block* block = maar_slot_enter(allocator, slot);
    struct maar_arena* arena = maar_block_arena(block);
    if (!block->draining && bring_nodes(allocator, arena, block)) {
        struct row row = {.search = search, .allocator = allocator, .block = block, .own = own};
        maar_mutex_lock(&search->state->lock);
        made = join_row(search, &row, &leftovers);
        is_part = made != NULL && (made == own || own->state != MAAR_ORDERED_TAKEN);
        maar_mutex_unlock(&search->state->lock);
    }
    maar_mutex_unlock(&arena->lock);
    for (uint32_t i = 0; i < leftovers.count; ++i) {
        maar_host_free(allocator->callbacks, leftovers.names[i]);
    }
    is_part = is_part || leftovers.range == own;
    maar_host_free(allocator->callbacks, leftovers.range);
    if (!is_part) {
        maar_ordered_put_back(search, own, false);
    }
    return made;
}

struct maar_ordered_range* maar_ordered_join(struct maar_ordered_search* search)
{
    struct candidates list;
    list_candidates(search, &list);
    struct maar_ordered_range* made = NULL;
    for (uint32_t i = 0; i < list.count && made == NULL; ++i) {
        struct maar_ordered_range* own = take_candidate(search, list.all[i]);
        if (own != NULL) {
            made = join_around(search, own);
        }
    }
    return made;
}
