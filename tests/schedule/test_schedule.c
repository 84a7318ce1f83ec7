/*
 * The search for schedules itself: it counts those of programs whose number is known, and finds
 * planted deadlocks, lost wake-ups, lost updates and spins.
 */
#include "tests/schedule/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/port_thread.h"

static struct schedule_result explore(struct schedule_program program)
{
    program.is_bounded = true;
    return schedule_explore(&program);
}

static void three_points(void)
{
    for (uint32_t i = 0; i < 3; ++i) {
        schedule_point("step");
    }
}

/* Two tasks of four steps each have 8! / (4! 4!) orders. */
static void all_orders_are_tried(void** state)
{
    (void)state;
    const struct schedule_program two = {
        .name = "two", .task_count = 2, .preemptions = 100, .tasks = {three_points, three_points}};
    struct schedule_result result = explore(two);
    assert_int_equal(result.end, SCHEDULE_DONE);
    assert_int_equal(result.schedule_count, 70);
    assert_int_equal(result.most_points, 6);
    struct schedule_program bounded = two;
    bounded.preemptions = 0;
    assert_int_equal(explore(bounded).schedule_count, 2);
    /* One preemption: after each of the three points of the first task, in both orders. */
    bounded.preemptions = 1;
    assert_int_equal(explore(bounded).schedule_count, 8);
    const struct schedule_program three = {.name = "three",
                                           .task_count = 3,
                                           .preemptions = 100,
                                           .tasks = {three_points, three_points, three_points}};
    assert_int_equal(explore(three).schedule_count, 34650); /* 12! / (4! 4! 4!) */
}

/* ---- locks ---- */

static struct maar_mutex inner;
static struct maar_mutex outer;
static struct schedule_lock first = {.number = 0};
static struct schedule_lock second = {.number = 1};
static struct maar_condition condition;
static bool is_ready;
static uint32_t counter;
static uint32_t lost_count;

static void begin_locks(void)
{
    assert_true(maar_mutex_init(&inner, MAAR_LOCK_STORE, true));
    assert_true(maar_mutex_init(&outer, MAAR_LOCK_RESIDENCY, true));
    assert_true(maar_condition_init(&condition));
    first.is_held = false;
    second.is_held = false;
    is_ready = false;
    counter = 0;
}

static void take_both(void)
{
    schedule_lock_take(&first);
    schedule_lock_take(&second);
    schedule_lock_release(&second);
    schedule_lock_release(&first);
}

static void take_both_the_other_way(void)
{
    schedule_lock_take(&second);
    schedule_lock_take(&first);
    schedule_lock_release(&first);
    schedule_lock_release(&second);
}

static void a_deadlock_is_found(void** state)
{
    (void)state;
    struct schedule_program program = {.name = "two locks in two orders",
                                       .task_count = 2,
                                       .preemptions = 1,
                                       .begin = begin_locks,
                                       .tasks = {take_both, take_both_the_other_way},
                                       .is_wrong = true};
    assert_int_equal(explore(program).end, SCHEDULE_DEADLOCK);
    program.preemptions = 0;
    assert_int_equal(explore(program).end, SCHEDULE_DONE);
    program.preemptions = 100;
    program.tasks[1] = take_both;
    program.is_wrong = false;
    assert_int_equal(explore(program).end, SCHEDULE_DONE);
}

static void wait_until_ready(void)
{
    maar_mutex_lock(&inner);
    while (!is_ready) {
        maar_condition_wait(&condition, &inner);
    }
    maar_mutex_unlock(&inner);
}

static void make_ready(void)
{
    maar_mutex_lock(&inner);
    is_ready = true;
    maar_condition_wake(&condition);
    maar_mutex_unlock(&inner);
}

/* Looks, and sleeps later without a second look. */
static void wait_carelessly(void)
{
    maar_mutex_lock(&inner);
    const bool was_ready = is_ready;
    maar_mutex_unlock(&inner);
    maar_mutex_lock(&inner);
    if (!was_ready) {
        maar_condition_wait(&condition, &inner);
    }
    maar_mutex_unlock(&inner);
}

static void make_ready_and_wake_nobody(void)
{
    maar_mutex_lock(&inner);
    is_ready = true;
    maar_mutex_unlock(&inner);
}

static void a_lost_wake_up_is_found(void** state)
{
    (void)state;
    struct schedule_program program = {.name = "wake",
                                       .task_count = 3,
                                       .preemptions = 100,
                                       .begin = begin_locks,
                                       .tasks = {wait_until_ready, make_ready, wait_until_ready}};
    assert_int_equal(explore(program).end, SCHEDULE_DONE);
    program.is_wrong = true;
    program.name = "wake, carelessly";
    program.tasks[0] = wait_carelessly;
    assert_int_equal(explore(program).end, SCHEDULE_DEADLOCK);
    program.name = "nobody wakes";
    program.tasks[0] = wait_until_ready;
    program.tasks[1] = make_ready_and_wake_nobody;
    assert_int_equal(explore(program).end, SCHEDULE_DEADLOCK);
}

/* ---- updates ---- */

static void add_one(void)
{
    maar_mutex_lock(&inner);
    const uint32_t before = counter;
    maar_mutex_unlock(&inner);
    maar_mutex_lock(&inner);
    counter = before + 1;
    maar_mutex_unlock(&inner);
}

/* A lock around the locks: they are no ends of steps. */
static void add_one_alone(void)
{
    schedule_lock_take(&first);
    add_one();
    schedule_lock_release(&first);
}

static void count_lost(void)
{
    lost_count += counter < 2 ? 1 : 0;
}

static void a_lost_update_is_found(void** state)
{
    (void)state;
    struct schedule_program program = {.name = "two updates",
                                       .task_count = 2,
                                       .preemptions = 100,
                                       .begin = begin_locks,
                                       .tasks = {add_one, add_one},
                                       .end = count_lost};
    lost_count = 0;
    const struct schedule_result apart = explore(program);
    assert_true(lost_count > 0 && lost_count < apart.schedule_count);
    lost_count = 0;
    program.tasks[0] = add_one_alone;
    program.tasks[1] = add_one_alone;
    const struct schedule_result together = explore(program);
    assert_int_equal(lost_count, 0);
    assert_true(together.schedule_count < apart.schedule_count);
}

/* ---- time ---- */

static void wait_with_a_limit(void)
{
    maar_mutex_lock(&inner);
    while (!is_ready && maar_condition_wait_for(&condition, &inner, 1000)) {
    }
    counter += is_ready ? 0 : 1;
    maar_mutex_unlock(&inner);
}

static void spin(void)
{
    while (!is_ready) {
        schedule_point("look");
    }
}

static void do_nothing(void)
{
}

static void count_late(void)
{
    lost_count += counter;
}

static void limits_pass_when_nobody_can_go_on(void** state)
{
    (void)state;
    struct schedule_program program = {.name = "a limit",
                                       .task_count = 2,
                                       .preemptions = 100,
                                       .begin = begin_locks,
                                       .tasks = {wait_with_a_limit, make_ready},
                                       .end = count_late};
    lost_count = 0;
    assert_int_equal(explore(program).end, SCHEDULE_DONE);
    assert_int_equal(lost_count, 0);
    program.tasks[1] = do_nothing;
    assert_int_equal(explore(program).end, SCHEDULE_DONE);
    assert_true(lost_count > 0);
}

static void a_spin_is_found(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "a spin",
                                             .task_count = 2,
                                             .preemptions = 1,
                                             .begin = begin_locks,
                                             .tasks = {spin, make_ready},
                                             .is_wrong = true};
    assert_int_equal(explore(program).end, SCHEDULE_ENDLESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_orders_are_tried),
        cmocka_unit_test(a_deadlock_is_found),
        cmocka_unit_test(a_lost_wake_up_is_found),
        cmocka_unit_test(a_lost_update_is_found),
        cmocka_unit_test(limits_pass_when_nobody_can_go_on),
        cmocka_unit_test(a_spin_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
