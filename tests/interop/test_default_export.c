/*
 * What the program's own memory can be exported as, by its type: MaarDefaultExportInfo.
 */
#include "tests/interop/sharing_fixture.h"

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

static struct rig* rig;
static MaarDefaultExportInfo defaults;
static VkExternalMemoryHandleTypeFlags handle_types[VK_MAX_MEMORY_TYPES];

/* Opens an allocator whose first type, or whose types all, are exported. */
static bool start(bool all)
{
    const bool simulated = rig_is("") || rig_is("none") || rig_is("simulated");
    const struct rig_setup setup = {.sharing = simulated ? rig_sharing_everything() : NULL};
    VkPhysicalDeviceMemoryProperties memory;
    rig = rig_new();
    if (simulated) {
        rig_open(rig, &setup);
    } else if (!rig_open_vulkan(rig, &setup, rig_is("lavapipe"))) {
        return false;
    }
    vkGetPhysicalDeviceMemoryProperties(rig->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        handle_types[i] = all || i == 0 ? OPAQUE : 0;
    }
    defaults = (MaarDefaultExportInfo){
        .sType = MAAR_STRUCTURE_TYPE_DEFAULT_EXPORT_INFO,
        .pNext = rig->create_info.pNext,
        .memoryTypeCount = memory.memoryTypeCount,
        .pHandleTypes = handle_types,
    };
    rig->create_info.pNext = &defaults;
    rig_make_allocator(rig);
    return true;
}

static void need(bool condition, const char* reason)
{
    if (!condition) {
        print_message("skipped: %s\n", reason);
        skip();
    }
}

/* A buffer with the external structure that Vulkan requires. */
static VkResult make(MaarMemoryUsage usage, MaarDedicated dedicated, VkBuffer* buffer,
                     MaarAllocation* allocation)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = OPAQUE};
    VkBufferCreateInfo info = rig_buffer_info(4096);
    MaarAllocationCreateInfo how = rig_how(usage);
    info.pNext = &external;
    how.dedicated = dedicated;
    return maarCreateBuffer(rig->allocator, &info, &how, buffer, allocation);
}

static VkResult export_it(MaarAllocation allocation, MaarExportedMemory* exported)
{
    *exported = (MaarExportedMemory){.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    return maarExportMemory(rig->allocator, allocation, OPAQUE, exported);
}

/* Blocks and dedicated memory are exported, and imported by the same allocator. */
static void default_memory_is_exported(void** state)
{
    (void)state;
    need(start(true), "no driver that shares");
    for (int i = 0; i < 2; ++i) {
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation allocation = VK_NULL_HANDLE;
        MaarExportedMemory exported;
        assert_int_equal(make(MAAR_MEMORY_USAGE_DEVICE_LOCAL,
                              i == 0 ? MAAR_DEDICATED_AUTO : MAAR_DEDICATED_ALWAYS, &buffer,
                              &allocation),
                         VK_SUCCESS);
        assert_int_equal(export_it(allocation, &exported), VK_SUCCESS);
        assert_int_equal(exported.blockSize, rig_info(rig, allocation).blockSize);
        const MaarImportInfo import = sharing_import_info(&exported);
        const VkBufferCreateInfo info = rig_buffer_info(4096);
        VkBuffer copy = VK_NULL_HANDLE;
        MaarAllocation imported = VK_NULL_HANDLE;
        if (exported.dedicated == VK_FALSE) {
            assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                             VK_SUCCESS);
        }
        maarDestroyExternalHandle(rig->allocator, exported.handle);
        maarDestroyBuffer(rig->allocator, copy, imported);
        maarDestroyBuffer(rig->allocator, buffer, allocation);
    }
    rig_expect_silence(rig);
}

/* Requests that resemble one another take the fast path; it must not lead around the default. */
static void every_request_is_exported(void** state)
{
    (void)state;
    need(start(true), "no driver that shares");
    VkBuffer buffers[6];
    MaarAllocation allocations[6];
    for (uint32_t i = 0; i < 6; ++i) {
        MaarExportedMemory exported;
        if (i == 1) {
            /* Maar's own memory makes a pool that is not exported. */
            const MaarSliceCreateInfo slice = {.sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
                                               .size = 64,
                                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
            MaarSlice made = VK_NULL_HANDLE;
            assert_int_equal(maarCreateSlice(rig->allocator, &slice, &made), VK_SUCCESS);
            maarDestroySlice(rig->allocator, made);
        }
        assert_int_equal(
            make(MAAR_MEMORY_USAGE_DEVICE_LOCAL, MAAR_DEDICATED_AUTO, &buffers[i], &allocations[i]),
            VK_SUCCESS);
        assert_int_equal(export_it(allocations[i], &exported), VK_SUCCESS);
        maarDestroyExternalHandle(rig->allocator, exported.handle);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], allocations[i]);
    }
    rig_check(rig);
}

/* Type 1 of the simulated device is for uploads, and is not named. */
static void types_that_are_not_named_are_not_exported(void** state)
{
    (void)state;
    need(rig_is("") || rig_is("none") || rig_is("simulated"), "knows the simulated device's types");
    assert_true(start(false));
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    MaarExportedMemory exported;
    assert_int_equal(make(MAAR_MEMORY_USAGE_UPLOAD, MAAR_DEDICATED_AUTO, &buffer, &allocation),
                     VK_SUCCESS);
    assert_int_equal(export_it(allocation, &exported), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    allocation = rig_allocate(rig, 4096, &how);
    assert_int_equal(export_it(allocation, &exported), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    maarFreeMemory(rig->allocator, allocation);
    maarDestroyPool(rig->allocator, pool);
}

static void wrong_defaults_are_refused(void** state)
{
    (void)state;
    need(rig_is("") || rig_is("none") || rig_is("simulated"),
         "knows what the simulated device lacks");
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    const VkExternalMemoryHandleTypeFlags unknown[1] = {
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP_BIT};
    MaarAllocator none = VK_NULL_HANDLE;
    rig = rig_new();
    rig_open(rig, &setup);
    defaults = (MaarDefaultExportInfo){.sType = MAAR_STRUCTURE_TYPE_DEFAULT_EXPORT_INFO,
                                       .memoryTypeCount = 1,
                                       .pHandleTypes = unknown};
    rig->create_info.pNext = &defaults;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &none), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
    defaults.memoryTypeCount = VK_MAX_MEMORY_TYPES;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &none), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                              "MaarDefaultExportInfo::memoryTypeCount");
    defaults.pHandleTypes = NULL;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &none), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT,
                              "MaarDefaultExportInfo::pHandleTypes");
    assert_true(none == VK_NULL_HANDLE);
    rig->create_info.pNext = NULL;
    rig_make_allocator(rig);
}

/* Fills 16 MiB and returns the number of blocks. */
static uint32_t count_blocks(const MaarExportInfo* export)
{
    enum { COUNT = 256 };
    MaarAllocation allocations[COUNT];
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = export;
    for (uint32_t i = 0; i < COUNT; ++i) {
        allocations[i] = rig_allocate(rig, 65536, &how);
    }
    const uint32_t count = rig_statistics(rig, VK_NULL_HANDLE).blockCount;
    for (uint32_t i = 0; i < COUNT; ++i) {
        maarFreeMemory(rig->allocator, allocations[i]);
    }
    return count;
}

/* Each block of memory for others costs a handle; most memory that is exported by default is for
 * nobody else. */
static void memory_for_others_has_few_blocks(void** state)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO, .handleTypes = OPAQUE};
    (void)state;
    need(rig_is("") || rig_is("none") || rig_is("simulated"), "knows the size of the first block");
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    rig = rig_new();
    rig_open(rig, &setup);
    rig_make_allocator(rig);
    assert_int_equal(count_blocks(&export), 1);
    assert_true(count_blocks(NULL) > 2);
    (void)rig_end_case(NULL);
    assert_true(start(true));
    assert_true(count_blocks(NULL) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(default_memory_is_exported),
        rig_unit_test(every_request_is_exported),
        rig_unit_test(types_that_are_not_named_are_not_exported),
        rig_unit_test(wrong_defaults_are_refused),
        rig_unit_test(memory_for_others_has_few_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
