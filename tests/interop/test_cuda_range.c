/*
 * The experimental part of maar/cuda.h over the FAKE CUDA driver and a simulated device: blocks one
 * behind the other in one range of CUDA addresses. Whether a real driver takes such handles is not
 * known; nothing of this says anything about a GPU.
 */
#include "tests/interop/cuda_fixture.h"

enum { BLOCK = 2 * FAKE_GRANULARITY };

static MaarAllocation make_block_of(struct cuda_desk* desk, VkDeviceSize size,
                                    MaarDedicated dedicated)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.dedicated = dedicated;
    return rig_allocate(&desk->rig, size, &how);
}

static MaarCudaRangeInfo range_info(MaarCudaRange range)
{
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    assert_int_equal(maarGetCudaRangeInfo(range, &info), VK_SUCCESS);
    return info;
}

static void range_holds_blocks_one_behind_the_other(void** state)
{
    struct cuda_desk desk;
    MaarAllocation blocks[3];
    MaarCudaRange range = VK_NULL_HANDLE;
    (void)state;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(maarCreateCudaRange(desk.cuda, 3 * BLOCK - 1, &range), VK_SUCCESS);
    MaarCudaRangeInfo info = range_info(range);
    assert_int_equal(info.granularity, FAKE_GRANULARITY);
    assert_int_equal(info.reservedSize, 3 * BLOCK);
    assert_int_equal(info.size, 0);
    for (int i = 0; i < 3; ++i) {
        blocks[i] = make_block_of(&desk, BLOCK, MAAR_DEDICATED_ALWAYS);
        assert_int_equal(maarAppendToCudaRange(range, blocks[i]), VK_SUCCESS);
        memset(maarGetMappedData(desk.rig.allocator, blocks[i]), 0x41 + i, BLOCK);
        assert_int_equal(range_info(range).size, (VkDeviceSize)(i + 1) * BLOCK);
    }
    const uint8_t* bytes = (const uint8_t*)(uintptr_t)info.devicePointer;
    for (size_t i = 0; i < (size_t)3 * BLOCK; i += 4095) {
        assert_int_equal(bytes[i], 0x41 + i / BLOCK);
    }
    const MaarAllocation more = make_block_of(&desk, BLOCK, MAAR_DEDICATED_ALWAYS);
    assert_int_equal(maarAppendToCudaRange(range, more), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message(&desk.rig, "has 0 of 12582912 bytes left");
    maarDestroyCuda(desk.cuda);
    rig_expect_message(&desk.rig, "it is kept");
    maarFreeMemory(desk.rig.allocator, more);
    maarFreeMemory(desk.rig.allocator, blocks[1]);
    assert_int_equal(bytes[BLOCK], 0x42); /* CUDA keeps it */
    maarDestroyCudaRange(range);
    maarFreeMemory(desk.rig.allocator, blocks[0]);
    maarFreeMemory(desk.rig.allocator, blocks[2]);
    cuda_desk_close(&desk);
}

static void range_refuses_what_is_no_whole_block(void** state)
{
    struct cuda_desk desk;
    MaarCudaRange range = VK_NULL_HANDLE;
    (void)state;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(maarCreateCudaRange(desk.cuda, BLOCK, &range), VK_SUCCESS);
    const MaarAllocation odd = make_block_of(&desk, BLOCK / 2 + 4096, MAAR_DEDICATED_ALWAYS);
    assert_int_equal(maarAppendToCudaRange(range, odd), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&desk.rig, "no multiple of the granularity, 2097152");
    const MaarAllocation part = make_block_of(&desk, BLOCK, MAAR_DEDICATED_NEVER);
    assert_int_equal(maarAppendToCudaRange(range, part), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&desk.rig, "allocation is not dedicated");
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const MaarAllocation plain = rig_allocate(&desk.rig, BLOCK, &how);
    assert_int_equal(maarAppendToCudaRange(range, plain), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&desk.rig, "was not made to be exported");
    maarFreeMemory(desk.rig.allocator, odd);
    maarFreeMemory(desk.rig.allocator, part);
    maarFreeMemory(desk.rig.allocator, plain);
    maarDestroyCudaRange(range);
    maarDestroyCudaRange(VK_NULL_HANDLE);
    cuda_desk_close(&desk);
}

static void range_that_fails_to_grow_is_as_it_was(void** state)
{
    static const struct {
        const char* function;
        int error;
        VkResult result;
    } cases[] = {
        {"cuCtxPushCurrent", MAAR_CUDA_INVALID_CONTEXT, VK_ERROR_UNKNOWN},
        {"cuMemImportFromShareableHandle", MAAR_CUDA_INVALID_VALUE,
         VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"cuMemMap", MAAR_CUDA_OUT_OF_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {"cuMemSetAccess", MAAR_CUDA_NOT_SUPPORTED, VK_ERROR_INVALID_EXTERNAL_HANDLE},
    };
    struct cuda_desk desk;
    MaarCudaRange range = VK_NULL_HANDLE;
    (void)state;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(maarCreateCudaRange(desk.cuda, BLOCK, &range), VK_SUCCESS);
    const MaarAllocation block = make_block_of(&desk, BLOCK, MAAR_DEDICATED_ALWAYS);
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(desk.rig.allocator, block,
                                      VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &exported),
                     VK_SUCCESS);
    maarDestroyExternalHandle(desk.rig.allocator, exported.handle);
    const uint32_t descriptors = fake_count_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        desk.fake->set_fault(cases[i].function, 1, 1, cases[i].error);
        assert_int_equal(maarAppendToCudaRange(range, block), cases[i].result);
        rig_expect_message(&desk.rig, cases[i].function);
        assert_int_equal(range_info(range).size, 0);
        assert_int_equal(desk.fake->live(FAKE_KIND_BACKING), 0);
        assert_int_equal(desk.fake->live(FAKE_KIND_PAGES), 0);
        assert_int_equal(fake_count_descriptors(), descriptors);
    }
    assert_int_equal(maarAppendToCudaRange(range, block), VK_SUCCESS);
    maarDestroyCudaRange(range);
    assert_int_equal(fake_count_descriptors(), descriptors);
    maarFreeMemory(desk.rig.allocator, block);
    cuda_desk_close(&desk);
}

static void range_needs_virtual_memory(void** state)
{
    struct cuda_desk desk;
    MaarCudaRange range = VK_NULL_HANDLE;
    const MaarCudaCreateInfo info = cuda_desk_info();
    (void)state;
    cuda_desk_open(&desk, NULL);
    desk.fake->set_attribute(0, MAAR_CUDA_ATTRIBUTE_VIRTUAL_MEMORY, 0);
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda), VK_SUCCESS);
    assert_int_equal(cuda_desk_cuda_info(&desk).virtualMemory, VK_FALSE);
    assert_int_equal(maarCreateCudaRange(desk.cuda, BLOCK, &range), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(&desk.rig, "lacks virtual memory management");
    cuda_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_holds_blocks_one_behind_the_other),
        cmocka_unit_test(range_refuses_what_is_no_whole_block),
        cmocka_unit_test(range_that_fails_to_grow_is_as_it_was),
        cmocka_unit_test(range_needs_virtual_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
