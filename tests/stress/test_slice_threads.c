/*
 * Four threads that take slices and end their own and each other's, now and later, while the main
 * thread trims and counts. Each slice is filled with a byte of its own, which must be there when it
 * ends: two that overlap are seen by that, and by ThreadSanitizer.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

enum { WORKERS = 4, SPOTS = 300, ROUNDS = 40000, LARGEST = 3000 };

struct crew {
    struct rig rig;
    _Atomic(MaarSlice) spots[SPOTS]; /* slices that anybody may end */
    _Atomic uint64_t clock;
    _Atomic uint32_t errors;
    _Atomic uint32_t working;
    atomic_bool begun;
    _Atomic uint32_t unfinished; /* created, and destruction not called */
};

struct worker {
    struct crew* crew;
    pthread_t thread;
    struct rig_random random;
};

/* cmocka's assertions belong to the main thread. */
static void expect(struct crew* crew, bool condition)
{
    if (!condition) {
        (void)atomic_fetch_add(&crew->errors, 1);
    }
}

static unsigned char mark_of(MaarSlice slice)
{
    uint64_t bits = 0;
    memcpy(&bits, &slice, sizeof slice);
    return (unsigned char)(bits * 0x9E3779B97F4A7C15u >> 56);
}

static MaarSlice begin_slice(struct worker* worker)
{
    struct crew* crew = worker->crew;
    const MaarSliceCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 1 + rig_below(&worker->random, LARGEST),
        .usage = rig_below(&worker->random, 4) == 0 ? VK_BUFFER_USAGE_VERTEX_BUFFER_BIT
                                                    : VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
        .pUserData = crew,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    VkResult result = maarCreateSlice(crew->rig.allocator, &create_info, &slice);
    expect(crew, result == VK_SUCCESS && slice != VK_NULL_HANDLE);
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    if (result == VK_SUCCESS && maarGetSliceInfo(crew->rig.allocator, slice, &info) == VK_SUCCESS) {
        expect(crew, info.size == create_info.size && info.pMappedData != NULL);
        memset(info.pMappedData, mark_of(slice), (size_t)info.size);
    }
    return slice;
}

static void end_slice(struct worker* worker, MaarSlice slice)
{
    struct crew* crew = worker->crew;
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    expect(crew, maarGetSliceInfo(crew->rig.allocator, slice, &info) == VK_SUCCESS);
    expect(crew, info.pUserData == crew);
    const unsigned char* bytes = info.pMappedData;
    for (VkDeviceSize i = 0; bytes != NULL && i < info.size; ++i) {
        if (bytes[i] != mark_of(slice)) {
            expect(crew, false);
            break;
        }
    }
    if (rig_below(&worker->random, 3) == 0) {
        const MaarPoint point = {.value = atomic_load(&crew->clock) + 1};
        expect(crew, maarDestroySliceAfter(crew->rig.allocator, slice, 1, &point) == VK_SUCCESS);
    } else {
        maarDestroySlice(crew->rig.allocator, slice);
    }
}

static void swap_slice(struct worker* worker, MaarSlice slice)
{
    struct crew* crew = worker->crew;
    const uint32_t spot = rig_below(&worker->random, SPOTS);
    MaarSlice old = atomic_exchange(&crew->spots[spot], slice);
    if (old != VK_NULL_HANDLE) {
        end_slice(worker, old);
        (void)atomic_fetch_sub(&crew->unfinished, 1);
    }
}

static void* work(void* argument)
{
    struct worker* worker = argument;
    struct crew* crew = worker->crew;
    while (!atomic_load(&crew->begun)) {
    }
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        (void)atomic_fetch_add(&crew->unfinished, 1);
        MaarSlice slice = begin_slice(worker);
        if (rig_below(&worker->random, 3) == 0) {
            end_slice(worker, slice);
            (void)atomic_fetch_sub(&crew->unfinished, 1);
        } else {
            swap_slice(worker, slice);
        }
        /* Now and then many go at once, so that buffers empty. */
        if (rig_below(&worker->random, 500) == 0) {
            for (uint32_t i = 0; i < 2 * SPOTS; ++i) {
                swap_slice(worker, VK_NULL_HANDLE);
            }
        }
    }
    (void)atomic_fetch_sub(&crew->working, 1);
    return NULL;
}

static void watch(struct crew* crew)
{
    MaarAllocator allocator = crew->rig.allocator;
    while (atomic_load(&crew->working) > 0) {
        const uint64_t now = atomic_load(&crew->clock) + 1;
        assert_int_equal(maarAdvanceHostTimeline(allocator, now), VK_SUCCESS);
        atomic_store(&crew->clock, now);
        assert_int_equal(maarCollect(allocator, NULL), VK_SUCCESS);
        assert_int_equal(maarTrim(allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
        const MaarStatistics statistics = rig_statistics(&crew->rig, VK_NULL_HANDLE);
        /* Arenas are counted one after another, and a worker has two in hand at most. */
        assert_true(statistics.sliceCount <= WORKERS * (SPOTS + 2 * WORKERS));
        assert_true(statistics.sliceBytes <= (VkDeviceSize)statistics.sliceCount * LARGEST);
        assert_true(statistics.pendingSliceBytes <=
                    (VkDeviceSize)statistics.pendingSliceCount * LARGEST);
        assert_true(statistics.sliceCount + statistics.pendingSliceCount == 0 ||
                    statistics.sliceBytes + statistics.pendingSliceBytes > 0);
    }
}

static void slices_never_meet(void** state)
{
    (void)state;
    static struct crew crew;
    static struct worker workers[WORKERS];
    const struct rig_setup setup = {.count_host = true};
    rig_start(&crew.rig, &setup);
    atomic_store(&crew.working, WORKERS);
    const uint64_t seed = rig_seed(7);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i].crew = &crew;
        workers[i].random.state = seed + i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    atomic_store(&crew.begun, true);
    watch(&crew);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        pthread_join(workers[i].thread, NULL);
    }
    assert_int_equal(atomic_load(&crew.errors), 0);
    assert_int_equal(maarAdvanceHostTimeline(crew.rig.allocator, UINT64_MAX / 2), VK_SUCCESS);
    assert_int_equal(maarWaitPending(crew.rig.allocator, UINT64_MAX), VK_SUCCESS);
    MaarStatistics statistics = rig_statistics(&crew.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.sliceCount, atomic_load(&crew.unfinished));
    assert_int_equal(statistics.pendingSliceCount, 0);
    for (uint32_t i = 0; i < SPOTS; ++i) {
        maarDestroySlice(crew.rig.allocator, atomic_load(&crew.spots[i]));
    }
    statistics = rig_statistics(&crew.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.sliceCount, 0);
    assert_int_equal(statistics.sliceBytes, 0);
    assert_int_equal(statistics.pendingSliceBytes, 0);
    assert_int_equal(maarTrim(crew.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_counters(&crew.rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    assert_int_equal(rig_statistics(&crew.rig, VK_NULL_HANDLE).blockCount, 0);
    assert_int_equal(crew.rig.messages.total, 0);
    rig_close(&crew.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_never_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
