/*
 * Protocol tests of maar/cuda.h: CUDA's virtual memory, with blocks of Vulkan's in a row of CUDA
 * addresses, and the opposite direction.
 */
#define MAAR_ENABLE_EXPERIMENTAL 1
#include "tests/interop/cuda_case.h"

/* ---- blocks in a row ---- */

enum { BLOCKS = 3 };

static MaarAllocation make_block(struct cuda_case* c, VkDeviceSize size)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    return rig_allocate(&c->rig, size, &how);
}

static void blocks_lie_in_a_row_in_cuda(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    const VkDeviceSize size = FAKE_GRANULARITY;
    MaarAllocation blocks[BLOCKS];
    MaarCudaRange range = VK_NULL_HANDLE;
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    assert_int_equal(maarCreateCudaRange(c->cuda, BLOCKS * size, &range), VK_SUCCESS);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        blocks[i] = make_block(c, size);
        assert_int_equal(maarAppendToCudaRange(c->cuda, range, blocks[i]), VK_SUCCESS);
    }
    assert_int_equal(maarGetCudaRangeInfo(c->cuda, range, &info), VK_SUCCESS);
    assert_true(info.size == BLOCKS * size && info.reservedSize >= info.size);
    assert_int_equal(info.granularity, FAKE_GRANULARITY);
    /* One write across all of them, but for the first and the last byte. */
    assert_int_equal(c->driver.cuMemsetD8Async(info.devicePointer + 1, 7, info.size - 2, c->stream),
                     0);
    cuda_case_finish(c);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        const unsigned char* bytes = maarGetMappedData(c->rig.allocator, blocks[i]);
        assert_non_null(bytes);
        assert_int_equal(bytes[0], i == 0 ? 0 : 7);
        assert_int_equal(bytes[size / 2], 7);
        assert_int_equal(bytes[size - 1], i + 1 == BLOCKS ? 0 : 7);
    }
    const MaarAllocation more = make_block(c, size);
    assert_int_equal(maarAppendToCudaRange(c->cuda, range, more), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(&c->rig);
    maarFreeMemory(c->rig.allocator, more);
    maarDestroyCudaRange(c->cuda, range);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        maarFreeMemory(c->rig.allocator, blocks[i]);
    }
    fake_expect_no_breach(c->fake);
}

static void block_that_does_not_fit_a_range_is_refused(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaRange range = VK_NULL_HANDLE;
    assert_int_equal(maarCreateCudaRange(c->cuda, (VkDeviceSize)2 * FAKE_GRANULARITY, &range),
                     VK_SUCCESS);
    const MaarAllocation odd = make_block(c, FAKE_GRANULARITY + 65536);
    assert_int_equal(maarAppendToCudaRange(c->cuda, range, odd), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(&c->rig);
    const uint32_t descriptors = rig_count_fds();
    const MaarAllocation even = make_block(c, FAKE_GRANULARITY);
    static const char* const functions[] = {"cuMemImportFromShareableHandle", "cuMemMap",
                                            "cuMemSetAccess"};
    for (size_t i = 0; i < 3; ++i) {
        c->fake->set_fault(functions[i], 1, 1, MAAR_CUDA_OUT_OF_MEMORY);
        assert_int_equal(maarAppendToCudaRange(c->cuda, range, even),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        rig_forget_messages(&c->rig);
        assert_int_equal(c->fake->live(FAKE_KIND_BACKING) + c->fake->live(FAKE_KIND_PAGES), 0);
    }
    assert_int_equal(maarAppendToCudaRange(c->cuda, range, even), VK_SUCCESS);
    maarDestroyCudaRange(c->cuda, range);
    maarFreeMemory(c->rig.allocator, even);
    maarFreeMemory(c->rig.allocator, odd);
    assert_true(rig_count_fds() <= descriptors + 2);
    fake_expect_no_breach(c->fake);
}

/* ---- the opposite direction ---- */

static void cuda_memory_needs_its_flag(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    const VkBufferCreateInfo info = rig_buffer_info(65536);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(
        maarAllocateCudaMemory(c->cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &allocation),
        VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(&c->rig);
    assert_int_equal(c->fake->calls("cuMemCreate"), 0);
}

/* The simulated device takes what the FAKE driver makes, lavapipe takes nothing but its own. */
static void cuda_memory_is_imported_or_refused_whole(void** state)
{
    const struct cuda_case_setup setup = {.kinds = SEMAPHORE_WRAP_ALL, .without_cuda = true};
    static struct cuda_case c;
    (void)state;
    if (!cuda_case_open(&c, &setup)) {
        skip();
    }
    const MaarCudaCreateInfo create = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .flags = MAAR_CUDA_CREATE_CUDA_MEMORY_BIT,
        .pLibraryPath = MAAR_FAKE_CUDA,
    };
    struct fake_identity identity = {.memory_type = 1};
    memcpy(identity.device_uuid, c.sharing.deviceUUID, VK_UUID_SIZE);
    memcpy(identity.driver_uuid, c.sharing.driverUUID, VK_UUID_SIZE);
    c.fake->set_identity(&identity);
    cuda_case_start(&c, &create);
    const VkBufferCreateInfo info = rig_buffer_info(65536);
    const uint32_t descriptors = rig_count_fds();
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    /* lavapipe has but one type, and is asked for each. */
    const VkResult result = maarAllocateCudaMemory(
        c.cuda, &info, c.rig.simulated ? 1 : MAAR_MEMORY_TYPE_NONE, &buffer, &allocation);
    if (c.rig.simulated) {
        assert_int_equal(result, VK_SUCCESS);
        const MaarCudaMemory memory = cuda_case_memory(&c, allocation);
        void* mapped = NULL;
        assert_int_equal(c.driver.cuMemsetD8Async(memory.devicePointer, 9, 65536, c.stream), 0);
        cuda_case_finish(&c);
        assert_int_equal(maarMapMemory(c.rig.allocator, allocation, &mapped), VK_SUCCESS);
        assert_int_equal(((const unsigned char*)mapped)[65535], 9);
        maarUnmapMemory(c.rig.allocator, allocation);
        maarDestroyBuffer(c.rig.allocator, buffer, allocation);
        assert_int_equal(maarTrim(c.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    } else {
        assert_int_equal(result, VK_ERROR_INVALID_EXTERNAL_HANDLE);
        assert_int_equal(c.fake->calls("cuMemCreate"), 1);
        assert_true(buffer == VK_NULL_HANDLE && allocation == VK_NULL_HANDLE);
        rig_forget_messages(&c.rig);
    }
    assert_int_equal(rig_count_fds(), descriptors);
    assert_int_equal(c.fake->live(FAKE_KIND_BACKING) + c.fake->live(FAKE_KIND_PAGES) +
                         c.fake->live(FAKE_KIND_RESERVATION),
                     0);
    cuda_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        CUDA_CASE(blocks_lie_in_a_row_in_cuda),
        CUDA_CASE(block_that_does_not_fit_a_range_is_refused),
        CUDA_CASE(cuda_memory_needs_its_flag),
        cmocka_unit_test(cuda_memory_is_imported_or_refused_whole),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
