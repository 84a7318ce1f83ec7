/*
 * Threads that allocate, use and free memory with margins, each all of its bytes, beside a thread
 * that compares all margins. Nobody writes behind an end, so nothing is reported.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

/* The workers go on until the margins have been compared so often beside them. */
enum { WORKERS = 3, ROUNDS = 400, CHECKS = 20, HELD = 16, MARGIN = 24 };

struct crew {
    struct rig* rig;
    _Atomic uint32_t errors;
    _Atomic uint32_t working;
    _Atomic uint32_t checks; /* of the thread that compares */
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

static void fill(struct crew* crew, MaarAllocation memory, VkDeviceSize size)
{
    void* data = NULL;
    expect(crew, maarMapMemory(crew->rig->allocator, memory, &data) == VK_SUCCESS);
    if (data != NULL) {
        memset(data, 0x77, (size_t)size);
        maarUnmapMemory(crew->rig->allocator, memory);
    }
}

static void* work(void* argument)
{
    struct worker* const worker = argument;
    struct crew* const crew = worker->crew;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    MaarAllocation held[HELD] = {VK_NULL_HANDLE};
    for (uint32_t i = 0; i < ROUNDS || atomic_load(&crew->checks) < CHECKS; ++i) {
        MaarAllocation* const one = &held[rig_below(&worker->random, HELD)];
        const VkDeviceSize size = 1 + rig_below(&worker->random, 2000);
        const MaarMemoryRequest request = rig_request(size, 4, 2, MAAR_RESOURCE_KIND_LINEAR);
        maarFreeMemory(crew->rig->allocator, *one);
        *one = VK_NULL_HANDLE;
        expect(crew, maarAllocateMemory(crew->rig->allocator, &request, &how, one) == VK_SUCCESS);
        fill(crew, *one, size);
    }
    maarFreeMemories(crew->rig->allocator, HELD, held);
    (void)atomic_fetch_sub(&crew->working, 1);
    return NULL;
}

static void* compare(void* argument)
{
    struct crew* const crew = argument;
    while (atomic_load(&crew->working) > 0) {
        expect(crew,
               maarCheckMargins(crew->rig->allocator, VK_NULL_HANDLE, UINT32_MAX) == VK_SUCCESS);
        (void)atomic_fetch_add(&crew->checks, 1);
    }
    return NULL;
}

static void margins_are_compared_beside_their_owners(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const MaarMarginInfo margins = {
        .sType = MAAR_STRUCTURE_TYPE_MARGIN_INFO, .marginSize = MARGIN, .checksMargins = VK_TRUE};
    struct crew crew = {.rig = rig, .working = WORKERS};
    struct worker workers[WORKERS];
    pthread_t comparing;
    rig_open(rig, NULL);
    rig->create_info.pNext = &margins;
    rig_make_allocator(rig);
    const uint64_t seed = rig_seed(1);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i] = (struct worker){.crew = &crew, .random = {seed + i}};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    assert_int_equal(pthread_create(&comparing, NULL, compare, &crew), 0);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    assert_int_equal(pthread_join(comparing, NULL), 0);
    assert_int_equal(atomic_load(&crew.errors), 0);
    assert_true(atomic_load(&crew.checks) >= CHECKS);
    rig_expect_silence(rig);
    rig_check(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(margins_are_compared_beside_their_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
