/*
 * Ordered reuse beside pending ranges.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include "bench_common.h"

#include <stdlib.h>

/* Ranges have one of this number of sizes, and one of this number of values. */
enum { ORDERED_SIZES = 64, ORDERED_VALUES = 1000 };
#define ORDERED_UNIT ((VkDeviceSize)256)

static MaarAllocationCreateInfo ordered_how(struct growth* growth, MaarOrderedUseInfo* use,
                                            MaarPoint* point)
{
    MaarAllocationCreateInfo how = growth_how(growth);
    *point = (MaarPoint){VK_NULL_HANDLE, 1000000 + bench_random(&growth->random) % ORDERED_VALUES};
    *use = (MaarOrderedUseInfo){
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO, .pointCount = 1, .pPoints = point};
    how.pNext = use;
    return how;
}

static void do_declare(struct growth* growth, uint32_t index)
{
    const MaarPoint signal = {VK_NULL_HANDLE, 2000000 + ++growth->serial};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO, .signalCount = 1, .pSignals = &signal};
    (void)index;
    GROWTH_EXPECT(maarDeclareSubmission(growth->allocator, &info));
}

/* n pending ranges of some sizes and values, each beside `live` live ones. */
static void open_ranges(struct growth* growth, uint32_t live)
{
    const uint32_t all = growth->n * (1 + live);
    growth_create_allocator(growth);
    do_declare(growth, 0);
    growth->pool =
        growth_create_pool(growth, ((VkDeviceSize)all + 1024) * ORDERED_SIZES * ORDERED_UNIT, 1);
    growth->memory = bench_allocate(all + growth->count, sizeof *growth->memory);
    for (uint32_t i = 0; i < all; ++i) {
        const MaarMemoryRequest request =
            growth_request(ORDERED_UNIT * (1 + i % ORDERED_SIZES), ORDERED_UNIT);
        const MaarAllocationCreateInfo how = growth_how(growth);
        GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, &how, &growth->memory[i]));
    }
    for (uint32_t i = 0; i < all; i += 1 + live) {
        const MaarPoint point = {VK_NULL_HANDLE, 1000000 + i * 7919ull % ORDERED_VALUES};
        GROWTH_EXPECT(maarFreeMemoryAfter(growth->allocator, growth->memory[i], 1, &point));
        growth->memory[i] = VK_NULL_HANDLE;
    }
}

static void open_ordered(struct growth* growth)
{
    open_ranges(growth, 0);
}

static void open_apart(struct growth* growth)
{
    open_ranges(growth, 1);
}

static void close_ordered(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
    maarDestroyPool(growth->allocator, growth->pool);
}

/* The range is pending again after the free. */
static void do_reuse(struct growth* growth, uint32_t index)
{
    MaarOrderedUseInfo use;
    MaarPoint point;
    MaarAllocation memory = VK_NULL_HANDLE;
    const MaarMemoryRequest request =
        growth_request(ORDERED_UNIT * (1 + growth_pick(growth) % ORDERED_SIZES), ORDERED_UNIT);
    const MaarAllocationCreateInfo how = ordered_how(growth, &use, &point);
    (void)index;
    GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, &how, &memory));
    maarFreeMemory(growth->allocator, memory);
}

static void do_forget(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarForgetTimeline(growth->allocator, VK_NULL_HANDLE));
}

static void do_statistics(struct growth* growth, uint32_t index)
{
    MaarOrderedStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS};
    (void)index;
    GROWTH_EXPECT(maarGetOrderedStatistics(growth->allocator, &statistics));
}

/* No range is large enough, and none can be joined: the request gets free memory. */
static void do_look_in_vain(struct growth* growth, uint32_t index)
{
    const MaarPoint point = {VK_NULL_HANDLE, 1000000 + ORDERED_VALUES};
    const MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO, .pointCount = 1, .pPoints = &point};
    MaarAllocationCreateInfo how = growth_how(growth);
    how.pNext = &use;
    const MaarMemoryRequest request =
        growth_request(ORDERED_UNIT * (2 * ORDERED_SIZES), ORDERED_UNIT);
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)index;
    GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, &how, &memory));
    maarFreeMemory(growth->allocator, memory);
}

static void close_apart(struct growth* growth)
{
    maarFreeMemories(growth->allocator, 2 * growth->n, growth->memory);
    close_ordered(growth);
}

const struct growth_case growth_ordered_cases[] = {
    {
        .name = "reuse-pending",
        .functions = "maarAllocateMemory maarFreeMemory",
        .dimension = "pending ranges that an ordered allocation can have",
        .n = 10000,
        .open = open_ordered,
        .operation = do_reuse,
        .close = close_ordered,
    },
    {
        .name = "reuse-in-vain",
        .functions = "maarAllocateMemory maarFreeMemory",
        .dimension = "pending ranges, all of them too small and apart",
        .n = 10000,
        .open = open_apart,
        .operation = do_look_in_vain,
        .close = close_apart,
    },
    {
        .name = "declare-submission",
        .functions = "maarDeclareSubmission",
        .dimension = "pending ranges that an ordered allocation can have",
        .n = 10000,
        .open = open_ordered,
        .operation = do_declare,
        .close = close_ordered,
    },
    {
        .name = "forget-timeline",
        .functions = "maarForgetTimeline",
        .dimension = "pending ranges that an ordered allocation can have",
        .n = 10000,
        .count = 1000,
        .open = open_ordered,
        .operation = do_forget,
        .close = close_ordered,
    },
    {
        .name = "ordered-statistics",
        .functions = "maarGetOrderedStatistics",
        .dimension = "pending ranges that an ordered allocation can have",
        .n = 10000,
        .count = 1000,
        .open = open_ordered,
        .operation = do_statistics,
        .close = close_ordered,
    },
    {.name = NULL},
};
