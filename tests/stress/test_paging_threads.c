/*
 * Four threads on one allocator, each with a reservation of its own: they commit and give back
 * ranges, submit what any of them has recorded, look at runs, and destroy and make reservations
 * anew, while the queue has a lock of the program's. A fifth thread checks the allocator meanwhile.
 * In a second case another thread moves their pages. In the end every page is back. ThreadSanitizer
 * sees the rest.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

enum { WORKERS = 4, ROUNDS = 10000, PAGES = 1200, RUNS = 64 };

struct worker {
    pthread_t thread;
    atomic_uint* working;
    MaarAllocator allocator;
    struct rig_random random;
    uint32_t errors;
    uint32_t commits;
    VkDeviceSize page_size;
};

/* A thread that moves pages until the workers have ended. */
struct mover {
    pthread_t thread;
    MaarAllocator allocator;
    struct rig_random random;
    uint32_t errors;
    uint32_t moved;
    atomic_uint working; /* workers */
};

/* A thread that checks the allocator until the workers have ended. */
struct checker {
    pthread_t thread;
    atomic_uint* working;
    MaarAllocator allocator;
    const char* broken; /* what the first check found */
    uint32_t checks;
};

struct queue_lock {
    pthread_mutex_t mutex;
    uint32_t uses;
};

static void VKAPI_CALL lock_queue(void* user_data, VkQueue queue)
{
    (void)queue;
    struct queue_lock* lock = user_data;
    pthread_mutex_lock(&lock->mutex);
    ++lock->uses;
}

static void VKAPI_CALL unlock_queue(void* user_data, VkQueue queue)
{
    (void)queue;
    pthread_mutex_unlock(&((struct queue_lock*)user_data)->mutex);
}

static MaarReservation make_reservation(struct worker* worker)
{
    const VkBufferCreateInfo buffer = rig_buffer_info((VkDeviceSize)PAGES * 65536);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarReservationInfo known = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    if (maarCreateReservation(worker->allocator, &info, &reservation) != VK_SUCCESS ||
        maarGetReservationInfo(worker->allocator, reservation, &known) != VK_SUCCESS) {
        ++worker->errors;
        return VK_NULL_HANDLE;
    }
    worker->page_size = known.pageSize;
    return reservation;
}

static MaarPageRange some_range(struct worker* worker)
{
    const uint32_t first = rig_below(&worker->random, PAGES);
    uint32_t count = 1 + rig_below(&worker->random, 40);
    count = count < PAGES - first ? count : PAGES - first;
    return (MaarPageRange){.offset = first * worker->page_size, .size = count * worker->page_size};
}

/* The committed bytes that the list of runs adds up to. */
static void check_runs(struct worker* worker, MaarReservation reservation)
{
    MaarPageRun runs[RUNS];
    uint32_t count = RUNS;
    VkDeviceSize sum = 0;
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    const VkResult result =
        maarEnumerateReservationPages(worker->allocator, reservation, &count, runs);
    for (uint32_t i = 0; i < count; ++i) {
        sum += runs[i].size;
    }
    worker->errors += maarGetReservationInfo(worker->allocator, reservation, &info) != VK_SUCCESS ||
                      (result == VK_SUCCESS ? sum != info.committedSize : sum > info.committedSize);
}

static void* run_worker(void* user_data)
{
    struct worker* worker = user_data;
    MaarReservation reservation = make_reservation(worker);
    for (uint32_t round = 0; round < ROUNDS && reservation != VK_NULL_HANDLE; ++round) {
        const MaarPageRange ranges[2] = {some_range(worker), some_range(worker)};
        const uint32_t what = rig_below(&worker->random, 100);
        if (what < 45) {
            worker->errors +=
                maarCommitPages(worker->allocator, reservation, 2, ranges) != VK_SUCCESS;
            ++worker->commits;
        } else if (what < 75) {
            worker->errors +=
                maarDecommitPages(worker->allocator, reservation, 2, ranges) != VK_SUCCESS;
        } else if (what < 92) {
            MaarPoint point;
            worker->errors += maarSubmitBinds(worker->allocator, 0, NULL, &point) != VK_SUCCESS;
        } else if (what < 97) {
            check_runs(worker, reservation);
        } else {
            maarDestroyReservation(worker->allocator, reservation);
            reservation = make_reservation(worker);
        }
    }
    maarDestroyReservation(worker->allocator, reservation);
    (void)atomic_fetch_sub(worker->working, 1);
    return NULL;
}

/* Copies and commits a batch, or cancels it. */
static void end_batch(struct mover* mover, MaarMoveBatch batch)
{
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    uint32_t moved = 0;
    mover->errors += maarSubmitMoves(mover->allocator, batch, &info, NULL) != VK_SUCCESS;
    if (rig_below(&mover->random, 5) == 0) {
        mover->errors += maarCancelMoves(mover->allocator, batch, 0, NULL) != VK_SUCCESS;
    } else {
        mover->errors += maarCommitMoves(mover->allocator, batch, 0, NULL, &moved) != VK_SUCCESS;
        mover->errors += maarSubmitBinds(mover->allocator, 0, NULL, NULL) != VK_SUCCESS;
    }
    mover->moved += moved;
}

static void* run_mover(void* user_data)
{
    struct mover* mover = user_data;
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .goal = MAAR_DEFRAGMENTATION_GOAL_PAGES,
    };
    while (atomic_load(&mover->working) > 0) {
        const MaarDefragmentationStepInfo limits = {
            .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
            .maxMoves = 1 + rig_below(&mover->random, 200),
        };
        const uint32_t steps = 1 + rig_below(&mover->random, 10);
        MaarDefragmentation run = VK_NULL_HANDLE;
        mover->errors += maarBeginDefragmentation(mover->allocator, &info, &run) != VK_SUCCESS;
        for (uint32_t i = 0; i < steps; ++i) {
            MaarMoveBatch batch = VK_NULL_HANDLE;
            mover->errors +=
                maarStepDefragmentation(mover->allocator, run, &limits, &batch) != VK_SUCCESS;
            if (batch == VK_NULL_HANDLE) {
                break;
            }
            end_batch(mover, batch);
        }
        maarEndDefragmentation(mover->allocator, run);
        mover->errors += maarCollect(mover->allocator, NULL) != VK_SUCCESS;
    }
    return NULL;
}

static void* run_checker(void* user_data)
{
    struct checker* checker = user_data;
    while (atomic_load(checker->working) > 0 && checker->broken == NULL) {
        (void)maarCheckAllocator(checker->allocator, &checker->broken);
        ++checker->checks;
    }
    return NULL;
}

/* Lets the workers work, beside a mover if `moves`. */
static void play(bool moves)
{
    struct queue_lock lock = {.uses = 0};
    assert_int_equal(pthread_mutex_init(&lock.mutex, NULL), 0);
    struct rig* const rig = rig_new();
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    rig_open(rig,
             &(struct rig_setup){.profile = &profile, .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT});
    const MaarQueue queue = {
        .familyIndex = rig->recommendation.sparseQueueFamily,
        .queue = rig->queue,
        .pfnLock = lock_queue,
        .pfnUnlock = unlock_queue,
        .pUserData = &lock,
    };
    rig->create_info.queueCount = 1;
    rig->create_info.pQueues = &queue;
    rig_make_allocator(rig);
    struct worker workers[WORKERS];
    struct mover mover = {.allocator = rig->allocator, .random = {.state = 99}};
    atomic_init(&mover.working, WORKERS);
    for (uint32_t w = 0; w < WORKERS; ++w) {
        workers[w] = (struct worker){
            .working = &mover.working, .allocator = rig->allocator, .random = {.state = w + 1}};
        assert_int_equal(pthread_create(&workers[w].thread, NULL, run_worker, &workers[w]), 0);
    }
    struct checker checker = {.working = &mover.working, .allocator = rig->allocator};
    assert_int_equal(pthread_create(&checker.thread, NULL, run_checker, &checker), 0);
    if (moves) {
        assert_int_equal(pthread_create(&mover.thread, NULL, run_mover, &mover), 0);
        assert_int_equal(pthread_join(mover.thread, NULL), 0);
        if (mover.errors != 0) {
            print_error("%u errors, the last message: %s\n", mover.errors, rig->messages.last);
        }
        assert_int_equal(mover.errors, 0);
        assert_true(mover.moved > 0);
        print_message("%u pages moved\n", mover.moved);
    }
    for (uint32_t w = 0; w < WORKERS; ++w) {
        assert_int_equal(pthread_join(workers[w].thread, NULL), 0);
        assert_int_equal(workers[w].errors, 0);
        assert_true(workers[w].commits > 0);
    }
    assert_int_equal(pthread_join(checker.thread, NULL), 0);
    print_message("%u checks\n", checker.checks);
    if (checker.broken != NULL) {
        fail_msg("a check beside other calls said \"%s\"", checker.broken);
    }
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    rig_check(rig);
    MaarPagingStatistics paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &paging), VK_SUCCESS);
    print_message("%llu pages bound, %llu unbound, %llu binds, %llu submissions\n",
                  (unsigned long long)paging.pagesBound, (unsigned long long)paging.pagesUnbound,
                  (unsigned long long)paging.bindCount, (unsigned long long)paging.submissionCount);
    assert_int_equal(paging.committedBytes, 0);
    assert_int_equal(paging.heldBytes, 0);
    assert_int_equal(paging.recordedPages, 0);
    assert_int_equal(paging.reservedBytes, 0);
    assert_int_equal(paging.freeBytes, paging.blockBytes);
    assert_true(moves ? lock.uses >= paging.submissionCount : lock.uses == paging.submissionCount);
    assert_true(paging.bindCount < paging.pagesBound + paging.pagesUnbound);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &paging), VK_SUCCESS);
    assert_int_equal(paging.blockCount, 0);
    rig_close(rig);
    pthread_mutex_destroy(&lock.mutex);
}

static void reservations_of_many_threads_keep_their_pages(void** state)
{
    (void)state;
    play(false);
}

static void pages_move_while_threads_use_them(void** state)
{
    (void)state;
    play(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(reservations_of_many_threads_keep_their_pages),
        rig_unit_test(pages_move_while_threads_use_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
