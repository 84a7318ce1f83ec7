/*
 * A thread of low priority sleeps in vkQueueBindSparse. Other threads that need the end of its
 * submission sleep too: they take no processor time, which that thread could need.
 */
#define _GNU_SOURCE
#include "tests/unit/reservation/reservation_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define MILLISECOND ((uint64_t)1000000)
#define PAGE (64 * KIB)

static struct {
    struct rig* rig;
    _Atomic int is_slow, in_driver;
    MaarReservation unbound; /* a page of it is being unbound */
    MaarReservation leaving; /* a page of it is being bound */
} scene;

/* What a thread does, and what that took. */
struct waiter {
    VkResult (*act)(void);
    VkResult result;
    uint64_t wall_ns;
    uint64_t processor_ns;
};

static void nap(uint64_t ns)
{
    const struct timespec time = {.tv_nsec = (long)ns};
    nanosleep(&time, NULL);
}

static uint64_t read_clock(clockid_t which)
{
    struct timespec time = {0};
    (void)clock_gettime(which, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_in_driver(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkQueueBindSparse") == 0 && atomic_exchange(&scene.is_slow, 0) != 0) {
        atomic_store(&scene.in_driver, 1);
        nap(400 * MILLISECOND);
    }
}

static VkResult submit(void)
{
    return maarSubmitBinds(scene.rig->allocator, 0, NULL, NULL);
}

static VkResult destroy(void)
{
    maarDestroyReservation(scene.rig->allocator, scene.leaving);
    return VK_SUCCESS;
}

static VkResult commit_again(void)
{
    return fixture_commit(scene.rig, scene.unbound, 0, PAGE);
}

static void* submit_slowly(void* result)
{
#if defined(SCHED_IDLE)
    const struct sched_param lowest = {.sched_priority = 0};
    (void)pthread_setschedparam(pthread_self(), SCHED_IDLE, &lowest);
#endif
    *(VkResult*)result = submit();
    return NULL;
}

static void* wait_for_the_submission(void* argument)
{
    struct waiter* waiter = argument;
    while (!atomic_load(&scene.in_driver)) {
        nap(MILLISECOND);
    }
    const uint64_t wall = read_clock(CLOCK_MONOTONIC);
    const uint64_t processor = read_clock(CLOCK_THREAD_CPUTIME_ID);
    waiter->result = waiter->act();
    waiter->processor_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - processor;
    waiter->wall_ns = read_clock(CLOCK_MONOTONIC) - wall;
    return NULL;
}

/* A submission is prepared that unbinds a page of one reservation and binds one of another. */
static void prepare_submission(void)
{
    scene.unbound = fixture_reserve(scene.rig, 4 * PAGE, 0);
    scene.leaving = fixture_reserve(scene.rig, 4 * PAGE, 0);
    assert_int_equal(fixture_commit(scene.rig, scene.unbound, 0, PAGE), VK_SUCCESS);
    (void)fixture_submit(scene.rig);
    assert_int_equal(fixture_decommit(scene.rig, scene.unbound, 0, PAGE), VK_SUCCESS);
    assert_int_equal(fixture_commit(scene.rig, scene.leaving, 0, PAGE), VK_SUCCESS);
    scene.rig->call = sleep_in_driver;
    atomic_store(&scene.is_slow, 1);
}

static void threads_that_need_a_submission_sleep_until_its_end(void** state)
{
    (void)state;
    struct waiter waiters[] = {{.act = submit}, {.act = destroy}, {.act = commit_again}};
    enum { WAITERS = sizeof waiters / sizeof waiters[0] };
    pthread_t submitter;
    pthread_t threads[WAITERS];
    VkResult result = VK_NOT_READY;
    memset(&scene, 0, sizeof scene);
    scene.rig = rig_new();
    fixture_open(scene.rig, FIXTURE_SPARSE, PAGE, NULL);
    prepare_submission();
    assert_int_equal(pthread_create(&submitter, NULL, submit_slowly, &result), 0);
    for (uint32_t i = 0; i < WAITERS; ++i) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_the_submission, &waiters[i]),
                         0);
    }
    (void)pthread_join(submitter, NULL);
    assert_int_equal(result, VK_SUCCESS);
    for (uint32_t i = 0; i < WAITERS; ++i) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(waiters[i].result, VK_SUCCESS);
        assert_true(waiters[i].wall_ns >= 100 * MILLISECOND);
        assert_true(waiters[i].processor_ns < 20 * MILLISECOND);
    }
    assert_int_equal(fixture_info(scene.rig, scene.unbound).committedSize, PAGE);
    (void)fixture_submit(scene.rig);
    maarDestroyReservation(scene.rig->allocator, scene.unbound);
    rig_close(scene.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(threads_that_need_a_submission_sleep_until_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
