/*
 * What is kept, what is given back before a request fails or a budget is exceeded, and how much is
 * taken when it must be exceeded.
 */
#include "tests/rig/rig.h"

#define LIMIT (64 * MIB)

static MaarAllocationCreateInfo plain(VkFlags flags, MaarDedicated dedicated)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.flags = flags | MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    how.dedicated = dedicated;
    return how;
}

static VkResult try_type(struct rig* rig, uint32_t type, VkDeviceSize size,
                         const MaarAllocationCreateInfo* how, MaarAllocation* allocation)
{
    const MaarMemoryRequest request = rig_request(size, 16, 1u << type, MAAR_RESOURCE_KIND_LINEAR);
    return maarAllocateMemory(rig->allocator, &request, how, allocation);
}

static MaarAllocation take(struct rig* rig, uint32_t type, VkDeviceSize size,
                           const MaarAllocationCreateInfo* how)
{
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(try_type(rig, type, size, how, &allocation), VK_SUCCESS);
    return allocation;
}

static void set_budget_of_0(struct rig* rig, VkDeviceSize budget)
{
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, budget, 0), VK_SUCCESS);
    (void)rig_budget(rig, 0); /* now it is known */
}

static void start_with(struct rig* rig, VkDeviceSize preferred, VkDeviceSize retained)
{
    rig_open(rig, NULL);
    rig->create_info.preferredBlockSize = preferred;
    rig->create_info.retainedEmptySize = retained;
    rig_make_allocator(rig);
}

/* ---- what default pools keep ---- */

/* Blocks of a pool that prefers 256 MiB: the first one, and one for 200 MiB. */
#define SMALL_BLOCK ((VkDeviceSize)32 * MIB)
#define LARGE_BLOCK ((VkDeviceSize)256 * MIB)

/* A small and a large block, emptied in one order or the other; bytes left. */
static VkDeviceSize kept_of_two(VkDeviceSize retained, bool small_first)
{
    const MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_NEVER);
    struct rig* const rig = rig_new();
    start_with(rig, 256 * MIB, retained);
    MaarAllocation small = take(rig, 0, 1000, &how);
    MaarAllocation large = take(rig, 0, 200 * MIB, &how);
    assert_int_equal(rig_info(rig, small).blockSize, SMALL_BLOCK);
    assert_int_equal(rig_info(rig, large).blockSize, LARGE_BLOCK);
    maarFreeMemory(rig->allocator, small_first ? small : large);
    maarFreeMemory(rig->allocator, small_first ? large : small);
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(statistics.freeBytes == statistics.blockBytes);
    rig_check(rig);
    rig_close(rig);
    return statistics.blockBytes;
}

static void retention_holds_in_either_order(void** state)
{
    (void)state;
    static const struct {
        VkDeviceSize retained;
        VkDeviceSize kept;
    } rows[] = {
        {0, LARGE_BLOCK}, /* the largest alone */
        {1, 0},
        {SMALL_BLOCK - 1, 0},
        {SMALL_BLOCK, SMALL_BLOCK},
        {40 * MIB, SMALL_BLOCK},
        {LARGE_BLOCK + SMALL_BLOCK, LARGE_BLOCK + SMALL_BLOCK},
        {UINT64_MAX, LARGE_BLOCK + SMALL_BLOCK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_int_equal(kept_of_two(rows[i].retained, true), rows[i].kept);
        assert_int_equal(kept_of_two(rows[i].retained, false), rows[i].kept);
    }
    /* Whichever becomes empty first stays when there is room for one of them alone. */
    assert_int_equal(kept_of_two(LARGE_BLOCK, true), SMALL_BLOCK);
    assert_int_equal(kept_of_two(LARGE_BLOCK, false), LARGE_BLOCK);
}

/* An empty block stays where it is found while a pool lists more blocks than it had room for. */
static void empty_block_serves_after_many_more(void** state)
{
    (void)state;
    enum { LARGE = 40 };
    const MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_NEVER);
    struct rig* const rig = rig_new();
    start_with(rig, 16 * MIB, UINT64_MAX);
    MaarAllocation small = take(rig, 0, 1000, &how);
    const uint64_t block = rig_info(rig, small).blockId;
    maarFreeMemory(rig->allocator, small);
    MaarAllocation large[LARGE];
    for (uint32_t i = 0; i < LARGE; ++i) {
        large[i] = take(rig, 0, 12 * MIB, &how);
        assert_true(rig_info(rig, large[i]).blockId != block);
    }
    rig_check(rig);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, LARGE + 1);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, LARGE);
    maarFreeMemories(rig->allocator, LARGE, large);
    rig_check(rig);
    rig_close(rig);
}

/* The blocks that a pool always has are made beside empty blocks of another pool, and beside
 * allocations whose point has passed. */
static void first_blocks_find_room(void** state)
{
    (void)state;
    for (uint32_t passed = 0; passed < 2; ++passed) {
        const VkDeviceSize limits[3] = {LIMIT, 0, 0};
        const MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_NEVER);
        const MaarPoint point = {.value = 1};
        struct rig* const rig = rig_new();
        rig_open(rig, NULL);
        rig->create_info.preferredBlockSize = 16 * MIB;
        rig->create_info.retainedEmptySize = UINT64_MAX;
        rig->create_info.heapSizeLimitCount = 3;
        rig->create_info.pHeapSizeLimits = limits;
        rig_make_allocator(rig);
        for (uint32_t i = 0; i < 4; ++i) {
            MaarAllocation it = take(rig, 0, 16 * MIB, &how);
            if (passed != 0) {
                assert_int_equal(maarFreeMemoryAfter(rig->allocator, it, 1, &point), VK_SUCCESS);
            } else {
                maarFreeMemory(rig->allocator, it);
            }
        }
        assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
        const MaarPoolCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
            .blockSize = 16 * MIB,
            .minBlockCount = 3,
        };
        MaarPool pool = VK_NULL_HANDLE;
        assert_int_equal(maarCreatePool(rig->allocator, &info, &pool), VK_SUCCESS);
        assert_int_equal(rig_statistics(rig, pool).blockCount, 3);
        rig_expect_silence(rig);
        maarDestroyPool(rig->allocator, pool);
        rig_close(rig);
    }
}

static void nothing_empty_is_kept_over_budget(void** state)
{
    (void)state;
    const MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_NEVER);
    struct rig* const rig = rig_new();
    start_with(rig, 4 * MIB, 0);
    MaarAllocation made[4];
    for (uint32_t i = 0; i < 4; ++i) {
        made[i] = take(rig, 0, 4 * MIB, &how);
    }
    maarFreeMemory(rig->allocator, made[0]);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).freeBytes, 4 * MIB);
    set_budget_of_0(rig, 8 * MIB);
    maarFreeMemory(rig->allocator, made[1]);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).freeBytes, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, 8 * MIB);
    /* A budget that is just full is not exceeded. */
    maarFreeMemory(rig->allocator, made[2]);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).freeBytes, 4 * MIB);
    maarFreeMemory(rig->allocator, made[3]);
}

static void one_block_is_kept_within_budget_again(void** state)
{
    (void)state;
    const MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_NEVER);
    struct rig* const rig = rig_new();
    start_with(rig, 4 * MIB, 0);
    set_budget_of_0(rig, 8 * MIB);
    MaarAllocation made[4];
    for (uint32_t i = 0; i < 4; ++i) {
        made[i] = take(rig, 0, 4 * MIB, &how);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 2);
    for (uint32_t i = 0; i < 4; ++i) {
        maarFreeMemory(rig->allocator, made[i]);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1);
}

/* ---- given back before a request fails ---- */

/* One heap of which the allocator may hold 64 MiB, two types, blocks of 40 MiB. */
static void start_on_one_heap(struct rig* rig)
{
    static const VkDeviceSize limit = LIMIT;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    rig_open(rig, &setup);
    rig->create_info.preferredBlockSize = 40 * MIB;
    rig->create_info.heapSizeLimitCount = 1;
    rig->create_info.pHeapSizeLimits = &limit;
    rig_make_allocator(rig);
}

static void empty_blocks_of_others_make_room(void** state)
{
    (void)state;
    const MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_NEVER);
    struct rig* const rig = rig_new();
    start_on_one_heap(rig);
    maarFreeMemory(rig->allocator, take(rig, 0, 40 * MIB, &how));
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).freeBytes, 40 * MIB);
    MaarAllocation other = take(rig, 1, 40 * MIB, &how);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, 40 * MIB);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 0);
    maarFreeMemory(rig->allocator, other);
    rig_expect_silence(rig);
}

static void empty_blocks_of_custom_pools_make_room(void** state)
{
    (void)state;
    const MaarAllocationCreateInfo plainly = plain(0, MAAR_DEDICATED_ALWAYS);
    struct rig* const rig = rig_new();
    start_on_one_heap(rig);
    const MaarPoolCreateInfo info = {
        .blockSize = 20 * MIB, .minBlockCount = 1, .retainedEmptySize = UINT64_MAX};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_NEVER);
    how.pool = pool;
    MaarAllocation first = take(rig, 0, 20 * MIB, &how);
    MaarAllocation second = take(rig, 0, 20 * MIB, &how);
    maarFreeMemory(rig->allocator, first);
    maarFreeMemory(rig->allocator, second);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 2);
    MaarAllocation big = take(rig, 1, 44 * MIB, &plainly);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 1); /* its minimum */
    MaarAllocation none = VK_NULL_HANDLE;
    assert_int_equal(try_type(rig, 1, 1 * MIB, &plainly, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 1);
    maarFreeMemory(rig->allocator, big);
    maarDestroyPool(rig->allocator, pool);
}

static void empty_blocks_go_before_a_budget_is_exceeded(void** state)
{
    (void)state;
    const MaarAllocationCreateInfo placed = plain(0, MAAR_DEDICATED_NEVER);
    const MaarAllocationCreateInfo within =
        plain(MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, MAAR_DEDICATED_ALWAYS);
    const MaarAllocationCreateInfo alone = plain(0, MAAR_DEDICATED_ALWAYS);
    const MaarAllocationCreateInfo* const rows[] = {&within, &alone};
    for (uint32_t i = 0; i < 2; ++i) {
        struct rig* const rig = rig_new();
        start_with(rig, 40 * MIB, 0);
        set_budget_of_0(rig, 64 * MIB);
        maarFreeMemory(rig->allocator, take(rig, 0, 40 * MIB, &placed));
        MaarAllocation other = take(rig, 0, 50 * MIB, rows[i]);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, 50 * MIB);
        rig_expect_silence(rig);
        maarFreeMemory(rig->allocator, other);
        rig_close(rig);
    }
}

static void dedicated_memory_that_has_passed_makes_room(void** state)
{
    (void)state;
    const MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_ALWAYS);
    const MaarPoint point = {.value = 1};
    struct rig* const rig = rig_new();
    start_on_one_heap(rig);
    MaarAllocation old = take(rig, 0, 48 * MIB, &how);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, old, 1, &point), VK_SUCCESS);
    MaarAllocation fresh = VK_NULL_HANDLE;
    assert_int_equal(try_type(rig, 0, 48 * MIB, &how, &fresh), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED, "pHeapSizeLimits");
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    fresh = take(rig, 0, 48 * MIB, &how);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    assert_true(rig_counters(rig).heapPeak[0] <= LIMIT);
    maarFreeMemory(rig->allocator, fresh);
    rig_expect_silence(rig);
}

/* ---- over budget, and in vain ---- */

static void over_budget_objects_do_not_run_out(void** state)
{
    (void)state;
    enum { REQUESTS = 6000 };
    static MaarAllocation made[REQUESTS];
    const MaarAllocationCreateInfo how = plain(0, MAAR_DEDICATED_AUTO);
    struct rig* const rig = rig_begin(NULL);
    set_budget_of_0(rig, 16 * MIB);
    for (uint32_t i = 0; i < REQUESTS; ++i) {
        made[i] = take(rig, 0, 60000, &how);
    }
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(statistics.blockCount <= 150);
    /* Nor is much more taken than is needed. */
    assert_true(statistics.blockBytes - statistics.allocationBytes <= 32 * MIB);
    assert_true(statistics.overBudgetCount > 0 && statistics.overBudgetCount < 150);
    maarFreeMemories(rig->allocator, REQUESTS, made);
}

static void first_blocks_over_budget_are_reported(void** state)
{
    (void)state;
    MaarPoolCreateInfo info = {.blockSize = 64 * MIB, .minBlockCount = 2};
    struct rig* const rig = rig_begin(NULL);
    MaarPool within = rig_create_pool(rig, &info);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    rig_expect_silence(rig);
    maarDestroyPool(rig->allocator, within);
    set_budget_of_0(rig, 80 * MIB);
    MaarPool over = rig_create_pool(rig, &info);
    assert_int_equal(rig_statistics(rig, over).blockCount, 2);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OVER_BUDGET, "67108864");
    maarDestroyPool(rig->allocator, over);
}

/* Calls of the driver that a request in vain costs, over all types that would serve. */
static uint64_t calls_in_vain(VkDeviceSize size, uint32_t types, MaarDedicated dedicated)
{
    MaarAllocationCreateInfo how = plain(0, dedicated);
    struct rig* const rig = rig_begin(NULL);
    how.flags = 0;
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const MaarMemoryRequest request = rig_request(size, 16, types, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation none = VK_NULL_HANDLE;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &none),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    rig_clear_faults(rig);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY);
    rig_close(rig);
    return calls;
}

static void requests_in_vain_cost_few_calls(void** state)
{
    (void)state;
    /* One of its own; one of the size that was asked for. */
    assert_int_equal(calls_in_vain(200 * MIB, 1, MAAR_DEDICATED_ALWAYS), 1);
    assert_int_equal(calls_in_vain(200 * MIB, 3, MAAR_DEDICATED_ALWAYS), 2);
    assert_true(calls_in_vain(200 * MIB, 1, MAAR_DEDICATED_AUTO) <= 3);
    assert_true(calls_in_vain(200 * MIB, 7, MAAR_DEDICATED_AUTO) <= 9);
    /* Smaller blocks are tried, a few. */
    assert_true(calls_in_vain(1000, 1, MAAR_DEDICATED_AUTO) <= 5);
    assert_true(calls_in_vain(1000, 7, MAAR_DEDICATED_AUTO) <= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(retention_holds_in_either_order),
        rig_unit_test(empty_block_serves_after_many_more),
        rig_unit_test(first_blocks_find_room),
        rig_unit_test(nothing_empty_is_kept_over_budget),
        rig_unit_test(one_block_is_kept_within_budget_again),
        rig_unit_test(empty_blocks_of_others_make_room),
        rig_unit_test(empty_blocks_of_custom_pools_make_room),
        rig_unit_test(empty_blocks_go_before_a_budget_is_exceeded),
        rig_unit_test(dedicated_memory_that_has_passed_makes_room),
        rig_unit_test(over_budget_objects_do_not_run_out),
        rig_unit_test(first_blocks_over_budget_are_reported),
        rig_unit_test(requests_in_vain_cost_few_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
