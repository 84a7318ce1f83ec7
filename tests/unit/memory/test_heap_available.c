/*
 * MaarHeapBudget::available against requests that are made until one fails: under every pair of a
 * budget and a limit, with and without retained blocks, for requests with memory of their own and
 * for those that share blocks, after nothing and after traffic. Requests that share blocks leave
 * pieces that are too small for them, which must be all that is missing.
 */
#include "tests/rig/rig.h"

enum { MOST = 4096, PIECE_MIB = 4 };

static MaarAllocation made[MOST];
static uint32_t made_count;

static MaarAllocationCreateInfo how_of(MaarDedicated dedicated)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.dedicated = dedicated;
    how.flags = (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT |
                (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    return how;
}

/* Allocates pieces of type 0 until one fails. Returns their bytes. */
static VkDeviceSize take_all(struct rig* rig, VkDeviceSize piece, MaarDedicated dedicated)
{
    const MaarAllocationCreateInfo how = how_of(dedicated);
    const MaarMemoryRequest request = rig_request(piece, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    VkDeviceSize taken = 0;
    while (made_count < MOST &&
           maarAllocateMemory(rig->allocator, &request, &how, &made[made_count]) == VK_SUCCESS) {
        ++made_count;
        taken += piece;
    }
    assert_true(made_count < MOST);
    rig_forget_messages(rig);
    return taken;
}

/* Leaves every third of some allocations alive, in blocks that are full, partly free, and empty. */
static void make_traffic(struct rig* rig)
{
    enum { COUNT = 40 };
    const MaarAllocationCreateInfo how = how_of(MAAR_DEDICATED_NEVER);
    const MaarMemoryRequest request = rig_request(3 * MIB, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation some[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &some[i]), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        if (i % 3 == 0 && i < COUNT / 2) {
            made[made_count++] = some[i];
        } else {
            maarFreeMemory(rig->allocator, some[i]);
        }
    }
}

/* Bytes that are free in blocks which are not empty: they come on top of what is available. */
static VkDeviceSize free_in_used_blocks(struct rig* rig)
{
    enum { MOST_BLOCKS = 4096 };
    static MaarBlockInfo blocks[MOST_BLOCKS];
    uint32_t count = MOST_BLOCKS;
    VkDeviceSize free_bytes = 0;
    for (uint32_t i = 0; i < MOST_BLOCKS; ++i) {
        blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    }
    assert_int_equal(maarEnumerateBlocks(rig->allocator, VK_NULL_HANDLE, &count, blocks),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        if (blocks[i].allocationCount > 0) {
            free_bytes += blocks[i].size - blocks[i].allocationBytes;
        }
    }
    return free_bytes;
}

/* One case: what is said to be available, then what can be had. */
static void compare(const VkDeviceSize* limits, VkDeviceSize budget, VkDeviceSize retained,
                    MaarDedicated dedicated, bool traffic)
{
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = limits[0] != 0 ? 3 : 0;
    rig->create_info.pHeapSizeLimits = limits;
    rig->create_info.retainedEmptySize = retained;
    rig_make_allocator(rig);
    const VkDeviceSize piece = PIECE_MIB * MIB;
    made_count = 0;
    if (traffic) {
        make_traffic(rig);
    }
    /* after the traffic: it may leave the heap above its budget */
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, budget, 0), VK_SUCCESS);
    const bool was_over = rig_budget(rig, 0).blockBytes > budget;
    const VkDeviceSize available = rig_budget(rig, 0).available;
    const VkDeviceSize before = available + free_in_used_blocks(rig);
    const VkDeviceSize taken = take_all(rig, piece, dedicated);
    const VkDeviceSize left = rig_budget(rig, 0).available;
    const VkDeviceSize after = left + free_in_used_blocks(rig);
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    assert_int_equal(maarGetDetailedStatistics(rig->allocator, VK_NULL_HANDLE, &details),
                     VK_SUCCESS);
    const bool shares = dedicated != MAAR_DEDICATED_ALWAYS;
    const bool is_exact = shares ? taken + after == before && details.freeRangeSizeMax < piece
                                 : taken == available / piece * piece;
    /* Above its budget, a heap has blocks whose free bytes still serve. */
    const bool serves = was_over && shares && taken >= available / piece * piece;
    if ((!is_exact && !serves) || left >= piece) {
        fail_msg("limit %llu, budget %llu, retained %llu, dedicated %d, traffic %d: %llu bytes are "
                 "available, %llu with what is free in blocks; %llu were taken, and %llu are left",
                 (unsigned long long)(limits[0] / MIB), (unsigned long long)(budget / MIB),
                 (unsigned long long)(retained / MIB), (int)dedicated, (int)traffic,
                 (unsigned long long)available, (unsigned long long)before,
                 (unsigned long long)taken, (unsigned long long)after);
    }
    maarFreeMemories(rig->allocator, made_count, made);
    rig_check(rig);
    rig_close(rig);
}

static void available_is_what_can_be_taken(void** state)
{
    (void)state;
    static const VkDeviceSize budgets[] = {60 * MIB, 300 * MIB, 1030 * MIB, 8 * GIB};
    static const VkDeviceSize limits[][3] = {{0, 0, 0}, {250 * MIB, 0, 0}, {2 * GIB, 0, 0}};
    static const VkDeviceSize retained[] = {0, 64 * MIB, UINT64_MAX};
    for (uint32_t i = 0; i < 3 * 4 * 3 * 2 * 2; ++i) {
        compare(limits[i % 3], budgets[i / 3 % 4], retained[i / 12 % 3],
                i / 36 % 2 == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO, i / 72 == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(available_is_what_can_be_taken),
    };
    return cmocka_run_group_tests_name("heap_available", tests, NULL, NULL);
}
