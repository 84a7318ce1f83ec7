/*
 * Pending frees, and the timelines that they wait for.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Bytes of each pending free. */
#define PENDING_SIZE ((VkDeviceSize)4 * GROWTH_KIB)

/* How many values of a timeline the frees wait for, by turns. */
enum { VALUES = 1000 };

/* For how many runs a pool has room. */
enum { MOST_RUNS = 32 };

/* ---- on the host timeline ---- */

static void fill_pool(struct growth* growth, uint32_t count)
{
    const MaarMemoryRequest request = growth_request(PENDING_SIZE, 256);
    growth_fill(growth, count, &request, 0, MAAR_DEDICATED_AUTO);
}

static void free_after(struct growth* growth, uint32_t index, VkSemaphore semaphore, uint64_t value)
{
    const MaarPoint point = {semaphore, value};
    GROWTH_EXPECT(maarFreeMemoryAfter(growth->allocator, growth->memory[index], 1, &point));
}

static VkDeviceSize pool_size(const struct growth* growth)
{
    return PENDING_SIZE * ((VkDeviceSize)growth->n + (VkDeviceSize)MOST_RUNS * growth->count);
}

/* n pending frees. */
static void open_pending(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, pool_size(growth), 1);
    fill_pool(growth, growth->n);
    for (uint32_t i = 0; i < growth->n; ++i) {
        free_after(growth, i, VK_NULL_HANDLE, 1000000 + i % VALUES);
    }
}

static void close_pending(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
    maarDestroyPool(growth->allocator, growth->pool);
}

static void do_fail(struct growth* growth, uint32_t index)
{
    const MaarMemoryRequest request = growth_request(pool_size(growth), 256);
    const MaarAllocationCreateInfo how = growth_how(growth);
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)index;
    if (maarAllocateMemory(growth->allocator, &request, &how, &memory) == VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "an allocation has room beside pending frees");
    }
}

static void do_collect(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarCollect(growth->allocator, NULL));
}

static void do_advance(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, 1));
}

static void do_wait_not_ready(struct growth* growth, uint32_t index)
{
    (void)index;
    if (maarWaitPending(growth->allocator, 0) != VK_NOT_READY) {
        bench_die(BENCH_EXIT_FAILED, "no free waits for the host timeline");
    }
}

/* A point of the host timeline that has not passed ends the wait at once. */
static void do_wait_points(struct growth* growth, uint32_t index)
{
    const MaarPoint point = {VK_NULL_HANDLE, 1000000 + index};
    if (maarWaitPoints(growth->allocator, 1, &point, 0) != VK_NOT_READY) {
        bench_die(BENCH_EXIT_FAILED, "the host timeline has passed");
    }
}

/* Live allocations behind the n pending ones, for the run to free. */
static void allocate_more(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(PENDING_SIZE, 256);
    const MaarAllocationCreateInfo how = growth_how(growth);
    for (uint32_t i = 0; i < growth->count; ++i) {
        GROWTH_EXPECT(
            maarAllocateMemory(growth->allocator, &request, &how, &growth->memory[growth->n + i]));
    }
}

static void do_free_newest(struct growth* growth, uint32_t index)
{
    free_after(growth, growth->n + index, VK_NULL_HANDLE, 2000000 + ++growth->serial);
}

static void do_free_between(struct growth* growth, uint32_t index)
{
    const uint64_t value = 1000000 + bench_random(&growth->random) % VALUES;
    free_after(growth, growth->n + index, VK_NULL_HANDLE, value);
}

/* ---- frees whose points have passed ---- */

static void open_pool(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, PENDING_SIZE * growth->n, 1);
    fill_pool(growth, growth->n);
    growth->state = bench_allocate(1, sizeof(VkSemaphore));
    *(VkSemaphore*)growth->state = growth_create_timeline(growth);
    growth_signal(growth, *(VkSemaphore*)growth->state);
}

static void free_passed(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        free_after(growth, i, *(VkSemaphore*)growth->state, 1 + i % VALUES);
    }
}

static void allocate_again(struct growth* growth)
{
    free(growth->memory);
    fill_pool(growth, growth->n);
}

static void do_wait(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarWaitPending(growth->allocator, UINT64_MAX));
}

static void close_pool(struct growth* growth)
{
    growth_empty(growth, growth->n);
    maarDestroyPool(growth->allocator, growth->pool);
    vkDestroySemaphore(growth->device, *(VkSemaphore*)growth->state, NULL);
}

/* ---- many timelines ---- */

/* Pending frees on `count` timelines by turns. */
static void free_on_timelines(struct growth* growth, uint32_t count)
{
    VkSemaphore* timelines = bench_allocate(count, sizeof *timelines);
    growth_create_allocator(growth);
    for (uint32_t i = 0; i < count; ++i) {
        timelines[i] = growth_create_timeline(growth);
    }
    growth->state = timelines;
    growth->pool = growth_create_pool(growth, pool_size(growth), 1);
    fill_pool(growth, growth->n);
    for (uint32_t i = 0; i < growth->n; ++i) {
        free_after(growth, i, timelines[i % count], 1 + i % VALUES);
    }
}

static void end_timelines(struct growth* growth, uint32_t count)
{
    VkSemaphore* timelines = growth->state;
    for (uint32_t i = 0; i < count; ++i) {
        growth_signal(growth, timelines[i]);
    }
    GROWTH_EXPECT(maarWaitPending(growth->allocator, UINT64_MAX));
    maarDestroyPool(growth->allocator, growth->pool);
    for (uint32_t i = 0; i < count; ++i) {
        vkDestroySemaphore(growth->device, timelines[i], NULL);
    }
}

enum { TIMELINES = 17 };

static void open_few_timelines(struct growth* growth)
{
    free_on_timelines(growth, TIMELINES);
}

static void close_few_timelines(struct growth* growth)
{
    end_timelines(growth, TIMELINES);
}

static void open_timelines(struct growth* growth)
{
    free_on_timelines(growth, growth->n);
}

static void close_timelines(struct growth* growth)
{
    end_timelines(growth, growth->n);
}

static void do_free_on_timeline(struct growth* growth, uint32_t index)
{
    const VkSemaphore* timelines = growth->state;
    free_after(growth, growth->n + index, timelines[growth_pick(growth)], 1);
}

const struct growth_case growth_pending_cases[] = {
    {
        .name = "fail-beside-pending",
        .functions = "maarAllocateMemory",
        .dimension = "pending frees that have not passed; the request fails",
        .n = 10000,
        .open = open_pending,
        .operation = do_fail,
        .close = close_pending,
    },
    {
        .name = "free-after-newest",
        .functions = "maarFreeMemoryAfter",
        .dimension = "pending frees; the newest point of the timeline",
        .n = 10000,
        .open = open_pending,
        .prepare = allocate_more,
        .operation = do_free_newest,
        .close = close_pending,
    },
    {
        .name = "free-after-between",
        .functions = "maarFreeMemoryAfter",
        .dimension = "pending frees; any of their points",
        .n = 10000,
        .open = open_pending,
        .prepare = allocate_more,
        .operation = do_free_between,
        .close = close_pending,
    },
    {
        .name = "collect-nothing",
        .functions = "maarCollect",
        .dimension = "pending frees that have not passed",
        .n = 10000,
        .count = 1000,
        .open = open_pending,
        .operation = do_collect,
        .close = close_pending,
    },
    {
        .name = "advance-host-timeline",
        .functions = "maarAdvanceHostTimeline",
        .dimension = "pending frees that have not passed",
        .n = 10000,
        .count = 1000,
        .open = open_pending,
        .operation = do_advance,
        .close = close_pending,
    },
    {
        .name = "wait-host-points",
        .functions = "maarWaitPending",
        .dimension = "pending frees that wait for the host timeline",
        .n = 10000,
        .open = open_pending,
        .operation = do_wait_not_ready,
        .close = close_pending,
    },
    {
        .name = "wait-points",
        .functions = "maarWaitPoints",
        .dimension = "pending frees that wait for the host timeline",
        .n = 10000,
        .count = 1000,
        .open = open_pending,
        .operation = do_wait_points,
        .close = close_pending,
    },
    {
        .name = "collect-passed",
        .functions = "maarCollect",
        .dimension = "frees whose points have passed",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_pool,
        .prepare = free_passed,
        .operation = do_collect,
        .tidy = allocate_again,
        .close = close_pool,
    },
    {
        .name = "wait-passed",
        .functions = "maarWaitPending",
        .dimension = "frees whose points have passed",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_pool,
        .prepare = free_passed,
        .operation = do_wait,
        .tidy = allocate_again,
        .close = close_pool,
    },
    {
        .name = "collect-17-timelines",
        .functions = "maarCollect",
        .dimension = "pending frees on 17 timelines that have not passed",
        .n = 10000,
        .count = 1000,
        .open = open_few_timelines,
        .operation = do_collect,
        .close = close_few_timelines,
    },
    {
        .name = "collect-timelines",
        .functions = "maarCollect",
        .dimension = "timelines, each with a free that has not passed",
        .kind = GROWTH_OVER,
        .n = 500,
        .open = open_timelines,
        .operation = do_collect,
        .close = close_timelines,
    },
    {
        .name = "free-after-timelines",
        .functions = "maarFreeMemoryAfter",
        .dimension = "timelines, each with a free that has not passed",
        .n = 500,
        .open = open_timelines,
        .prepare = allocate_more,
        .operation = do_free_on_timeline,
        .close = close_timelines,
    },
    {.name = NULL},
};
