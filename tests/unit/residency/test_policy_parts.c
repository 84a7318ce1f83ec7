/*
 * The parts of the policy: the log's predictions, and the sample's choice of a rule.
 */
#include "tests/rig/rig.h"

#include "core/residency/policy_sample.h"
#include "core/residency/use_log.h"

enum { OBJECTS = 100 };

/* Forward and backward: each object comes again after two different times by turns. The log knows
 * which one is next, by the submission before. */
static void log_knows_which_repetition_this_is(void** state)
{
    (void)state;
    struct maar_use_log log = {.entries = NULL};
    uint64_t last[OBJECTS];
    uint64_t predicted[OBJECTS];
    uint32_t right = 0;
    assert_true(maar_use_log_reserve(&log, NULL, 16 * OBJECTS));
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        last[i] = MAAR_NEVER_USED;
        predicted[i] = 0;
    }
    for (uint32_t step = 0; step < 6 * OBJECTS; ++step) {
        const uint32_t place = step % (2 * OBJECTS);
        const uint32_t object = place < OBJECTS ? place : 2 * OBJECTS - 1 - place;
        right += step >= 4 * OBJECTS && last[object] + predicted[object] == log.now ? 1 : 0;
        maar_use_log_begin(&log, object);
        const uint64_t now = log.now;
        predicted[object] = maar_use_log_add(&log, object, last[object]);
        last[object] = now;
    }
    assert_true(right >= 2 * OBJECTS - 4); /* all but those at the turns */
    maar_use_log_close(&log, NULL);
}

/* A submission that has some other members is still recognised. */
static void log_finds_objects_that_have_moved(void** state)
{
    (void)state;
    struct maar_use_log log = {.entries = NULL};
    uint64_t last[OBJECTS];
    assert_true(maar_use_log_reserve(&log, NULL, 16 * OBJECTS));
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        last[i] = MAAR_NEVER_USED;
    }
    uint64_t gap = 0;
    for (uint32_t turn = 0; turn < 3; ++turn) {
        maar_use_log_begin(&log, 0);
        for (uint32_t i = 0; i < OBJECTS; ++i) {
            if (turn < 2 || (i != 7 && i != 8)) {
                const uint64_t now = log.now;
                gap = maar_use_log_add(&log, i, last[i]);
                last[i] = now;
            }
        }
        if (turn == 0) { /* what comes between is longer the first time */
            maar_use_log_begin(&log, 1);
            for (uint32_t i = 0; i < OBJECTS; ++i) {
                const uint64_t now = log.now;
                (void)maar_use_log_add(&log, i, last[i]);
                last[i] = now;
            }
        }
    }
    assert_int_equal(gap, OBJECTS - 2);
    maar_use_log_close(&log, NULL);
}

static void growing_keeps_the_log(void** state)
{
    (void)state;
    struct maar_use_log log = {.entries = NULL};
    assert_true(maar_use_log_reserve(&log, NULL, 1));
    for (uint32_t i = 0; i < 200; ++i) {
        maar_use_log_begin(&log, i % 50);
        (void)maar_use_log_add(&log, i % 50, i >= 50 ? i - 50 : MAAR_NEVER_USED);
    }
    assert_true(maar_use_log_reserve(&log, NULL, 4096));
    maar_use_log_begin(&log, 0);
    assert_int_equal(maar_use_log_add(&log, 0, 150), 50);
    for (uint32_t i = 151; i < 200; ++i) {
        assert_int_equal(log.entries[i].object, i % 50);
    }
    maar_use_log_close(&log, NULL);
}

/* Plays uses of 100 objects of which 50 fit, and returns the rule that is chosen. distance: after
 * so many uses each object is expected. */
static enum maar_policy_rule play(uint32_t (*object_of)(struct rig_random*, uint32_t),
                                  uint64_t distance)
{
    static struct maar_policy_sample sample;
    struct rig_random random = {.state = 7};
    memset(&sample, 0, sizeof sample);
    sample.capacity = OBJECTS / 2;
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        bool has_shrunk = false;
        assert_int_equal(maar_sample_add(&sample, i, 1, &has_shrunk), i);
        assert_false(has_shrunk);
    }
    for (uint32_t step = 0; step < 20000; ++step) {
        const uint32_t object = object_of(&random, step);
        maar_sample_mark(&sample, object, step + 1);
        maar_sample_use(&sample, object, step, step + distance);
    }
    return sample.best;
}

static uint32_t in_a_round(struct rig_random* random, uint32_t step)
{
    (void)random;
    return step % OBJECTS;
}

/* Sets of 30 objects, one after another for 1,000 uses. */
static uint32_t in_sets(struct rig_random* random, uint32_t step)
{
    return (step / 1000 * 30 + rig_below(random, 30)) % OBJECTS;
}

static void sample_finds_the_best_rule(void** state)
{
    (void)state;
    assert_int_equal(play(in_a_round, OBJECTS), MAAR_POLICY_REPLAY);
    /* Replay expects the newest one latest, or all at once: then it evicts the newest or the
     * oldest. */
    assert_int_equal(play(in_sets, 1000000), MAAR_POLICY_OLDEST);
    assert_int_equal(play(in_a_round, 1), MAAR_POLICY_NEWEST);
}

static void sample_stays_small(void** state)
{
    (void)state;
    static struct maar_policy_sample sample;
    memset(&sample, 0, sizeof sample);
    for (uint32_t i = 0; i < 100000; ++i) {
        bool has_shrunk = false;
        (void)maar_sample_add(&sample, i, 10, &has_shrunk);
        assert_true(sample.count <= MAAR_SAMPLE_SIZE);
    }
    assert_true(sample.count > MAAR_SAMPLE_SIZE / 4);
    assert_int_equal(sample.all_bytes, 1000000);
    assert_int_equal(sample.bytes, sample.count * 10);
    while (sample.count > 0) {
        (void)maar_sample_remove(&sample, 0, 10);
    }
    assert_int_equal(sample.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_knows_which_repetition_this_is),
        cmocka_unit_test(log_finds_objects_that_have_moved),
        cmocka_unit_test(growing_keeps_the_log),
        cmocka_unit_test(sample_finds_the_best_rule),
        cmocka_unit_test(sample_stays_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
