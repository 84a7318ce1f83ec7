/*
 * The peak of live bytes over several pools: it counts those of arenas that free nothing, falls
 * short by a sixteenth of their bytes at most, and is never too high.
 */
#include "tests/rig/rig.h"

static MaarPool make_pool(struct rig* rig)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = 256 * MIB,
    };
    return rig_create_pool(rig, &info);
}

static MaarAllocation allocate_in(struct rig* rig, MaarPool pool, VkDeviceSize size)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pool;
    return rig_allocate(rig, size, &how);
}

static VkDeviceSize peak_of(struct rig* rig)
{
    return rig_statistics(rig, VK_NULL_HANDLE).peakAllocationBytes;
}

static void a_peak_in_one_pool_is_exact(void** state)
{
    (void)state;
    struct rig* rig = rig_begin(NULL);
    const MaarPool pool = make_pool(rig);
    MaarAllocation made[333];
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 333; ++i) {
            made[i] = allocate_in(rig, pool, 4096);
        }
        maarFreeMemories(rig->allocator, 333, made);
        assert_int_equal(peak_of(rig), 333 * 4096);
        maarResetPeaks(rig->allocator);
    }
    rig_close(rig);
}

static void a_peak_in_two_pools_counts_both(void** state)
{
    (void)state;
    struct rig* rig = rig_begin(NULL);
    const MaarPool still = make_pool(rig);
    const MaarPool busy = make_pool(rig);
    VkDeviceSize held = 0;
    MaarAllocation kept[40];
    for (int i = 0; i < 40; ++i) {
        kept[i] = allocate_in(rig, still, 1 * MIB + 4096);
        held += 1 * MIB + 4096;
    }
    maarFreeMemory(rig->allocator, allocate_in(rig, busy, 100 * MIB));
    /* What lives now is less than what lived. */
    const VkDeviceSize most = held + 100 * MIB;
    assert_true(peak_of(rig) <= most);
    assert_true(peak_of(rig) >= most - held / 16);
    maarFreeMemories(rig->allocator, 40, kept);
    assert_true(peak_of(rig) <= most);
    maarResetPeaks(rig->allocator);
    assert_int_equal(peak_of(rig), 0);
    rig_close(rig);
}

/* What a failed call allocated for a moment is no part of a later peak. */
static void what_was_undone_is_in_no_peak(void** state)
{
    (void)state;
    struct rig* rig = rig_begin(NULL);
    const MaarPool pool = make_pool(rig);
    const MaarPool other = make_pool(rig);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pool;
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    maarFreeMemory(rig->allocator, allocate_in(rig, pool, 4096));
    const MaarMemoryRequest requests[2] = {
        rig_request(100 * MIB, 16, 2, MAAR_RESOURCE_KIND_LINEAR),
        rig_request(200 * MIB, 16, 2, MAAR_RESOURCE_KIND_LINEAR),
    };
    MaarAllocation made[2];
    assert_int_not_equal(maarAllocateMemories(rig->allocator, 2, requests, &how, made), VK_SUCCESS);
    maarFreeMemory(rig->allocator, allocate_in(rig, other, 50 * MIB));
    rig_forget_messages(rig);
    assert_int_equal(peak_of(rig), 50 * MIB);
    maarFreeMemory(rig->allocator, allocate_in(rig, pool, 60 * MIB));
    assert_int_equal(peak_of(rig), 60 * MIB);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(a_peak_in_one_pool_is_exact),
        rig_unit_test(a_peak_in_two_pools_counts_both),
        rig_unit_test(what_was_undone_is_in_no_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
