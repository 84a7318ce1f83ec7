/*
 * What ordered_place.c and ordered_join.c share: see ordered_search.h.
 */
#include "core/memory/ordered_search.h"

#include "core/memory/ordered_use.h"
#include "core/memory/pool.h"
#include "core/memory/range_free.h"

/* Fills in what the points of a request cover. The host timeline has passed its own value. */
static void fill_reach(MaarAllocator allocator, const struct maar_ordered* state,
                       const MaarOrderedUseInfo* use, struct maar_clock_reach* reach)
{
    *reach = (struct maar_clock_reach){{0}};
    const MaarPoint host = {.value = maar_atomic64_load(&allocator->retire.host_value)};
    maar_clock_cover(&state->clock, host, reach);
    for (uint32_t i = 0; i < use->pointCount; ++i) {
        maar_clock_cover(&state->clock, use->pPoints[i], reach);
    }
    for (uint32_t i = 0; i < maar_ordered_wait_count(use); ++i) {
        maar_clock_cover(&state->clock, use->pWaits[i], reach);
    }
}

/* A wait can be added for what is declared: the device passes that without this submission. */
static void raise_to_declared(const struct maar_ordered* state, struct maar_clock_reach* limits)
{
    for (uint32_t i = 1; i < MAAR_CLOCK_TIMELINES; ++i) {
        const struct maar_clock_timeline* timeline = &state->clock.timelines[i];
        if (timeline->is_known && limits->values[i] < timeline->declared) {
            limits->values[i] = timeline->declared;
        }
    }
}

/* Adds a wait, or raises that for the same timeline. */
static void add_missing_wait(const MaarOrderedUseInfo* use, MaarPoint point)
{
    uint32_t at = 0;
    while (at < *use->pWaitCount && use->pWaits[at].semaphore != point.semaphore) {
        ++at;
    }
    if (at == *use->pWaitCount) {
        use->pWaits[at] = point;
        ++*use->pWaitCount;
    } else if (use->pWaits[at].value < point.value) {
        use->pWaits[at].value = point.value;
    }
}

uint32_t maar_ordered_add_waits(const struct maar_ordered_search* search,
                                const struct maar_ordered_points* points)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < points->count; ++i) {
        const uint32_t number = points->numbers[i];
        if (points->values[i] > search->reach.values[number]) {
            const VkSemaphore semaphore = search->state->clock.timelines[number].semaphore;
            add_missing_wait(search->use, (MaarPoint){semaphore, points->values[i]});
            ++count;
        }
    }
    return count;
}

void maar_ordered_begin_search(struct maar_ordered_search* search)
{
    fill_reach(search->pool->allocator, search->state, search->use, &search->reach);
    search->limits = search->reach;
    search->wait_capacity = 0;
    if (search->adds_waits) {
        raise_to_declared(search->state, &search->limits);
        search->wait_capacity = search->use->waitCapacity - *search->use->pWaitCount;
    }
}

bool maar_ordered_fits(const struct maar_ordered_search* search,
                       const struct maar_ordered_points* points)
{
    uint32_t waits = 0;
    for (uint32_t i = 0; i < points->count; ++i) {
        const uint32_t number = points->numbers[i];
        if (points->values[i] > search->limits.values[number]) {
            return false;
        }
        waits += points->values[i] > search->reach.values[number] ? 1 : 0;
    }
    return waits <= search->wait_capacity;
}

void maar_ordered_put_back(const struct maar_ordered_search* search,
                           struct maar_ordered_range* range, bool is_given)
{
    struct maar_ordered* state = search->state;
    MaarAllocator allocator = search->pool->allocator;
    uint32_t ended = MAAR_SLOT_NONE;
    maar_mutex_lock(&state->lock);
    const bool is_held = range->hold_count > 0;
    if (is_given) {
        *(search->added_count > 0 ? &state->waited_count : &state->covered_count) += 1;
        state->joined_count += search->is_joined ? 1 : 0;
        state->reused_bytes += range->size;
    }
    if (!is_held) {
        ended = is_given ? MAAR_SLOT_NONE : range->slot;
        maar_ordered_leave(state, range);
    } else if (is_given) {
        range->state = MAAR_ORDERED_LIVE;
        ++state->live_count;
    } else {
        maar_ordered_offer(state, range);
    }
    maar_mutex_unlock(&state->lock);
    maar_host_free(allocator->callbacks, is_held ? NULL : range);
    if (ended != MAAR_SLOT_NONE) {
        maar_pool_end_pending(allocator, ended);
    }
}
