/*
 * Threads that touch reservations of their own, trim them, set priorities, move their pages between
 * memory types, and resize arrays, while each of them submits what any has recorded. A heap is too
 * small for all of them. In the end every page is back. ThreadSanitizer sees the rest.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

enum { WORKERS = 3, ROUNDS = 3000, PAGES = 200, FRESH = 64 };
#define PAGE (64 * KIB)

struct worker {
    pthread_t thread;
    struct rig* rig;
    struct rig_random random;
    MaarReservation reservation;
    MaarArray array;
    uint64_t touch; /* the last one of this thread */
    uint32_t errors;
    uint32_t moved;
    uint32_t trimmed;
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

static void VKAPI_CALL lock_queue(void* user_data, VkQueue queue)
{
    (void)user_data;
    (void)queue;
    pthread_mutex_lock(&queue_lock);
}

static void VKAPI_CALL unlock_queue(void* user_data, VkQueue queue)
{
    (void)user_data;
    (void)queue;
    pthread_mutex_unlock(&queue_lock);
}

static void expect(struct worker* worker, bool holds)
{
    worker->errors += holds ? 0 : 1;
}

static void touch_some(struct worker* worker)
{
    const uint32_t first = 8 * rig_below(&worker->random, PAGES / 8);
    const MaarReservationRange range = {worker->reservation, first * PAGE, 8 * PAGE};
    const MaarTouchInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO, .rangeCount = 1, .pRanges = &range};
    MaarReservationRange fresh[FRESH];
    MaarTouchResult touched = {
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_RESULT, .freshCapacity = FRESH, .pFresh = fresh};
    const VkResult result = maarTouchPages(worker->rig->allocator, &info, &touched);
    expect(worker, result == VK_SUCCESS);
    expect(worker, touched.touch > worker->touch);
    expect(worker, touched.freshSize <= range.size);
    worker->touch = touched.touch;
}

static void trim_some(struct worker* worker)
{
    const MaarPageTrimInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO,
        .reservationCount = 1,
        .pReservations = &worker->reservation,
        .touchedBefore = worker->touch,
        .maxSize = (1 + rig_below(&worker->random, 20)) * PAGE,
    };
    MaarPageTrimResult trimmed = {.sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_RESULT};
    expect(worker, maarTrimPages(worker->rig->allocator, &info, &trimmed) == VK_SUCCESS);
    expect(worker, trimmed.size <= info.maxSize);
    worker->trimmed += trimmed.rangeCount;
}

static void migrate_some(struct worker* worker)
{
    const MaarAllocator allocator = worker->rig->allocator;
    const MaarPageMigrationInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PAGE_MIGRATION_INFO,
        .direction = (MaarPageMigration)rig_below(&worker->random, 2),
        .reservationCount = 1,
        .pReservations = &worker->reservation,
        .maxBytes = 10 * PAGE,
    };
    const MaarMoveSubmitInfo copies = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
                                       .queueIndex = worker->rig->create_info.queueCount - 1};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarPoint copied;
    uint32_t moved = 0;
    const VkResult result = maarBeginPageMigration(allocator, &info, &batch);
    expect(worker, result == VK_SUCCESS || result == VK_ERROR_OUT_OF_DEVICE_MEMORY);
    if (batch != VK_NULL_HANDLE) {
        expect(worker, maarSubmitMoves(allocator, batch, &copies, &copied) == VK_SUCCESS);
        expect(worker, maarCommitMoves(allocator, batch, 1, &copied, &moved) == VK_SUCCESS);
        worker->moved += moved;
    }
}

static void set_some(struct worker* worker)
{
    const MaarPageRange range = {rig_below(&worker->random, PAGES - 16) * PAGE, 16 * PAGE};
    const MaarPagePriority priority = {.sType = MAAR_STRUCTURE_TYPE_PAGE_PRIORITY,
                                       .priority = (int32_t)rig_below(&worker->random, 8) - 4};
    expect(worker, maarSetPagePriority(worker->rig->allocator, worker->reservation, 1, &range,
                                       &priority) == VK_SUCCESS);
}

static void resize_some(struct worker* worker)
{
    const MaarArrayResize resize = {worker->array, rig_below(&worker->random, 2000), VK_TRUE};
    expect(worker, maarResizeArrays(worker->rig->allocator, 1, &resize, NULL) == VK_SUCCESS);
}

static void* work(void* data)
{
    struct worker* worker = data;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        switch (rig_below(&worker->random, 10)) {
        case 0:
            trim_some(worker);
            break;
        case 1:
            migrate_some(worker);
            break;
        case 2:
            set_some(worker);
            break;
        case 3:
            resize_some(worker);
            break;
        case 4:
        case 5:
            expect(worker, maarSubmitBinds(worker->rig->allocator, 0, NULL, NULL) == VK_SUCCESS);
            break;
        default:
            touch_some(worker);
            break;
        }
    }
    return NULL;
}

static void make_objects(struct worker* worker)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(PAGES * PAGE);
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &buffer};
    const MaarArrayCreateInfo array = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO, .elementSize = KIB, .reservation = info};
    const MaarAllocator allocator = worker->rig->allocator;
    assert_int_equal(maarCreateReservation(allocator, &info, &worker->reservation), VK_SUCCESS);
    assert_int_equal(maarCreateArray(allocator, &array, &worker->array), VK_SUCCESS);
}

static void threads_touch_their_own(void** state)
{
    (void)state;
    const VkDeviceSize limits[3] = {300 * PAGE, 0, 0};
    const struct rig_setup setup = {.profile = rig_profile_sparse(),
                                    .paging = true,
                                    .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct rig* rig = rig_new();
    struct worker workers[WORKERS];
    memset(workers, 0, sizeof workers);
    rig_open(rig, &setup);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    for (uint32_t i = 0; i < rig->create_info.queueCount; ++i) {
        rig->paging_queues[i].pfnLock = lock_queue;
        rig->paging_queues[i].pfnUnlock = unlock_queue;
    }
    rig_make_allocator(rig);
    const uint64_t seed = rig_seed(17);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i].rig = rig;
        workers[i].random.state = seed + i;
        make_objects(&workers[i]);
    }
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    uint32_t moved = 0;
    uint32_t trimmed = 0;
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].errors, 0);
        moved += workers[i].moved;
        trimmed += workers[i].trimmed;
    }
    assert_true(moved > 0);
    assert_true(trimmed > 0);
    rig_check(rig);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        maarDestroyReservation(rig->allocator, workers[i].reservation);
        maarDestroyArray(rig->allocator, workers[i].array);
    }
    rig_forget_messages(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(threads_touch_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
