/*
 * A buffer of Vulkan's and a range of CUDA addresses over the same blocks, on a simulated device
 * and the FAKE CUDA driver: what is bound where, that bytes are shared, and that a growth that
 * fails changes nothing. Whether any real driver takes it, these tests cannot say.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/interop/cuda_fixture.h"

#include <unistd.h>

#include "core/memory/allocator_state.h"

enum { MIRROR_BLOCK = FAKE_GRANULARITY, MIRROR_BLOCKS = 5, FILE_HEAD = 4096 };

static struct cuda_desk desk;

static int open_mirror_desk(void** state)
{
    const struct rig_setup setup = {
        .sharing = rig_sharing_sparse(), .profile = rig_profile_sparse(), .paging = true};
    cuda_desk_start(&desk, &setup);
    *state = &desk;
    return 0;
}

static int close_mirror_desk(void** state)
{
    (void)state;
    cuda_desk_close(&desk);
    return 0;
}

static VkResult make_mirror(VkDeviceSize size, MaarCudaMirror* mirror)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(size);
    const MaarCudaMirrorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    return maarCreateCudaMirror(desk.cuda, &info, mirror);
}

static MaarCudaMirrorInfo info_of(MaarCudaMirror mirror)
{
    MaarCudaMirrorInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO};
    assert_int_equal(maarGetCudaMirrorInfo(desk.cuda, mirror, &info), VK_SUCCESS);
    return info;
}

/* Reads a block that the host cannot map through the file that the simulated device exports. */
static void expect_block(VkDeviceMemory memory, unsigned char value)
{
    const VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = memory,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    int fd = -1;
    unsigned char ends[2] = {0, 0};
    assert_int_equal(vkGetMemoryFdKHR(desk.rig.device, &info, &fd), VK_SUCCESS);
    assert_int_equal(pread(fd, &ends[0], 1, FILE_HEAD), 1);
    assert_int_equal(pread(fd, &ends[1], 1, FILE_HEAD + MIRROR_BLOCK - 1), 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(ends[0], value);
    assert_int_equal(ends[1], value);
}

static void blocks_lie_in_the_same_order_on_both_sides(void** state)
{
    (void)state;
    MaarCudaMirror mirror = VK_NULL_HANDLE;
    assert_int_equal(make_mirror(64 * MIB, &mirror), VK_SUCCESS);
    const MaarCudaMirrorInfo first = info_of(mirror);
    assert_int_equal(first.size, 0);
    assert_int_equal(first.granularity, MIRROR_BLOCK);
    assert_int_equal(first.reservedSize, 64 * MIB);
    for (uint32_t i = 1; i <= MIRROR_BLOCKS; ++i) {
        assert_int_equal(maarGrowCudaMirror(desk.cuda, mirror, (VkDeviceSize)i * MIRROR_BLOCK - 7),
                         VK_SUCCESS);
        const MaarCudaMirrorInfo now = info_of(mirror);
        assert_int_equal(now.size, (VkDeviceSize)i * MIRROR_BLOCK);
        assert_int_equal(now.blockCount, i);
        assert_int_equal(now.devicePointer, first.devicePointer);
        assert_true(now.buffer == first.buffer);
    }
    assert_int_equal(maarGrowCudaMirror(desk.cuda, mirror, MIRROR_BLOCK),
                     VK_SUCCESS); /* there already */
    assert_int_equal(info_of(mirror).blockCount, MIRROR_BLOCKS);

    MaarSimulatedPages pages[MIRROR_BLOCKS + 1];
    uint32_t count = MIRROR_BLOCKS + 1;
    assert_int_equal(maarSimulatedEnumeratePages(desk.rig.device, VK_OBJECT_TYPE_BUFFER,
                                                 (uint64_t)(uintptr_t)first.buffer, &count, pages),
                     VK_SUCCESS);
    assert_int_equal(count, MIRROR_BLOCKS);
    for (uint32_t i = 0; i < count; ++i) {
        /* The FAKE's addresses are the host's: what is written at one is in the block. */
        memset((char*)(uintptr_t)first.devicePointer + (size_t)i * MIRROR_BLOCK, (int)(i + 1),
               MIRROR_BLOCK);
    }
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(pages[i].offset, (VkDeviceSize)i * MIRROR_BLOCK);
        assert_int_equal(pages[i].memoryOffset, 0);
        expect_block(pages[i].memory, (unsigned char)(i + 1));
    }
    maarDestroyCudaMirror(desk.cuda, mirror);
    assert_int_equal(desk.fake->live(FAKE_KIND_PAGES), 0);
    assert_int_equal(desk.fake->live(FAKE_KIND_BACKING), 0);
    assert_int_equal(desk.fake->live(FAKE_KIND_RESERVATION), 0);
    assert_int_equal(rig_statistics(&desk.rig, VK_NULL_HANDLE).allocationCount, 0);
}

static void growth_beyond_the_reserve_is_refused(void** state)
{
    (void)state;
    MaarCudaMirror mirror = VK_NULL_HANDLE;
    assert_int_equal(make_mirror((VkDeviceSize)2 * MIRROR_BLOCK, &mirror), VK_SUCCESS);
    assert_int_equal(maarGrowCudaMirror(desk.cuda, mirror, (VkDeviceSize)3 * MIRROR_BLOCK),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(maarGrowCudaMirror(desk.cuda, mirror, (VkDeviceSize)2 * MIRROR_BLOCK),
                     VK_SUCCESS);
    maarDestroyCudaMirror(desk.cuda, mirror);
}

/* Whichever side fails, and wherever: the size stays, and a retry works. */
static void growth_that_fails_changes_nothing(void** state)
{
    (void)state;
    static const char* const driver[] = {"vkAllocateMemory", "vkQueueBindSparse",
                                         "vkGetMemoryFdKHR", "vkWaitSemaphores"};
    static const char* const cuda[] = {"cuMemImportFromShareableHandle", "cuMemMap",
                                       "cuMemSetAccess"};
    MaarCudaMirror mirror = VK_NULL_HANDLE;
    assert_int_equal(make_mirror(64 * MIB, &mirror), VK_SUCCESS);
    assert_int_equal(maarGrowCudaMirror(desk.cuda, mirror, MIRROR_BLOCK), VK_SUCCESS);
    const MaarStatistics before = rig_statistics(&desk.rig, VK_NULL_HANDLE);
    const uint64_t pages = desk.fake->live(FAKE_KIND_PAGES);
    const uint64_t backing = desk.fake->live(FAKE_KIND_BACKING);
    for (size_t i = 0; i < 7; ++i) {
        if (i < 4) {
            rig_set_fault(&desk.rig, driver[i], 1, 100, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        } else {
            desk.fake->set_fault(cuda[i - 4], 1, 1, MAAR_CUDA_OUT_OF_MEMORY);
        }
        const VkResult result =
            maarGrowCudaMirror(desk.cuda, mirror, (VkDeviceSize)2 * MIRROR_BLOCK);
        rig_clear_faults(&desk.rig);
        assert_int_not_equal(result, VK_SUCCESS);
        assert_int_equal(info_of(mirror).size, MIRROR_BLOCK);
        assert_int_equal(info_of(mirror).blockCount, 1);
        assert_int_equal(rig_statistics(&desk.rig, VK_NULL_HANDLE).blockBytes, before.blockBytes);
        assert_int_equal(desk.fake->live(FAKE_KIND_PAGES), pages);
        assert_int_equal(desk.fake->live(FAKE_KIND_BACKING), backing);
    }
    assert_int_equal(maarGrowCudaMirror(desk.cuda, mirror, (VkDeviceSize)2 * MIRROR_BLOCK),
                     VK_SUCCESS);
    maarDestroyCudaMirror(desk.cuda, mirror);
    rig_forget_messages(&desk.rig);
}

static void growth_that_meets_a_lost_device_is_remembered(void** state)
{
    (void)state;
    static const char* const functions[] = {"vkQueueBindSparse", "vkWaitSemaphores"};
    const MaarPoint never = {VK_NULL_HANDLE, 1};
    MaarCudaMirror mirror = VK_NULL_HANDLE;
    assert_int_equal(make_mirror(64 * MIB, &mirror), VK_SUCCESS);
    for (size_t i = 0; i < 2; ++i) {
        const MaarAllocation memory = rig_allocate(&desk.rig, 1000, NULL);
        assert_int_equal(maarFreeMemoryAfter(desk.rig.allocator, memory, 1, &never), VK_SUCCESS);
        rig_set_fault(&desk.rig, functions[i], 1, 1, VK_ERROR_DEVICE_LOST);
        assert_int_equal(maarGrowCudaMirror(desk.cuda, mirror, MIRROR_BLOCK), VK_ERROR_DEVICE_LOST);
        rig_clear_faults(&desk.rig);
        uint32_t freed = 0;
        assert_int_equal(maarCollect(desk.rig.allocator, &freed), VK_ERROR_DEVICE_LOST);
        assert_int_equal(freed, 1);
        maar_atomic32_store(&desk.rig.allocator->retire.lost, 0);
    }
    maarDestroyCudaMirror(desk.cuda, mirror);
}

/* Address space is the device's, and what else is sparse has some of it. */
static void mirror_beyond_the_address_space_is_refused(void** state)
{
    (void)state;
    MaarCudaMirror first = VK_NULL_HANDLE;
    MaarCudaMirror second = VK_NULL_HANDLE;
    assert_int_equal(make_mirror(40 * GIB, &first), VK_SUCCESS);
    assert_int_equal(make_mirror(40 * GIB, &second), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(second == VK_NULL_HANDLE);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED,
                              "sparseAddressSpaceSize");
    maarDestroyCudaMirror(desk.cuda, first);
    assert_int_equal(make_mirror(40 * GIB, &second), VK_SUCCESS);
    maarDestroyCudaMirror(desk.cuda, second);
    rig_forget_messages(&desk.rig);
}

static void device_that_does_not_share_sparse_buffers_is_refused(void** state)
{
    (void)state;
    cuda_desk_close(&desk);
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    cuda_desk_start(&desk, &setup);
    MaarCudaMirror mirror = VK_NULL_HANDLE;
    assert_int_equal(make_mirror(64 * MIB, &mirror), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_true(mirror == VK_NULL_HANDLE);
    rig_forget_messages(&desk.rig);
}

/* Where the allocator has no queue, no index would do. */
static void mirror_without_queues_names_the_list(void** state)
{
    (void)state;
    const struct rig_setup setup = {
        .sharing = rig_sharing_sparse(), .profile = rig_profile_sparse(), .paging = true};
    const MaarCudaCreateInfo info = cuda_desk_info();
    MaarCudaMirror mirror = (MaarCudaMirror)(uintptr_t)1;
    cuda_desk_close(&desk);
    cuda_desk_open(&desk, &setup);
    maarDestroyAllocator(desk.rig.allocator);
    desk.rig.create_info.queueCount = 0;
    rig_make_allocator(&desk.rig);
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda), VK_SUCCESS);
    assert_int_equal(make_mirror(64 * MIB, &mirror), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(mirror == VK_NULL_HANDLE);
    assert_true(rig_message_names(&desk.rig, "pCreateInfo->queue"));
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_NO_QUEUE,
                              "MaarAllocatorCreateInfo::pQueues");
}

static void address_without_its_feature_is_refused(void** state)
{
    (void)state;
    cuda_desk_close(&desk);
    const struct rig_setup setup = {.sharing = rig_sharing_sparse(),
                                    .profile = rig_profile_sparse(),
                                    .paging = true,
                                    .off = RIG_OFF_ADDRESS};
    cuda_desk_start(&desk, &setup);
    VkBufferCreateInfo buffer = rig_buffer_info(64 * MIB);
    buffer.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    const MaarCudaMirrorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    MaarCudaMirror mirror = VK_NULL_HANDLE;
    assert_int_equal(maarCreateCudaMirror(desk.cuda, &info, &mirror),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(mirror == VK_NULL_HANDLE);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pBufferInfo->usage");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_mirror_desk, close_mirror_desk)
        CASE(blocks_lie_in_the_same_order_on_both_sides),
        CASE(growth_beyond_the_reserve_is_refused),
        CASE(growth_that_fails_changes_nothing),
        CASE(growth_that_meets_a_lost_device_is_remembered),
        CASE(mirror_beyond_the_address_space_is_refused),
        CASE(device_that_does_not_share_sparse_buffers_is_refused),
        CASE(mirror_without_queues_names_the_list),
        CASE(address_without_its_feature_is_refused),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
