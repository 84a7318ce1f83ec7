/*
 * Threads that free what others have allocated, in a pool at its maximum. Each slot of a table
 * holds an allocation, which any thread takes out and frees. A third of the pool is free by the
 * count of the program, in pieces that fit, so no request may fail and no block may be added,
 * whatever is listed. The allocator checks itself all the while. Other threads look at the pool,
 * trim and capture nothing.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

enum {
    WORKERS = 4,
    ROUNDS = 6000,
    SIZE = 4096,
    BLOCKS = 4,
    IN_BLOCK = 256,
    SLOTS = BLOCKS * IN_BLOCK * 2 / 3
};

struct crew {
    struct rig* rig;
    MaarPool pool;
    _Atomic(MaarAllocation) slots[SLOTS];
    _Atomic uint32_t errors;
    _Atomic uint32_t working;
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

static VkResult take(struct crew* crew, MaarAllocation* memory)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = crew->pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    const MaarMemoryRequest request = rig_request(SIZE, 16, 2, MAAR_RESOURCE_KIND_LINEAR);
    return maarAllocateMemory(crew->rig->allocator, &request, &how, memory);
}

/* Takes an allocation out of a slot, frees it, and puts another one into a slot that is empty. */
static void exchange(struct worker* worker)
{
    struct crew* const crew = worker->crew;
    const uint32_t slot = rig_below(&worker->random, SLOTS);
    MaarAllocation memory = atomic_exchange(&crew->slots[slot], VK_NULL_HANDLE);
    if (memory == VK_NULL_HANDLE) {
        return;
    }
    maarFreeMemory(crew->rig->allocator, memory);
    if (rig_below(&worker->random, 64) == 0) {
        MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
        expect(crew, maarGetAllocationInfo(crew->rig->allocator, memory, &info) ==
                         VK_ERROR_VALIDATION_FAILED_EXT);
    }
    expect(crew, take(crew, &memory) == VK_SUCCESS);
    memory = atomic_exchange(&crew->slots[slot], memory);
    expect(crew, memory == VK_NULL_HANDLE);
}

static void* work(void* argument)
{
    struct worker* const worker = argument;
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        exchange(worker);
    }
    (void)atomic_fetch_sub(&worker->crew->working, 1);
    return NULL;
}

/* Looks at everything. The workers go on meanwhile, so a sum need not be that of one moment. */
static void look(struct crew* crew)
{
    const MaarStatistics now = rig_statistics(crew->rig, crew->pool);
    expect(crew, now.blockCount <= BLOCKS);
    expect(crew, now.allocationBytes == (VkDeviceSize)SIZE * now.allocationCount);
    uint32_t count = 0;
    expect(crew, maarEnumerateBlocks(crew->rig->allocator, crew->pool, &count, NULL) == VK_SUCCESS);
    expect(crew, count <= BLOCKS);
    expect(crew, maarTrim(crew->rig->allocator, crew->pool, NULL) == VK_SUCCESS);
    expect(crew, maarCheckAllocator(crew->rig->allocator, NULL) == VK_SUCCESS);
}

static void run(bool checks)
{
    static struct crew crew;
    static struct worker workers[WORKERS];
    const uint64_t seed = rig_seed(4);
    memset(&crew, 0, sizeof crew);
    crew.rig = rig_new();
    rig_open(crew.rig, NULL);
    if (checks) {
        crew.rig->create_info.flags |= MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT;
    }
    rig_make_allocator(crew.rig);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = (VkDeviceSize)SIZE * IN_BLOCK,
        .maxBlockCount = BLOCKS,
    };
    crew.pool = rig_create_pool(crew.rig, &info);
    for (uint32_t i = 0; i < SLOTS; ++i) {
        MaarAllocation memory = VK_NULL_HANDLE;
        assert_int_equal(take(&crew, &memory), VK_SUCCESS);
        atomic_store(&crew.slots[i], memory);
    }
    atomic_store(&crew.working, WORKERS);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i] = (struct worker){.crew = &crew, .random = {seed + i}};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    while (atomic_load(&crew.working) > 0) {
        look(&crew);
    }
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    assert_int_equal(atomic_load(&crew.errors), 0);
    assert_int_equal(rig_statistics(crew.rig, crew.pool).allocationCount, SLOTS);
    rig_check(crew.rig);
    for (uint32_t i = 0; i < SLOTS; ++i) {
        maarFreeMemory(crew.rig->allocator, atomic_load(&crew.slots[i]));
    }
    assert_int_equal(rig_statistics(crew.rig, crew.pool).allocationCount, 0);
    maarDestroyPool(crew.rig->allocator, crew.pool);
    rig_close(crew.rig);
}

static void no_request_fails_while_frees_are_listed(void** state)
{
    (void)state;
    run(false);
}

static void every_step_is_checked(void** state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(no_request_fails_while_frees_are_listed),
        rig_unit_test(every_step_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
