/*
 * Threads that allocate, create, name and free, now and later, in pools of their own and in shared
 * ones, while the main thread begins and ends captures. Each history must be whole: no entry about
 * an object that the capture does not know, no two owners of a byte, nothing outside its memory.
 * The last capture also ends with what the allocator then has.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/captured.h"

#include <pthread.h>
#include <time.h>

enum { WORKERS = 6, HOLDINGS = 60, CAPTURES = 12, LARGEST = 300000 };

struct holding {
    VkBuffer buffer;
    MaarAllocation memory;
};

struct crew {
    struct rig rig;
    pthread_mutex_t ticking;
    _Atomic uint64_t clock; /* of the host timeline; rises under the mutex */
    _Atomic uint32_t errors;
    _Atomic uint64_t steps;
    atomic_bool stops;
};

struct worker {
    struct crew* crew;
    pthread_t thread;
    struct rig_random random;
    MaarPool pool;
    struct holding holdings[HOLDINGS];
};

/* cmocka's assertions belong to the main thread. */
static void expect(struct crew* crew, bool condition)
{
    if (!condition) {
        (void)atomic_fetch_add(&crew->errors, 1);
    }
}

/* Each kind of allocation, with an object and without. */
static void take(struct worker* worker, struct holding* holding)
{
    struct crew* const crew = worker->crew;
    const MaarAllocator allocator = crew->rig.allocator;
    const VkDeviceSize size = 1 + rig_below(&worker->random, LARGEST);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    if (rig_below(&worker->random, 4) == 0) {
        how.pName = "a name";
    }
    if (rig_below(&worker->random, 8) == 0) {
        how.dedicated = MAAR_DEDICATED_ALWAYS;
    } else if (rig_below(&worker->random, 4) == 0) {
        how.usage = MAAR_MEMORY_USAGE_FLAGS_ONLY;
        how.pool = worker->pool;
    }
    VkResult result;
    if (rig_below(&worker->random, 2) == 0) {
        const MaarMemoryRequest request =
            rig_request(size, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        result = maarAllocateMemory(allocator, &request, &how, &holding->memory);
    } else {
        const VkBufferCreateInfo info = rig_buffer_info(size);
        result = maarCreateBuffer(allocator, &info, &how, &holding->buffer, &holding->memory);
    }
    expect(crew, result == VK_SUCCESS);
}

static void give(struct worker* worker, struct holding* holding)
{
    struct crew* const crew = worker->crew;
    const MaarAllocator allocator = crew->rig.allocator;
    const MaarPoint point = {.value = atomic_load(&crew->clock) + 1};
    if (rig_below(&worker->random, 3) == 0) {
        expect(crew, maarDestroyBufferAfter(allocator, holding->buffer, holding->memory, 1,
                                            &point) == VK_SUCCESS);
    } else if (holding->buffer != VK_NULL_HANDLE) {
        maarDestroyBuffer(allocator, holding->buffer, holding->memory);
    } else {
        maarFreeMemory(allocator, holding->memory);
    }
    *holding = (struct holding){0};
}

/* Lets the points of frees pass. */
static void tick(struct crew* crew)
{
    expect(crew, pthread_mutex_lock(&crew->ticking) == 0);
    const uint64_t now = atomic_fetch_add(&crew->clock, 1) + 1;
    expect(crew, maarAdvanceHostTimeline(crew->rig.allocator, now) == VK_SUCCESS);
    expect(crew, pthread_mutex_unlock(&crew->ticking) == 0);
}

static void step(struct worker* worker)
{
    struct crew* const crew = worker->crew;
    struct holding* const holding = &worker->holdings[rig_below(&worker->random, HOLDINGS)];
    if (holding->memory == VK_NULL_HANDLE) {
        take(worker, holding);
    } else if (rig_below(&worker->random, 8) == 0) {
        const MaarCaptureAccess access = {.allocation = holding->memory,
                                          .flags = MAAR_CAPTURE_ACCESS_WRITE_BIT};
        const MaarCaptureSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO,
                                              .accessCount = 1,
                                              .pAccesses = &access};
        expect(crew, maarSetAllocationName(crew->rig.allocator, holding->memory, "another name") ==
                         VK_SUCCESS);
        expect(crew, maarCaptureSubmit(crew->rig.allocator, &submit) == VK_SUCCESS);
    } else {
        give(worker, holding);
    }
    if (rig_below(&worker->random, 64) == 0) {
        expect(crew, maarCaptureFrame(crew->rig.allocator, VK_NULL_HANDLE) == VK_SUCCESS);
        tick(crew);
        expect(crew, maarCollect(crew->rig.allocator, NULL) == VK_SUCCESS);
    }
    (void)atomic_fetch_add(&crew->steps, 1);
}

static void* work(void* argument)
{
    struct worker* const worker = argument;
    while (!atomic_load(&worker->crew->stops)) {
        step(worker);
    }
    return NULL;
}

/* Waits until the threads have made so many more steps. */
static void let_work(struct crew* crew, uint64_t count)
{
    const uint64_t end = atomic_load(&crew->steps) + count;
    const struct timespec nap = {.tv_nsec = 200000};
    while (atomic_load(&crew->steps) < end) {
        (void)nanosleep(&nap, NULL);
    }
}

static void capture_once(struct crew* crew, uint32_t number, uint64_t count)
{
    char path[128];
    struct support_history history;
    let_work(crew, count);
    assert_int_equal(captured_begin(crew->rig.allocator, captured_path(number, path), 0),
                     VK_SUCCESS);
    let_work(crew, count);
    assert_int_equal(maarEndCapture(crew->rig.allocator), VK_SUCCESS);
    captured_load(path, &history);
    captured_check(&history, false);
    assert_true(history.events.count > 100);
    support_history_release(&history);
}

static void start_workers(struct crew* crew, struct worker workers[WORKERS])
{
    const MaarPoolCreateInfo pool = {.memoryTypeIndex = 0, .blockSize = 4 * MIB};
    const uint64_t seed = rig_seed(1);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i] = (struct worker){.crew = crew, .random = {seed + i}};
        workers[i].pool = rig_create_pool(&crew->rig, &pool);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

static void end_workers(struct crew* crew, struct worker workers[WORKERS])
{
    atomic_store(&crew->stops, true);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
}

static void clear_away(struct crew* crew, struct worker workers[WORKERS])
{
    for (uint32_t i = 0; i < WORKERS; ++i) {
        for (uint32_t h = 0; h < HOLDINGS; ++h) {
            if (workers[i].holdings[h].memory != VK_NULL_HANDLE) {
                give(&workers[i], &workers[i].holdings[h]);
            }
        }
    }
    assert_int_equal(maarAdvanceHostTimeline(crew->rig.allocator, UINT64_MAX / 2), VK_SUCCESS);
    assert_int_equal(maarWaitPending(crew->rig.allocator, UINT64_MAX), VK_SUCCESS);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        maarDestroyPool(crew->rig.allocator, workers[i].pool);
    }
}

static void captures_among_threads_are_whole(void** state)
{
    (void)state;
    struct crew* const crew = calloc(1, sizeof *crew);
    struct worker* const workers = calloc(WORKERS, sizeof *workers);
    char path[128];
    struct support_history history;
    assert_non_null(crew);
    assert_non_null(workers);
    rig_start(&crew->rig, NULL);
    assert_int_equal(pthread_mutex_init(&crew->ticking, NULL), 0);
    start_workers(crew, workers);
    for (uint32_t i = 0; i < CAPTURES; ++i) {
        capture_once(crew, 100 + i, 200 + 300 * i);
    }
    assert_int_equal(captured_begin(crew->rig.allocator, captured_path(99, path), 0), VK_SUCCESS);
    let_work(crew, 5000);
    end_workers(crew, workers);
    assert_int_equal(maarEndCapture(crew->rig.allocator), VK_SUCCESS);
    captured_load(path, &history);
    captured_check(&history, false);
    captured_compare(&history, &crew->rig);
    support_history_release(&history);
    assert_int_equal(atomic_load(&crew->errors), 0);
    clear_away(crew, workers);
    assert_int_equal(pthread_mutex_destroy(&crew->ticking), 0);
    rig_close(&crew->rig);
    free(workers);
    free(crew);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_among_threads_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
