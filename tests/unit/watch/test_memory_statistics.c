/*
 * Totals, peaks, details, and the lists of blocks and ranges.
 */
#include "tests/rig/rig.h"

static void totals_of_pools_and_types_add_up(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1, .blockSize = MIB};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation made[60];
    for (uint32_t i = 0; i < 60; ++i) {
        how.pool = i % 3 == 0 ? pool : VK_NULL_HANDLE;
        how.usage = i % 2 == 0 ? MAAR_MEMORY_USAGE_DEVICE_LOCAL : MAAR_MEMORY_USAGE_READBACK;
        how.dedicated = i % 7 == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
        how.minAlignment = i * 13;
        made[i] = rig_allocate(rig, 1000 + i * 100, &how);
    }
    MaarStatistics all = rig_statistics(rig, VK_NULL_HANDLE);
    MaarStatistics sum = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    for (uint32_t type = 0; type < 4; ++type) {
        MaarStatistics one = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
        assert_int_equal(maarGetMemoryTypeStatistics(rig->allocator, type, &one), VK_SUCCESS);
        assert_int_equal(one.peakBlockBytes, 0);
        sum.blockCount += one.blockCount;
        sum.dedicatedCount += one.dedicatedCount;
        sum.allocationCount += one.allocationCount;
        sum.blockBytes += one.blockBytes;
        sum.dedicatedBytes += one.dedicatedBytes;
        sum.allocationBytes += one.allocationBytes;
        sum.paddingBytes += one.paddingBytes;
        sum.freeBytes += one.freeBytes;
    }
    assert_int_equal(all.allocationCount, 60);
    assert_int_equal(sum.allocationCount, 60);
    assert_int_equal(sum.blockCount, all.blockCount);
    assert_int_equal(sum.dedicatedCount, all.dedicatedCount);
    assert_true(sum.blockBytes == all.blockBytes && sum.dedicatedBytes == all.dedicatedBytes);
    assert_true(sum.allocationBytes == all.allocationBytes && sum.freeBytes == all.freeBytes);
    assert_true(sum.paddingBytes == all.paddingBytes);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, 20);
    assert_true(rig_counters(rig).heapLive[0] + rig_counters(rig).heapLive[1] == all.blockBytes);
    assert_int_equal(all.deviceAllocationCalls, rig_calls(rig, "vkAllocateMemory"));
    assert_int_equal(all.allocationsMade, 60);
    maarFreeMemories(rig->allocator, 60, made);
    all = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(all.deviceFreeCalls, rig_calls(rig, "vkFreeMemory"));
    maarDestroyPool(rig->allocator, pool);
}

static void peaks_stay_until_they_are_reset(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = rig_allocate(rig, 200 * MIB, NULL);
    MaarAllocation b = rig_allocate(rig, 1000, NULL);
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    VkDeviceSize held = statistics.blockBytes;
    assert_true(statistics.peakAllocationBytes == 200 * MIB + 1000);
    maarFreeMemory(rig->allocator, a);
    statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(statistics.peakAllocationBytes == 200 * MIB + 1000);
    assert_true(statistics.peakBlockBytes == held);
    assert_int_equal(statistics.peakBlockCount, 2);
    maarResetPeaks(rig->allocator);
    statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.peakAllocationBytes, 1000);
    assert_true(statistics.peakBlockBytes == statistics.blockBytes);
    assert_int_equal(statistics.peakBlockCount, 1);
    maarFreeMemory(rig->allocator, b);
}

/* Nobody has looked while most was live. */
static void peaks_are_noticed_when_they_end(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = 4 * MIB};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = rig_create_pool(rig, &info);
    MaarAllocation a = rig_allocate(rig, 3 * MIB, &how);
    MaarAllocation b = rig_allocate(rig, 1000, NULL);
    maarFreeMemory(rig->allocator, a);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).peakAllocationBytes == 3 * MIB + 1000);
    /* The end of a pool takes what is live in it, and its calls, into account. */
    maarResetPeaks(rig->allocator);
    (void)rig_allocate(rig, 2 * MIB, &how);
    maarDestroyPool(rig->allocator, how.pool);
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).peakAllocationBytes == 2 * MIB + 1000);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationsMade, 3);
    maarFreeMemory(rig->allocator, b);
}

static void details_describe_the_holes(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    assert_int_equal(maarGetDetailedStatistics(rig->allocator, VK_NULL_HANDLE, &details),
                     VK_SUCCESS);
    assert_int_equal(details.allocationSizeMax, 0);
    assert_int_equal(details.freeRangeCount, 0);
    const MaarPoolCreateInfo info = {.blockSize = 64 * KIB, .singleKind = VK_TRUE};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    MaarAllocation made[8];
    for (uint32_t i = 0; i < 8; ++i) {
        made[i] = rig_allocate(rig, 8 * KIB, &how);
    }
    assert_int_equal(maarGetDetailedStatistics(rig->allocator, pool, &details), VK_SUCCESS);
    assert_int_equal(details.freeRangeCount, 0);
    assert_true(details.fragmentation == 0.0);
    maarFreeMemory(rig->allocator, made[1]);
    maarFreeMemory(rig->allocator, made[4]);
    maarFreeMemory(rig->allocator, made[5]);
    assert_int_equal(maarGetDetailedStatistics(rig->allocator, pool, &details), VK_SUCCESS);
    assert_int_equal(details.allocationSizeMin, 8 * KIB);
    assert_int_equal(details.allocationSizeMax, 8 * KIB);
    assert_int_equal(details.freeRangeCount, 2);
    assert_int_equal(details.freeRangeSizeMin, 8 * KIB);
    assert_int_equal(details.freeRangeSizeMax, 16 * KIB);
    assert_true(details.fragmentation > 0.33 && details.fragmentation < 0.34);
    maarDestroyPool(rig->allocator, pool);
    rig_forget_messages(rig);
}

static void blocks_are_listed_in_order(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .blockSize = 64 * KIB,
        .strategy = MAAR_PLACEMENT_STRATEGY_BUDDY,
    };
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    MaarAllocation made[12];
    for (uint32_t i = 0; i < 12; ++i) {
        how.dedicated = i % 3 == 1 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
        made[i] = rig_allocate(rig, 40 * KIB, &how);
    }
    uint32_t count = 0;
    assert_int_equal(maarEnumerateBlocks(rig->allocator, pool, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 12);
    MaarBlockInfo blocks[12];
    for (uint32_t i = 0; i < 12; ++i) {
        blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    }
    assert_int_equal(maarEnumerateBlocks(rig->allocator, VK_NULL_HANDLE, &count, blocks),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < 12; ++i) {
        MaarAllocationInfo owner = rig_info(rig, made[i]);
        assert_true(i == 0 || blocks[i].blockId > blocks[i - 1].blockId);
        assert_true(blocks[i].blockId == owner.blockId && blocks[i].memory == owner.memory);
        assert_int_equal(blocks[i].dedicated, owner.dedicated);
        assert_int_equal(blocks[i].allocationCount, 1);
        assert_int_equal(blocks[i].allocationBytes, 40 * KIB);
        assert_int_equal(blocks[i].strategy, MAAR_PLACEMENT_STRATEGY_BUDDY);
        assert_true(blocks[i].pool == pool && blocks[i].size == owner.blockSize);
        assert_int_equal(blocks[i].memoryTypeIndex, 0);
    }
    count = 5;
    assert_int_equal(maarEnumerateBlocks(rig->allocator, pool, &count, blocks), VK_INCOMPLETE);
    assert_int_equal(count, 5);
    blocks[1].sType = MAAR_STRUCTURE_TYPE_STATISTICS;
    assert_int_equal(maarEnumerateBlocks(rig->allocator, pool, &count, blocks),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "sType");
    assert_int_equal(maarEnumerateBlocks(rig->allocator, pool, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    maarFreeMemories(rig->allocator, 12, made);
    maarDestroyPool(rig->allocator, pool);
}

static void block_that_was_released_is_no_misuse(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    MaarAllocation gone = rig_allocate(rig, MIB, &how);
    const uint64_t block = rig_info(rig, gone).blockId;
    uint32_t count = 0;
    maarFreeMemory(rig->allocator, gone);
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, block, &count, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_silence(rig);
    rig_close(rig);
}

static void ranges_cover_the_block(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "a name that is far longer than the forty-seven bytes that a list keeps";
    how.pUserData = rig;
    how.minAlignment = 4096;
    MaarAllocation live = rig_allocate(rig, 1000, &how);
    MaarAllocation gone = rig_allocate(rig, 1000, &how);
    MaarAllocation later = rig_allocate(rig, 1000, &how);
    const MaarPoint point = {.value = 1};
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, later, 1, &point), VK_SUCCESS);
    maarFreeMemory(rig->allocator, gone);
    MaarAllocationInfo info = rig_info(rig, live);
    uint32_t count = 0;
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, info.blockId, &count, NULL),
                     VK_SUCCESS);
    MaarBlockRange ranges[16];
    assert_true(count >= 4 && count <= 16);
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, info.blockId, &count, ranges),
                     VK_SUCCESS);
    VkDeviceSize at = 0;
    VkDeviceSize bytes[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(ranges[i].offset == at);
        at += ranges[i].size;
        bytes[ranges[i].state] += ranges[i].size;
        if (ranges[i].state == MAAR_BLOCK_RANGE_STATE_LIVE) {
            assert_true(ranges[i].allocation == live);
            assert_ptr_equal(ranges[i].pUserData, rig);
            assert_int_equal(strlen(ranges[i].name), 47);
            assert_memory_equal(ranges[i].name, how.pName, 47);
        } else {
            assert_true(ranges[i].allocation == VK_NULL_HANDLE);
        }
    }
    assert_true(at == info.blockSize);
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(bytes[MAAR_BLOCK_RANGE_STATE_LIVE] == statistics.allocationBytes);
    assert_true(bytes[MAAR_BLOCK_RANGE_STATE_PENDING] == statistics.pendingBytes);
    assert_true(bytes[MAAR_BLOCK_RANGE_STATE_FREE] == statistics.freeBytes);
    assert_true(bytes[MAAR_BLOCK_RANGE_STATE_PADDING] == statistics.paddingBytes);
    count = 1;
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, info.blockId, &count, ranges),
                     VK_INCOMPLETE);
    assert_int_equal(count, 1);
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, 99, &count, ranges),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(count, 0);
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, info.blockId, NULL, ranges),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    maarFreeMemory(rig->allocator, live);
}

static void details_of_a_type_leave_the_others_out(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1, .blockSize = MIB};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarAllocation first = rig_allocate(rig, 100 * KIB, &how); /* type 0 */
    how.pool = rig_create_pool(rig, &info);
    const MaarAllocation second = rig_allocate(rig, 30 * KIB, &how);
    const MaarAllocation third = rig_allocate(rig, 20 * KIB, &how);
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    assert_int_equal(maarGetMemoryTypeDetailedStatistics(rig->allocator, 0, &details), VK_SUCCESS);
    assert_int_equal(details.allocationSizeMin, 100 * KIB);
    assert_int_equal(details.allocationSizeMax, 100 * KIB);
    assert_int_equal(maarGetMemoryTypeDetailedStatistics(rig->allocator, 1, &details), VK_SUCCESS);
    assert_int_equal(details.allocationSizeMin, 20 * KIB);
    assert_int_equal(details.allocationSizeMax, 30 * KIB);
    assert_int_equal(details.freeRangeCount, 1);
    assert_int_equal(details.freeRangeSizeMin, MIB - 50 * KIB);
    assert_int_equal(maarGetMemoryTypeDetailedStatistics(rig->allocator, 2, &details), VK_SUCCESS);
    assert_int_equal(details.allocationSizeMax, 0);
    assert_int_equal(details.freeRangeCount, 0);
    const MaarAllocation all[] = {first, second, third};
    maarFreeMemories(rig->allocator, 3, all);
    maarDestroyPool(rig->allocator, how.pool);
}

static void misuse_is_reported(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(NULL);
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    assert_int_equal(maarGetStatistics(rig->allocator, VK_NULL_HANDLE, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pStatistics");
    assert_int_equal(maarGetStatistics(rig->allocator, VK_NULL_HANDLE, &statistics), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pStatistics");
    assert_int_equal(maarGetDetailedStatistics(rig->allocator, VK_NULL_HANDLE, &details), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pStatistics");
    statistics.sType = MAAR_STRUCTURE_TYPE_STATISTICS;
    assert_int_equal(maarGetMemoryTypeStatistics(rig->allocator, 4, &statistics), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "memoryTypeIndex");
    assert_int_equal(maarGetMemoryTypeDetailedStatistics(rig->allocator, 0, &details), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pStatistics");
    details.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS;
    assert_int_equal(maarGetMemoryTypeDetailedStatistics(rig->allocator, 4, &details), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "memoryTypeIndex");
    assert_int_equal(maarCheckAllocator(rig->allocator, NULL), VK_SUCCESS);
}

static void pool_of_another_allocator_is_refused(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocator other = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &other), VK_SUCCESS);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    const MaarAllocation held = rig_allocate(rig, KIB, &how);
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS, .blockCount = 77};
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS,
                                      .freeRangeCount = 77};
    uint32_t count = 77;
    assert_int_equal(maarGetStatistics(other, pool, &statistics), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pool");
    assert_int_equal(statistics.blockCount, 77);
    assert_int_equal(maarGetDetailedStatistics(other, pool, &details), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pool");
    assert_int_equal(details.freeRangeCount, 77);
    assert_int_equal(maarEnumerateBlocks(other, pool, &count, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pool");
    assert_int_equal(count, 77);
    assert_int_equal(maarTrim(other, pool, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pool");
    maarFreeMemory(rig->allocator, held);
    maarDestroyAllocator(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(totals_of_pools_and_types_add_up),
        rig_unit_test(peaks_stay_until_they_are_reset),
        rig_unit_test(details_describe_the_holes),
        rig_unit_test(blocks_are_listed_in_order),
        rig_unit_test(block_that_was_released_is_no_misuse),
        rig_unit_test(ranges_cover_the_block),
        rig_unit_test(details_of_a_type_leave_the_others_out),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(pool_of_another_allocator_is_refused),
        rig_unit_test(peaks_are_noticed_when_they_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
