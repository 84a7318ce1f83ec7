/*
 * Memory that runs short in the ways that real machines know: budgets that shrink under a running
 * program or make no sense, a full BAR, no more memory objects, a driver that lets a heap
 * overflow. What unit tests hold already (see docs/project/testing.md) is not repeated here.
 */
#include "tests/fault/fault_balance.h"

static void set_budget(struct rig* rig, uint32_t heap, VkDeviceSize budget, VkDeviceSize others)
{
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, heap, budget, others), VK_SUCCESS);
}

/* ---- budgets ---- */

static void budget_below_what_is_held_breaks_nothing(void** state)
{
    (void)state;
    enum { HELD = 40 };
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo within = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    within.flags =
        MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT | MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    MaarAllocation held[HELD];
    for (uint32_t i = 0; i < HELD; ++i) {
        held[i] = rig_allocate(rig, 10 * MIB, NULL);
    }
    rig_expect_silence(rig);
    const VkDeviceSize before = rig_counters(rig).heapLive[0];
    set_budget(rig, 0, 100 * MIB, 0); /* 400 MiB are held */
    MaarAllocation more = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, 512 * MIB, &within, &more), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(rig_counters(rig).heapLive[0] <= before);
    for (uint32_t i = 0; i < HELD; ++i) { /* nobody lost anything */
        assert_int_equal(rig_info(rig, held[i]).size, 10 * MIB);
    }
    rig_forget_messages(rig);
    /* Without the flag there is memory elsewhere, or above the budget, and that is reported. */
    assert_int_equal(rig_try(rig, 512 * MIB, NULL, &more), VK_SUCCESS);
    assert_true(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING] > 0);
    maarFreeMemory(rig->allocator, more);
    /* What is freed while over budget goes back to the system, to the last block. */
    for (uint32_t i = 0; i < HELD; ++i) {
        maarFreeMemory(rig->allocator, held[i]);
    }
    assert_true(rig_counters(rig).heapLive[0] <= 100 * MIB);
    set_budget(rig, 0, 8 * GIB, 0);
    assert_int_equal(rig_try(rig, 512 * MIB, &within, &more), VK_SUCCESS);
    maarFreeMemory(rig->allocator, more);
    fault_expect_balance(rig);
}

/* Another program takes and returns memory all the time: usage and room change, not budget alone.
 */
static void budget_swinging_in_mid_run_is_followed(void** state)
{
    (void)state;
    enum { SLOTS = 64, ROUNDS = 3000 };
    struct rig_random random = {.state = rig_seed(5)};
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation slots[SLOTS] = {VK_NULL_HANDLE};
    uint32_t failed = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const uint32_t i = rig_below(&random, SLOTS);
        if (round % 16 == 0) {
            const VkDeviceSize others = rig_below(&random, 9) * GIB;
            set_budget(rig, 0, (8 * GIB - others) / 10 * 9, others);
        }
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.flags = rig_below(&random, 2) == 0 ? (VkFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT
                                               : (VkFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
        if (slots[i] != VK_NULL_HANDLE) {
            maarFreeMemory(rig->allocator, slots[i]);
            slots[i] = VK_NULL_HANDLE;
            continue;
        }
        VkResult result = rig_try(rig, MIB + rig_below(&random, 400) * MIB, &how, &slots[i]);
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_DEVICE_MEMORY);
        failed += result != VK_SUCCESS ? 1 : 0;
        if (round % 64 == 0) {
            fault_expect_balance(rig);
        }
    }
    print_message("%u of %u rounds found no memory\n", failed, (uint32_t)ROUNDS);
    assert_true(failed > 0);
    maarFreeMemories(rig->allocator, SLOTS, slots);
    set_budget(rig, 0, 8 * GIB, 0);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
}

/* 0, 1 byte, above the heap, 16 EiB, and usage above the budget: whatever the driver answers, what
 * fits the heap is served. */
static void budget_absurd_in_mid_run_stops_nobody(void** state)
{
    (void)state;
    static const VkDeviceSize absurd[] = {
        0, 1, 8 * GIB + 1, UINT64_MAX / 2, UINT64_MAX - 4095, UINT64_MAX,
    };
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation made[24];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 24; ++i) {
        for (uint32_t heap = 0; heap < 3; ++heap) {
            set_budget(rig, heap, absurd[(i + heap) % 6], 0);
        }
        MaarHeapBudget budget = rig_budget(rig, 0);
        /* Beside others' budgets, 0 says that the heap is full. */
        assert_true(budget.budget <= budget.size && (budget.budget > 0 || absurd[i % 6] == 0));
        assert_int_equal(rig_try(rig, (1 + i % 3) * 20 * MIB, NULL, &made[count++]), VK_SUCCESS);
        fault_expect_balance(rig);
    }
    maarFreeMemories(rig->allocator, count, made);
}

/* ---- a full BAR ---- */

static void bar_exhausted_falls_back_until_there_is_room(void** state)
{
    (void)state;
    enum { MANY = 300 };
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    static MaarAllocation made[MANY];
    uint32_t in_bar = 0;
    for (uint32_t i = 0; i < MANY; ++i) { /* 300 MiB; the BAR has 256 */
        made[i] = rig_allocate(rig, MIB, &how);
        MaarAllocationInfo info = rig_info(rig, made[i]);
        const bool bar = info.memoryTypeIndex == 3;
        assert_true(bar || info.memoryTypeIndex == 1);
        assert_int_equal(info.fallback, bar ? VK_FALSE : VK_TRUE);
        assert_non_null(info.pMappedData);
        memset(info.pMappedData, 1, (size_t)info.size);
        in_bar += bar ? 1 : 0;
    }
    print_message("%u of %u MiB fit the BAR of 256\n", in_bar, (uint32_t)MANY);
    assert_true(in_bar >= 192 && in_bar <= 256);
    assert_true(rig_counters(rig).heapLive[2] <= 256 * MIB);
    /* Who demands the BAR and nothing else is refused, in clear words. */
    MaarAllocation more = VK_NULL_HANDLE;
    MaarAllocationCreateInfo must = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    must.requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    set_budget(rig, 2, 256 * MIB, 256 * MIB);
    assert_int_equal(rig_try(rig, 200 * MIB, &must, &more), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    set_budget(rig, 2, 256 * MIB, 0);
    for (uint32_t i = 0; i < MANY; ++i) {
        maarFreeMemory(rig->allocator, made[i]);
    }
    /* Room again: the BAR is the preferred type as before. */
    assert_int_equal(rig_try(rig, 100 * MIB, &must, &more), VK_SUCCESS);
    assert_int_equal(rig_info(rig, more).memoryTypeIndex, 3);
    maarFreeMemory(rig->allocator, more);
}

/* The same when another program has the BAR: there is none of it from the start. */
static void bar_taken_by_others_is_survived(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 2, 256 * MIB, 256 * MIB);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    for (uint32_t i = 0; i < 50; ++i) {
        const VkBufferCreateInfo info = rig_buffer_info(64 * KIB);
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory),
                         VK_SUCCESS);
        assert_int_equal(rig_info(rig, memory).memoryTypeIndex, 1);
        maarDestroyBuffer(rig->allocator, buffer, memory);
    }
}

/* ---- no more objects ---- */

static void objects_run_out_at_4096(void** state)
{
    (void)state;
    enum { LIMIT = 4096 };
    static MaarAllocation made[LIMIT];
    const VkBufferCreateInfo info = rig_buffer_info(64 * KIB);
    const MaarSimulatedDedicated prefer = {.buffersPrefer = VK_TRUE};
    struct rig* const rig = rig_begin(NULL);
    maarSimulatedSetDedicated(rig->physical, &prefer);
    /* Preferences are met up to three quarters, then blocks take over. */
    static VkBuffer buffers[LIMIT];
    uint32_t dedicated = 0;
    for (uint32_t i = 0; i < LIMIT; ++i) {
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffers[i], &made[i]),
                         VK_SUCCESS);
        dedicated += rig_info(rig, made[i]).dedicated != VK_FALSE ? 1 : 0;
    }
    print_message("%u of %u buffers got memory of their own\n", dedicated, (uint32_t)LIMIT);
    assert_true(dedicated >= LIMIT / 4 * 3 && dedicated <= LIMIT / 4 * 3 + 1);
    /* Demands go on to the limit. */
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    static MaarAllocation demanded[LIMIT];
    uint32_t count = 0;
    VkResult result = VK_SUCCESS;
    while (count < LIMIT && result == VK_SUCCESS) {
        result = rig_try(rig, 4096, &how, &demanded[count]);
        count += result == VK_SUCCESS ? 1 : 0;
    }
    assert_int_equal(result, VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], LIMIT);
    assert_int_equal(rig_counters(rig).peakMemoryCount, LIMIT);
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    MaarAllocation more = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, 4096, &how, &more), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), calls); /* the driver is not even asked */
    /* Blocks that exist serve on, and what is freed makes room for what is demanded. */
    assert_int_equal(rig_try(rig, 4096, NULL, &more), VK_SUCCESS);
    maarFreeMemory(rig->allocator, more);
    maarDestroyBuffer(rig->allocator, buffers[0], made[0]);
    assert_int_equal(rig_try(rig, 4096, &how, &more), VK_SUCCESS);
    maarFreeMemory(rig->allocator, more);
    fault_expect_balance(rig);
    for (uint32_t i = 1; i < LIMIT; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], made[i]);
    }
    maarFreeMemories(rig->allocator, count, demanded);
}

/* A failing vkAllocateMemory takes no place in Maar's count of objects. */
static void failures_use_up_no_objects(void** state)
{
    (void)state;
    enum { LIMIT = 16 };
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    MaarAllocation made[LIMIT] = {VK_NULL_HANDLE};
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    for (uint32_t i = 0; i < 10 * LIMIT; ++i) {
        assert_int_equal(rig_try(rig, MIB, &how, &made[0]), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    rig_clear_faults(rig);
    fault_expect_empty(rig);
    for (uint32_t i = 0; i < LIMIT; ++i) {
        assert_int_equal(rig_try(rig, MIB, &how, &made[i]), VK_SUCCESS);
    }
    fault_expect_balance(rig);
    maarFreeMemories(rig->allocator, LIMIT, made);
}

/* ---- a heap that overflows ---- */

/* Drivers that let a program allocate more than a heap has: it works, slowly. */
static void heap_overflowing_adds_up(void** state)
{
    (void)state;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_OVERCOMMIT_BIT};
    struct rig* const rig = rig_begin(&setup);
    set_budget(rig, 0, 7 * GIB, 0);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    MaarAllocation made[24];
    uint32_t count = 0;
    while (count < 24 && rig_try(rig, 500 * MIB, &how, &made[count]) == VK_SUCCESS) {
        ++count;
    }
    /* Twelve GiB in a heap of eight, when the driver has nothing against it. */
    assert_int_equal(count, 24);
    assert_true(rig_counters(rig).heapLive[0] == 24 * 500 * MIB);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount > 0);
    MaarHeapBudget budget = rig_budget(rig, 0);
    assert_true(budget.blockBytes == 24 * 500 * MIB);
    assert_true(budget.usage >= budget.blockBytes);
    how.flags |= MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    MaarAllocation more = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, MIB, &how, &more), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    fault_expect_balance(rig);
    maarFreeMemories(rig->allocator, count, made);
    assert_true(rig_counters(rig).heapLive[0] <= 7 * GIB);
    assert_int_equal(rig_try(rig, MIB, &how, &more), VK_SUCCESS);
    maarFreeMemory(rig->allocator, more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(budget_below_what_is_held_breaks_nothing),
        rig_unit_test(budget_swinging_in_mid_run_is_followed),
        rig_unit_test(budget_absurd_in_mid_run_stops_nobody),
        rig_unit_test(bar_exhausted_falls_back_until_there_is_room),
        rig_unit_test(bar_taken_by_others_is_survived),
        rig_unit_test(objects_run_out_at_4096),
        rig_unit_test(failures_use_up_no_objects),
        rig_unit_test(heap_overflowing_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
