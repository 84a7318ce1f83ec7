/*
 * Pending frees, and the timelines that they wait for.
 */
#include "growth.h"

#include <stdlib.h>

/* Bytes of each pending free. */
#define PENDING_SIZE ((VkDeviceSize)4 * GROWTH_KIB)

/* n pending frees that wait for the host timeline. */
static void open_pending(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, PENDING_SIZE * growth->n, 1);
    growth_fill(growth, growth->n, PENDING_SIZE);
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarPoint point = {.value = 1 + i % 1000};
        bench_expect(maarFreeMemoryAfter(growth->allocator, growth->memory[i], 1, &point),
                     "maarFreeMemoryAfter");
    }
}

static void run_failing(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(PENDING_SIZE * growth->n, 256);
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = growth->pool,
    };
    for (uint32_t i = 0; i < growth->count; ++i) {
        MaarAllocation memory = VK_NULL_HANDLE;
        if (maarAllocateMemory(growth->allocator, &request, &info, &memory) == VK_SUCCESS) {
            bench_die(BENCH_EXIT_FAILED, "an allocation has room beside pending frees");
        }
    }
}

static void run_collect_none(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        bench_expect(maarCollect(growth->allocator, NULL), "maarCollect");
    }
}

static void close_pending(struct growth* growth)
{
    bench_expect(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX), "advance");
    maarDestroyPool(growth->allocator, growth->pool);
}

/* ---- many timelines ---- */

enum { TIMELINES = 17 };

static void open_timelines(struct growth* growth)
{
    VkSemaphore* timelines = bench_allocate(TIMELINES, sizeof *timelines);
    growth_create_allocator(growth);
    for (uint32_t i = 0; i < TIMELINES; ++i) {
        timelines[i] = growth_create_timeline(growth);
    }
    growth->state = timelines;
    growth->pool = growth_create_pool(growth, PENDING_SIZE * growth->n, 1);
    growth_fill(growth, growth->n, PENDING_SIZE);
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarPoint point = {timelines[i % TIMELINES], 1 + i % 1000};
        bench_expect(maarFreeMemoryAfter(growth->allocator, growth->memory[i], 1, &point),
                     "maarFreeMemoryAfter");
    }
}

static void close_timelines(struct growth* growth)
{
    VkSemaphore* timelines = growth->state;
    for (uint32_t i = 0; i < TIMELINES; ++i) {
        const VkSemaphoreSignalInfo signal = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
            .semaphore = timelines[i],
            .value = 1000000,
        };
        bench_expect(vkSignalSemaphore(growth->device, &signal), "vkSignalSemaphore");
    }
    bench_expect(maarWaitPending(growth->allocator, UINT64_MAX), "maarWaitPending");
    maarDestroyPool(growth->allocator, growth->pool);
    for (uint32_t i = 0; i < TIMELINES; ++i) {
        vkDestroySemaphore(growth->device, timelines[i], NULL);
    }
    free(timelines);
}

const struct growth_case growth_pending_cases[] = {
    {
        .name = "fail-beside-pending",
        .functions = "maarAllocateMemory",
        .dimension = "pending frees that have not passed; the request fails",
        .n = 10000,
        .count = 100,
        .open = open_pending,
        .run = run_failing,
        .close = close_pending,
    },
    {
        .name = "collect-nothing",
        .functions = "maarCollect",
        .dimension = "pending frees that have not passed",
        .n = 10000,
        .count = 1000,
        .open = open_pending,
        .run = run_collect_none,
        .close = close_pending,
    },
    {
        .name = "collect-timelines",
        .functions = "maarCollect",
        .dimension = "pending frees on 17 timelines that have not passed",
        .n = 10000,
        .count = 1000,
        .open = open_timelines,
        .run = run_collect_none,
        .close = close_timelines,
    },
    {.name = NULL},
};
