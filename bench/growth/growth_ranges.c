/*
 * The range allocator with each of its strategies.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* A range allocator with n live ranges; every second one was freed again, but not in linear
 * placement. */
struct ranges {
    MaarRangeAllocator allocator;
    MaarRange* live;
    uint64_t size;
    uint64_t visited;
};

static MaarRangeAllocatorCreateInfo describe(MaarPlacementStrategy strategy, uint64_t size)
{
    return (MaarRangeAllocatorCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .strategy = strategy,
        .size = size,
        .granularity = 1024,
    };
}

static void allocate(struct growth* growth, uint32_t at, MaarRangeAllocateFlags flags)
{
    struct ranges* ranges = growth->state;
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = 256 + 256 * (bench_random(&growth->random) % 16),
        .alignment = 256,
        .kind = 1 + (uint32_t)(bench_random(&growth->random) % 2),
        .flags = flags,
    };
    GROWTH_EXPECT(maarAllocateRange(ranges->allocator, &info, &ranges->live[at], NULL));
}

static void open_ranges(struct growth* growth, MaarPlacementStrategy strategy)
{
    struct ranges* ranges = bench_allocate(1, sizeof *ranges);
    const size_t count = (size_t)2 * growth->n + growth->count;
    growth->state = ranges;
    ranges->size = (uint64_t)16384 * count;
    const MaarRangeAllocatorCreateInfo info = describe(strategy, ranges->size);
    GROWTH_EXPECT(maarCreateRangeAllocator(&info, &ranges->allocator));
    growth->spare = ranges->live = bench_allocate(count, sizeof *ranges->live);
    for (uint32_t i = 0; i < 2 * growth->n; ++i) {
        allocate(growth, i, 0);
    }
    for (uint32_t i = 1; i < 2 * growth->n && strategy != MAAR_PLACEMENT_STRATEGY_LINEAR; i += 2) {
        GROWTH_EXPECT(maarFreeRange(ranges->allocator, ranges->live[i]));
    }
}

static void open_tlsf(struct growth* growth)
{
    open_ranges(growth, MAAR_PLACEMENT_STRATEGY_TLSF);
}

static void open_buddy(struct growth* growth)
{
    open_ranges(growth, MAAR_PLACEMENT_STRATEGY_BUDDY);
}

static void open_linear(struct growth* growth)
{
    open_ranges(growth, MAAR_PLACEMENT_STRATEGY_LINEAR);
}

static void close_ranges(struct growth* growth)
{
    struct ranges* ranges = growth->state;
    maarDestroyRangeAllocator(ranges->allocator);
    ranges->allocator = NULL;
}

static void do_allocate(struct growth* growth, uint32_t index)
{
    allocate(growth, 2 * growth->n + index, 0);
}

static void do_allocate_lowest(struct growth* growth, uint32_t index)
{
    allocate(growth, 2 * growth->n + index, MAAR_RANGE_ALLOCATE_LOWEST_BIT);
}

static void do_free(struct growth* growth, uint32_t index)
{
    const struct ranges* ranges = growth->state;
    GROWTH_EXPECT(maarFreeRange(ranges->allocator, ranges->live[2 * growth->n + index]));
}

static void allocate_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_allocate);
}

/* Newest first, as linear placement needs. */
static void free_more(struct growth* growth)
{
    for (uint32_t i = growth->count; i > 0; --i) {
        do_free(growth, i - 1);
    }
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const struct ranges* ranges = growth->state;
    MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
    (void)index;
    GROWTH_EXPECT(
        maarGetRangeInfo(ranges->allocator, ranges->live[2 * growth_pick(growth)], &info));
}

static void do_set_data(struct growth* growth, uint32_t index)
{
    const struct ranges* ranges = growth->state;
    GROWTH_EXPECT(
        maarSetRangeUserData(ranges->allocator, ranges->live[2 * growth_pick(growth)], index));
}

static void do_get_statistics(struct growth* growth, uint32_t index)
{
    const struct ranges* ranges = growth->state;
    MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    (void)index;
    GROWTH_EXPECT(maarGetRangeStatistics(ranges->allocator, &statistics));
}

static void do_resize(struct growth* growth, uint32_t index)
{
    struct ranges* ranges = growth->state;
    (void)index;
    ranges->size += 4096;
    GROWTH_EXPECT(maarResizeRangeAllocator(ranges->allocator, ranges->size));
}

/* ---- of all ranges ---- */

static void do_reset(struct growth* growth, uint32_t index)
{
    const struct ranges* ranges = growth->state;
    (void)index;
    GROWTH_EXPECT(maarResetRangeAllocator(ranges->allocator));
}

static void fill_again(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        allocate(growth, i, 0);
    }
}

static VkBool32 VKAPI_CALL count_range(void* user_data, const MaarRangeInfo* info)
{
    struct ranges* ranges = user_data;
    ranges->visited += info->size;
    return VK_TRUE;
}

static void do_walk(struct growth* growth, uint32_t index)
{
    struct ranges* ranges = growth->state;
    (void)index;
    GROWTH_EXPECT(maarWalkRanges(ranges->allocator, count_range, ranges));
}

static void do_check(struct growth* growth, uint32_t index)
{
    const struct ranges* ranges = growth->state;
    (void)index;
    if (maarCheckRangeAllocator(ranges->allocator) != NULL) {
        bench_die(BENCH_EXIT_FAILED, "%s", maarCheckRangeAllocator(ranges->allocator));
    }
}

/* ---- creation and destruction ---- */

static void open_nothing(struct growth* growth)
{
    growth->state = bench_allocate(1, sizeof(struct ranges));
}

static void do_create(struct growth* growth, uint32_t index)
{
    const MaarRangeAllocatorCreateInfo info =
        describe((MaarPlacementStrategy)(index % 3), GROWTH_GIB * growth->n);
    MaarRangeAllocator allocator = NULL;
    GROWTH_EXPECT(maarCreateRangeAllocator(&info, &allocator));
    maarDestroyRangeAllocator(allocator);
}

static void open_for_destruction(struct growth* growth)
{
    free(growth->state);
    free(growth->spare);
    open_tlsf(growth);
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    (void)index;
    close_ranges(growth);
}

#define RANGES(case_name, function, text, how, world, before, does, after)                         \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = 10000,      \
        .count = 1000, .open = open_##world, .prepare = before, .operation = does, .tidy = after,  \
        .close = close_ranges                                                                      \
    }
#define EACH_STRATEGY(suffix, world)                                                               \
    RANGES("allocate-range-" suffix, "maarAllocateRange", "live ranges, " suffix, GROWTH_BESIDE,   \
           world, NULL, do_allocate, free_more),                                                   \
        RANGES("free-range-" suffix, "maarFreeRange", "live ranges, " suffix, GROWTH_BESIDE,       \
               world, allocate_more, do_free, NULL),                                               \
        RANGES("resize-ranges-" suffix, "maarResizeRangeAllocator", "live ranges, " suffix,        \
               GROWTH_BESIDE, world, NULL, do_resize, NULL),                                       \
        RANGES("range-statistics-" suffix, "maarGetRangeStatistics", "live ranges, " suffix,       \
               GROWTH_BESIDE, world, NULL, do_get_statistics, NULL),                               \
        RANGES("walk-ranges-" suffix, "maarWalkRanges", "ranges, " suffix, GROWTH_OVER, world,     \
               NULL, do_walk, NULL),                                                               \
        RANGES("check-ranges-" suffix, "maarCheckRangeAllocator", "ranges, " suffix, GROWTH_OVER,  \
               world, NULL, do_check, NULL)

const struct growth_case growth_range_cases[] = {
    EACH_STRATEGY("tlsf", tlsf),
    EACH_STRATEGY("buddy", buddy),
    EACH_STRATEGY("linear", linear),
    RANGES("range-info", "maarGetRangeInfo", "live ranges", GROWTH_BESIDE, tlsf, NULL, do_get_info,
           NULL),
    RANGES("range-user-data", "maarSetRangeUserData", "live ranges", GROWTH_BESIDE, tlsf, NULL,
           do_set_data, NULL),
    {
        .name = "allocate-range-lowest",
        .functions = "maarAllocateRange",
        .dimension = "live ranges; the lowest 100 places",
        .kind = GROWTH_BESIDE,
        .n = 10000,
        .count = 100,
        .open = open_tlsf,
        .operation = do_allocate_lowest,
        .tidy = free_more,
        .close = close_ranges,
    },
    {
        .name = "reset-ranges",
        .functions = "maarResetRangeAllocator",
        .dimension = "live ranges; one call for all of them",
        .kind = GROWTH_BESIDE,
        .n = 10000,
        .count = 1,
        .open = open_tlsf,
        .operation = do_reset,
        .tidy = fill_again,
        .close = close_ranges,
    },
    {
        .name = "create-range-allocator",
        .functions = "maarCreateRangeAllocator maarDestroyRangeAllocator",
        .dimension = "GiB of the space",
        .n = 16,
        .open = open_nothing,
        .operation = do_create,
    },
    {
        .name = "destroy-range-allocator",
        .functions = "maarDestroyRangeAllocator",
        .dimension = "live ranges; one call for all of them",
        .n = 10000,
        .count = 1,
        .open = open_nothing,
        .prepare = open_for_destruction,
        .operation = do_destroy,
    },
    {.name = NULL},
};
