/*
 * Four threads on one allocator, each with a reservation of its own that grows by copies, of which
 * any thread's submission may carry out those of all; some submissions fail. In the end every
 * buffer is gone. ThreadSanitizer sees the rest.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

enum { WORKERS = 4, ROUNDS = 4000 };

struct copying_worker {
    pthread_t thread;
    struct rig* rig;
    struct rig_random random;
    uint32_t errors;
    uint32_t failures;
};

static MaarReservation reserve_copying(struct copying_worker* worker)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(256 * MIB);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_COPYING_BIT,
        .pBufferInfo = &buffer,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    worker->errors +=
        maarCreateReservation(worker->rig->allocator, &info, &reservation) != VK_SUCCESS;
    return reservation;
}

static void grow_a_little(struct copying_worker* worker, MaarReservation reservation)
{
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    MaarAllocator allocator = worker->rig->allocator;
    worker->errors += maarGetReservationInfo(allocator, reservation, &info) != VK_SUCCESS;
    if (info.committedSize < info.size) {
        const MaarPageRange range = {info.committedSize, 1};
        worker->errors += maarCommitPages(allocator, reservation, 1, &range) != VK_SUCCESS;
    }
}

static void* run_copying(void* user_data)
{
    struct copying_worker* worker = user_data;
    MaarAllocator allocator = worker->rig->allocator;
    MaarReservation reservation = reserve_copying(worker);
    for (uint32_t round = 0; round < ROUNDS && reservation != VK_NULL_HANDLE; ++round) {
        const uint32_t what = rig_below(&worker->random, 100);
        if (what < 60) {
            grow_a_little(worker, reservation);
        } else if (what < 85) {
            const VkResult result = maarSubmitBinds(allocator, 0, NULL, NULL);
            worker->failures += result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
            worker->errors += result != VK_SUCCESS && result != VK_ERROR_OUT_OF_DEVICE_MEMORY;
        } else if (what < 88) {
            (void)maarCollect(allocator, NULL);
        } else if (what < 90) {
            rig_set_fault(worker->rig, "vkQueueSubmit", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        } else {
            maarDestroyReservation(allocator, reservation);
            reservation = reserve_copying(worker);
        }
    }
    maarDestroyReservation(allocator, reservation);
    return NULL;
}

static void copies_of_many_threads_end(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const struct rig_setup setup = {.paging = true, .count_host = true};
    rig_open(rig, &setup);
    rig_make_allocator(rig);
    struct copying_worker workers[WORKERS];
    for (uint32_t w = 0; w < WORKERS; ++w) {
        workers[w] = (struct copying_worker){.rig = rig, .random = {.state = w + 21}};
        assert_int_equal(pthread_create(&workers[w].thread, NULL, run_copying, &workers[w]), 0);
    }
    uint32_t failures = 0;
    for (uint32_t w = 0; w < WORKERS; ++w) {
        assert_int_equal(pthread_join(workers[w].thread, NULL), 0);
        assert_int_equal(workers[w].errors, 0);
        failures += workers[w].failures;
    }
    rig_clear_faults(rig);
    assert_true(failures > 0);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    rig_check(rig);
    MaarPagingStatistics paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &paging), VK_SUCCESS);
    print_message("%llu MiB copied, %u submissions failed\n",
                  (unsigned long long)(paging.copiedBytes / MIB), failures);
    assert_true(paging.copiedBytes > 0);
    assert_int_equal(paging.reservationCount, 0);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(copies_of_many_threads_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
