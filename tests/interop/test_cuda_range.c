/*
 * The experimental part of maar/cuda.h over the FAKE CUDA driver and a simulated device: blocks one
 * behind the other in one range of CUDA addresses, and CUDA's memory in Vulkan. Whether a real
 * driver takes such handles is not known; nothing of this says anything about a GPU.
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

static MaarCudaRangeInfo range_info(const struct cuda_desk* desk, MaarCudaRange range)
{
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    assert_int_equal(maarGetCudaRangeInfo(desk->cuda, range, &info), VK_SUCCESS);
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
    MaarCudaRangeInfo info = range_info(&desk, range);
    assert_int_equal(info.granularity, FAKE_GRANULARITY);
    assert_int_equal(info.reservedSize, 3 * BLOCK);
    assert_int_equal(info.size, 0);
    for (int i = 0; i < 3; ++i) {
        blocks[i] = make_block_of(&desk, BLOCK, MAAR_DEDICATED_ALWAYS);
        assert_int_equal(maarAppendToCudaRange(desk.cuda, range, blocks[i]), VK_SUCCESS);
        memset(maarGetMappedData(desk.rig.allocator, blocks[i]), 0x41 + i, BLOCK);
        assert_int_equal(range_info(&desk, range).size, (VkDeviceSize)(i + 1) * BLOCK);
    }
    const uint8_t* bytes = (const uint8_t*)(uintptr_t)info.devicePointer;
    for (size_t i = 0; i < (size_t)3 * BLOCK; i += 4095) {
        assert_int_equal(bytes[i], 0x41 + i / BLOCK);
    }
    const MaarAllocation more = make_block_of(&desk, BLOCK, MAAR_DEDICATED_ALWAYS);
    assert_int_equal(maarAppendToCudaRange(desk.cuda, range, more), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "12582912");
    maarDestroyCuda(desk.cuda);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_PEER_IN_USE);
    maarFreeMemory(desk.rig.allocator, more);
    maarFreeMemory(desk.rig.allocator, blocks[1]);
    assert_int_equal(bytes[BLOCK], 0x42); /* CUDA keeps it */
    maarDestroyCudaRange(desk.cuda, range);
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
    assert_int_equal(maarAppendToCudaRange(desk.cuda, range, odd), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "2097152");
    const MaarAllocation part = make_block_of(&desk, BLOCK, MAAR_DEDICATED_NEVER);
    assert_int_equal(maarAppendToCudaRange(desk.cuda, range, part), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_NOT_DEDICATED, "allocation");
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const MaarAllocation plain = rig_allocate(&desk.rig, BLOCK, &how);
    assert_int_equal(maarAppendToCudaRange(desk.cuda, range, plain),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
    maarFreeMemory(desk.rig.allocator, odd);
    maarFreeMemory(desk.rig.allocator, part);
    maarFreeMemory(desk.rig.allocator, plain);
    maarDestroyCudaRange(desk.cuda, range);
    maarDestroyCudaRange(desk.cuda, VK_NULL_HANDLE);
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
    const uint32_t descriptors = rig_count_fds();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        desk.fake->set_fault(cases[i].function, 1, 1, cases[i].error);
        assert_int_equal(maarAppendToCudaRange(desk.cuda, range, block), cases[i].result);
        rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, cases[i].function);
        assert_int_equal(range_info(&desk, range).size, 0);
        assert_int_equal(desk.fake->live(FAKE_KIND_BACKING), 0);
        assert_int_equal(desk.fake->live(FAKE_KIND_PAGES), 0);
        assert_int_equal(rig_count_fds(), descriptors);
    }
    assert_int_equal(maarAppendToCudaRange(desk.cuda, range, block), VK_SUCCESS);
    maarDestroyCudaRange(desk.cuda, range);
    assert_int_equal(rig_count_fds(), descriptors);
    maarFreeMemory(desk.rig.allocator, block);
    cuda_desk_close(&desk);
}

static void range_beyond_all_bounds_is_reported(void** state)
{
    struct cuda_desk desk;
    MaarCudaRange range = VK_NULL_HANDLE;
    (void)state;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(maarCreateCudaRange(desk.cuda, UINT64_MAX - 1, &range),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED,
                              "maarCreateCudaRange");
    assert_null(range);
    cuda_desk_close(&desk);
}

static void range_needs_virtual_memory(void** state)
{
    struct cuda_desk desk;
    MaarCudaRange range = VK_NULL_HANDLE;
    MaarCudaCreateInfo info = cuda_desk_info();
    (void)state;
    info.flags |= MAAR_CUDA_CREATE_CUDA_MEMORY_BIT;
    cuda_desk_open(&desk, NULL);
    desk.fake->set_attribute(0, MAAR_CUDA_ATTRIBUTE_VIRTUAL_MEMORY, 0);
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda), VK_SUCCESS);
    assert_int_equal(cuda_desk_cuda_info(&desk).virtualMemory, VK_FALSE);
    assert_int_equal(maarCreateCudaRange(desk.cuda, BLOCK, &range), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkBufferCreateInfo buffer_info = rig_buffer_info(4096);
    assert_int_equal(
        maarAllocateCudaMemory(desk.cuda, &buffer_info, MAAR_MEMORY_TYPE_NONE, &buffer, &memory),
        VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED);
    cuda_desk_close(&desk);
}

/* ---- the opposite direction ---- */

enum { LOCAL_TYPE = 0, SEEN_TYPE = 3 }; /* of rig_profile_discrete: device-local ones */

static void open_with_memory(struct cuda_desk* desk, uint32_t memory_type,
                             const struct rig_setup* setup)
{
    MaarCudaCreateInfo info = cuda_desk_info();
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    struct fake_identity identity = {.memory_type = memory_type};
    cuda_desk_open(desk, setup);
    assert_int_equal(maarGetSharingInfo(desk->rig.allocator, &sharing), VK_SUCCESS);
    memcpy(identity.device_uuid, sharing.deviceUUID, VK_UUID_SIZE);
    memcpy(identity.driver_uuid, sharing.driverUUID, VK_UUID_SIZE);
    desk->fake->set_identity(&identity);
    info.flags = MAAR_CUDA_CREATE_CUDA_MEMORY_BIT;
    assert_int_equal(maarCreateCuda(desk->rig.allocator, &info, &desk->cuda), VK_SUCCESS);
}

static void memory_of_cuda_is_a_buffer_of_vulkan(void** state)
{
    struct cuda_desk desk;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    void* mapped = NULL;
    (void)state;
    open_with_memory(&desk, SEEN_TYPE, NULL);
    const VkBufferCreateInfo info = rig_buffer_info(100000);
    assert_int_equal(maarAllocateCudaMemory(desk.cuda, &info, SEEN_TYPE, &buffer, &memory),
                     VK_SUCCESS);
    const MaarCudaMemory seen = cuda_desk_memory(&desk, memory);
    assert_int_equal(seen.blockSize, FAKE_GRANULARITY);
    assert_int_equal(seen.size, FAKE_GRANULARITY);
    assert_int_equal(rig_info(&desk.rig, memory).memoryTypeIndex, SEEN_TYPE);
    assert_int_equal(cuda_desk_cuda_info(&desk).importedBlockCount, 1);
    assert_int_equal(cuda_desk_cuda_info(&desk).importedBytes, FAKE_GRANULARITY);
    assert_int_equal(desk.fake->calls("cuImportExternalMemory"), 0);
    assert_int_equal(maarMapMemory(desk.rig.allocator, memory, &mapped), VK_SUCCESS);
    memset(seen.pDevice, 0x5C, 100000);
    assert_int_equal(((const uint8_t*)mapped)[99999], 0x5C);
    maarUnmapMemory(desk.rig.allocator, memory);
    maarDestroyBuffer(desk.rig.allocator, buffer, memory);
    assert_int_equal(desk.fake->live(FAKE_KIND_RESERVATION), 0);
    assert_int_equal(cuda_desk_cuda_info(&desk).importedBlockCount, 0);
    cuda_desk_close(&desk);
}

static void memory_of_cuda_is_tried_as_each_type(void** state)
{
    struct cuda_desk desk;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)state;
    open_with_memory(&desk, LOCAL_TYPE, NULL);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    assert_int_equal(
        maarAllocateCudaMemory(desk.cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &memory),
        VK_SUCCESS);
    assert_int_equal(rig_info(&desk.rig, memory).memoryTypeIndex, LOCAL_TYPE);
    maarDestroyBuffer(desk.rig.allocator, buffer, memory);
    cuda_desk_close(&desk);
}

/* A driver may say that there is no memory when the type is wrong. */
static void memory_of_cuda_is_tried_as_the_next_type_when_one_has_no_memory(void** state)
{
    const struct rig_setup setup = {
        .flags = MAAR_SIMULATED_NO_MEMORY_FOR_WRONG_TYPE_BIT,
        .sharing = rig_sharing_everything(),
    };
    struct cuda_desk desk;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)state;
    open_with_memory(&desk, SEEN_TYPE, &setup);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    const uint64_t calls = rig_calls(&desk.rig, "vkAllocateMemory");
    assert_int_equal(
        maarAllocateCudaMemory(desk.cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &memory),
        VK_SUCCESS);
    assert_true(rig_calls(&desk.rig, "vkAllocateMemory") > calls + 1);
    assert_int_equal(rig_info(&desk.rig, memory).memoryTypeIndex, SEEN_TYPE);
    maarDestroyBuffer(desk.rig.allocator, buffer, memory);
    /* If there is none for any type, the last answer counts, and nothing is left. */
    rig_set_fault(&desk.rig, "vkAllocateMemory", 1, 9, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(
        maarAllocateCudaMemory(desk.cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &memory),
        VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(&desk.rig);
    assert_int_equal(desk.fake->live(FAKE_KIND_RESERVATION), 0);
    cuda_desk_close(&desk);
}

/* Nothing is made in CUDA for a type that the buffer may not live in, or that nobody may use. */
static void memory_of_cuda_as_an_impossible_type_is_refused(void** state)
{
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.types[1].flags |= VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
    profile.requirements.bufferTypeBits = 0xA;
    const struct rig_setup setup = {.profile = &profile};
    struct cuda_desk desk;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)state;
    open_with_memory(&desk, SEEN_TYPE, &setup);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    static const struct {
        uint32_t type;
        MaarMessageId id;
        const char* culprit;
    } rows[] = {{0, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, "typeIndex"},
                {1, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "typeIndex"},
                {4, MAAR_MESSAGE_ID_OUT_OF_RANGE, "typeIndex"}};
    desk.fake->set_fault("cuMemCreate", 1, 100, MAAR_CUDA_OUT_OF_MEMORY);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_int_equal(maarAllocateCudaMemory(desk.cuda, &info, rows[i].type, &buffer, &memory),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(&desk.rig, rows[i].id, rows[i].culprit);
    }
    cuda_desk_close(&desk);
}

static void memory_of_cuda_that_fails_leaves_nothing(void** state)
{
    static const char* const functions[] = {
        "cuCtxPushCurrent", "cuMemGetAllocationGranularity", "cuMemAddressReserve",
        "cuMemCreate",      "cuMemExportToShareableHandle",  "cuMemMap",
        "cuMemSetAccess",
    };
    struct cuda_desk desk;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)state;
    open_with_memory(&desk, LOCAL_TYPE, NULL);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    const uint32_t descriptors = rig_count_fds();
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        desk.fake->set_fault(functions[i], 1, 1, MAAR_CUDA_OUT_OF_MEMORY);
        assert_int_equal(
            maarAllocateCudaMemory(desk.cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &memory),
            VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_null(memory);
        rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, functions[i]);
        assert_int_equal(cuda_desk_cuda_info(&desk).importedBlockCount, 0);
        assert_int_equal(desk.fake->live(FAKE_KIND_BACKING), 0);
        assert_int_equal(desk.fake->live(FAKE_KIND_RESERVATION), 0);
        assert_int_equal(rig_count_fds(), descriptors);
    }
    rig_set_fault(&desk.rig, "vkAllocateMemory", 1, 9, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(
        maarAllocateCudaMemory(desk.cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &memory),
        VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_clear_faults(&desk.rig);
    assert_int_equal(desk.fake->live(FAKE_KIND_RESERVATION), 0);
    assert_int_equal(rig_count_fds(), descriptors);
    cuda_desk_close(&desk);
}

static void memory_of_cuda_has_to_be_asked_for(void** state)
{
    struct cuda_desk desk;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    (void)state;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(
        maarAllocateCudaMemory(desk.cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &memory),
        VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                              "MAAR_CUDA_CREATE_CUDA_MEMORY_BIT");
    cuda_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_holds_blocks_one_behind_the_other),
        cmocka_unit_test(range_refuses_what_is_no_whole_block),
        cmocka_unit_test(range_that_fails_to_grow_is_as_it_was),
        cmocka_unit_test(range_needs_virtual_memory),
        cmocka_unit_test(range_beyond_all_bounds_is_reported),
        cmocka_unit_test(memory_of_cuda_is_a_buffer_of_vulkan),
        cmocka_unit_test(memory_of_cuda_is_tried_as_each_type),
        cmocka_unit_test(memory_of_cuda_is_tried_as_the_next_type_when_one_has_no_memory),
        cmocka_unit_test(memory_of_cuda_that_fails_leaves_nothing),
        cmocka_unit_test(memory_of_cuda_as_an_impossible_type_is_refused),
        cmocka_unit_test(memory_of_cuda_has_to_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
