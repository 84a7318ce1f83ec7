/*
 * Sizes at the end of what an allocation can have.
 */
#include "tests/rig/rig.h"

static void the_largest_size_is_told(void** state)
{
    (void)state;
    static struct rig rig;
    MaarSimulatedProfile profile = *rig_profile_noncoherent();
    profile.heaps[0].size = (VkDeviceSize)1 << 50;
    profile.limits.maxMemoryAllocationSize = (VkDeviceSize)1 << 49;
    const struct rig_setup setup = {.profile = &profile};
    rig_start(&rig, &setup);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 2,
        .blockSize = MAAR_RANGE_MAX_SIZE,
    };
    MaarPool pool = rig_create_pool(&rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    const MaarMemoryRequest request =
        rig_request(MAAR_RANGE_MAX_SIZE - 1, 256, 4, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = VK_NULL_HANDLE;
    VkResult result = maarAllocateMemory(rig.allocator, &request, &how, &memory);
    if (result == VK_SUCCESS) {
        const MaarAllocationInfo known = rig_info(&rig, memory);
        assert_true(known.size >= MAAR_RANGE_MAX_SIZE - 1);
        maarFreeMemory(rig.allocator, memory);
    }
    maarDestroyPool(rig.allocator, pool);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_largest_size_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
