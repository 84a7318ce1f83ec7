/*
 * The two rules of a shared timeline: values rise, and binary semaphores take turns; a step
 * that failed leaves everything as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interop/peer/handoff_side.h"

static const char* fault;

static struct maar_handoff_side side;
static struct maar_handoff_side back;

static void start(bool alternates, uint64_t value)
{
    fault = NULL;
    maar_sides_start(&side, &back, alternates, value);
}

static void signal_now(struct maar_handoff_side* which, uint64_t value)
{
    struct maar_side_step step;
    assert_int_equal(maar_side_begin_signal(which, value, &step, &fault), VK_SUCCESS);
    maar_side_end_signal(which, &step, true);
}

static void wait_now(struct maar_handoff_side* which, uint64_t value)
{
    assert_int_equal(maar_side_begin_wait(which, value, &fault), VK_SUCCESS);
    maar_side_end_wait(which, true);
}

static void timeline_values_rise(void** state)
{
    struct maar_side_step step;
    (void)state;
    start(false, 5);
    assert_int_equal(maar_side_begin_signal(&side, 5, &step, &fault),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_non_null(fault);
    signal_now(&side, 6);
    signal_now(&side, 9); /* nobody waited */
    assert_int_equal(maar_side_begin_signal(&side, 7, &step, &fault),
                     VK_ERROR_VALIDATION_FAILED_EXT);
}

static void timeline_wait_needs_no_signal(void** state)
{
    (void)state;
    start(false, 0);
    wait_now(&side, 3);
    wait_now(&side, 3);
    wait_now(&side, 1);
    signal_now(&side, 1);
}

static void timeline_signal_that_failed_may_be_tried_again(void** state)
{
    struct maar_side_step first;
    struct maar_side_step second;
    (void)state;
    start(false, 0);
    assert_int_equal(maar_side_begin_signal(&side, 4, &first, &fault), VK_SUCCESS);
    maar_side_end_signal(&side, &first, false);
    signal_now(&side, 4);
    /* Of two at the same time the first fails: the second's value stands. */
    assert_int_equal(maar_side_begin_signal(&side, 5, &first, &fault), VK_SUCCESS);
    assert_int_equal(maar_side_begin_signal(&side, 6, &second, &fault), VK_SUCCESS);
    maar_side_end_signal(&side, &first, false);
    maar_side_end_signal(&side, &second, true);
    assert_int_equal(maar_side_begin_signal(&side, 6, &first, &fault),
                     VK_ERROR_VALIDATION_FAILED_EXT);
}

static void binary_sides_take_turns(void** state)
{
    struct maar_side_step step;
    (void)state;
    start(true, 0);
    for (uint64_t value = 1; value <= 100; ++value) {
        struct maar_handoff_side* mine = value % 2 == 1 ? &side : &back;
        struct maar_handoff_side* yours = mine->opposite;
        assert_int_equal(maar_side_begin_wait(mine, value, &fault), VK_NOT_READY);
        signal_now(mine, value);
        assert_int_equal(maar_side_begin_signal(mine, value + 2, &step, &fault), VK_NOT_READY);
        assert_int_equal(maar_side_begin_signal(yours, value + 1, &step, &fault), VK_NOT_READY);
        wait_now(mine, value);
        /* Nothing has come back yet that would order a second signal after that wait. */
        assert_int_equal(maar_side_begin_signal(mine, value + 2, &step, &fault), VK_NOT_READY);
    }
    assert_null(fault);
}

static void binary_sides_may_both_begin_but_one_alone(void** state)
{
    struct maar_side_step step;
    struct maar_side_step other;
    (void)state;
    start(true, 0);
    assert_int_equal(maar_side_begin_signal(&back, 1, &step, &fault), VK_SUCCESS);
    assert_int_equal(maar_side_begin_signal(&side, 1, &other, &fault), VK_NOT_READY);
    maar_side_end_signal(&back, &step, false);
    signal_now(&side, 1);
    assert_int_equal(maar_side_begin_signal(&back, 2, &step, &fault), VK_NOT_READY);
}

static void binary_wait_twice_is_misuse(void** state)
{
    (void)state;
    start(true, 2);
    assert_int_equal(maar_side_begin_wait(&side, 2, &fault), VK_ERROR_VALIDATION_FAILED_EXT);
    signal_now(&side, 3);
    fault = NULL;
    assert_int_equal(maar_side_begin_wait(&side, 2, &fault), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_non_null(fault);
    wait_now(&side, 3);
    assert_int_equal(maar_side_begin_wait(&side, 3, &fault), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maar_side_begin_wait(&side, 4, &fault), VK_NOT_READY);
}

static void binary_values_may_skip(void** state)
{
    (void)state;
    start(true, 0);
    signal_now(&side, 10);
    assert_int_equal(maar_side_begin_wait(&side, 11, &fault), VK_NOT_READY);
    wait_now(&side, 10);
    signal_now(&back, 4);
    wait_now(&back, 4);
    signal_now(&side, 11);
}

static void binary_step_that_failed_leaves_nothing(void** state)
{
    struct maar_side_step step;
    (void)state;
    start(true, 0);
    assert_int_equal(maar_side_begin_signal(&side, 1, &step, &fault), VK_SUCCESS);
    assert_int_equal(maar_side_begin_wait(&side, 1, &fault), VK_NOT_READY); /* under way */
    maar_side_end_signal(&side, &step, false);
    assert_int_equal(maar_side_begin_wait(&side, 1, &fault), VK_NOT_READY);
    signal_now(&side, 1);
    assert_int_equal(maar_side_begin_wait(&side, 1, &fault), VK_SUCCESS);
    assert_int_equal(maar_side_begin_wait(&side, 1, &fault), VK_NOT_READY); /* under way */
    maar_side_end_wait(&side, false);
    wait_now(&side, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeline_values_rise),
        cmocka_unit_test(timeline_wait_needs_no_signal),
        cmocka_unit_test(timeline_signal_that_failed_may_be_tried_again),
        cmocka_unit_test(binary_sides_take_turns),
        cmocka_unit_test(binary_sides_may_both_begin_but_one_alone),
        cmocka_unit_test(binary_wait_twice_is_misuse),
        cmocka_unit_test(binary_values_may_skip),
        cmocka_unit_test(binary_step_that_failed_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
