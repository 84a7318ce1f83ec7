/*
 * Locks: a thread that is cancelled while it waits for one gets it all the same, and ends later.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/rig/rig.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "core/port_thread.h"

static struct maar_mutex mutex;

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cancelled_waiter_leaves_no_lock_behind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
