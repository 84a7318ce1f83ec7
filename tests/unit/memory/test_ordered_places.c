/*
 * Where ordered requests go that no pending range serves: large ones to the beginning of a free
 * range, images and tiny ones to its end, and what is between to the side where no large one is.
 */
#include "tests/rig/rig.h"

#define MIB ((VkDeviceSize)1 << 20)
#define BLOCK (64 * MIB)

static struct rig* rig;
static MaarPool pool;

static void open_pool_of(VkDeviceSize block_size)
{
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = 1, .blockSize = block_size, .minBlockCount = 1, .maxBlockCount = 1};
    rig = rig_begin(&setup);
    pool = rig_create_pool(rig, &info);
}

static void open_pool(void)
{
    open_pool_of(BLOCK);
}

static void close_pool(void)
{
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 100), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    maarDestroyPool(rig->allocator, pool);
    rig_expect_silence(rig);
}

static MaarAllocation allocate(MaarResourceKind kind, VkDeviceSize size, bool is_ordered)
{
    const MaarPoint point = {VK_NULL_HANDLE, 50};
    const MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO, .pointCount = 1, .pPoints = &point};
    const MaarMemoryRequest request = rig_request(size, 1024, UINT32_MAX, kind);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    MaarAllocation memory = VK_NULL_HANDLE;
    how.pool = pool;
    how.pNext = is_ordered ? &use : NULL;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &memory), VK_SUCCESS);
    return memory;
}

static MaarAllocation ordered_buffer(VkDeviceSize size)
{
    return allocate(MAAR_RESOURCE_KIND_LINEAR, size, true);
}

static MaarAllocation ordered_image(VkDeviceSize size)
{
    return allocate(MAAR_RESOURCE_KIND_OPTIMAL, size, true);
}

static void expect_offset(MaarAllocation memory, VkDeviceSize offset)
{
    assert_int_equal(rig_info(rig, memory).offset, offset);
}

static void free_after_five(MaarAllocation memory)
{
    const MaarPoint point = {VK_NULL_HANDLE, 5};
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, memory, 1, &point), VK_SUCCESS);
}

static void images_and_tiny_ranges_lie_at_the_end(void** state)
{
    (void)state;
    open_pool();
    MaarAllocation all[] = {ordered_buffer(MIB), ordered_image(MIB), ordered_buffer(1024),
                            ordered_buffer(MIB), ordered_image(MIB / 2)};
    expect_offset(all[0], 0);
    expect_offset(all[1], BLOCK - MIB);
    expect_offset(all[2], BLOCK - MIB - 1024);
    expect_offset(all[3], MIB);
    expect_offset(all[4], BLOCK - MIB - 1024 - MIB / 2);
    for (uint32_t i = 0; i < 5; ++i) {
        maarFreeMemory(rig->allocator, all[i]);
    }
    close_pool();
}

static void large_ranges_lie_side_by_side_and_nothing_behind_them(void** state)
{
    (void)state;
    open_pool();
    MaarAllocation all[] = {ordered_image(8 * MIB), ordered_buffer(MIB), ordered_buffer(8 * MIB),
                            ordered_buffer(8 * MIB - 1024)};
    expect_offset(all[0], 0);
    expect_offset(all[1], BLOCK - MIB);
    expect_offset(all[2], 8 * MIB);
    expect_offset(all[3], BLOCK - 9 * MIB + 1024);
    for (uint32_t i = 0; i < 4; ++i) {
        maarFreeMemory(rig->allocator, all[i]);
    }
    close_pool();
}

static void large_request_gets_former_ones_and_what_is_free_behind_them(void** state)
{
    (void)state;
    open_pool();
    const MaarAllocation one = ordered_buffer(16 * MIB);
    const MaarAllocation tiny = ordered_buffer(64);
    const MaarAllocation two = ordered_buffer(17 * MIB);
    const MaarAllocation staged = ordered_buffer(2 * MIB);
    free_after_five(one);
    free_after_five(two);
    const MaarAllocation sum = ordered_buffer(35 * MIB);
    expect_offset(sum, 0);
    maarFreeMemory(rig->allocator, tiny);
    maarFreeMemory(rig->allocator, staged);
    maarFreeMemory(rig->allocator, sum);
    close_pool();
}

static void an_eighth_of_a_small_block_is_large(void** state)
{
    (void)state;
    open_pool_of(8 * MIB);
    MaarAllocation all[] = {ordered_image(MIB), ordered_image(MIB - 1024),
                            ordered_buffer(MIB - 1024)};
    expect_offset(all[0], 0);
    expect_offset(all[1], 7 * MIB + 1024);
    expect_offset(all[2], 6 * MIB + 2048);
    for (uint32_t i = 0; i < 3; ++i) {
        maarFreeMemory(rig->allocator, all[i]);
    }
    close_pool();
}

static void requests_that_are_not_ordered_go_where_they_went(void** state)
{
    (void)state;
    open_pool();
    const MaarAllocation image = allocate(MAAR_RESOURCE_KIND_OPTIMAL, MIB, false);
    const MaarAllocation tiny = allocate(MAAR_RESOURCE_KIND_OPTIMAL, 1024, false);
    expect_offset(image, 0);
    expect_offset(tiny, MIB);
    maarFreeMemory(rig->allocator, image);
    maarFreeMemory(rig->allocator, tiny);
    close_pool();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(images_and_tiny_ranges_lie_at_the_end),
        rig_unit_test(large_ranges_lie_side_by_side_and_nothing_behind_them),
        rig_unit_test(large_request_gets_former_ones_and_what_is_free_behind_them),
        rig_unit_test(an_eighth_of_a_small_block_is_large),
        rig_unit_test(requests_that_are_not_ordered_go_where_they_went),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
