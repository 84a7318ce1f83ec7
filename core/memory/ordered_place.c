/*
 * Gives pending ranges to ordered requests: see ordered_place.h.
 *
 * A range is taken out of the trees first. From then on it belongs to this thread, which changes
 * the slot under the arena's lock, and then returns it: with its new owner, or as it was. A range
 * that is larger than the request is divided. The rest becomes a pending range of its own, with an
 * item of its own, which waits for the same points.
 */
#include "core/memory/ordered_place.h"

#include "core/memory/arena_set.h"
#include "core/memory/captured_slot.h"
#include "core/memory/mapping.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/ordered_search.h"
#include "core/memory/ordered_use.h"
#include "core/memory/peak.h"
#include "core/memory/pending_count.h"
#include "core/memory/pool.h"
#include "core/memory/pool_check.h"
#include "core/memory/slot_home.h"
#include "core/placement/placement_divide.h"

enum {
    /* How many ranges of a timeline are looked at that have the size, but another point that is not
     * covered, or a wrong alignment. */
    LOOKS = 8,
    /* A larger range than so many times the request is divided on demand alone. */
    MOST_PARTS = 64
};

/* ---- the search ---- */

/* Whether the rest of a range can be given to others: a TLSF placement can divide it. A buddy
 * placement cannot, so there the request has the order of the range. */
static bool has_fitting_size(const struct maar_ordered_search* search,
                             const struct maar_ordered_range* range)
{
    /* Both are of one order, the smallest ones excepted. */
    return search->pool->strategy == MAAR_PLACEMENT_STRATEGY_TLSF ||
           (search->request->size > 1 &&
            maar_top_bit(range->size - 1) == maar_top_bit(search->request->size - 1));
}

/* Returns the smallest range of a timeline that serves the request, or NULL. */
static struct maar_ordered_range* find_on_timeline(const struct maar_ordered_search* search,
                                                   uint32_t number)
{
    struct maar_ordered_place from = {
        .pool = search->pool,
        .kind = search->kind,
        .number = number,
        .size = search->request->size,
    };
    struct maar_ordered_range* found = NULL;
    for (uint32_t look = 0; look < LOOKS; ++look) {
        found =
            maar_ordered_tree_first(search->state->by_place, &from, search->limits.values[number]);
        if (found == NULL || found->size > search->most || !has_fitting_size(search, found)) {
            return NULL;
        }
        if (maar_ordered_fits(search, &found->points) &&
            found->offset % search->request->alignment == 0) {
            return found;
        }
        from = maar_ordered_place_of(found);
        ++from.serial;
    }
    return NULL;
}

/* Returns the smallest range that serves the request, or NULL. */
static struct maar_ordered_range* find_range(const struct maar_ordered_search* search)
{
    struct maar_ordered_range* best = NULL;
    for (uint32_t i = 0; i < MAAR_CLOCK_TIMELINES && search->state->by_place != NULL; ++i) {
        if (search->limits.values[i] != 0) {
            struct maar_ordered_range* found = find_on_timeline(search, i);
            best = found != NULL && (best == NULL || found->size < best->size) ? found : best;
        }
    }
    return best;
}

/* Takes a range for a request, and sets the waits that it needs. Returns NULL if there is none. */
static struct maar_ordered_range* take_range(struct maar_ordered_search* search)
{
    struct maar_ordered* state = search->state;
    maar_mutex_lock(&state->lock);
    maar_ordered_begin_search(search);
    struct maar_ordered_range* range = find_range(search);
    if (range != NULL) {
        maar_ordered_withdraw(state, range);
        range->state = MAAR_ORDERED_TAKEN;
        search->added_count = maar_ordered_add_waits(search, &range->points);
    }
    maar_mutex_unlock(&state->lock);
    return range;
}

/* ---- the change of owners ---- */

/* The rest of a range that is divided. */
struct rest {
    struct maar_ordered_range* range; /* NULL: the range is not divided */
    struct maar_retire_item* item;
    uint32_t kind; /* for the placement */
};

/* Copies the points of a range that this thread has taken. The numbers of timelines stay while the
 * range has them. */
static void list_range_points(struct maar_ordered* state, const struct maar_ordered_range* range,
                              MaarPoint* points)
{
    maar_mutex_lock(&state->lock);
    for (uint32_t i = 0; i < range->points.count; ++i) {
        points[i].semaphore = state->clock.timelines[range->points.numbers[i]].semaphore;
        points[i].value = range->points.values[i];
    }
    maar_mutex_unlock(&state->lock);
}

/* Prepares the rest of a range. Returns false if there is no host memory. */
static bool prepare_rest(MaarAllocator allocator, const struct maar_ordered_range* range,
                         struct rest* rest)
{
    MaarPoint points[MAAR_ORDERED_POINTS];
    list_range_points(maar_ordered_of(allocator), range, points);
    rest->item = maar_retire_prepare(&allocator->retire, range->points.count, points);
    rest->range = maar_host_alloc(allocator->callbacks, sizeof *rest->range);
    return rest->item != NULL && rest->range != NULL;
}

static void discard_rest(MaarAllocator allocator, struct rest* rest)
{
    maar_host_free(allocator->callbacks, rest->range);
    maar_retire_discard(&allocator->retire, rest->item);
    *rest = (struct rest){NULL, NULL, rest->kind};
}

/* Makes a pending slot for the rest of a range: the first free slot of the arena. */
static void fill_rest(struct maar_arena* arena, struct maar_block* block,
                      const struct maar_slot* slot, uint32_t node)
{
    struct maar_slot* made =
        maar_arena_take_slot(arena, (MaarResourceKind)maar_slot_kind(slot), NULL);
    maar_slot_set_home(made, block, node);
    maar_slot_mark(made, MAAR_SLOT_PENDING, true);
    ++block->range_count;
    maar_count_pending(arena, block, maar_placement_span(block->placement, node).size);
}

/* Divides the range of a slot under the arena's lock, which it may leave for a time. Returns false
 * if there is no host memory; otherwise the rest has a pending slot, unless it has no byte. */
static bool divide(MaarAllocator allocator, struct maar_slot* slot, VkDeviceSize size,
                   struct maar_block* block, uint32_t* rest_index)
{
    struct maar_arena* arena = maar_block_arena(block);
    VkResult brought = VK_SUCCESS;
    bool is_done = false;
    maar_arena_pin(arena, block); /* so that the block does not change its arena */
    while (brought == VK_SUCCESS && !is_done) {
        struct maar_placement_range part;
        if (arena->slots.head == MAAR_SLOT_NONE) {
            brought = maar_slots_refill(&allocator->slots, &arena->lock, &arena->slots);
            continue;
        }
        const enum maar_place_outcome outcome = maar_placement_divide(
            block->placement, slot->node, size, maar_range_tag(arena->slots.head, 1), &part);
        is_done = outcome != MAAR_PLACE_WANTS_STORAGE;
        if (outcome == MAAR_PLACED) {
            *rest_index = arena->slots.head;
            fill_rest(arena, block, slot, part.node);
        }
        if (!is_done) {
            brought = maar_bring_storage(allocator->callbacks, &arena->lock, block->placement);
        }
    }
    maar_arena_unpin(arena, block);
    return is_done;
}

/* Makes the pending slot that of a new allocation. Returns the name of the old one. */
static char* change_owner(struct maar_arena* arena, struct maar_block* block,
                          struct maar_slot* slot, uint32_t index,
                          const struct maar_place_request* request)
{
    if (maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD)) {
        maar_captured_slot_end(arena, slot, index);
    }
    char* old_name = maar_slot_set_name(slot, index, NULL);
    maar_slot_dress(slot, index, request->shown_kind, request->user_data);
    slot->ordered = true;
    slot->owned = request->internal;
    slot->can_alias = request->can_alias;
    (void)maar_slot_set_name(slot, index, request->name);
    maar_slot_mark(slot, MAAR_SLOT_INTERNAL, request->internal);
    maar_placement_set_user(block->placement, slot->node,
                            maar_range_tag(index, request->alignment));
    ++arena->made_count;
    return old_name;
}

/* Gives the bytes of a range to a request. Returns false if the range must stay as it is: its block
 * drains, or there is no host memory. */
static bool give(MaarAllocator allocator, struct maar_ordered_range* range,
                 const struct maar_place_request* request, struct rest* rest,
                 struct maar_made* made)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, range->slot);
    uint32_t rest_index = MAAR_SLOT_NONE;
    while (slot->map_count > 0 && maar_slot_unmap(allocator, slot, 0)) {
    }
    struct maar_block* block = maar_slot_enter(allocator, slot);
    const VkDeviceSize before = maar_slot_span(allocator, slot).size;
    const bool can_give =
        !block->draining &&
        (rest->range == NULL || divide(allocator, slot, request->size, block, &rest_index));
    struct maar_arena* arena = maar_block_arena(block);
    char* name = NULL;
    if (can_give) {
        const VkDeviceSize size = maar_slot_span(allocator, slot).size;
        maar_uncount_pending(arena, block, before);
        if (rest_index != MAAR_SLOT_NONE) {
            const struct maar_span span =
                maar_slot_span(allocator, maar_slot_at(&allocator->slots, rest_index));
            maar_placement_set_kind(block->placement,
                                    maar_slot_at(&allocator->slots, rest_index)->node, rest->kind);
            *rest->range = (struct maar_ordered_range){
                .pool = range->pool,
                .kind = rest->kind,
                .slot = rest_index,
                .offset = span.offset,
                .size = span.size,
                .state = MAAR_ORDERED_PENDING,
            };
        }
        const bool can_reunite = rest->kind == range->kind;
        range->rest_slot = can_reunite ? rest_index : MAAR_SLOT_NONE;
        range->whole_size = can_reunite ? before : size;
        range->size = size;
        maar_arena_gain_live(arena, size);
        name = change_owner(arena, block, slot, range->slot, request);
        made->slot = slot;
        made->index = range->slot;
    }
    maar_mutex_unlock(&arena->lock);
    maar_host_free(allocator->callbacks, name);
    if (rest_index == MAAR_SLOT_NONE) {
        discard_rest(allocator, rest);
    }
    return can_give;
}

/* Offers the rest of a divided range, and queues its item. */
static void offer_rest(MaarAllocator allocator, struct maar_ordered* state,
                       struct maar_ordered_range* range, struct rest rest)
{
    rest.item->pool = &range->pool->pending;
    rest.item->range = rest.range->slot;
    rest.item->rest[0] = rest.range;
    rest.range->hold_count = 1;
    rest.range->item = rest.item;
    rest.range->points = range->points;
    maar_mutex_lock(&state->lock);
    maar_ordered_enter(state, rest.range);
    range->rest_serial = rest.range->serial;
    maar_mutex_unlock(&state->lock);
    maar_ordered_offer_new(allocator, state, rest.range);
    maar_retire_queue(&allocator->retire, rest.item);
}

bool maar_ordered_serve(struct maar_pool* pool, const struct maar_place_request* request,
                        const MaarOrderedUseInfo* use, uint32_t flags, struct maar_made* made)
{
    MaarAllocator allocator = pool->allocator;
    struct maar_ordered_search search = {
        .state = maar_ordered_open(allocator),
        .pool = pool,
        .request = request,
        .use = use,
        .adds_waits = (flags & MAAR_ORDERED_ADD_WAITS) != 0,
        .most = (flags & MAAR_ORDERED_DIVIDE_ANY) != 0 || request->size > UINT64_MAX / MOST_PARTS
                    ? UINT64_MAX
                    : request->size * MOST_PARTS,
        .kind = maar_placement_kind(pool, request->kind),
    };
    search.rest_kind = search.kind;
    const uint32_t old_count = maar_ordered_wait_count(use);
    if (search.state == NULL) {
        return false;
    }
    struct maar_ordered_range* range = take_range(&search);
    if (range == NULL && pool->strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        range = maar_ordered_join(&search);
    }
    if (range == NULL) {
        return false;
    }
    struct rest rest = {NULL, NULL, search.rest_kind};
    bool is_given = true;
    if (range->size > request->size) {
        is_given = prepare_rest(allocator, range, &rest);
    }
    if (is_given) {
        is_given = give(allocator, range, request, &rest, made);
    } else {
        discard_rest(allocator, &rest);
    }
    if (rest.range != NULL) {
        offer_rest(allocator, search.state, range, rest);
    }
    maar_ordered_put_back(&search, range, is_given);
    if (!is_given) {
        maar_ordered_set_wait_count(use, old_count);
    }
    maar_check_if_asked(pool);
    return is_given;
}
