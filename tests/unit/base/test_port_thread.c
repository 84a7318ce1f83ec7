/*
 * Locks: a thread that is cancelled while it waits for one gets it all the same, and ends later.
 * Conditions: a thread sleeps in one until it is woken or its time has passed, and costs no
 * processor time meanwhile.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/rig/rig.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "core/port_thread.h"
#include "core/port_time.h"

#define MILLISECOND ((uint64_t)1000000)

static struct maar_mutex mutex;
static struct maar_condition condition;
static bool is_ready;
static uint32_t seen_count;

static void* wait_for_it(void* unused)
{
    (void)unused;
    maar_mutex_lock(&mutex);
    maar_mutex_unlock(&mutex);
    return NULL;
}

static void a_cancelled_waiter_leaves_no_lock_behind(void** state)
{
    (void)state;
    pthread_t thread;
    void* end = NULL;
    assert_true(maar_mutex_init(&mutex, MAAR_LOCK_ARENA, true));
    maar_mutex_lock(&mutex);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_it, NULL), 0);
    const struct timespec time = {.tv_nsec = 100000000};
    nanosleep(&time, NULL);
    (void)pthread_cancel(thread);
    nanosleep(&time, NULL);
    alarm(5); /* hangs here: SIGALRM */
    maar_mutex_unlock(&mutex);
    alarm(0);
    (void)pthread_join(thread, &end);
    assert_ptr_not_equal(end, PTHREAD_CANCELED);
}

static uint64_t own_processor_ns(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the processor time that the wait took. */
static void* wait_until_ready(void* processor_ns)
{
    const uint64_t before = own_processor_ns();
    maar_mutex_lock(&mutex);
    while (!is_ready) {
        maar_condition_wait(&condition, &mutex);
    }
    ++seen_count;
    maar_mutex_unlock(&mutex);
    *(uint64_t*)processor_ns = own_processor_ns() - before;
    return NULL;
}

static void one_wake_up_reaches_all_sleepers_that_cost_nothing(void** state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    uint64_t processor_ns[THREADS] = {0};
    (void)state;
    assert_true(maar_mutex_init(&mutex, MAAR_LOCK_ARENA, true));
    assert_true(maar_condition_init(&condition));
    is_ready = false;
    seen_count = 0;
    for (uint32_t i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_until_ready, &processor_ns[i]), 0);
    }
    const struct timespec time = {.tv_nsec = 300000000};
    nanosleep(&time, NULL);
    alarm(5); /* a thread that nobody woke hangs here: SIGALRM */
    maar_mutex_lock(&mutex);
    is_ready = true;
    maar_mutex_unlock(&mutex);
    maar_condition_wake(&condition);
    for (uint32_t i = 0; i < THREADS; ++i) {
        (void)pthread_join(threads[i], NULL);
        assert_true(processor_ns[i] < 50 * MILLISECOND);
    }
    alarm(0);
    assert_int_equal(seen_count, THREADS);
    maar_condition_destroy(&condition);
    maar_mutex_destroy(&mutex);
}

static void a_timed_wait_ends_with_its_time(void** state)
{
    (void)state;
    assert_true(maar_mutex_init(&mutex, MAAR_LOCK_ARENA, true));
    assert_true(maar_condition_init(&condition));
    const uint64_t before = maar_now_ns();
    maar_mutex_lock(&mutex);
    while (maar_condition_wait_for(&condition, &mutex, 20 * MILLISECOND)) {
    }
    maar_mutex_unlock(&mutex);
    assert_true(maar_now_ns() - before >= 20 * MILLISECOND);
    maar_condition_destroy(&condition);
    maar_mutex_destroy(&mutex);
}

/* Two threads take turns: a lost wake-up would hang them. */
enum { TURNS = 20000 };
static uint32_t turn_of;

static void* take_turns(void* number)
{
    const uint32_t own = *(const uint32_t*)number;
    for (uint32_t i = 0; i < TURNS; ++i) {
        maar_mutex_lock(&mutex);
        while (turn_of != own) {
            maar_condition_wait(&condition, &mutex);
        }
        turn_of = 1 - own;
        maar_mutex_unlock(&mutex);
        maar_condition_wake(&condition);
    }
    return NULL;
}

static void no_wake_up_is_lost(void** state)
{
    static uint32_t numbers[2] = {0, 1};
    pthread_t thread;
    (void)state;
    assert_true(maar_mutex_init(&mutex, MAAR_LOCK_ARENA, true));
    assert_true(maar_condition_init(&condition));
    turn_of = 0;
    alarm(60);
    assert_int_equal(pthread_create(&thread, NULL, take_turns, &numbers[1]), 0);
    (void)take_turns(&numbers[0]);
    (void)pthread_join(thread, NULL);
    alarm(0);
    maar_condition_destroy(&condition);
    maar_mutex_destroy(&mutex);
}

static void a_mutex_that_is_switched_off_never_sleeps(void** state)
{
    (void)state;
    assert_true(maar_mutex_init(&mutex, MAAR_LOCK_ARENA, false));
    assert_true(maar_condition_init(&condition));
    alarm(5);
    maar_condition_wait(&condition, &mutex);
    alarm(0);
    maar_condition_destroy(&condition);
    maar_mutex_destroy(&mutex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_waiter_leaves_no_lock_behind),
        cmocka_unit_test(one_wake_up_reaches_all_sleepers_that_cost_nothing),
        cmocka_unit_test(a_timed_wait_ends_with_its_time),
        cmocka_unit_test(no_wake_up_is_lost),
        cmocka_unit_test(a_mutex_that_is_switched_off_never_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
