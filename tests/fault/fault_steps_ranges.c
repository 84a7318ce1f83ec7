/*
 * Steps: the range allocator, under each strategy.
 */
#include "tests/fault/fault_steps.h"

static VkResult create_ranges(struct fault_context* c, MaarPlacementStrategy strategy)
{
    const MaarRangeAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .strategy = strategy,
        .size = MIB,
        .granularity = 1024,
        .pAllocationCallbacks = &c->host.callbacks,
    };
    c->ranges = (MaarRangeAllocator)(uintptr_t)1;
    VkResult result = maarCreateRangeAllocator(&info, &c->ranges);
    assert_true((result == VK_SUCCESS) == (c->ranges != VK_NULL_HANDLE));
    return result;
}

static VkResult run_create_tlsf(struct fault_context* c)
{
    return create_ranges(c, MAAR_PLACEMENT_STRATEGY_TLSF);
}

static VkResult run_create_buddy(struct fault_context* c)
{
    return create_ranges(c, MAAR_PLACEMENT_STRATEGY_BUDDY);
}

static VkResult run_create_linear(struct fault_context* c)
{
    return create_ranges(c, MAAR_PLACEMENT_STRATEGY_LINEAR);
}

static void undo_create(struct fault_context* c)
{
    maarDestroyRangeAllocator(c->ranges);
}

static void prepare_tlsf(struct fault_context* c)
{
    assert_int_equal(run_create_tlsf(c), VK_SUCCESS);
}

static void prepare_buddy(struct fault_context* c)
{
    assert_int_equal(run_create_buddy(c), VK_SUCCESS);
}

static void prepare_linear(struct fault_context* c)
{
    assert_int_equal(run_create_linear(c), VK_SUCCESS);
}

static VkResult run_destroy(struct fault_context* c)
{
    maarDestroyRangeAllocator(c->ranges);
    return VK_SUCCESS;
}

static MaarRangeStatistics totals_of(struct fault_context* c)
{
    MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    assert_int_equal(maarGetRangeStatistics(c->ranges, &statistics), VK_SUCCESS);
    const char* broken = maarCheckRangeAllocator(c->ranges);
    if (broken != NULL) {
        fail_msg("the range allocator is broken: %s", broken);
    }
    return statistics;
}

static VkResult allocate_range(struct fault_context* c, MaarRange* range)
{
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = 300,
        .alignment = 48,
        .kind = 1,
    };
    VkDeviceSize offset = 12345;
    *range = (MaarRange)(uintptr_t)1;
    VkResult result = maarAllocateRange(c->ranges, &info, range, &offset);
    assert_true((result == VK_SUCCESS) == (*range != VK_NULL_HANDLE));
    assert_true(result == VK_SUCCESS || offset == 0);
    return result;
}

/* All of a crowd, or none: what it needs for that grows in lots. */
static VkResult run_allocate(struct fault_context* c)
{
    VkResult result = VK_SUCCESS;
    uint32_t made = 0;
    for (; made < FAULT_CROWD; ++made) {
        MaarRangeStatistics before = totals_of(c);
        result = allocate_range(c, &c->range_crowd[made]);
        if (result != VK_SUCCESS) {
            MaarRangeStatistics after = totals_of(c);
            assert_int_equal(before.rangeCount, after.rangeCount);
            assert_true(before.freeSize == after.freeSize && before.usedSize == after.usedSize);
            break;
        }
    }
    for (uint32_t i = 0; i < made && result != VK_SUCCESS; ++i) {
        assert_int_equal(maarFreeRange(c->ranges, c->range_crowd[i]), VK_SUCCESS);
    }
    return result;
}

static void prepare_range(struct fault_context* c)
{
    prepare_tlsf(c);
    assert_int_equal(allocate_range(c, &c->range), VK_SUCCESS);
}

static VkResult run_free(struct fault_context* c)
{
    return maarFreeRange(c->ranges, c->range);
}

static VkResult run_reset(struct fault_context* c)
{
    VkResult result = maarResetRangeAllocator(c->ranges);
    assert_int_equal(totals_of(c).rangeCount, 0);
    return result;
}

static VkResult run_resize(struct fault_context* c)
{
    VkResult result = maarResizeRangeAllocator(c->ranges, GIB);
    assert_true(totals_of(c).size == (result == VK_SUCCESS ? GIB : MIB));
    return result;
}

static VkResult run_info(struct fault_context* c)
{
    MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
    VkResult result = maarGetRangeInfo(c->ranges, c->range, &info);
    assert_int_equal(info.size, 300);
    return result;
}

static VkResult run_set_data(struct fault_context* c)
{
    return maarSetRangeUserData(c->ranges, c->range, 17);
}

static VkResult run_totals(struct fault_context* c)
{
    assert_int_equal(totals_of(c).rangeCount, 1);
    return VK_SUCCESS;
}

static VkBool32 VKAPI_PTR count_range(void* user, const MaarRangeInfo* info)
{
    uint32_t* count = user;
    *count += info->state == MAAR_RANGE_STATE_LIVE ? 1 : 0;
    return VK_TRUE;
}

static VkResult run_walk(struct fault_context* c)
{
    uint32_t count = 0;
    VkResult result = maarWalkRanges(c->ranges, count_range, &count);
    assert_int_equal(count, 1);
    return result;
}

static const char only_reads[] = "reads what is kept";

#define RANGE_STEP(strategy)                                                                       \
    {.function = "maarCreateRangeAllocator",                                                       \
     .variant = #strategy,                                                                         \
     .run = run_create_##strategy,                                                                 \
     .undo = undo_create},                                                                         \
        {.function = "maarAllocateRange",                                                          \
         .variant = #strategy,                                                                     \
         .prepare = prepare_##strategy,                                                            \
         .run = run_allocate,                                                                      \
         .finish = undo_create,                                                                    \
         .session = true},                                                                         \
    {                                                                                              \
        .function = "maarResizeRangeAllocator", .variant = #strategy,                              \
        .prepare = prepare_##strategy, .run = run_resize, .finish = undo_create                    \
    }

static const struct fault_step steps[] = {
    RANGE_STEP(tlsf),
    RANGE_STEP(buddy),
    RANGE_STEP(linear),
    {.function = "maarDestroyRangeAllocator",
     .never = "gives back host memory",
     .prepare = prepare_range,
     .run = run_destroy},
    {.function = "maarFreeRange",
     .never = "needs no memory, by contract",
     .prepare = prepare_range,
     .run = run_free,
     .finish = undo_create},
    {.function = "maarResetRangeAllocator",
     .never = "keeps its memory for later",
     .prepare = prepare_range,
     .run = run_reset,
     .finish = undo_create},
    {.function = "maarGetRangeInfo",
     .never = only_reads,
     .prepare = prepare_range,
     .run = run_info,
     .finish = undo_create},
    {.function = "maarSetRangeUserData",
     .never = "writes one number",
     .prepare = prepare_range,
     .run = run_set_data,
     .finish = undo_create},
    {.function = "maarGetRangeStatistics",
     .never = only_reads,
     .prepare = prepare_range,
     .run = run_totals,
     .finish = undo_create},
    {.function = "maarWalkRanges",
     .never = only_reads,
     .prepare = prepare_range,
     .run = run_walk,
     .finish = undo_create},
    {.function = "maarCheckRangeAllocator",
     .never = only_reads,
     .prepare = prepare_range,
     .run = run_totals,
     .finish = undo_create},
};

const struct fault_table fault_range_steps = {steps, sizeof steps / sizeof steps[0]};
