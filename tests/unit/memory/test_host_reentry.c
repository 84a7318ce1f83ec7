/*
 * Host callbacks that call back: no lock is held then, and what the call is about to use stays.
 */
#include "tests/rig/rig.h"

struct host {
    MaarAllocator allocator;
    MaarPool pool;
    bool trims;
    uint32_t trim_count;
    VkDeviceSize released;
};

static void* VKAPI_PTR allocate_and_trim(void* user, size_t size, size_t alignment,
                                         VkSystemAllocationScope scope)
{
    (void)alignment;
    (void)scope;
    struct host* host = user;
    if (host->trims) {
        VkDeviceSize released = 0;
        host->trims = false; /* not from within itself */
        assert_int_equal(maarTrim(host->allocator, host->pool, &released), VK_SUCCESS);
        host->trims = true;
        host->released += released;
        ++host->trim_count;
    }
    return malloc(size);
}

/* The first handle of an arena takes host memory while the block that was made for it is empty
 * still.
 */
static void a_block_that_is_about_to_be_used_stays(void** state)
{
    (void)state;
    struct host host = {.trims = false};
    const VkAllocationCallbacks callbacks = {
        .pUserData = &host,
        .pfnAllocation = allocate_and_trim,
        .pfnReallocation = rig_plain_reallocate,
        .pfnFree = rig_plain_free,
    };
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pAllocationCallbacks = &callbacks;
    rig_make_allocator(rig);
    const MaarPoolCreateInfo info = {.blockSize = MIB};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = rig_create_pool(rig, &info);
    host.allocator = rig->allocator;
    host.pool = how.pool;
    host.trims = true;
    MaarAllocation made = rig_allocate(rig, 1000, &how);
    host.trims = false;
    assert_true(host.trim_count > 1); /* for the block, and for the handle */
    assert_int_equal(host.released, 0);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 1);
    assert_int_equal(rig_statistics(rig, how.pool).blockCount, 1);
    rig_check(rig);
    maarFreeMemory(rig->allocator, made);
    maarDestroyPool(rig->allocator, how.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {rig_unit_test(a_block_that_is_about_to_be_used_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
