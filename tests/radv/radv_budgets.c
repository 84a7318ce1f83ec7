/*
 * Budgets that other processes shrink while the program runs: the allocator follows at once, keeps
 * within them where it must, goes elsewhere where it may, and exceeds them last, counted.
 *
 * RADV's budget is what is left of a heap, plus what this process has of it.
 */
#include "tests/radv/radv_case.h"

enum { VRAM_MIB = 2048, BAR_MIB = 256, GTT_MIB = 4096, LOCAL_MIB = VRAM_MIB - BAR_MIB };

enum { HEAP_LOCAL = 0, HEAP_HOST = 1, HEAP_BAR = 2 };

static void start_small_card(struct rig* rig)
{
    radv_set_sizes(VRAM_MIB * MIB, BAR_MIB * MIB, GTT_MIB * MIB);
    radv_start(rig);
    if (!radv_is_discrete(rig)) {
        rig_close(rig);
        radv_skip("on an APU what others use shows in all heaps at once");
    }
}

/* What the driver holds itself may be counted in either way: some pages, 84 KiB on pitcairn. */
static void expect_close(VkDeviceSize bytes, VkDeviceSize wanted)
{
    assert_true(bytes < wanted + 256 * KIB);
    assert_true(bytes + 256 * KIB > wanted);
}

/* What others use, MiB. */
static const struct {
    uint32_t vram, visible, gtt;
} others[] = {{0, 0, 0}, {1550, 50, 100}, {1000, 200, 4000}, {0, 0, 0}, {1791, 255, 1}};

enum { OTHERS = sizeof others / sizeof others[0] };

static void expect_budgets_of_card(struct rig* rig, size_t row)
{
    const VkDeviceSize wanted[] = {(LOCAL_MIB - others[row].vram) * MIB,
                                   (GTT_MIB - others[row].gtt) * MIB,
                                   (BAR_MIB - others[row].visible) * MIB};
    for (uint32_t heap = 0; heap < 3; ++heap) {
        const MaarHeapBudget budget = rig_budget(rig, heap);
        assert_int_equal(budget.fromDriver, VK_TRUE);
        expect_close(budget.budget, wanted[heap]);
        expect_close(budget.usage, 0);
    }
}

/* An APU has one memory, which RADV divides: what others use is missing from the sum. */
static void expect_budgets_of_apu(struct rig* rig, size_t row)
{
    const VkDeviceSize used = (others[row].visible + others[row].gtt) * MIB;
    const MaarHeapBudget host = rig_budget(rig, 0);
    const MaarHeapBudget device = rig_budget(rig, 1);
    print_message("%u MiB used by others: budgets of %u and %u MiB\n", (unsigned)(used / MIB),
                  (unsigned)(host.budget / MIB), (unsigned)(device.budget / MIB));
    assert_true(host.fromDriver == VK_TRUE && device.fromDriver == VK_TRUE);
    expect_close(host.budget + device.budget, host.size + device.size - used);
}

static void budgets_follow_other_processes(void** state)
{
    (void)state;
    static struct rig rig;
    radv_set_sizes(VRAM_MIB * MIB, BAR_MIB * MIB, GTT_MIB * MIB);
    radv_start(&rig);
    for (size_t i = 0; i < OTHERS; ++i) {
        radv_set_others(others[i].vram * MIB, others[i].visible * MIB, others[i].gtt * MIB);
        if (radv_is_discrete(&rig)) {
            expect_budgets_of_card(&rig, i);
        } else {
            expect_budgets_of_apu(&rig, i);
        }
    }
    radv_set_others(0, 0, 0);
    radv_close(&rig);
}

/* What is asked for within budget, in the liked heap alone. */
enum { STRICT = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT | MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT };

/* 256 MiB are held in a heap of which others then leave nothing more. */
static void run_out_of_budget(struct rig* rig, MaarMemoryUsage usage, uint32_t heap)
{
    MaarAllocation held = VK_NULL_HANDLE;
    MaarAllocation more = VK_NULL_HANDLE;
    const VkDeviceSize size = 64 * MIB;
    assert_int_equal(radv_allocate_dedicated(rig, 4 * size, usage, STRICT, &held), VK_SUCCESS);
    assert_int_equal(radv_heap_of(rig, held), heap);
    radv_set_others(heap == HEAP_LOCAL ? LOCAL_MIB * MIB : 0, 0,
                    heap == HEAP_HOST ? GTT_MIB * MIB : 0);
    const MaarHeapBudget squeezed = rig_budget(rig, heap);
    assert_true(squeezed.budget >= 4 * size && squeezed.budget < 4 * size + MIB);
    assert_true(squeezed.usage >= 4 * size);

    const MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(radv_allocate_dedicated(rig, size, usage, STRICT, &more),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    MaarStatistics now = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(now.failureCount, before.failureCount + 1);
    assert_int_equal(now.deviceAllocationCalls, before.deviceAllocationCalls);
    assert_int_equal(now.blockBytes, before.blockBytes);

    if (heap == HEAP_LOCAL) { /* there is memory elsewhere, of a lesser kind */
        assert_int_equal(radv_allocate_dedicated(rig, size, usage, 0, &more), VK_SUCCESS);
        assert_int_not_equal(radv_heap_of(rig, more), heap);
        assert_int_equal(rig_info(rig, more).fallback, VK_TRUE);
        now = rig_statistics(rig, VK_NULL_HANDLE);
        assert_int_equal(now.fallbackCount, before.fallbackCount + 1);
        assert_int_equal(now.overBudgetCount, before.overBudgetCount);
        maarFreeMemory(rig->allocator, more);
    }
    assert_int_equal(
        radv_allocate_dedicated(rig, size, usage, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT, &more),
        VK_SUCCESS);
    assert_int_equal(radv_heap_of(rig, more), heap);
    now = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(now.overBudgetCount, before.overBudgetCount + 1);
    assert_true(rig_budget(rig, heap).usage >= 5 * size);
    maarFreeMemory(rig->allocator, more);

    radv_set_others(0, 0, 0);
    assert_int_equal(radv_allocate_dedicated(rig, size, usage, STRICT, &more), VK_SUCCESS);
    maarFreeMemory(rig->allocator, more);
    maarFreeMemory(rig->allocator, held);
    radv_expect_empty(rig);
}

static void device_memory_out_of_budget_falls_back(void** state)
{
    (void)state;
    static struct rig rig;
    start_small_card(&rig);
    run_out_of_budget(&rig, MAAR_MEMORY_USAGE_DEVICE_LOCAL, HEAP_LOCAL);
    radv_close(&rig);
}

static void host_memory_out_of_budget_is_refused_or_exceeded(void** state)
{
    (void)state;
    static struct rig rig;
    start_small_card(&rig);
    run_out_of_budget(&rig, MAAR_MEMORY_USAGE_READBACK, HEAP_HOST);
    radv_close(&rig);
}

/* Others take all there is, of every kind; each heap has an allocation of ours by then. */
static void full_device_refuses_or_counts(void** state)
{
    (void)state;
    static struct rig rig;
    static const MaarMemoryUsage usages[] = {MAAR_MEMORY_USAGE_DEVICE_LOCAL,
                                             MAAR_MEMORY_USAGE_DEVICE_UPLOAD,
                                             MAAR_MEMORY_USAGE_UPLOAD, MAAR_MEMORY_USAGE_READBACK};
    enum { USAGES = 4, HEAPS = 3 };
    MaarAllocation held[USAGES];
    MaarAllocation more[USAGES];
    VkDeviceSize free_budget[HEAPS] = {0};
    radv_set_sizes(VRAM_MIB * MIB, BAR_MIB * MIB, GTT_MIB * MIB);
    radv_start(&rig);
    uint32_t heap_count = radv_is_discrete(&rig) ? HEAPS : HEAPS - 1;
    for (uint32_t i = 0; i < USAGES; ++i) {
        assert_int_equal(radv_allocate_dedicated(&rig, 16 * MIB, usages[i], STRICT, &held[i]),
                         VK_SUCCESS);
    }
    for (uint32_t i = 0; i < heap_count; ++i) {
        free_budget[i] = rig_budget(&rig, i).budget;
    }
    radv_set_others(VRAM_MIB * MIB, BAR_MIB * MIB, GTT_MIB * MIB);
    for (uint32_t i = 0; i < heap_count; ++i) {
        const MaarHeapBudget budget = rig_budget(&rig, i);
        assert_true(budget.budget < free_budget[i]);
        assert_true(budget.blockBytes > 0 && budget.budget < budget.usage + MIB);
    }
    for (uint32_t i = 0; i < USAGES; ++i) {
        struct radv_snapshot before;
        radv_take_snapshot(&rig, &before);
        assert_int_equal(radv_allocate_dedicated(&rig, 16 * MIB, usages[i],
                                                 MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT,
                                                 &more[i]),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        radv_expect_unchanged(&rig, &before);
    }
    for (uint32_t i = 0; i < USAGES; ++i) {
        assert_int_equal(radv_allocate_dedicated(&rig, 16 * MIB, usages[i], 0, &more[i]),
                         VK_SUCCESS);
        assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).overBudgetCount, i + 1);
        assert_int_equal(rig_info(&rig, more[i]).fallback, VK_FALSE);
    }
    maarFreeMemories(rig.allocator, USAGES, more);
    radv_set_others(0, 0, 0);
    for (uint32_t i = 0; i < heap_count; ++i) {
        assert_int_equal(rig_budget(&rig, i).budget, free_budget[i]);
    }
    maarFreeMemories(rig.allocator, USAGES, held);
    radv_close(&rig);
}

/* An empty block is not kept in a heap that others have filled. */
static void squeeze_gives_empty_blocks_back(void** state)
{
    (void)state;
    static struct rig rig;
    start_small_card(&rig);
    MaarAllocation held = VK_NULL_HANDLE;
    assert_int_equal(
        radv_allocate_dedicated(&rig, 64 * MIB, MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, &held),
        VK_SUCCESS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_NEVER;
    const MaarAllocation placed = rig_allocate(&rig, 32 * MIB, &how);
    maarFreeMemory(rig.allocator, placed);
    const MaarStatistics kept = rig_statistics(&rig, VK_NULL_HANDLE);
    assert_int_equal(kept.blockCount, 2);
    radv_set_others((LOCAL_MIB - 64 - 34) * MIB, 0, 0);

    /* 34 MiB are left beside the 64, less what the driver holds, and the empty block has 32. */
    const MaarHeapBudget squeezed = rig_budget(&rig, HEAP_LOCAL);
    const VkDeviceSize wanted = 33 * MIB + 512 * KIB;
    assert_int_equal(kept.freeBytes, 32 * MIB);
    assert_true(squeezed.budget - squeezed.usage < wanted);
    MaarAllocation more = VK_NULL_HANDLE;
    assert_int_equal(
        radv_allocate_dedicated(&rig, wanted, MAAR_MEMORY_USAGE_DEVICE_LOCAL, STRICT, &more),
        VK_SUCCESS);
    const MaarStatistics now = rig_statistics(&rig, VK_NULL_HANDLE);
    assert_int_equal(now.blockCount, 2);
    assert_int_equal(now.freeBytes, 0);
    radv_expect_books_agree(&rig);
    radv_set_others(0, 0, 0);
    maarFreeMemory(rig.allocator, more);
    maarFreeMemory(rig.allocator, held);
    radv_close(&rig);
}

const struct radv_case radv_budget_cases[] = {
    {"budgets_follow_other_processes", budgets_follow_other_processes},
    {"device_memory_out_of_budget_falls_back", device_memory_out_of_budget_falls_back},
    {"host_memory_out_of_budget_is_refused_or_exceeded",
     host_memory_out_of_budget_is_refused_or_exceeded},
    {"full_device_refuses_or_counts", full_device_refuses_or_counts},
    {"squeeze_gives_empty_blocks_back", squeeze_gives_empty_blocks_back},
    {NULL, NULL},
};
