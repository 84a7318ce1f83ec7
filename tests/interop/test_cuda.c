/*
 * maar/cuda.h over the FAKE CUDA driver and a simulated device: how the device is found, what is
 * said when it is not, blocks that are imported once, and timelines in each of their modes. Nothing
 * of this says anything about a GPU.
 */
#include "core/memory/allocator_state.h"
#include "tests/interop/cuda_fixture.h"

#include <stdio.h>

#include "interop/cuda/cuda_internal.h"

/* ---- finding it ---- */

static void device_is_found_by_uuid(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_open(&desk, NULL);
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(desk.rig.allocator, &sharing), VK_SUCCESS);
    desk.fake->set_device_count(3);
    uint8_t other[VK_UUID_SIZE] = {7};
    desk.fake->set_uuid(0, other);
    desk.fake->set_uuid(2, sharing.deviceUUID);
    const MaarCudaCreateInfo info = cuda_desk_info();
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda), VK_SUCCESS);
    const MaarCudaInfo found = cuda_desk_cuda_info(&desk);
    assert_int_equal(found.deviceOrdinal, 2);
    assert_non_null(strstr(found.deviceName, "FAKE"));
    assert_non_null(found.pContext);
    assert_int_equal(found.memoryHandleType, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    assert_int_equal(found.handoffMode, MAAR_HANDOFF_MODE_TIMELINE);
    assert_int_equal(found.timelineSemaphores, VK_TRUE);
    assert_int_equal(found.binarySemaphores, VK_TRUE);
    assert_int_equal(found.virtualMemory, VK_TRUE);
    cuda_desk_close(&desk);
}

static void device_of_another_uuid_is_refused_and_both_are_named(void** state)
{
    struct cuda_desk desk;
    uint8_t uuid[VK_UUID_SIZE];
    (void)state;
    cuda_desk_open(&desk, NULL);
    memset(uuid, 0xAB, sizeof uuid);
    desk.fake->set_uuid(0, uuid);
    const MaarCudaCreateInfo info = cuda_desk_info();
    MaarCuda cuda = (MaarCuda)(void*)1;
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &cuda),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    assert_null(cuda);
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    char own[2 * VK_UUID_SIZE + 1];
    assert_int_equal(maarGetSharingInfo(desk.rig.allocator, &sharing), VK_SUCCESS);
    for (size_t i = 0; i < VK_UUID_SIZE; ++i) {
        (void)snprintf(own + 2 * i, 3, "%02x", sharing.deviceUUID[i]);
    }
    assert_true(rig_message_names(&desk.rig, own));
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, "1");
    cuda_desk_close(&desk);
}

static void library_that_is_not_there_is_named(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_open(&desk, NULL);
    MaarCudaCreateInfo info = cuda_desk_info();
    info.pLibraryPath = "/nowhere/libcuda.so.1";
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda),
                     VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_PEER_MISSING);
    cuda_desk_close(&desk);
}

static void library_that_is_no_driver_is_refused(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_open(&desk, NULL);
    MaarCudaCreateInfo info = cuda_desk_info();
    info.pLibraryPath = "libc.so.6";
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_MISSING, "cuInit");
    cuda_desk_close(&desk);
}

static void driver_that_does_not_start_gives_its_reason(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_open(&desk, NULL);
    const MaarCudaCreateInfo info = cuda_desk_info();
    desk.fake->set_fault("cuInit", 1, 1, MAAR_CUDA_NO_DEVICE);
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda),
                     VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, "cuInit");
    cuda_desk_close(&desk);
}

static void device_without_the_extension_is_refused(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_open(&desk, NULL);
    desk.rig.allocator->device.facts.memory_fd = false;
    const MaarCudaCreateInfo info = cuda_desk_info();
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                              "VK_KHR_external_memory_fd");
    desk.rig.allocator->device.facts.memory_fd = true;
    cuda_desk_close(&desk);
}

static void luid_decides_where_there_is_one(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_open(&desk, NULL);
    struct maar_device_facts* facts = &desk.rig.allocator->device.facts;
    const uint8_t luid[VK_LUID_SIZE] = {1, 2, 3, 4, 5, 6, 7, 8};
    memcpy(facts->device_luid, luid, sizeof luid);
    facts->device_node_mask = 2;
    facts->device_luid_valid = true;
    const MaarCudaCreateInfo info = cuda_desk_info();
    desk.fake->set_luid(0, luid, 1);
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, "0102030405060708");
    desk.fake->set_luid(0, luid, 2);
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda), VK_SUCCESS);
    cuda_desk_close(&desk);
}

static void context_of_the_caller_is_used_and_left_to_him(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_open(&desk, NULL);
    assert_int_equal(desk.driver.cuInit(0), MAAR_CUDA_SUCCESS);
    MaarCudaCreateInfo info = cuda_desk_info();
    info.pContext = desk.fake->make_context(0);
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda), VK_SUCCESS);
    assert_ptr_equal(cuda_desk_cuda_info(&desk).pContext, info.pContext);
    assert_int_equal(desk.fake->calls("cuDevicePrimaryCtxRetain"), 0);
    assert_int_equal(desk.fake->context_depth(), 0);
    cuda_desk_close(&desk);
}

static void context_of_another_device_is_refused(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_open(&desk, NULL);
    desk.fake->set_device_count(2);
    assert_int_equal(desk.driver.cuInit(0), MAAR_CUDA_SUCCESS);
    MaarCudaCreateInfo info = cuda_desk_info();
    info.pContext = desk.fake->make_context(1);
    assert_int_equal(maarCreateCuda(desk.rig.allocator, &info, &desk.cuda),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, "pContext");
    cuda_desk_close(&desk);
}

/* ---- errors ---- */

static void errors_mean_what_the_header_says(void** state)
{
    (void)state;
    assert_int_equal(maar_cuda_vulkan_result(MAAR_CUDA_SUCCESS, MAAR_CUDA_CALL_PLAIN), VK_SUCCESS);
    assert_int_equal(maar_cuda_vulkan_result(MAAR_CUDA_OUT_OF_MEMORY, MAAR_CUDA_CALL_PLAIN),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maar_cuda_vulkan_result(MAAR_CUDA_OUT_OF_MEMORY, MAAR_CUDA_CALL_IMPORT),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const enum maar_cuda_result failures[] = {
        MAAR_CUDA_INVALID_VALUE,    MAAR_CUDA_INVALID_HANDLE, MAAR_CUDA_NOT_SUPPORTED,
        MAAR_CUDA_OPERATING_SYSTEM, MAAR_CUDA_NOT_PERMITTED,  MAAR_CUDA_UNKNOWN,
    };
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; ++i) {
        assert_int_equal(maar_cuda_vulkan_result(failures[i], MAAR_CUDA_CALL_IMPORT),
                         VK_ERROR_INVALID_EXTERNAL_HANDLE);
        assert_int_equal(maar_cuda_vulkan_result(failures[i], MAAR_CUDA_CALL_PLAIN),
                         VK_ERROR_UNKNOWN);
    }
    const enum maar_cuda_result broken[] = {
        MAAR_CUDA_INVALID_CONTEXT, MAAR_CUDA_ILLEGAL_ADDRESS,   MAAR_CUDA_LAUNCH_FAILED,
        MAAR_CUDA_DEINITIALIZED,   (enum maar_cuda_result)4711,
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; ++i) {
        assert_int_equal(maar_cuda_vulkan_result(broken[i], MAAR_CUDA_CALL_IMPORT),
                         VK_ERROR_UNKNOWN);
    }
}

/* ---- memory ---- */

static void block_is_imported_once_for_all_in_it(void** state)
{
    struct cuda_desk desk;
    VkBuffer buffers[3];
    MaarAllocation memory[3];
    (void)state;
    cuda_desk_start(&desk, NULL);
    for (int i = 0; i < 3; ++i) {
        memory[i] = rig_create_shared_buffer(&desk.rig, 4096, &buffers[i]);
    }
    for (int i = 0; i < 3; ++i) {
        const MaarCudaMemory seen = cuda_desk_memory(&desk, memory[i]);
        const MaarAllocationInfo known = rig_info(&desk.rig, memory[i]);
        assert_int_equal(seen.devicePointer, seen.blockPointer + known.offset);
        assert_ptr_equal(seen.pDevice, (void*)(uintptr_t)seen.devicePointer);
        assert_int_equal(seen.size, known.size);
        void* mapped = maarGetMappedData(desk.rig.allocator, memory[i]);
        assert_non_null(mapped);
        memset(mapped, 0x11 * (i + 1), 4096);
        /* The FAKE's addresses are the host's. */
        for (size_t at = 0; at < 4096; ++at) {
            assert_int_equal(((const uint8_t*)seen.pDevice)[at], 0x11 * (i + 1));
        }
    }
    assert_int_equal(desk.fake->calls("cuImportExternalMemory"), 1);
    assert_int_equal(desk.fake->calls("cuExternalMemoryGetMappedBuffer"), 1);
    const MaarCudaInfo info = cuda_desk_cuda_info(&desk);
    assert_int_equal(info.importedBlockCount, 1);
    assert_int_equal(info.importedBytes, desk.fake->imported_bytes());
    for (int i = 0; i < 3; ++i) {
        maarDestroyBuffer(desk.rig.allocator, buffers[i], memory[i]);
    }
    (void)maarTrim(desk.rig.allocator, VK_NULL_HANDLE, NULL);
    cuda_desk_close(&desk);
}

static void block_that_is_freed_ends_its_import(void** state)
{
    struct cuda_desk desk;
    VkBuffer buffer;
    (void)state;
    cuda_desk_start(&desk, NULL);
    const MaarAllocation memory = rig_create_shared_buffer(&desk.rig, 4096, &buffer);
    (void)cuda_desk_memory(&desk, memory);
    maarDestroyBuffer(desk.rig.allocator, buffer, memory);
    (void)maarTrim(desk.rig.allocator, VK_NULL_HANDLE, NULL);
    assert_int_equal(cuda_desk_cuda_info(&desk).importedBlockCount, 0);
    assert_int_equal(cuda_desk_cuda_info(&desk).importedBytes, 0);
    assert_int_equal(desk.fake->live(FAKE_KIND_MEMORY), 0);
    cuda_desk_close(&desk);
}

static void memory_not_made_for_it_is_refused(void** state)
{
    struct cuda_desk desk;
    MaarCudaMemory seen = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY, .devicePointer = 7};
    (void)state;
    cuda_desk_start(&desk, NULL);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarAllocation memory = rig_allocate(&desk.rig, 4096, &how);
    assert_int_equal(maarGetCudaMemory(desk.cuda, memory, &seen), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(seen.devicePointer, 0);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE, "allocation");
    maarFreeMemory(desk.rig.allocator, memory);
    cuda_desk_close(&desk);
}

static void import_that_fails_leaves_nothing(void** state)
{
    static const struct {
        const char* function;
        int error;
        VkResult result;
    } cases[] = {
        {"cuCtxPushCurrent", MAAR_CUDA_CONTEXT_IS_DESTROYED, VK_ERROR_UNKNOWN},
        {"cuImportExternalMemory", MAAR_CUDA_INVALID_VALUE, VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"cuImportExternalMemory", MAAR_CUDA_OUT_OF_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {"cuExternalMemoryGetMappedBuffer", MAAR_CUDA_NOT_SUPPORTED,
         VK_ERROR_INVALID_EXTERNAL_HANDLE},
    };
    struct cuda_desk desk;
    VkBuffer buffer;
    (void)state;
    cuda_desk_start(&desk, NULL);
    const MaarAllocation memory = rig_create_shared_buffer(&desk.rig, 4096, &buffer);
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(desk.rig.allocator, memory,
                                      VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &exported),
                     VK_SUCCESS);
    maarDestroyExternalHandle(desk.rig.allocator, exported.handle);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        MaarCudaMemory seen = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
        const uint32_t before = rig_count_fds();
        desk.fake->set_fault(cases[i].function, 1, 1, cases[i].error);
        assert_int_equal(maarGetCudaMemory(desk.cuda, memory, &seen), cases[i].result);
        assert_int_equal(seen.devicePointer, 0);
        rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, cases[i].function);
        assert_int_equal(rig_count_fds(), before);
        assert_int_equal(desk.fake->live(FAKE_KIND_MEMORY), 0);
        assert_int_equal(desk.fake->context_depth(), 0);
        assert_int_equal(cuda_desk_cuda_info(&desk).importedBlockCount, 0);
    }
    (void)cuda_desk_memory(&desk, memory);
    maarDestroyBuffer(desk.rig.allocator, buffer, memory);
    cuda_desk_close(&desk);
}

static void object_with_timelines_is_kept(void** state)
{
    struct cuda_desk desk;
    MaarCudaTimeline timeline;
    (void)state;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(maarCreateCudaTimeline(desk.cuda, NULL, &timeline), VK_SUCCESS);
    maarDestroyCuda(desk.cuda);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_IN_USE, "1");
    maarDestroyCudaTimeline(desk.cuda, timeline);
    cuda_desk_close(&desk);
}

/* ---- timelines ---- */

static MaarCudaTimeline make_timeline(struct cuda_desk* desk, MaarHandoffMode mode)
{
    const MaarCudaTimelineCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
        .mode = mode,
    };
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    assert_int_equal(maarCreateCudaTimeline(desk->cuda, &info, &timeline), VK_SUCCESS);
    return timeline;
}

/* What can be executed now; the FAKE driver's streams go on by themselves. */
static void execute_submissions(struct cuda_desk* desk)
{
    (void)maarSimulatedExecuteSubmissions(desk->rig.physical, UINT32_MAX);
}

/* Round trips: Vulkan gives a buffer away, the stream writes it, and Vulkan has it back. */
static void hand_over_and_back(struct cuda_desk* desk, MaarHandoffMode mode)
{
    struct maar_cuda_stream* stream = NULL;
    VkBuffer buffer;
    const MaarCudaInfo info = cuda_desk_cuda_info(desk);
    const MaarAllocation memory = rig_create_shared_buffer(&desk->rig, 4096, &buffer);
    const MaarCudaMemory seen = cuda_desk_memory(desk, memory);
    MaarCudaTimeline timeline = make_timeline(desk, mode);
    MaarCudaTimelineInfo known = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    assert_int_equal(maarGetCudaTimelineInfo(desk->cuda, timeline, &known), VK_SUCCESS);
    assert_int_equal(known.mode, mode);
    assert_int_equal(known.semaphore == VK_NULL_HANDLE, mode == MAAR_HANDOFF_MODE_BINARY);
    assert_int_equal(desk->driver.cuCtxPushCurrent(info.pContext), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk->driver.cuStreamCreate(&stream, MAAR_CUDA_STREAM_NON_BLOCKING),
                     MAAR_CUDA_SUCCESS);
    const MaarHandoffResource resource = {.buffer = buffer};
    MaarCudaHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .stream = stream,
        .resourceCount = 1,
        .pResources = &resource,
    };
    for (uint64_t round = 0; round < 50; ++round) {
        handoff.value = 2 * round + 1;
        assert_int_equal(maarReleaseToCuda(desk->cuda, timeline, &handoff), VK_SUCCESS);
        execute_submissions(desk);
        assert_int_equal(desk->driver.cuMemsetD8Async((maar_cuda_pointer)seen.devicePointer,
                                                      (unsigned char)round, 4096, stream),
                         MAAR_CUDA_SUCCESS);
        handoff.value = 2 * round + 2;
        assert_int_equal(maarAcquireFromCuda(desk->cuda, timeline, &handoff), VK_SUCCESS);
        assert_int_equal(desk->driver.cuStreamSynchronize(stream), MAAR_CUDA_SUCCESS);
        execute_submissions(desk);
        assert_int_equal(((const uint8_t*)maarGetMappedData(desk->rig.allocator, memory))[4095],
                         round);
    }
    assert_int_equal(vkQueueWaitIdle(desk->rig.queue), VK_SUCCESS);
    assert_int_equal(desk->driver.cuStreamDestroy(stream), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk->driver.cuCtxPopCurrent(&(struct maar_cuda_context*){0}),
                     MAAR_CUDA_SUCCESS);
    maarDestroyCudaTimeline(desk->cuda, timeline);
    maarDestroyBuffer(desk->rig.allocator, buffer, memory);
}

static void memory_is_handed_over_and_back_in_every_mode(void** state)
{
    struct cuda_desk desk;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT};
    (void)state;
    cuda_desk_start(&desk, &setup);
    hand_over_and_back(&desk, MAAR_HANDOFF_MODE_TIMELINE);
    hand_over_and_back(&desk, MAAR_HANDOFF_MODE_BINARY);
    hand_over_and_back(&desk, MAAR_HANDOFF_MODE_HOST);
    rig_expect_silence(&desk.rig);
    cuda_desk_close(&desk);
}

/* ---- halves that fail ---- */

/* Until the default stream is done: then a timeline may go. */
static void finish_stream(struct cuda_desk* desk)
{
    const MaarCudaInfo info = cuda_desk_cuda_info(desk);
    assert_int_equal(desk->driver.cuCtxPushCurrent(info.pContext), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk->driver.cuStreamSynchronize(NULL), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk->driver.cuCtxPopCurrent(&(struct maar_cuda_context*){0}),
                     MAAR_CUDA_SUCCESS);
}

static void acquire_that_is_refused_signals_nothing(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_start(&desk, NULL);
    MaarCudaTimeline timeline = make_timeline(&desk, MAAR_HANDOFF_MODE_TIMELINE);
    const MaarHandoffResource nothing = {.offset = 0};
    MaarCudaHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = 1,
        .resourceCount = 1,
        .pResources = &nothing,
    };
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_NULL_HANDLE, "pResources[0]");
    handoff.resourceCount = 0;
    handoff.queue = 7;
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "queue");
    handoff.queue = 0;
    rig_set_fault(&desk.rig, "vkAllocateCommandBuffers", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(&desk.rig);
    assert_int_equal(desk.fake->calls("cuSignalExternalSemaphoresAsync"), 0);
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff), VK_SUCCESS);
    finish_stream(&desk);
    maarDestroyCudaTimeline(desk.cuda, timeline);
    cuda_desk_close(&desk);
}

static void acquire_without_its_signal_submits_nothing(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_start(&desk, NULL);
    MaarCudaTimeline timeline = make_timeline(&desk, MAAR_HANDOFF_MODE_TIMELINE);
    const MaarCudaHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = 1,
    };
    desk.fake->set_fault("cuSignalExternalSemaphoresAsync", 1, 1, MAAR_CUDA_LAUNCH_FAILED);
    const uint64_t submissions = rig_calls(&desk.rig, "vkQueueSubmit");
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff), VK_ERROR_UNKNOWN);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED,
                              "cuSignalExternalSemaphoresAsync");
    assert_int_equal(rig_calls(&desk.rig, "vkQueueSubmit"), submissions);
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff),
                     VK_SUCCESS); /* the same value */
    finish_stream(&desk);
    maarDestroyCudaTimeline(desk.cuda, timeline);
    cuda_desk_close(&desk);
}

static void acquire_without_its_submission_says_so_and_can_be_made_up_for(void** state)
{
    struct cuda_desk desk;
    MaarPoint point = {.value = 0};
    (void)state;
    cuda_desk_start(&desk, NULL);
    MaarCudaTimeline timeline = make_timeline(&desk, MAAR_HANDOFF_MODE_BINARY);
    const MaarCudaHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = 1,
    };
    rig_set_fault(&desk.rig, "vkQueueSubmit", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_clear_faults(&desk.rig);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE);
    assert_int_equal(maarGetCudaTimelineWait(desk.cuda, timeline, 1, &point), VK_SUCCESS);
    const MaarHandoffInfo made_up = {
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .direction = MAAR_HANDOFF_DIRECTION_ACQUIRE,
        .waitCount = 1,
        .pWaits = &point,
    };
    assert_int_equal(maarSubmitHandoff(desk.rig.allocator, &made_up), VK_SUCCESS);
    finish_stream(&desk);
    maarDestroyCudaTimeline(desk.cuda, timeline);
    cuda_desk_close(&desk);
}

static void release_without_its_wait_says_so_and_can_be_made_up_for(void** state)
{
    static const MaarHandoffMode modes[] = {MAAR_HANDOFF_MODE_TIMELINE, MAAR_HANDOFF_MODE_BINARY};
    struct cuda_desk desk;
    (void)state;
    cuda_desk_start(&desk, NULL);
    const MaarCudaHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = 1,
    };
    for (size_t i = 0; i < 2; ++i) {
        MaarCudaTimeline timeline = make_timeline(&desk, modes[i]);
        desk.fake->set_fault("cuWaitExternalSemaphoresAsync", 1, 1, MAAR_CUDA_INVALID_HANDLE);
        assert_int_equal(maarReleaseToCuda(desk.cuda, timeline, &handoff), VK_ERROR_UNKNOWN);
        rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE, "1");
        assert_int_equal(maarCudaWait(desk.cuda, timeline, 1, NULL), VK_SUCCESS);
        finish_stream(&desk);
        maarDestroyCudaTimeline(desk.cuda, timeline);
    }
    /* One whose submission fails has done nothing. */
    MaarCudaTimeline timeline = make_timeline(&desk, MAAR_HANDOFF_MODE_BINARY);
    rig_set_fault(&desk.rig, "vkQueueSubmit", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarReleaseToCuda(desk.cuda, timeline, &handoff), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_clear_faults(&desk.rig);
    assert_int_equal(maarReleaseToCuda(desk.cuda, timeline, &handoff), VK_SUCCESS);
    finish_stream(&desk);
    maarDestroyCudaTimeline(desk.cuda, timeline);
    cuda_desk_close(&desk);
}

static void handoff_out_of_turn_is_not_ready(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_start(&desk, NULL);
    MaarCudaTimeline timeline = make_timeline(&desk, MAAR_HANDOFF_MODE_BINARY);
    MaarCudaHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = 1,
    };
    assert_int_equal(maarReleaseToCuda(desk.cuda, timeline, &handoff), VK_SUCCESS);
    handoff.value = 2;
    assert_int_equal(maarReleaseToCuda(desk.cuda, timeline, &handoff), VK_NOT_READY);
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff), VK_SUCCESS);
    handoff.value = 3;
    assert_int_equal(maarAcquireFromCuda(desk.cuda, timeline, &handoff), VK_NOT_READY);
    finish_stream(&desk);
    maarDestroyCudaTimeline(desk.cuda, timeline);
    cuda_desk_close(&desk);
}

static void signal_that_was_carried_in_vain_is_reported(void** state)
{
    struct cuda_desk desk;
    (void)state;
    cuda_desk_start(&desk, NULL);
    MaarCudaTimeline timeline = make_timeline(&desk, MAAR_HANDOFF_MODE_HOST);
    rig_set_fault(&desk.rig, "vkSignalSemaphore", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarCudaSignal(desk.cuda, timeline, 1, NULL), VK_SUCCESS);
    finish_stream(&desk);
    assert_int_equal(maarCudaSignal(desk.cuda, timeline, 2, NULL), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE);
    rig_clear_faults(&desk.rig);
    finish_stream(&desk);
    maarDestroyCudaTimeline(desk.cuda, timeline);
    cuda_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_is_found_by_uuid),
        cmocka_unit_test(device_of_another_uuid_is_refused_and_both_are_named),
        cmocka_unit_test(library_that_is_not_there_is_named),
        cmocka_unit_test(library_that_is_no_driver_is_refused),
        cmocka_unit_test(driver_that_does_not_start_gives_its_reason),
        cmocka_unit_test(device_without_the_extension_is_refused),
        cmocka_unit_test(luid_decides_where_there_is_one),
        cmocka_unit_test(context_of_the_caller_is_used_and_left_to_him),
        cmocka_unit_test(context_of_another_device_is_refused),
        cmocka_unit_test(errors_mean_what_the_header_says),
        cmocka_unit_test(block_is_imported_once_for_all_in_it),
        cmocka_unit_test(block_that_is_freed_ends_its_import),
        cmocka_unit_test(memory_not_made_for_it_is_refused),
        cmocka_unit_test(import_that_fails_leaves_nothing),
        cmocka_unit_test(object_with_timelines_is_kept),
        cmocka_unit_test(memory_is_handed_over_and_back_in_every_mode),
        cmocka_unit_test(acquire_that_is_refused_signals_nothing),
        cmocka_unit_test(acquire_without_its_signal_submits_nothing),
        cmocka_unit_test(acquire_without_its_submission_says_so_and_can_be_made_up_for),
        cmocka_unit_test(release_without_its_wait_says_so_and_can_be_made_up_for),
        cmocka_unit_test(handoff_out_of_turn_is_not_ready),
        cmocka_unit_test(signal_that_was_carried_in_vain_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
