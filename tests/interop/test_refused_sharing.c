/*
 * What a driver answers that cannot export, or cannot import what it has exported, on real drivers
 * over no-op kernels: those of RADV, NVK, Turnip and Honeykrisp export nothing. Whatever the answer
 * is, nothing is lost: no descriptor, no byte, no object.
 */
#include "tests/interop/sharing_fixture.h"

#include <fcntl.h>
#include <stdio.h>

enum { TIMES = 50 };

static struct rig rig;

/* The call that exports is none of those that ANV's no-op kernel knows. It succeeds all the same,
 * and the driver gives descriptor 0 away, the standard input. */
static const char exports_what_is_not_its_own[] = "ANV over the no-op kernel exports descriptor 0";

static int open_device(void** state)
{
    *state = sharing_start(&rig, NULL) ? &rig : NULL;
    return 0;
}

/* What must be the same after a failure. */
struct balance {
    uint32_t fds;
    VkDeviceSize blocks;
    uint32_t allocations;
};

static struct balance take_balance(void)
{
    const MaarStatistics statistics = rig_statistics(&rig, VK_NULL_HANDLE);
    return (struct balance){rig_count_fds(), statistics.blockBytes,
                            (uint32_t)statistics.allocationCount};
}

static void expect_balance(const struct balance* was)
{
    const struct balance is = take_balance();
    assert_int_equal(is.fds, was->fds);
    assert_int_equal(is.blocks, was->blocks);
    assert_int_equal(is.allocations, was->allocations);
    rig_check(&rig);
}

static VkResult export_once(MaarAllocation allocation, MaarExportedMemory* exported)
{
    *exported = (MaarExportedMemory){.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    return maarExportMemory(rig.allocator, allocation, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                            exported);
}

static void export_is_a_descriptor_or_nothing(void** state)
{
    rig_need(state, !rig_is("anv"), exports_what_is_not_its_own);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 65536, &buffer);
    struct balance was = take_balance();
    uint32_t refused = 0;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < TIMES; ++i) {
        MaarExportedMemory exported;
        result = export_once(allocation, &exported);
        if (result == VK_SUCCESS) {
            assert_true(fcntl(maarPeekFd(exported.handle), F_GETFD) >= 0);
            maarDestroyExternalHandle(rig.allocator, exported.handle);
        } else {
            assert_true(exported.handle == VK_NULL_HANDLE);
            ++refused;
        }
    }
    print_message("%u of %u exports refused, the last answer %d\n", refused, (unsigned)TIMES,
                  (int)result);
    was.fds += refused < TIMES ? 1 : 0; /* a block keeps its own one */
    assert_true(refused == 0 || refused == TIMES);
    expect_balance(&was);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
}

static void refused_import_leaves_the_handle_to_the_caller(void** state)
{
    rig_need(state, !rig_is("anv"), exports_what_is_not_its_own);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 65536, &buffer);
    MaarExportedMemory exported;
    const VkResult given = export_once(allocation, &exported);
    if (given != VK_SUCCESS) {
        maarDestroyBuffer(rig.allocator, buffer, allocation);
    }
    rig_need(state, given == VK_SUCCESS, "the kernel behind this driver exports nothing");
    const MaarImportInfo info = sharing_import_info(&exported);
    const int fd = maarPeekFd(exported.handle);
    const struct balance was = take_balance();
    MaarAllocation imported = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < TIMES && imported == VK_NULL_HANDLE; ++i) {
        result = maarImportMemory(rig.allocator, &info, &imported);
        if (result != VK_SUCCESS) {
            assert_true(imported == VK_NULL_HANDLE);
            assert_int_equal(maarPeekFd(exported.handle), fd);
            assert_true(fcntl(fd, F_GETFD) >= 0);
            expect_balance(&was);
        }
    }
    print_message("the import's answer is %d\n", (int)result);
    assert_int_equal(maarPeekFd(exported.handle), result == VK_SUCCESS ? -1 : fd);
    maarFreeMemory(rig.allocator, imported);
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).allocationCount, was.allocations);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(export_is_a_descriptor_or_nothing, open_device,
                                        rig_teardown),
        cmocka_unit_test_setup_teardown(refused_import_leaves_the_handle_to_the_caller, open_device,
                                        rig_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
