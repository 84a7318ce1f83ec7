/*
 * A process that is forked while a thread of its parent drives the ring of a store: it has no such
 * thread, and waits for none.
 */
#include "core/residency/store_state.h"
#include "maar/stores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/sample_bytes.h"
#include "tests/unit/residency/fake_ring.h"
#include "tests/unit/residency/fake_store.h"

enum { STORE_SIZE = 4 << 20, COPY = 700001 };

static struct fake_store fake;
static uint8_t source[COPY];
static uint8_t found[COPY];

/* A ring whose waits last until the other end of a pipe is closed. */
static struct fake_ring slow_ring;
static int waits[2]; /* has a byte for each wait that has begun */
static int released[2];

static void wait_for_release(void* data)
{
    char byte = 0;
    (void)data;
    assert_int_equal(write(waits[1], &byte, 1), 1);
    assert_int_equal(read(released[0], &byte, 1), 0);
}

/* A write that a thread waits for. */
struct driven_write {
    pthread_t thread;
    struct maar_store* store;
    struct maar_store_request* request;
    struct maar_extent extent;
    enum maar_store_outcome outcome;
};

static void* drive_to_the_end(void* data)
{
    struct driven_write* write = data;
    (void)maar_store_start(write->store, write->request);
    write->outcome = maar_store_wait(write->store, write->request, &write->extent);
    return NULL;
}

/* The exit code of a child that goes on with the store. */
static int go_on(struct driven_write* write, const struct maar_extent* extent)
{
    (void)alarm(20);
    slow_ring.is_foreign = true;
    const bool is_right =
        maar_store_wait(write->store, write->request, &write->extent) == MAAR_STORE_FAILED &&
        maar_store_read(write->store, extent, found) == MAAR_STORE_DONE &&
        memcmp(found, source, COPY) == 0;
    maar_store_destroy(write->store);
    return is_right ? 0 : 1;
}

static void children_wait_for_no_thread_of_their_parent(void** state)
{
    struct driven_write write = {.outcome = MAAR_STORE_PENDING};
    struct maar_extent extent;
    char byte = 0;
    int status = 1;
    (void)state;
    assert_true(pipe(waits) == 0 && pipe(released) == 0);
    fake_open(&fake, STORE_SIZE, 4096);
    slow_ring = (struct fake_ring){.file = fake.table, .random = 3, .before = wait_for_release};
    const struct maar_store_info info = {.file = &fake.table,
                                         .synchronized = true,
                                         .ring_calls = &fake_ring_calls,
                                         .ring_user = &slow_ring};
    assert_int_equal(maar_store_create(&info, &write.store), VK_SUCCESS);
    sample_fill(SAMPLE_RANDOM, 3, source, sizeof source);
    assert_int_equal(maar_store_write(write.store, 7, source, COPY, &extent), MAAR_STORE_DONE);
    assert_int_equal(maar_store_begin_write(write.store, 8, source, COPY, &write.request),
                     MAAR_STORE_PENDING);
    assert_int_equal(pthread_create(&write.thread, NULL, drive_to_the_end, &write), 0);
    assert_int_equal(read(waits[0], &byte, 1), 1);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(go_on(&write, &extent));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)close(released[1]);
    assert_int_equal(pthread_join(write.thread, NULL), 0);
    assert_int_equal(status, 0);
    assert_int_equal(write.outcome, MAAR_STORE_DONE);
    assert_int_equal(maar_store_read(write.store, &write.extent, found), MAAR_STORE_DONE);
    assert_memory_equal(found, source, COPY);
    (void)close(released[0]);
    (void)close(waits[0]);
    (void)close(waits[1]);
    assert_null(maar_store_check(write.store));
    maar_store_destroy(write.store);
    fake_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_wait_for_no_thread_of_their_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
