/*
 * Four threads on one allocator: three that allocate, map, free now and later, take slices, make
 * and destroy pools, and one that looks at everything meanwhile. The simulated driver reports calls
 * that race on one object, and limits that are passed.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

enum { WORKERS = 3, OWN_ITEMS = 24, SHARED = 4 };

struct crew {
    struct rig rig;
    MaarAllocation shared[SHARED]; /* mapped and unmapped by all */
    VkSemaphore timeline;
    _Atomic uint64_t clock; /* of the timeline and the host's */
    _Atomic uint32_t errors;
    _Atomic uint32_t working;
    uint32_t rounds;
    bool scarce; /* requests may fail */
};

struct worker {
    struct crew* crew;
    pthread_t thread;
    struct rig_random random;
    MaarAllocation memory[OWN_ITEMS];
    VkBuffer buffers[OWN_ITEMS];
    MaarSlice slices[OWN_ITEMS];
    unsigned char marks[OWN_ITEMS];
    MaarPool pool;
    uint32_t made;
};

/* cmocka's assertions belong to the main thread. */
static void expect(struct crew* crew, bool condition)
{
    if (!condition) {
        (void)atomic_fetch_add(&crew->errors, 1);
    }
}

static void expect_made(struct crew* crew, VkResult result)
{
    expect(crew,
           result == VK_SUCCESS || (crew->scarce && (result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                                                     result == VK_ERROR_TOO_MANY_OBJECTS ||
                                                     result == VK_ERROR_OUT_OF_POOL_MEMORY)));
}

static void make_memory(struct worker* worker, uint32_t i)
{
    struct crew* crew = worker->crew;
    MaarAllocator allocator = crew->rig.allocator;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const VkBufferCreateInfo info = rig_buffer_info(1 + rig_below(&worker->random, 60000));
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.dedicated =
        rig_below(&worker->random, 10) == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
    how.pName = rig_below(&worker->random, 4) == 0 ? "named" : NULL;
    VkResult result =
        maarCreateBuffer(allocator, &info, &how, &worker->buffers[i], &worker->memory[i]);
    expect_made(crew, result);
    if (result != VK_SUCCESS) {
        return;
    }
    ++worker->made;
    MaarAllocationInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    expect(crew, maarGetAllocationInfo(allocator, worker->memory[i], &known) == VK_SUCCESS);
    expect(crew, known.pMappedData != NULL);
    worker->marks[i] = (unsigned char)rig_next(&worker->random);
    memset(known.pMappedData, worker->marks[i], (size_t)info.size);
    expect(crew, maarSetAllocationUserData(allocator, worker->memory[i], worker) == VK_SUCCESS);
}

static void end_memory(struct worker* worker, uint32_t i)
{
    struct crew* crew = worker->crew;
    MaarAllocator allocator = crew->rig.allocator;
    MaarAllocationInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    expect(crew, maarGetAllocationInfo(allocator, worker->memory[i], &known) == VK_SUCCESS);
    const unsigned char* bytes = known.pMappedData;
    expect(crew, bytes != NULL && bytes[0] == worker->marks[i]);
    if (rig_below(&worker->random, 2) == 0) {
        maarDestroyBuffer(allocator, worker->buffers[i], worker->memory[i]);
    } else {
        const MaarPoint point = {
            .semaphore = rig_below(&worker->random, 2) == 0 ? crew->timeline : VK_NULL_HANDLE,
            .value = atomic_load(&crew->clock) + rig_below(&worker->random, 3),
        };
        expect(crew, maarDestroyBufferAfter(allocator, worker->buffers[i], worker->memory[i], 1,
                                            &point) == VK_SUCCESS);
    }
    worker->memory[i] = VK_NULL_HANDLE;
}

static void turn_slice(struct worker* worker, uint32_t i)
{
    struct crew* crew = worker->crew;
    MaarAllocator allocator = crew->rig.allocator;
    if (worker->slices[i] != VK_NULL_HANDLE) {
        const MaarPoint point = {.value = atomic_load(&crew->clock) + 1};
        expect(crew,
               maarDestroySliceAfter(allocator, worker->slices[i], i % 2, &point) == VK_SUCCESS);
        worker->slices[i] = VK_NULL_HANDLE;
        return;
    }
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 1 + rig_below(&worker->random, 3000),
        .usage = i % 3 == 0 ? VK_BUFFER_USAGE_VERTEX_BUFFER_BIT : VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    expect_made(crew, maarCreateSlice(allocator, &info, &worker->slices[i]));
}

static void turn_pool(struct worker* worker)
{
    struct crew* crew = worker->crew;
    MaarAllocator allocator = crew->rig.allocator;
    if (worker->pool != VK_NULL_HANDLE) {
        /* What another thread collects at this moment must not be pulled from under it. */
        maarDestroyPool(allocator, worker->pool);
        worker->pool = VK_NULL_HANDLE;
        return;
    }
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = 256 * KIB,
        .strategy = (MaarPlacementStrategy)rig_below(&worker->random, 3),
    };
    VkResult result = maarCreatePool(allocator, &info, &worker->pool);
    expect_made(crew, result);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = worker->pool;
    for (uint32_t i = 0; result == VK_SUCCESS && i < 6; ++i) {
        MaarMemoryRequest request = rig_request(20000, 16, 2, MAAR_RESOURCE_KIND_LINEAR);
        MaarAllocation memory = VK_NULL_HANDLE;
        VkResult placed = maarAllocateMemory(allocator, &request, &how, &memory);
        expect_made(crew, placed);
        const MaarPoint point = {crew->timeline, atomic_load(&crew->clock)};
        expect(crew, maarFreeMemoryAfter(allocator, memory, 1, &point) == VK_SUCCESS);
    }
}

static void turn_shared(struct worker* worker)
{
    struct crew* crew = worker->crew;
    MaarAllocator allocator = crew->rig.allocator;
    MaarAllocation memory = crew->shared[rig_below(&worker->random, SHARED)];
    void* data = NULL;
    expect(crew, maarMapMemory(allocator, memory, &data) == VK_SUCCESS && data != NULL);
    expect(crew, maarFlushAllocation(allocator, memory, 0, 100) == VK_SUCCESS);
    maarUnmapMemory(allocator, memory);
}

static void tick(struct worker* worker)
{
    struct crew* crew = worker->crew;
    MaarAllocator allocator = crew->rig.allocator;
    if (worker->random.state % 2 == 0) {
        (void)maarCollect(allocator, NULL);
    } else {
        expect(crew, maarTrim(allocator, VK_NULL_HANDLE, NULL) == VK_SUCCESS);
    }
}

static void* work(void* argument)
{
    struct worker* worker = argument;
    for (uint32_t round = 0; round < worker->crew->rounds; ++round) {
        uint32_t i = rig_below(&worker->random, OWN_ITEMS);
        uint32_t dice = rig_below(&worker->random, 100);
        if (dice < 60) {
            if (worker->memory[i] == VK_NULL_HANDLE) {
                make_memory(worker, i);
            } else {
                end_memory(worker, i);
            }
        } else if (dice < 78) {
            turn_slice(worker, i);
        } else if (dice < 84) {
            turn_pool(worker);
        } else if (dice < 94) {
            turn_shared(worker);
        } else {
            tick(worker);
        }
    }
    for (uint32_t i = 0; i < OWN_ITEMS; ++i) {
        if (worker->memory[i] != VK_NULL_HANDLE) {
            end_memory(worker, i);
        }
        maarDestroySlice(worker->crew->rig.allocator, worker->slices[i]);
    }
    maarDestroyPool(worker->crew->rig.allocator, worker->pool);
    (void)atomic_fetch_sub(&worker->crew->working, 1);
    return NULL;
}

/* On the main thread: moves time and looks, as a frame loop with an overlay would. */
static void watch(struct crew* crew)
{
    static MaarBlockInfo blocks[64];
    static MaarBlockRange ranges[64];
    while (atomic_load(&crew->working) > 0) {
        uint64_t now = atomic_load(&crew->clock) + 1;
        assert_int_equal(maarAdvanceHostTimeline(crew->rig.allocator, now), VK_SUCCESS);
        rig_signal(&crew->rig, crew->timeline, now);
        atomic_store(&crew->clock, now);
        (void)rig_statistics(&crew->rig, VK_NULL_HANDLE);
        rig_check(&crew->rig);
        (void)rig_budget(&crew->rig, 0);
        uint32_t count = 64;
        for (uint32_t i = 0; i < count; ++i) {
            blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
        }
        VkResult result = maarEnumerateBlocks(crew->rig.allocator, VK_NULL_HANDLE, &count, blocks);
        assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t room = 64; /* the block may be gone by now, which is reported */
            (void)maarEnumerateBlockRanges(crew->rig.allocator, blocks[i].blockId, &room, ranges);
        }
        result = maarWaitPending(crew->rig.allocator, 0);
        assert_true(result == VK_SUCCESS || result == VK_TIMEOUT || result == VK_NOT_READY);
    }
}

static void run_crew(const MaarSimulatedProfile* profile, uint32_t rounds, bool scarce)
{
    static struct crew crew;
    static struct worker workers[WORKERS];
    const struct rig_setup setup = {.profile = profile, .count_host = true};
    memset(&crew, 0, sizeof crew);
    memset(workers, 0, sizeof workers);
    rig_start(&crew.rig, &setup);
    crew.timeline = rig_create_timeline(&crew.rig, 0);
    crew.rounds = rounds;
    crew.scarce = scarce;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    for (uint32_t i = 0; i < SHARED; ++i) {
        crew.shared[i] = rig_allocate(&crew.rig, 4096, &how);
    }
    atomic_store(&crew.working, WORKERS);
    uint64_t seed = rig_seed(99);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i].crew = &crew;
        workers[i].random.state = seed + i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    watch(&crew);
    uint32_t made = 0;
    for (uint32_t i = 0; i < WORKERS; ++i) {
        pthread_join(workers[i].thread, NULL);
        made += workers[i].made;
    }
    assert_int_equal(atomic_load(&crew.errors), 0);
    assert_true(made > rounds / 10);
    maarFreeMemories(crew.rig.allocator, SHARED, crew.shared);
    uint64_t end = atomic_load(&crew.clock) + 10;
    assert_int_equal(maarAdvanceHostTimeline(crew.rig.allocator, end), VK_SUCCESS);
    rig_signal(&crew.rig, crew.timeline, end);
    assert_int_equal(maarWaitPending(crew.rig.allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarTrim(crew.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    MaarStatistics statistics = rig_statistics(&crew.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.pendingCount, 0);
    assert_int_equal(statistics.blockCount, 0);
    assert_int_equal(crew.rig.messages.counts[MAAR_MESSAGE_SEVERITY_FATAL], 0);
    vkDestroySemaphore(crew.rig.device, crew.timeline, NULL);
    rig_close(&crew.rig);
}

static void threads_with_room_agree(void** state)
{
    (void)state;
    run_crew(rig_profile_discrete(), 6000, false);
}

static void threads_at_the_limits_agree(void** state)
{
    (void)state;
    run_crew(rig_profile_tiny(), 4000, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_with_room_agree),
        cmocka_unit_test(threads_at_the_limits_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
