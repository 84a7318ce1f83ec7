/*
 * Which block and which offset a request takes, as its flags say.
 */
#include "tests/rig/rig.h"

static MaarPool create_pool(struct rig* rig, MaarPlacementStrategy strategy)
{
    const MaarPoolCreateInfo info = {.strategy = strategy, .blockSize = MIB};
    return rig_create_pool(rig, &info);
}

static MaarAllocation take(struct rig* rig, MaarPool pool, VkDeviceSize size,
                           MaarAllocationCreateFlags flags)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    how.flags = flags;
    return rig_allocate(rig, size, &how);
}

/* The first hole has 64 KiB, and the second one exactly what is asked for. */
static void the_lowest_offset_is_taken_before_the_tightest(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPool pool = create_pool(rig, MAAR_PLACEMENT_STRATEGY_TLSF);
    MaarAllocation made[5];
    for (uint32_t i = 0; i < 5; ++i) {
        made[i] = take(rig, pool, i == 3 ? 16 * KIB : 64 * KIB, 0);
    }
    const VkDeviceSize first = rig_info(rig, made[1]).offset;
    const VkDeviceSize second = rig_info(rig, made[3]).offset;
    maarFreeMemory(rig->allocator, made[1]);
    maarFreeMemory(rig->allocator, made[3]);
    made[3] = take(rig, pool, 16 * KIB, 0);
    assert_true(rig_info(rig, made[3]).offset == second);
    maarFreeMemory(rig->allocator, made[3]);
    made[3] = take(rig, pool, 16 * KIB, MAAR_ALLOCATION_CREATE_LOWEST_BIT);
    assert_true(rig_info(rig, made[3]).offset == first);
    rig_check(rig);
    made[1] = VK_NULL_HANDLE;
    maarFreeMemories(rig->allocator, 5, made);
    maarDestroyPool(rig->allocator, pool);
}

/* Lowest offsets hold in new blocks, dedicated memory and default pools, and in pools of any
 * strategy. */
static void the_lowest_offset_goes_with_every_way_to_memory(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    for (int i = MAAR_PLACEMENT_STRATEGY_TLSF; i <= MAAR_PLACEMENT_STRATEGY_LINEAR; ++i) {
        const MaarPool pool = create_pool(rig, (MaarPlacementStrategy)i);
        const MaarAllocation one = take(rig, pool, 4096, MAAR_ALLOCATION_CREATE_LOWEST_BIT);
        assert_true(rig_info(rig, one).offset == 0);
        maarFreeMemory(rig->allocator, one);
        maarDestroyPool(rig->allocator, pool);
    }
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_LOWEST_BIT;
    const MaarAllocation placed = rig_allocate(rig, 4096, &how);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const MaarAllocation dedicated = rig_allocate(rig, 4096, &how);
    assert_true(rig_info(rig, placed).offset == 0 && rig_info(rig, dedicated).offset == 0);
    maarFreeMemory(rig->allocator, placed);
    maarFreeMemory(rig->allocator, dedicated);
    rig_check(rig);
    rig_expect_silence(rig);
}

/* Two blocks: the first one has 512 KiB free, the second one 4 KiB. */
static void the_tightest_block_is_taken_on_request(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPool pool = create_pool(rig, MAAR_PLACEMENT_STRATEGY_TLSF);
    const MaarAllocation half = take(rig, pool, 512 * KIB, 0);
    const MaarAllocation most = take(rig, pool, MIB - 4 * KIB, 0);
    const uint64_t roomy = rig_info(rig, half).blockId;
    const uint64_t full = rig_info(rig, most).blockId;
    assert_true(roomy != full);
    MaarAllocation one = take(rig, pool, 2 * KIB, 0);
    assert_true(rig_info(rig, one).blockId == roomy);
    maarFreeMemory(rig->allocator, one);
    one = take(rig, pool, 2 * KIB, MAAR_ALLOCATION_CREATE_TIGHTEST_BIT);
    assert_true(rig_info(rig, one).blockId == full);
    maarFreeMemory(rig->allocator, one);
    one = take(rig, pool, 2 * KIB, MAAR_ALLOCATION_CREATE_LOWEST_BIT);
    assert_true(rig_info(rig, one).blockId == full);
    maarFreeMemory(rig->allocator, one);
    maarFreeMemory(rig->allocator, half);
    maarFreeMemory(rig->allocator, most);
    maarDestroyPool(rig->allocator, pool);
}

/* More blocks than the search tries one by one, in each of which alignment leaves no room. */
static void the_lowest_offset_is_found_behind_many_blocks(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPool pool = create_pool(rig, MAAR_PLACEMENT_STRATEGY_TLSF);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation made[17];
    how.pool = pool;
    for (uint32_t i = 0; i < 16; ++i) {
        made[i] = take(rig, pool, i % 2 == 0 ? 4 * KIB : 600 * KIB, 0);
    }
    how.flags = MAAR_ALLOCATION_CREATE_LOWEST_BIT;
    how.minAlignment = 512 * KIB;
    made[16] = rig_allocate(rig, 512 * KIB, &how);
    assert_true(rig_info(rig, made[16]).offset % (512 * KIB) == 0);
    rig_check(rig);
    maarFreeMemories(rig->allocator, 17, made);
    maarDestroyPool(rig->allocator, pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(the_lowest_offset_is_taken_before_the_tightest),
        rig_unit_test(the_lowest_offset_goes_with_every_way_to_memory),
        rig_unit_test(the_tightest_block_is_taken_on_request),
        rig_unit_test(the_lowest_offset_is_found_behind_many_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
