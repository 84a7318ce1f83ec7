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

/* n pending ranges of some sizes and values. */
static void open_ordered(struct growth* growth)
{
    growth_create_allocator(growth);
    do_declare(growth, 0);
    growth->pool = growth_create_pool(growth, (growth->n + 1024) * ORDERED_SIZES * ORDERED_UNIT, 1);
    growth->memory = bench_allocate(growth->n + growth->count, sizeof *growth->memory);
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarMemoryRequest request =
            growth_request(ORDERED_UNIT * (1 + i % ORDERED_SIZES), ORDERED_UNIT);
        const MaarAllocationCreateInfo how = growth_how(growth);
        GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, &how, &growth->memory[i]));
    }
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarPoint point = {VK_NULL_HANDLE, 1000000 + i * 7919 % ORDERED_VALUES};
        GROWTH_EXPECT(maarFreeMemoryAfter(growth->allocator, growth->memory[i], 1, &point));
    }
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
