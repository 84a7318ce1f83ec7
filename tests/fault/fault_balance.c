/*
 * Whether the allocator's books agree with the driver's.
 */
#include "tests/fault/fault_balance.h"

void fault_expect_balance(struct rig* rig)
{
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    uint32_t count = VK_MAX_MEMORY_HEAPS;
    for (uint32_t i = 0; i < count; ++i) {
        budgets[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    assert_int_equal(maarGetHeapBudgets(rig->allocator, &count, budgets), VK_SUCCESS);
    const MaarStatistics totals = rig_statistics(rig, VK_NULL_HANDLE);
    const MaarSimulatedCounters driver = rig_counters(rig);
    VkDeviceSize bytes = 0;
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(budgets[i].blockBytes == driver.heapLive[i] + driver.heapImported[i]);
        bytes += budgets[i].blockBytes;
        blocks += budgets[i].blockCount;
    }
    assert_true(bytes == totals.blockBytes);
    assert_int_equal(blocks, totals.blockCount);
    assert_int_equal(blocks, driver.liveCount[MAAR_SIMULATED_OBJECT_MEMORY]);
    rig_check(rig);
}

void fault_expect_empty(struct rig* rig)
{
    fault_expect_balance(rig);
    const MaarStatistics totals = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(totals.blockCount, 0);
    assert_int_equal(totals.dedicatedCount, 0);
    assert_int_equal(totals.allocationCount, 0);
    assert_int_equal(totals.pendingCount, 0);
    assert_int_equal(totals.sliceCount, 0);
    assert_int_equal(totals.pendingSliceCount, 0);
    assert_true(totals.blockBytes == 0 && totals.dedicatedBytes == 0);
    assert_true(totals.allocationBytes == 0 && totals.pendingBytes == 0);
    assert_true(totals.sliceBytes == 0 && totals.pendingSliceBytes == 0);
    const MaarSimulatedCounters driver = rig_counters(rig);
    assert_int_equal(driver.liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    assert_int_equal(driver.liveCount[MAAR_SIMULATED_OBJECT_IMAGE], 0);
    assert_int_equal(driver.mappedCount, 0);
}
