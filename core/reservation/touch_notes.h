/*
 * Notes of touches: which units of a range were touched when. Integers alone; the owner says what a
 * unit is.
 *
 * The units form runs: each unit is in one, and all units of a run were last touched by the same
 * touch, and have one state and one priority. The note of a run is that of its first unit. Runs
 * that were touched are in a ring in the order of touches, and all others in a second ring. So a
 * touch of a run takes the same few steps, whatever its length. A touch of a part of a run splits
 * it, and a touch of several runs makes one of them: each touch makes at most two more runs than
 * there were.
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

/* The most units that notes may have: their bits have four levels then. */
#define MAAR_MOST_UNITS ((uint32_t)1 << 24)

enum { MAAR_NOTE_LEVELS = 4 };

/* The note of a run, in the place of its first unit. */
struct maar_touch_note {
    uint64_t touch;  /* number of the last touch; 0: never touched */
    uint32_t length; /* units; 0: no run begins here */
    uint32_t newer;  /* first unit of the run after this one in its ring, or the anchor */
    uint32_t older;
    bool whole;      /* every page of the run is known to have memory */
    int8_t priority; /* what the owner has set */
    bool stays;      /* the same */
};

struct maar_touch_notes {
    uint32_t unit_count;
    uint64_t* levels[MAAR_NOTE_LEVELS];
    /* After the units come the anchors of two rings: the runs that were touched, the oldest touch
     * first, and the others. */
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
/* Sets the priority of units. Nothing else reads it: it belongs to the owner. */
void maar_touch_notes_set(struct maar_touch_notes* notes, uint32_t first, uint32_t count,
                          int8_t priority, bool stays);
/* Returns the first broken invariant, or NULL. Walks over all units. */
const char* maar_touch_notes_check(const struct maar_touch_notes* notes);

/* Return the anchors. The oldest run follows its anchor, and the newest one comes before it. */
static inline uint32_t maar_touched_anchor(const struct maar_touch_notes* notes)
{
    return notes->unit_count;
}
static inline uint32_t maar_untouched_anchor(const struct maar_touch_notes* notes)
{
    return notes->unit_count + 1;
}

/* Takes a run out of its ring. */
static inline void maar_run_unlink(struct maar_touch_notes* notes, uint32_t first)
{
    const struct maar_touch_note* note = &notes->units[first];
    notes->units[note->older].newer = note->newer;
    notes->units[note->newer].older = note->older;
}

/* Adds a run at the newest end of a ring. */
static inline void maar_run_link(struct maar_touch_notes* notes, uint32_t anchor, uint32_t first)
{
    struct maar_touch_note* note = &notes->units[first];
    note->newer = anchor;
    note->older = notes->units[anchor].older;
    notes->units[note->older].newer = first;
    notes->units[anchor].older = first;
}

/* Notes the touch of a run that was touched before. */
static inline void maar_touch_notes_renew(struct maar_touch_notes* notes, uint32_t first,
                                          uint64_t touch)
{
    maar_run_unlink(notes, first);
    maar_run_link(notes, maar_touched_anchor(notes), first);
    notes->units[first].touch = touch;
}

#endif
