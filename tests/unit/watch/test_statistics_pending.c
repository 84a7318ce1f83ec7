/*
 * Statistics of what is pending, and of slices.
 */
#include "tests/rig/rig.h"

static const MaarPoint first_point = {.value = 1};

/* Sizes of live allocations alone count, placed or with memory of their own. */
static void pending_ones_are_no_live_sizes(void** state)
{
    (void)state;
    static const MaarDedicated modes[] = {MAAR_DEDICATED_NEVER, MAAR_DEDICATED_ALWAYS};
    for (uint32_t pending = 0; pending < 2; ++pending) {
        for (uint32_t live = 0; live < 2; ++live) {
            struct rig* const rig = rig_begin(NULL);
            MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
            how.dedicated = modes[pending];
            MaarAllocation large = rig_allocate(rig, 64 * KIB, &how);
            MaarAllocation tiny = rig_allocate(rig, 256, &how);
            how.dedicated = modes[live];
            MaarAllocation kept = rig_allocate(rig, 4 * KIB, &how);
            assert_int_equal(rig_details(rig, VK_NULL_HANDLE).allocationSizeMax, 64 * KIB);
            assert_int_equal(rig_details(rig, VK_NULL_HANDLE).allocationSizeMin, 256);
            assert_int_equal(maarFreeMemoryAfter(rig->allocator, large, 1, &first_point),
                             VK_SUCCESS);
            assert_int_equal(maarFreeMemoryAfter(rig->allocator, tiny, 1, &first_point),
                             VK_SUCCESS);
            assert_int_equal(rig_details(rig, VK_NULL_HANDLE).allocationSizeMax, 4 * KIB);
            assert_int_equal(rig_details(rig, VK_NULL_HANDLE).allocationSizeMin, 4 * KIB);
            maarFreeMemory(rig->allocator, kept);
            assert_int_equal(rig_details(rig, VK_NULL_HANDLE).allocationSizeMax, 0);
            MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
            assert_int_equal(statistics.allocationCount, 0);
            assert_int_equal(statistics.pendingCount, 2);
            assert_int_equal(statistics.pendingBytes, 64 * KIB + 256);
            assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
            rig_close(rig);
        }
    }
}

static MaarSlice make_slice(struct rig* rig, VkDeviceSize size, uint32_t families)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .queueFamilyBits = families,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSlice(rig->allocator, &info, &slice), VK_SUCCESS);
    return slice;
}

static void expect_slices(struct rig* rig, uint32_t live, VkDeviceSize bytes, uint32_t pending,
                          VkDeviceSize pending_bytes)
{
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.sliceCount, live);
    assert_int_equal(statistics.sliceBytes, bytes);
    assert_int_equal(statistics.pendingSliceCount, pending);
    assert_int_equal(statistics.pendingSliceBytes, pending_bytes);
}

static void slices_are_counted(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    expect_slices(rig, 0, 0, 0, 0);
    MaarSlice first = make_slice(rig, 256, 0);
    MaarSlice second = make_slice(rig, 1000, 0);
    expect_slices(rig, 2, 1256, 0, 0);
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, 1); /* the buffer that they share */
    assert_int_equal(maarDestroySliceAfter(rig->allocator, first, 1, &first_point), VK_SUCCESS);
    expect_slices(rig, 1, 1000, 1, 256);
    maarDestroySlice(rig->allocator, second);
    expect_slices(rig, 0, 0, 1, 256);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    expect_slices(rig, 0, 0, 0, 0);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarSlice third = make_slice(rig, 256, 0);
    assert_int_equal(rig_statistics(rig, pool).sliceCount, 0); /* allocator-wide only */
    maarDestroySlice(rig->allocator, third);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- families ---- */

static struct {
    PFN_vkCreateBuffer create;
    uint32_t count;
    VkSharingMode mode;
    uint32_t families[4];
    uint32_t family_count;
} seen;

static VKAPI_ATTR VkResult VKAPI_CALL watch_create_buffer(VkDevice device,
                                                          const VkBufferCreateInfo* info,
                                                          const VkAllocationCallbacks* callbacks,
                                                          VkBuffer* buffer)
{
    ++seen.count;
    seen.mode = info->sharingMode;
    seen.family_count = info->queueFamilyIndexCount;
    for (uint32_t i = 0; i < info->queueFamilyIndexCount && i < 4; ++i) {
        seen.families[i] = info->pQueueFamilyIndices[i];
    }
    return seen.create(device, info, callbacks, buffer);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL watch_device(VkDevice device, const char* name)
{
    PFN_vkVoidFunction function = vkGetDeviceProcAddr(device, name);
    if (strcmp(name, "vkCreateBuffer") == 0) {
        seen.create = (PFN_vkCreateBuffer)function;
        return (PFN_vkVoidFunction)watch_create_buffer;
    }
    return function;
}

static void slices_of_several_families_are_concurrent(void** state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        uint32_t buffers; /* made so far */
        VkSharingMode mode;
        uint32_t family_count;
        uint32_t families[2];
    } rows[] = {
        {0x0, 1, VK_SHARING_MODE_EXCLUSIVE, 0, {0, 0}},
        {0x0, 1, VK_SHARING_MODE_EXCLUSIVE, 0, {0, 0}},
        {0x4, 2, VK_SHARING_MODE_EXCLUSIVE, 0, {0, 0}},
        {0x5, 3, VK_SHARING_MODE_CONCURRENT, 2, {0, 2}},
        {0x5, 3, VK_SHARING_MODE_CONCURRENT, 2, {0, 2}},
        {0x3, 4, VK_SHARING_MODE_CONCURRENT, 2, {0, 1}},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.queueFamilyCount = 3;
    for (uint32_t i = 0; i < 3; ++i) {
        profile.queueFamilies[i] = (MaarSimulatedQueueFamily){
            .count = 1, .flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_TRANSFER_BIT};
    }
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    memset(&seen, 0, sizeof seen);
    rig->create_info.pfnGetDeviceProcAddr = watch_device;
    rig_make_allocator(rig);
    MaarSlice slices[ROWS];
    for (uint32_t i = 0; i < ROWS; ++i) {
        slices[i] = make_slice(rig, 256, rows[i].bits);
        assert_int_equal(seen.count, rows[i].buffers);
        assert_int_equal(seen.mode, rows[i].mode);
        assert_int_equal(seen.family_count, rows[i].family_count);
        for (uint32_t k = 0; k < rows[i].family_count; ++k) {
            assert_int_equal(seen.families[k], rows[i].families[k]);
        }
    }
    for (uint32_t i = 0; i < ROWS; ++i) {
        maarDestroySlice(rig->allocator, slices[i]);
    }
    rig_expect_silence(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(pending_ones_are_no_live_sizes),
        rig_unit_test(slices_are_counted),
        rig_unit_test(slices_of_several_families_are_concurrent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
