/*
 * Reservations whose pages were taken over by others, before a submission has unbound them: such a
 * reservation ends after the next submission, or with the allocator or its pool if there is none.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/unit/reservation/reservation_fixture.h"

#include <pthread.h>
#include <sched.h>

#include "core/port_time.h"

#define HALF (8 * MIB)

static struct rig* rig;
static MaarPool pool; /* the reservations' memory; may be null */

/* The heap has room for two halves. */
static void open_rig(bool with_pool)
{
    static const VkDeviceSize limits[3] = {2 * HALF, 0, 0};
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
    };
    const MaarPoolCreateInfo info = {.pNext = &paging};
    pool = with_pool ? rig_create_pool(rig, &info) : VK_NULL_HANDLE;
}

static MaarReservation reserve(void)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(2 * HALF);
    MaarAllocationCreateInfo memory = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    memory.memoryTypeBits = 1;
    memory.pool = pool;
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &memory,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    return reservation;
}

static void commit(MaarReservation reservation, VkDeviceSize size)
{
    assert_int_equal(fixture_commit(rig, reservation, 0, size), VK_SUCCESS);
}

/* One reservation takes over what another one has given back. Both end, and nothing is submitted.
 */
static void take_over_and_end(void)
{
    const MaarReservation first = reserve();
    const MaarReservation second = reserve();
    commit(first, 2 * HALF);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, first, 0, 2 * HALF), VK_SUCCESS);
    commit(second, 2 * HALF);
    maarDestroyReservation(rig->allocator, first);
    maarDestroyReservation(rig->allocator, second);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED, "reservation");
}

static void end_waits_for_a_submission_of_the_program(void** state)
{
    (void)state;
    open_rig(false);
    take_over_and_end();
    const uint64_t deadline = maar_deadline_ns(1000000000);
    assert_int_equal(maarWaitPending(rig->allocator, 2000000000), VK_NOT_READY);
    assert_true(maar_time_left_ns(deadline) > 0);
    (void)fixture_submit(rig);
    assert_int_equal(maarWaitPending(rig->allocator, 2000000000), VK_SUCCESS);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).blockCount, 0);
}

/* A free that a driver call can wait for is waited for all the same. */
static void wait_passes_over_what_is_up_to_the_program(void** state)
{
    (void)state;
    open_rig(false);
    take_over_and_end();
    const VkSemaphore work = rig_create_timeline(rig, 0);
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = work, .value = 1};
    const MaarPoint point = {work, 1};
    const MaarAllocation memory = rig_allocate(rig, 4096, NULL);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, memory, 1, &point), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, 20000000), VK_TIMEOUT);
    assert_int_equal(vkSignalSemaphore(rig->device, &signal), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, 2000000000), VK_NOT_READY);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingBytes, 0);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    vkDestroySemaphore(rig->device, work, NULL);
}

static void allocator_ends_without_the_submission(void** state)
{
    (void)state;
    open_rig(false);
    take_over_and_end();
    const uint64_t deadline = maar_deadline_ns(4000000000);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_true(maar_time_left_ns(deadline) > 0);
    rig_expect_silence(rig);
}

static void pool_ends_without_the_submission(void** state)
{
    (void)state;
    open_rig(true);
    take_over_and_end();
    const uint64_t deadline = maar_deadline_ns(4000000000);
    maarDestroyPool(rig->allocator, pool);
    assert_true(maar_time_left_ns(deadline) > 0);
    rig_expect_silence(rig);
    assert_int_equal(fixture_statistics(rig).blockCount, 0);
}

/* Two halves that others take over: one before a submission that fails, one in the midst of it. */
static struct {
    MaarReservation from[2];
    MaarReservation to[2];
    pthread_t thread;
    VkResult result;
    bool armed;
} halves;

static void* destroy_second(void* data)
{
    (void)data;
    maarDestroyReservation(rig->allocator, halves.from[1]);
    return NULL;
}

/* Starts a thread in the midst of a submission, and lets it run for a while. */
static void start_beside(const char* function, void* (*run)(void*))
{
    if (!halves.armed || strcmp(function, "vkQueueBindSparse") != 0) {
        return;
    }
    halves.armed = false;
    assert_int_equal(pthread_create(&halves.thread, NULL, run, NULL), 0);
    const uint64_t deadline = maar_deadline_ns(30000000);
    while (maar_time_left_ns(deadline) > 0) {
        (void)sched_yield();
    }
}

static void on_call(void* data, const char* function)
{
    (void)data;
    if (halves.armed && strcmp(function, "vkQueueBindSparse") == 0) {
        assert_int_equal(fixture_decommit(rig, halves.from[1], 0, HALF), VK_SUCCESS);
        commit(halves.to[1], HALF);
    }
    start_beside(function, destroy_second);
}

static void* commit_to_first(void* data)
{
    (void)data;
    halves.result = fixture_commit(rig, halves.to[0], 0, HALF);
    return NULL;
}

static void commit_beside(void* data, const char* function)
{
    (void)data;
    start_beside(function, commit_to_first);
}

static void end_beside_a_submission_that_fails_waits_for_the_next(void** state)
{
    (void)state;
    open_rig(false);
    rig->call = on_call;
    for (uint32_t i = 0; i < 2; ++i) {
        halves.from[i] = reserve();
        halves.to[i] = reserve();
        commit(halves.from[i], HALF);
    }
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, halves.from[0], 0, HALF), VK_SUCCESS);
    commit(halves.to[0], HALF);
    halves.armed = true;
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(pthread_join(halves.thread, NULL), 0);
    rig_clear_faults(rig);
    (void)fixture_submit(rig);
    assert_int_equal(maarWaitPending(rig->allocator, 2000000000), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, halves.from[0]);
    maarDestroyReservation(rig->allocator, halves.to[0]);
    maarDestroyReservation(rig->allocator, halves.to[1]);
    assert_int_equal(maarWaitPending(rig->allocator, 2000000000), VK_SUCCESS);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).blockCount, 0);
    rig->call = NULL;
}

/* The submission under way frees the pages that the commit needs. */
static void commit_beside_a_submission_waits_for_its_pages(void** state)
{
    (void)state;
    open_rig(false);
    rig->call = commit_beside;
    halves.from[0] = reserve();
    halves.to[0] = reserve();
    commit(halves.from[0], 2 * HALF);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, halves.from[0], 0, HALF), VK_SUCCESS);
    halves.armed = true;
    halves.result = VK_ERROR_UNKNOWN;
    (void)fixture_submit(rig);
    assert_int_equal(pthread_join(halves.thread, NULL), 0);
    assert_int_equal(halves.result, VK_SUCCESS);
    rig_expect_silence(rig);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, halves.from[0]);
    maarDestroyReservation(rig->allocator, halves.to[0]);
    rig->call = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(end_waits_for_a_submission_of_the_program),
        rig_unit_test(wait_passes_over_what_is_up_to_the_program),
        rig_unit_test(allocator_ends_without_the_submission),
        rig_unit_test(pool_ends_without_the_submission),
        rig_unit_test(end_beside_a_submission_that_fails_waits_for_the_next),
        rig_unit_test(commit_beside_a_submission_waits_for_its_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
