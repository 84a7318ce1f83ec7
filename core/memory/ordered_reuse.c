/*
 * The ranges of ordered reuse from a free to their end: see ordered_reuse.h.
 */
#include "core/memory/ordered_reuse.h"

#include <string.h>

#include "core/memory/mapping.h"
#include "core/memory/pool.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_free.h"
#include "core/memory/slot_home.h"

struct maar_ordered* maar_ordered_open(MaarAllocator allocator)
{
    struct maar_ordered* state = maar_ordered_of(allocator);
    if (state != NULL) {
        return state;
    }
    struct maar_ordered* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    if (!maar_mutex_init(&made->lock, MAAR_LOCK_ORDERED, maar_is_synchronized(allocator))) {
        maar_host_free(allocator->callbacks, made);
        return NULL;
    }
    maar_clock_init(&made->clock);
    void* other = NULL;
    while (!maar_atomic_pointer_replace(&allocator->ordered, &other, made)) {
        if (other != NULL) { /* another thread was first */
            maar_mutex_destroy(&made->lock);
            maar_host_free(allocator->callbacks, made);
            return maar_ordered_of(allocator);
        }
    }
    return made;
}

void maar_ordered_destroy(MaarAllocator allocator)
{
    struct maar_ordered* state = maar_ordered_of(allocator);
    if (state == NULL) {
        return;
    }
    while (state->by_slot != NULL) {
        struct maar_ordered_range* range = state->by_slot;
        maar_ordered_tree_remove(&state->by_slot, range, MAAR_ORDERED_BY_SLOT);
        maar_host_free(allocator->callbacks, range);
    }
    for (uint32_t i = 0; i < MAAR_CLOCK_TIMELINES; ++i) {
        maar_host_free(allocator->callbacks, state->clock.timelines[i].history);
    }
    maar_mutex_destroy(&state->lock);
    maar_host_free(allocator->callbacks, state);
}

/* ---- under the lock ---- */

void maar_ordered_offer(struct maar_ordered* state, struct maar_ordered_range* range)
{
    maar_assert_held(&state->lock);
    range->state = MAAR_ORDERED_PENDING;
    if (range->points.count > 0) {
        range->is_offered = true;
        ++state->offered_count;
        state->offered_bytes += range->size;
        maar_ordered_tree_add(&state->by_place, range, MAAR_ORDERED_BY_PLACE);
    }
}

void maar_ordered_withdraw(struct maar_ordered* state, struct maar_ordered_range* range)
{
    maar_assert_held(&state->lock);
    if (range->is_offered) {
        range->is_offered = false;
        --state->offered_count;
        state->offered_bytes -= range->size;
        maar_ordered_tree_remove(&state->by_place, range, MAAR_ORDERED_BY_PLACE);
    }
}

void maar_ordered_enter(struct maar_ordered* state, struct maar_ordered_range* range)
{
    maar_assert_held(&state->lock);
    range->serial = state->serial++;
    for (uint32_t i = 0; i < range->points.count; ++i) {
        maar_clock_hold(&state->clock, range->points.numbers[i]);
    }
    maar_ordered_tree_add(&state->by_slot, range, MAAR_ORDERED_BY_SLOT);
}

void maar_ordered_drop_points(struct maar_ordered* state, struct maar_ordered_range* range)
{
    for (uint32_t i = 0; i < range->points.count; ++i) {
        maar_clock_leave(&state->clock, range->points.numbers[i]);
    }
    range->points.count = 0;
}

void maar_ordered_leave(struct maar_ordered* state, struct maar_ordered_range* range)
{
    maar_ordered_withdraw(state, range);
    maar_ordered_drop_points(state, range);
    maar_ordered_tree_remove(&state->by_slot, range, MAAR_ORDERED_BY_SLOT);
    state->live_count -= range->state == MAAR_ORDERED_LIVE ? 1 : 0;
}

/* ---- a free after points ---- */

bool maar_ordered_add_point(struct maar_ordered_points* points, uint32_t number, uint64_t value)
{
    uint32_t at = 0;
    while (at < points->count && points->numbers[at] != number) {
        ++at;
    }
    if (at == MAAR_ORDERED_POINTS) {
        return false;
    }
    if (at == points->count) {
        points->numbers[points->count++] = (uint8_t)number;
        points->values[at] = value;
    }
    points->values[at] = points->values[at] > value ? points->values[at] : value;
    return true;
}

/* Sets the points of a range: those of an item, and those that it has. A number that is given to a
 * timeline must not be taken from another one meanwhile, so each is held at once. */
static void set_range_points(struct maar_ordered* state, struct maar_ordered_range* range,
                             const struct maar_retire_item* item, struct maar_clock_history** freed)
{
    struct maar_ordered_points points = {.count = 0};
    const bool had_points = range->points.count > 0 || range->hold_count == 0;
    bool fits = had_points;
    for (uint32_t i = 0; i < item->point_count && fits; ++i) {
        const MaarPoint point = item->points[i];
        const uint32_t before = points.count;
        const uint32_t number = maar_clock_number(&state->clock, point.semaphore, &freed[i]);
        fits = number != MAAR_CLOCK_NONE && maar_ordered_add_point(&points, number, point.value);
        if (points.count > before) {
            maar_clock_hold(&state->clock, number);
        }
    }
    for (uint32_t i = 0; i < range->points.count && fits; ++i) {
        const uint32_t before = points.count;
        fits = maar_ordered_add_point(&points, range->points.numbers[i], range->points.values[i]);
        if (points.count > before) {
            maar_clock_hold(&state->clock, range->points.numbers[i]);
        }
    }
    maar_ordered_drop_points(state, range);
    for (uint32_t i = 0; i < points.count && !fits; ++i) {
        maar_clock_leave(&state->clock, points.numbers[i]);
    }
    range->points = points;
    range->points.count = fits ? points.count : 0;
}

/* Fills in where a range is. Returns false if its bytes cannot be reused: a whole block, or pages,
 * or a range of a linear placement, which reuses its ranges in their order. */
static bool find_range_place(MaarAllocator allocator, const struct maar_slot* slot, uint32_t index,
                             struct maar_ordered_range* range)
{
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    const bool is_divided =
        block->placement != NULL && block->pool->strategy != MAAR_PLACEMENT_STRATEGY_LINEAR;
    if (is_divided) {
        struct maar_placement_range place;
        uint64_t tag = 0;
        (void)maar_placement_get(block->placement, slot->node, &place, &tag, &range->kind);
        range->pool = block->pool;
        range->offset = place.offset;
        range->size = place.size;
        range->slot = index;
    }
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return is_divided;
}

/* Makes a range for a slot that has none, outside the lock. Returns NULL if that is not possible.
 */
static struct maar_ordered_range* make_ordered_range(MaarAllocator allocator,
                                                     const struct maar_slot* slot, uint32_t index)
{
    struct maar_ordered_range* range = maar_host_calloc(allocator->callbacks, 1, sizeof *range);
    if (range != NULL && !find_range_place(allocator, slot, index, range)) {
        maar_host_free(allocator->callbacks, range);
        return NULL;
    }
    if (range != NULL) {
        range->state = MAAR_ORDERED_PENDING;
    }
    return range;
}

/* Marks a slot whose range is in the tree by slot. From then on, who wants to keep its bytes asks
 * maar_ordered_withhold. Returns false if somebody keeps them already. */
static bool mark_ordered(MaarAllocator allocator, struct maar_slot* slot)
{
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    const bool is_kept = (maar_atomic32_load_acquire(&slot->key) & MAAR_SLOT_MOVING) != 0;
    slot->ordered = true;
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return !is_kept;
}

/* Lets an item hold the range of its slot. */
static void hold_range(struct maar_ordered* state, struct maar_ordered_range* range,
                       struct maar_retire_item* item, struct maar_clock_history** freed)
{
    set_range_points(state, range, item, freed);
    ++range->hold_count;
    item->rest[0] = range;
}

void maar_ordered_offer_new(MaarAllocator allocator, struct maar_ordered* state,
                            struct maar_ordered_range* range)
{
    const bool is_offered = mark_ordered(allocator, maar_slot_at(&allocator->slots, range->slot));
    maar_mutex_lock(&state->lock);
    if (is_offered) {
        maar_ordered_offer(state, range);
    } else {
        maar_ordered_drop_points(state, range);
    }
    maar_mutex_unlock(&state->lock);
}

void maar_ordered_note(MaarAllocator allocator, struct maar_ordered* state, struct maar_slot* slot,
                       uint32_t index, struct maar_retire_item* item)
{
    struct maar_clock_history* freed[MAAR_MAX_POINTS + 1] = {NULL};
    struct maar_ordered_range* range = NULL;
    bool is_held = false;
    if (slot->ordered) {
        maar_mutex_lock(&state->lock);
        range = maar_ordered_tree_find(state->by_slot, index);
        is_held = range != NULL;
        if (is_held) {
            --state->live_count;
            hold_range(state, range, item, freed);
            maar_ordered_offer(state, range);
        }
        maar_mutex_unlock(&state->lock);
    }
    if (!is_held) {
        range = make_ordered_range(allocator, slot, index);
    }
    if (!is_held && range != NULL) {
        maar_mutex_lock(&state->lock);
        maar_ordered_enter(state, range);
        hold_range(state, range, item, freed);
        maar_mutex_unlock(&state->lock);
        maar_ordered_offer_new(allocator, state, range);
    }
    for (uint32_t i = 0; i < MAAR_MAX_POINTS + 1; ++i) {
        maar_host_free(allocator->callbacks, freed[i]);
    }
}

/* ---- ends ---- */

uint32_t maar_ordered_pass(MaarAllocator allocator, const struct maar_retire_item* item)
{
    struct maar_ordered_range* range = item->rest[0];
    struct maar_ordered* state = maar_ordered_of(allocator);
    uint32_t slot = MAAR_SLOT_NONE;
    struct maar_ordered_range* merged = NULL; /* a list of those that end, by their member `into` */
    maar_mutex_lock(&state->lock);
    range->item = range->item != item ? range->item : NULL;
    --range->hold_count;
    while (range->hold_count == 0 && range->state == MAAR_ORDERED_MERGED) {
        struct maar_ordered_range* into = range->into;
        range->into = merged;
        merged = range;
        range = into;
        --range->hold_count;
    }
    const bool is_last = range->hold_count == 0 && range->state != MAAR_ORDERED_MERGED &&
                         range->state != MAAR_ORDERED_TAKEN;
    if (is_last) {
        slot = range->state == MAAR_ORDERED_PENDING ? range->slot : MAAR_SLOT_NONE;
        maar_ordered_leave(state, range);
    }
    maar_mutex_unlock(&state->lock);
    while (merged != NULL) {
        struct maar_ordered_range* next = merged->into;
        maar_host_free(allocator->callbacks, merged);
        merged = next;
    }
    maar_host_free(allocator->callbacks, is_last ? range : NULL);
    return slot;
}

bool maar_ordered_has_range(MaarAllocator allocator, const struct maar_slot* slot)
{
    struct maar_ordered* state = maar_ordered_of(allocator);
    const uint32_t index = maar_slots_index_of(&allocator->slots, slot);
    maar_mutex_lock(&state->lock);
    const bool holds = maar_ordered_tree_find(state->by_slot, index) != NULL;
    maar_mutex_unlock(&state->lock);
    return holds;
}

bool maar_ordered_withhold(MaarAllocator allocator, const struct maar_slot* slot, uint32_t index)
{
    if (!slot->ordered) {
        return true;
    }
    struct maar_ordered* state = maar_ordered_of(allocator);
    maar_mutex_lock(&state->lock);
    struct maar_ordered_range* range = maar_ordered_tree_find(state->by_slot, index);
    const bool is_wanted = range != NULL && range->state != MAAR_ORDERED_PENDING;
    if (range != NULL && !is_wanted) {
        maar_ordered_withdraw(state, range);
        maar_ordered_drop_points(state, range);
    }
    maar_mutex_unlock(&state->lock);
    return !is_wanted;
}

bool maar_ordered_inherits(MaarAllocator allocator, const struct maar_slot* slot, uint64_t handle)
{
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    const bool inherits =
        maar_key_read(&slot->key) == handle >> 32 && maar_ordered_holds(allocator, slot);
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return inherits;
}

/* Offers the range of a slot whose bytes are pending again. Returns false if its points have passed
 * meanwhile: then the slot has no range any more. */
static bool offer_again(struct maar_ordered* state, uint32_t index)
{
    maar_mutex_lock(&state->lock);
    struct maar_ordered_range* range = maar_ordered_tree_find(state->by_slot, index);
    if (range != NULL) {
        --state->live_count;
        maar_ordered_offer(state, range);
    }
    maar_mutex_unlock(&state->lock);
    return range != NULL;
}

bool maar_ordered_release(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    if (!maar_ordered_holds(allocator, slot)) {
        return false;
    }
    while (slot->map_count > 0 && maar_slot_unmap(allocator, slot, 0)) {
    }
    (void)maar_pool_make_pending(allocator, slot, index);
    if (!offer_again(maar_ordered_of(allocator), index)) {
        maar_pool_end_pending(allocator, index);
    }
    return true;
}

/* ---- the check ---- */

/* The sums over the ranges in the tree by place. */
struct offered_sums {
    uint64_t count;
    VkDeviceSize bytes;
    uint64_t live;
};

static const char* check_range(const struct maar_ordered_range* range, struct offered_sums* sums)
{
    if (range->hold_count == 0 && range->state != MAAR_ORDERED_TAKEN) {
        return "an ordered range is held by no item";
    }
    if (range->is_offered && (range->state != MAAR_ORDERED_PENDING || range->points.count == 0)) {
        return "an ordered range is offered that is not pending";
    }
    sums->count += range->is_offered ? 1 : 0;
    sums->bytes += range->is_offered ? range->size : 0;
    sums->live += range->state == MAAR_ORDERED_LIVE ? 1 : 0;
    return NULL;
}

static const char* check_sums(struct maar_ordered* state)
{
    struct offered_sums sums = {.count = 0};
    const char* broken = NULL;
    for (const struct maar_ordered_range* range =
             maar_ordered_tree_least(state->by_slot, MAAR_ORDERED_BY_SLOT);
         range != NULL && broken == NULL;
         range = maar_ordered_tree_next(range, MAAR_ORDERED_BY_SLOT)) {
        broken = check_range(range, &sums);
    }
    if (broken == NULL && (sums.count != state->offered_count ||
                           sums.bytes != state->offered_bytes || sums.live != state->live_count)) {
        broken = "the sums of ordered ranges are wrong";
    }
    return broken;
}

const char* maar_ordered_check(MaarAllocator allocator)
{
    struct maar_ordered* state = maar_ordered_of(allocator);
    uint64_t offered = 0;
    uint64_t all = 0;
    if (state == NULL) {
        return NULL;
    }
    maar_mutex_lock(&state->lock);
    const char* broken = maar_ordered_tree_check(state->by_slot, MAAR_ORDERED_BY_SLOT, &all);
    if (broken == NULL) {
        broken = maar_ordered_tree_check(state->by_place, MAAR_ORDERED_BY_PLACE, &offered);
    }
    if (broken == NULL && offered != state->offered_count) {
        broken = "the tree of offered ranges has not as many as are counted";
    }
    if (broken == NULL) {
        broken = check_sums(state);
    }
    if (broken == NULL) {
        broken = maar_clock_check(&state->clock);
    }
    maar_mutex_unlock(&state->lock);
    return broken;
}
