/*
 * The order of timelines: see ordered_clock.h.
 *
 * The reach of a timeline's values never shrinks from one value to the next, because a later value
 * passes after an earlier one. So the reach of any value is that of the highest declared value at
 * or below it.
 */
#include "core/time/ordered_clock.h"

#include <string.h>

void maar_clock_init(struct maar_clock* clock)
{
    clock->timelines[0].is_known = true;
    clock->timelines[0].use_count = 1; /* its number stays */
}

uint32_t maar_clock_find(const struct maar_clock* clock, VkSemaphore semaphore)
{
    uint32_t number = 0;
    while (number < MAAR_CLOCK_TIMELINES && !(clock->timelines[number].is_known &&
                                              clock->timelines[number].semaphore == semaphore)) {
        ++number;
    }
    return number;
}

static struct maar_clock_entry* entry_at(struct maar_clock_history* history, uint32_t at)
{
    return &history->entries[(history->first + at) % MAAR_CLOCK_DEPTH];
}

/* Removes what all other values cover of a timeline. */
static void clear_column(struct maar_clock* clock, uint32_t number)
{
    for (uint32_t i = 0; i < MAAR_CLOCK_TIMELINES; ++i) {
        struct maar_clock_history* history = clock->timelines[i].history;
        for (uint32_t at = 0; history != NULL && at < history->count; ++at) {
            entry_at(history, at)->reach.values[number] = 0;
        }
    }
}

/* Takes a number away from its timeline. */
static struct maar_clock_history* clear_number(struct maar_clock* clock, uint32_t number)
{
    struct maar_clock_timeline* timeline = &clock->timelines[number];
    struct maar_clock_history* history = timeline->history;
    timeline->history = NULL;
    timeline->declared = 0;
    timeline->is_known = false;
    clear_column(clock, number);
    return history;
}

/* Returns a number that is free, or else that of the timeline that was named least recently and
 * that no range names. */
static uint32_t find_number(const struct maar_clock* clock)
{
    uint32_t chosen = MAAR_CLOCK_NONE;
    for (uint32_t i = 0; i < MAAR_CLOCK_TIMELINES; ++i) {
        const struct maar_clock_timeline* timeline = &clock->timelines[i];
        if (timeline->use_count != 0) {
            continue;
        }
        if (!timeline->is_known) {
            return i;
        }
        if (chosen == MAAR_CLOCK_NONE || timeline->used < clock->timelines[chosen].used) {
            chosen = i;
        }
    }
    return chosen;
}

uint32_t maar_clock_number(struct maar_clock* clock, VkSemaphore semaphore,
                           struct maar_clock_history** freed)
{
    *freed = NULL;
    uint32_t number = maar_clock_find(clock, semaphore);
    if (number == MAAR_CLOCK_NONE) {
        number = find_number(clock);
        if (number == MAAR_CLOCK_NONE) {
            return number;
        }
        *freed = clear_number(clock, number);
        clock->timelines[number].semaphore = semaphore;
        clock->timelines[number].is_known = true;
    }
    clock->timelines[number].used = ++clock->tick;
    return number;
}

void maar_clock_hold(struct maar_clock* clock, uint32_t number)
{
    ++clock->timelines[number].use_count;
}

void maar_clock_leave(struct maar_clock* clock, uint32_t number)
{
    --clock->timelines[number].use_count;
}

struct maar_clock_history* maar_clock_forget(struct maar_clock* clock, VkSemaphore semaphore)
{
    const uint32_t number = maar_clock_find(clock, semaphore);
    /* A number that ranges name stays unknown until they name it no longer. */
    return number == 0 || number == MAAR_CLOCK_NONE ? NULL : clear_number(clock, number);
}

static void raise_reach(struct maar_clock_reach* reach, const struct maar_clock_reach* other)
{
    for (uint32_t i = 0; i < MAAR_CLOCK_TIMELINES; ++i) {
        if (reach->values[i] < other->values[i]) {
            reach->values[i] = other->values[i];
        }
    }
}

/* Returns how many entries have at most this value. */
static uint32_t count_declared(struct maar_clock_history* history, uint64_t value)
{
    uint32_t low = 0;
    uint32_t high = history->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (entry_at(history, middle)->value <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void maar_clock_cover(const struct maar_clock* clock, MaarPoint point,
                      struct maar_clock_reach* reach)
{
    const uint32_t number = maar_clock_find(clock, point.semaphore);
    if (number == MAAR_CLOCK_NONE) {
        return;
    }
    struct maar_clock_history* history = clock->timelines[number].history;
    const uint32_t count = history != NULL ? count_declared(history, point.value) : 0;
    if (count > 0) {
        raise_reach(reach, &entry_at(history, count - 1)->reach);
    }
    if (reach->values[number] < point.value) {
        reach->values[number] = point.value;
    }
}

/* Inserts an entry before number `at`. If there is no room, the lowest one goes. Returns the place
 * of the entry, or MAAR_CLOCK_DEPTH if it would be the lowest one itself. */
static uint32_t insert_entry(struct maar_clock_history* history, uint32_t at, uint64_t value)
{
    if (history->count == MAAR_CLOCK_DEPTH) {
        if (at == 0) {
            return MAAR_CLOCK_DEPTH;
        }
        history->first = (history->first + 1) % MAAR_CLOCK_DEPTH;
        --history->count;
        --at;
    }
    for (uint32_t i = history->count; i > at; --i) {
        *entry_at(history, i) = *entry_at(history, i - 1);
    }
    ++history->count;
    struct maar_clock_entry* entry = entry_at(history, at);
    entry->value = value;
    if (at > 0) {
        entry->reach = entry_at(history, at - 1)->reach;
    } else {
        memset(&entry->reach, 0, sizeof entry->reach);
    }
    return at;
}

void maar_clock_declare(struct maar_clock* clock, uint32_t number, uint64_t value,
                        const struct maar_clock_reach* reach)
{
    struct maar_clock_timeline* timeline = &clock->timelines[number];
    struct maar_clock_history* history = timeline->history;
    uint32_t at = count_declared(history, value);
    if (at == 0 || entry_at(history, at - 1)->value != value) {
        at = insert_entry(history, at, value);
        at = at == MAAR_CLOCK_DEPTH ? 0 : at;
    } else {
        --at;
    }
    /* Values that were declared earlier and are higher pass later. */
    for (; at < history->count; ++at) {
        raise_reach(&entry_at(history, at)->reach, reach);
    }
    timeline->declared = timeline->declared < value ? value : timeline->declared;
}

uint32_t maar_clock_count(const struct maar_clock* clock)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < MAAR_CLOCK_TIMELINES; ++i) {
        count += clock->timelines[i].is_known ? 1 : 0;
    }
    return count;
}

const char* maar_clock_check(const struct maar_clock* clock)
{
    for (uint32_t i = 0; i < MAAR_CLOCK_TIMELINES; ++i) {
        struct maar_clock_history* history = clock->timelines[i].history;
        for (uint32_t at = 1; history != NULL && at < history->count; ++at) {
            const struct maar_clock_entry* earlier = entry_at(history, at - 1);
            const struct maar_clock_entry* later = entry_at(history, at);
            if (earlier->value >= later->value) {
                return "the declared values of a timeline are out of order";
            }
            for (uint32_t j = 0; j < MAAR_CLOCK_TIMELINES; ++j) {
                if (earlier->reach.values[j] > later->reach.values[j]) {
                    return "a value of a timeline covers less than an earlier one";
                }
            }
        }
    }
    return NULL;
}
