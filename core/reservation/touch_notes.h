/*
 * Notes of touches: which units of a range were touched when. Integers alone; the owner says what a
 * unit is.
 *
 * The units form runs: each unit is in one, and all units of a run were last touched by the same
 * touch, and have one state. The note of a run is that of its first unit. Runs that were touched
 * are in a list in the order of touches, and all others in a second list. So a touch of a run takes
 * the same few steps whatever its length. A touch of a part of a run splits it, and a touch of
 * several runs makes one of them: each touch makes at most two more runs than there were.
 *
 * A bit for each unit says whether a run begins there. Words of bits have a bit in a level above
 * unless they are 0, so that the run of any unit is found in a few steps.
 *
 * The caller synchronizes all calls on the same notes.
 */
#ifndef MAAR_CORE_RESERVATION_TOUCH_NOTES_H
#define MAAR_CORE_RESERVATION_TOUCH_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No unit. */
#define MAAR_UNIT_NONE UINT32_MAX
/* The most units that notes may have: their bits have four levels then. */
#define MAAR_MOST_UNITS ((uint32_t)1 << 24)

enum { MAAR_NOTE_LEVELS = 4 };

/* The note of a run, in the place of its first unit. */
struct maar_touch_note {
    uint64_t touch;  /* number of the last touch; 0: never touched */
    uint32_t length; /* units; 0: no run begins here */
    uint32_t newer;  /* first unit of the run after this one in its list */
    uint32_t older;
    bool whole; /* every page of the run is known to have memory */
};

/* A list of runs, by their first units. */
struct maar_run_list {
    uint32_t oldest;
    uint32_t newest;
};

struct maar_touch_notes {
    uint32_t unit_count;
    struct maar_run_list touched; /* the oldest touch first */
    struct maar_run_list untouched;
    uint64_t* levels[MAAR_NOTE_LEVELS];
    struct maar_touch_note units[];
};

/* Returns the bytes of notes for so many units, at least 1 and at most MAAR_MOST_UNITS. */
size_t maar_touch_notes_size(uint32_t unit_count);
/* Begins notes in memory that is zero: one run, which was never touched. */
void maar_touch_notes_begin(struct maar_touch_notes* notes, uint32_t unit_count);
/* Returns the first unit of the run that has a unit. */
uint32_t maar_touch_notes_find(const struct maar_touch_notes* notes, uint32_t unit);
/* Notes the touch of a run. whole: of units whose pages all have memory. The number is at least
 * that of any touch before. */
void maar_touch_notes_touch(struct maar_touch_notes* notes, uint32_t first, uint32_t count,
                            uint64_t touch, bool whole);
/* Notes that pages of units were given back. forgets: all of them, so that the units count as never
 * touched. */
void maar_touch_notes_lose(struct maar_touch_notes* notes, uint32_t first, uint32_t count,
                           bool forgets);
/* Returns the first broken invariant, or NULL. Walks over all units. */
const char* maar_touch_notes_check(const struct maar_touch_notes* notes);

/* Takes a run off its list. */
static inline void maar_run_unlink(struct maar_touch_notes* notes, uint32_t first)
{
    const struct maar_touch_note* note = &notes->units[first];
    struct maar_run_list* list = note->touch != 0 ? &notes->touched : &notes->untouched;
    if (note->older != MAAR_UNIT_NONE) {
        notes->units[note->older].newer = note->newer;
    } else {
        list->oldest = note->newer;
    }
    if (note->newer != MAAR_UNIT_NONE) {
        notes->units[note->newer].older = note->older;
    } else {
        list->newest = note->older;
    }
}

/* Adds a run at the newest end of its list. */
static inline void maar_run_link(struct maar_touch_notes* notes, uint32_t first)
{
    struct maar_touch_note* note = &notes->units[first];
    struct maar_run_list* list = note->touch != 0 ? &notes->touched : &notes->untouched;
    note->newer = MAAR_UNIT_NONE;
    note->older = list->newest;
    if (note->older != MAAR_UNIT_NONE) {
        notes->units[note->older].newer = first;
    } else {
        list->oldest = first;
    }
    list->newest = first;
}

/* Whether these units are one run that is whole. */
static inline bool maar_touch_notes_is_run(const struct maar_touch_notes* notes, uint32_t first,
                                           uint32_t count)
{
    return notes->units[first].length == count && notes->units[first].whole;
}

/* Notes the touch of a whole run. */
static inline void maar_touch_notes_renew(struct maar_touch_notes* notes, uint32_t first,
                                          uint64_t touch)
{
    if (notes->touched.newest != first) {
        maar_run_unlink(notes, first);
        notes->units[first].touch = touch;
        maar_run_link(notes, first);
    }
    notes->units[first].touch = touch;
}

#endif
