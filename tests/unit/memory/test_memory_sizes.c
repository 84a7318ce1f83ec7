/*
 * The bound of sizes: the field that holds one has 48 bits.
 */
#include "tests/rig/rig.h"

static struct rig* rig;

/* A device with memory enough, and a pool of a type there with one block as large as can be. */
static MaarPool start(uint32_t type)
{
    MaarSimulatedProfile profile = *rig_profile_noncoherent();
    profile.heaps[0].size = (VkDeviceSize)1 << 50;
    profile.limits.maxMemoryAllocationSize = (VkDeviceSize)1 << 49;
    const struct rig_setup setup = {.profile = &profile};
    rig = rig_begin(&setup);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = type,
        .blockSize = MAAR_RANGE_MAX_SIZE,
    };
    return rig_create_pool(rig, &info);
}

static VkResult allocate(MaarPool pool, VkDeviceSize size, MaarAllocation* memory)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    const MaarMemoryRequest request = rig_request(size, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    return maarAllocateMemory(rig->allocator, &request, &how, memory);
}

static void the_largest_size_is_reported(void** state)
{
    (void)state;
    MaarPool pool = start(0);
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(allocate(pool, MAAR_RANGE_MAX_SIZE - 1, &memory), VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).size, MAAR_RANGE_MAX_SIZE - 1);
    maarFreeMemory(rig->allocator, memory);
    assert_int_equal(allocate(pool, MAAR_RANGE_MAX_SIZE, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    maarDestroyPool(rig->allocator, pool);
}

/* Whole atoms of a type that is not coherent make 2^48 of it. */
static void a_size_rounded_beyond_the_largest_is_refused(void** state)
{
    (void)state;
    MaarPool pool = start(2);
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(allocate(pool, MAAR_RANGE_MAX_SIZE - 1, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    maarDestroyPool(rig->allocator, pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(the_largest_size_is_reported),
        rig_unit_test(a_size_rounded_beyond_the_largest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
