/*
 * Notes of touches, beside an array that has a number for each unit.
 */
#include "core/reservation/touch_notes.h"
#include "tests/rig/rig.h"

enum { MOST = 5000, STEPS = 6000 };

/* What is known of each unit. */
struct plain_note {
    uint64_t touch;
    bool whole;
};

static struct plain_note plain[MOST];

static struct maar_touch_notes* make_notes(uint32_t unit_count)
{
    struct maar_touch_notes* notes = calloc(1, maar_touch_notes_size(unit_count));
    assert_non_null(notes);
    maar_touch_notes_begin(notes, unit_count);
    assert_null(maar_touch_notes_check(notes));
    memset(plain, 0, sizeof plain);
    return notes;
}

static uint32_t oldest(const struct maar_touch_notes* notes)
{
    return notes->units[maar_touched_anchor(notes)].newer;
}

static uint32_t newest(const struct maar_touch_notes* notes)
{
    return notes->units[maar_touched_anchor(notes)].older;
}

static bool is_run(const struct maar_touch_notes* notes, uint32_t first, uint32_t count)
{
    return notes->units[first].length == count && notes->units[first].whole;
}

/* Each unit has the number of its run, and runs are found from all of their units. */
static void expect_plain(const struct maar_touch_notes* notes)
{
    assert_null(maar_touch_notes_check(notes));
    for (uint32_t first = 0; first < notes->unit_count; first += notes->units[first].length) {
        const struct maar_touch_note* note = &notes->units[first];
        for (uint32_t unit = first; unit < first + note->length; ++unit) {
            assert_int_equal(plain[unit].touch, note->touch);
            assert_int_equal(plain[unit].whole, note->whole);
            assert_int_equal(maar_touch_notes_find(notes, unit), first);
        }
    }
}

static void touch_some(struct maar_touch_notes* notes, uint32_t first, uint32_t count,
                       uint64_t touch)
{
    maar_touch_notes_touch(notes, first, count, touch, true);
    for (uint32_t unit = first; unit < first + count; ++unit) {
        plain[unit] = (struct plain_note){touch, true};
    }
}

static void lose_some(struct maar_touch_notes* notes, uint32_t first, uint32_t count, bool forgets)
{
    maar_touch_notes_lose(notes, first, count, forgets);
    for (uint32_t unit = first; unit < first + count; ++unit) {
        plain[unit].whole = false;
        plain[unit].touch = forgets ? 0 : plain[unit].touch;
    }
}

static void a_touch_of_several_runs_makes_one(void** state)
{
    (void)state;
    struct maar_touch_notes* notes = make_notes(100);
    touch_some(notes, 10, 10, 1);
    touch_some(notes, 30, 10, 2);
    expect_plain(notes);
    assert_int_equal(oldest(notes), 10);
    assert_int_equal(newest(notes), 30);
    assert_true(is_run(notes, 30, 10));
    assert_false(is_run(notes, 30, 9));
    assert_false(is_run(notes, 31, 9));
    touch_some(notes, 15, 20, 3);
    expect_plain(notes);
    assert_true(is_run(notes, 15, 20));
    assert_int_equal(newest(notes), 15);
    assert_int_equal(oldest(notes), 10);
    assert_int_equal(notes->units[10].newer, 35);
    /* Again and again the same ranges: no more runs than ranges and what lies between. */
    for (uint64_t touch = 4; touch < 40; ++touch) {
        maar_touch_notes_renew(notes, 15, touch);
        for (uint32_t unit = 15; unit < 35; ++unit) {
            plain[unit].touch = touch;
        }
        expect_plain(notes);
    }
    free(notes);
}

static void what_was_given_back_was_never_touched(void** state)
{
    (void)state;
    struct maar_touch_notes* notes = make_notes(64);
    touch_some(notes, 0, 64, 1);
    lose_some(notes, 10, 10, false);
    expect_plain(notes);
    assert_false(is_run(notes, 10, 10));
    lose_some(notes, 15, 49, true);
    expect_plain(notes);
    lose_some(notes, 0, 64, true);
    expect_plain(notes);
    assert_int_equal(oldest(notes), maar_touched_anchor(notes));
    assert_int_equal(newest(notes), maar_touched_anchor(notes));
    free(notes);
}

static void a_touch_leaves_priorities_as_they_are(void** state)
{
    (void)state;
    struct maar_touch_notes* notes = make_notes(64);
    maar_touch_notes_set(notes, 10, 10, 2, false);
    maar_touch_notes_set(notes, 15, 10, -1, true);
    touch_some(notes, 0, 40, 1);
    touch_some(notes, 5, 12, 2);
    touch_some(notes, 0, 64, 3);
    expect_plain(notes);
    for (uint32_t unit = 0; unit < 64; ++unit) {
        const struct maar_touch_note* note = &notes->units[maar_touch_notes_find(notes, unit)];
        const int8_t priority = (int8_t)(unit < 10 || unit >= 25 ? 0 : unit < 15 ? 2 : -1);
        assert_int_equal(note->priority, priority);
        assert_int_equal(note->stays, priority < 0);
    }
    /* As few runs as there are priorities side by side. */
    assert_true(is_run(notes, 0, 10) && is_run(notes, 10, 5) && is_run(notes, 15, 10));
    assert_true(is_run(notes, 25, 39));
    free(notes);
}

/* Random touches and losses, in notes of one level of bits and of several. */
static void notes_are_those_of_an_array(void** state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 63, 64, 65, 4097, MOST};
    struct rig_random random = {.state = rig_seed(11)};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const uint32_t units = sizes[i];
        struct maar_touch_notes* notes = make_notes(units);
        uint64_t touch = 0;
        for (uint32_t step = 0; step < STEPS; ++step) {
            const uint32_t first = rig_below(&random, units);
            uint32_t most = units - first;
            if (rig_below(&random, 3) != 0) {
                most = most < 8 ? most : 8;
            }
            const uint32_t count = 1 + rig_below(&random, most);
            if (rig_below(&random, 4) != 0) {
                touch += rig_below(&random, 2) + (touch == 0 ? 1 : 0);
                touch_some(notes, first, count, touch);
            } else {
                lose_some(notes, first, count, rig_below(&random, 2) == 0);
            }
            if (step % 50 == 0) {
                expect_plain(notes);
            }
        }
        expect_plain(notes);
        free(notes);
    }
}

static void a_run_is_found_over_all_levels(void** state)
{
    (void)state;
    const uint32_t units = MAAR_MOST_UNITS;
    struct maar_touch_notes* notes = calloc(1, maar_touch_notes_size(units));
    assert_non_null(notes);
    maar_touch_notes_begin(notes, units);
    assert_int_equal(maar_touch_notes_find(notes, units - 1), 0);
    for (uint32_t unit = 1; unit < units; unit *= 3) {
        maar_touch_notes_touch(notes, unit, 1, unit, true);
        assert_int_equal(maar_touch_notes_find(notes, unit), unit);
        assert_int_equal(maar_touch_notes_find(notes, units - 1), unit + 1);
        assert_int_equal(maar_touch_notes_find(notes, unit - 1), unit == 1 ? 0 : unit / 3 + 1);
    }
    maar_touch_notes_touch(notes, 0, units, units, true);
    assert_int_equal(maar_touch_notes_find(notes, units - 1), 0);
    free(notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(a_touch_of_several_runs_makes_one),
        rig_unit_test(what_was_given_back_was_never_touched),
        rig_unit_test(a_touch_leaves_priorities_as_they_are),
        rig_unit_test(notes_are_those_of_an_array),
        rig_unit_test(a_run_is_found_over_all_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
