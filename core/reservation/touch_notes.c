/*
 * Notes of touches: see touch_notes.h.
 */
#include "core/reservation/touch_notes.h"

#include "core/bits.h"
#include "core/check.h"

/* ---- where runs begin ---- */

/* Returns the words of a level: each of its bits stands for a word of the level below. */
static uint32_t words_of_level(uint32_t unit_count, uint32_t level)
{
    uint32_t words = (unit_count + 63) / 64;
    for (uint32_t i = 0; i < level; ++i) {
        words = (words + 63) / 64;
    }
    return words;
}

static void set_run_bit(struct maar_touch_notes* notes, uint32_t unit)
{
    for (uint32_t level = 0; level < MAAR_NOTE_LEVELS; ++level) {
        notes->levels[level][unit / 64] |= (uint64_t)1 << (unit % 64);
        unit /= 64;
    }
}

static void clear_run_bit(struct maar_touch_notes* notes, uint32_t unit)
{
    bool is_empty = true;
    for (uint32_t level = 0; level < MAAR_NOTE_LEVELS && is_empty; ++level) {
        uint64_t* word = &notes->levels[level][unit / 64];
        *word &= ~((uint64_t)1 << (unit % 64));
        is_empty = *word == 0;
        unit /= 64;
    }
}

uint32_t maar_touch_notes_find(const struct maar_touch_notes* notes, uint32_t unit)
{
    MAAR_DEBUG_ASSERT(unit < notes->unit_count);
    uint32_t level = 0;
    uint64_t at_most = notes->levels[0][unit / 64] & (UINT64_MAX >> (63 - unit % 64));
    /* A word with a bit below: on its own level, or on a higher one. Unit 0 begins a run. */
    while (at_most == 0) {
        unit /= 64;
        ++level;
        at_most = notes->levels[level][unit / 64] & (((uint64_t)1 << (unit % 64)) - 1);
    }
    unit = unit / 64 * 64 + maar_top_bit(at_most);
    for (; level > 0; --level) {
        unit = unit * 64 + maar_top_bit(notes->levels[level - 1][unit]);
    }
    return unit;
}

/* ---- making ---- */

size_t maar_touch_notes_size(uint32_t unit_count)
{
    size_t size =
        sizeof(struct maar_touch_notes) + ((size_t)unit_count + 2) * sizeof(struct maar_touch_note);
    for (uint32_t level = 0; level < MAAR_NOTE_LEVELS; ++level) {
        size += words_of_level(unit_count, level) * sizeof(uint64_t);
    }
    return size;
}

void maar_touch_notes_begin(struct maar_touch_notes* notes, uint32_t unit_count)
{
    MAAR_DEBUG_ASSERT(unit_count > 0 && unit_count <= MAAR_MOST_UNITS);
    uint64_t* words = (uint64_t*)(void*)&notes->units[unit_count + 2];
    notes->unit_count = unit_count;
    for (uint32_t anchor = unit_count; anchor < unit_count + 2; ++anchor) {
        notes->units[anchor].older = anchor;
        notes->units[anchor].newer = anchor;
    }
    for (uint32_t level = 0; level < MAAR_NOTE_LEVELS; ++level) {
        notes->levels[level] = words;
        words += words_of_level(unit_count, level);
    }
    notes->units[0].length = unit_count;
    set_run_bit(notes, 0);
    maar_run_link(notes, maar_untouched_anchor(notes), 0);
}

/* ---- runs ---- */

/* Makes a run begin at a unit, which may be the end. */
static void split_run_at(struct maar_touch_notes* notes, uint32_t unit)
{
    if (unit == notes->unit_count || notes->units[unit].length != 0) {
        return;
    }
    const uint32_t first = maar_touch_notes_find(notes, unit);
    struct maar_touch_note* lower = &notes->units[first];
    struct maar_touch_note* upper = &notes->units[unit];
    *upper = *lower;
    lower->length = unit - first;
    upper->length -= lower->length;
    set_run_bit(notes, unit);
    /* The upper part follows the lower one in the ring. */
    upper->older = first;
    lower->newer = unit;
    notes->units[upper->newer].older = unit;
}

/* Adds a run, which is in no ring, to the run that ends where it begins. */
static void append_run(struct maar_touch_notes* notes, uint32_t to, uint32_t first)
{
    MAAR_DEBUG_ASSERT(to + notes->units[to].length == first);
    notes->units[to].length += notes->units[first].length;
    notes->units[first].length = 0;
    clear_run_bit(notes, first);
}

/* Ensures that no run reaches beyond either end of some units. */
static void cut_out(struct maar_touch_notes* notes, uint32_t first, uint32_t count)
{
    MAAR_DEBUG_ASSERT(count > 0 && first < notes->unit_count && count <= notes->unit_count - first);
    split_run_at(notes, first);
    split_run_at(notes, first + count);
}

void maar_touch_notes_touch(struct maar_touch_notes* notes, uint32_t first, uint32_t count,
                            uint64_t touch, bool whole)
{
    const uint32_t end = first + count;
    uint32_t into = first; /* the run that the others are added to */
    MAAR_DEBUG_ASSERT(touch != 0);
    cut_out(notes, first, count);
    for (uint32_t run = first, next; run < end; run = next) {
        struct maar_touch_note* note = &notes->units[run];
        next = run + note->length;
        maar_run_unlink(notes, run);
        note->touch = touch;
        note->whole = whole;
        if (run != into && note->priority == notes->units[into].priority &&
            note->stays == notes->units[into].stays) {
            append_run(notes, into, run);
            continue;
        }
        maar_run_link(notes, maar_touched_anchor(notes), run);
        into = run;
    }
}

void maar_touch_notes_set(struct maar_touch_notes* notes, uint32_t first, uint32_t count,
                          int8_t priority, bool stays)
{
    const uint32_t end = first + count;
    cut_out(notes, first, count);
    for (uint32_t run = first; run < end; run += notes->units[run].length) {
        notes->units[run].priority = priority;
        notes->units[run].stays = stays;
    }
}

void maar_touch_notes_lose(struct maar_touch_notes* notes, uint32_t first, uint32_t count,
                           bool forgets)
{
    const uint32_t end = first + count;
    cut_out(notes, first, count);
    for (uint32_t run = first, next; run < end; run = next) {
        struct maar_touch_note* note = &notes->units[run];
        next = run + note->length;
        note->whole = false;
        if (forgets && note->touch != 0) {
            maar_run_unlink(notes, run);
            note->touch = 0;
            maar_run_link(notes, maar_untouched_anchor(notes), run);
        }
    }
}

/* ---- the check ---- */

/* Counts the runs of a ring. Returns UINT32_MAX if its links are wrong. */
static uint32_t count_ring(const struct maar_touch_notes* notes, uint32_t anchor)
{
    const bool is_touched = anchor == maar_touched_anchor(notes);
    uint64_t touch = 0;
    uint32_t older = anchor;
    uint32_t count = 0;
    for (uint32_t run = notes->units[anchor].newer; run != anchor; run = notes->units[run].newer) {
        const struct maar_touch_note* note = &notes->units[run];
        if (run >= notes->unit_count || note->older != older || note->length == 0 ||
            (note->touch != 0) != is_touched || note->touch < touch ||
            ++count > notes->unit_count) {
            return UINT32_MAX;
        }
        older = run;
        touch = note->touch;
    }
    return notes->units[anchor].older == older ? count : UINT32_MAX;
}

const char* maar_touch_notes_check(const struct maar_touch_notes* notes)
{
    uint32_t touched = 0;
    uint32_t untouched = 0;
    uint32_t next = 0;
    for (uint32_t unit = 0; unit < notes->unit_count; ++unit) {
        const struct maar_touch_note* note = &notes->units[unit];
        const bool begins = unit == next;
        if ((note->length != 0) != begins || note->length > notes->unit_count - unit) {
            return "runs of touched units overlap, or leave units out";
        }
        if ((notes->levels[0][unit / 64] >> (unit % 64) & 1) != (begins ? 1 : 0)) {
            return "a bit does not say where a run of touched units begins";
        }
        if (begins) {
            next = unit + note->length;
            touched += note->touch != 0;
            untouched += note->touch == 0;
        }
    }
    for (uint32_t level = 1; level < MAAR_NOTE_LEVELS; ++level) {
        for (uint32_t word = 0; word < words_of_level(notes->unit_count, level - 1); ++word) {
            const bool bit = (notes->levels[level][word / 64] >> (word % 64) & 1) != 0;
            if (bit != (notes->levels[level - 1][word] != 0)) {
                return "a bit does not say where words of bits are not 0";
            }
        }
    }
    return count_ring(notes, maar_touched_anchor(notes)) == touched &&
                   count_ring(notes, maar_untouched_anchor(notes)) == untouched
               ? NULL
               : "a run of touched units is in a wrong place of its ring";
}
