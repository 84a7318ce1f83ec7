/*
 * Protocol tests of maar/cuda.h: finding the device, and memory. See cuda_case.h for what they run
 * on: a FAKE CUDA driver. What is forbidden is done on purpose once, to see that it is noticed.
 */
#include "tests/interop/cuda_case.h"

#include <stdio.h>

enum { SIZE = 50000, CYCLES = 10000 };

/* ---- the device ---- */

static void create_cuda_finds_the_device_by_its_uuid(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    cuda_case_stop(c);
    c->fake->reset();
    c->fake->set_device_count(3);
    c->fake->set_uuid(2, c->sharing.deviceUUID);
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_CUDA,
    };
    cuda_case_start(c, &info);
    const MaarCudaInfo found = cuda_case_info(c);
    assert_int_equal(found.deviceOrdinal, 2);
    assert_string_equal(found.deviceName, "FAKE CUDA device (Maar's tests; not a GPU)");
    assert_int_equal(found.driverVersion, 13000);
    assert_int_equal(found.memoryHandleType, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    assert_true(found.virtualMemory == VK_TRUE && found.images == VK_TRUE);
}

static void create_cuda_with_other_uuid_names_both(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_CUDA,
    };
    uint8_t uuid[VK_UUID_SIZE];
    char ours[8];
    char theirs[8];
    cuda_case_stop(c);
    memcpy(uuid, c->sharing.deviceUUID, sizeof uuid);
    uuid[VK_UUID_SIZE - 1] ^= 0x10; /* one bit is enough */
    c->fake->reset();
    c->fake->set_uuid(0, uuid);
    MaarCuda cuda = (MaarCuda)c;
    assert_int_equal(maarCreateCuda(c->rig.allocator, &info, &cuda), VK_ERROR_INCOMPATIBLE_DRIVER);
    assert_null(cuda);
    (void)snprintf(ours, sizeof ours, "%02x%02x", c->sharing.deviceUUID[14],
                   c->sharing.deviceUUID[15]);
    (void)snprintf(theirs, sizeof theirs, "%02x%02x", uuid[14], uuid[15]);
    assert_non_null(strstr(c->rig.messages.last, ours));
    assert_non_null(strstr(c->rig.messages.last, theirs));
    rig_expect_message(&c->rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH);
    fake_expect_clean_end(c->fake);
    /* The same with the right one works, so it was the UUID. */
    c->fake->reset();
    c->fake->set_uuid(0, c->sharing.deviceUUID);
    cuda_case_start(c, &info);
}

static void expect_no_cuda(struct cuda_case* c, const char* library, VkResult expected,
                           MaarMessageId id, const char* culprit)
{
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = library,
    };
    MaarCuda cuda = (MaarCuda)c;
    assert_int_equal(maarCreateCuda(c->rig.allocator, &info, &cuda), expected);
    assert_null(cuda);
    rig_expect_message_naming(&c->rig, id, culprit);
    assert_int_equal(c->fake->context_depth(), 0);
    fake_expect_clean_end(c->fake);
}

static void create_cuda_without_driver_says_why(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    cuda_case_stop(c);
    expect_no_cuda(c, "/nowhere/libcuda.so.1", VK_ERROR_INITIALIZATION_FAILED,
                   MAAR_MESSAGE_ID_PEER_MISSING, "/nowhere/libcuda.so.1");
    expect_no_cuda(c, MAAR_FAKE_HIP, VK_ERROR_INCOMPATIBLE_DRIVER, MAAR_MESSAGE_ID_PEER_MISSING,
                   "cuInit");
    c->fake->reset();
    c->fake->set_device_count(0);
    expect_no_cuda(c, MAAR_FAKE_CUDA, VK_ERROR_INITIALIZATION_FAILED,
                   MAAR_MESSAGE_ID_PEER_CALL_FAILED, "CUDA_ERROR_NO_DEVICE");
    c->fake->reset();
}

static void create_cuda_with_a_context_uses_it(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    cuda_case_stop(c);
    c->fake->set_uuid(0, c->sharing.deviceUUID);
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_CUDA,
        .pContext = c->fake->make_context(0),
    };
    cuda_case_start(c, &info);
    assert_ptr_equal(cuda_case_info(c).pContext, info.pContext);
    assert_int_equal(c->fake->live(FAKE_KIND_CONTEXT), 0);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
    (void)cuda_case_memory(c, allocation);
    maarDestroyBuffer(c->rig.allocator, buffer, allocation);
}

static void old_driver_shares_memory_all_the_same(void** state)
{
    const struct cuda_case_setup setup = {.kinds = SEMAPHORE_WRAP_ALL,
                                          .library = MAAR_FAKE_CUDA_OLD};
    static struct cuda_case c;
    (void)state;
    if (!cuda_case_open(&c, &setup)) {
        skip();
    }
    assert_false(cuda_case_info(&c).virtualMemory == VK_TRUE);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&c.rig, SIZE, &buffer);
    (void)cuda_case_memory(&c, allocation);
    maarDestroyBuffer(c.rig.allocator, buffer, allocation);
    cuda_case_close(&c);
}

/* ---- bytes ---- */

static void bytes_go_both_ways(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    static unsigned char host[SIZE];
    VkBuffer buffer = VK_NULL_HANDLE;
    size_t before = 0;
    size_t after = 0;
    size_t total = 0;
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
    void* mapped = maarGetMappedData(c->rig.allocator, allocation);
    assert_int_equal(c->driver.cuMemGetInfo(&before, &total), 0);
    const MaarCudaMemory memory = cuda_case_memory(c, allocation);
    assert_int_equal(c->driver.cuMemGetInfo(&after, &total), 0);
    assert_true(before == after); /* an import is no copy */
    assert_true(memory.size >= SIZE);
    fill_bytes(mapped, SIZE, 1);
    assert_int_equal(c->driver.cuMemcpyDtoHAsync(host, memory.devicePointer, SIZE, c->stream), 0);
    cuda_case_finish(c);
    assert_true(are_filled(host, SIZE, 1));
    fill_bytes(host, SIZE, 2);
    assert_int_equal(c->driver.cuMemcpyHtoDAsync(memory.devicePointer, host, SIZE, c->stream), 0);
    cuda_case_finish(c);
    assert_true(are_filled(mapped, SIZE, 2));
    maarDestroyBuffer(c->rig.allocator, buffer, allocation);
}

/* Three buffers in a block; CUDA writes the middle one, or what `swap` says instead. Whether that
 * one alone has changed, and wholly. */
static bool middle_alone_changes(struct cuda_case* c, bool swap)
{
    VkBuffer buffers[3];
    MaarAllocation allocations[3];
    unsigned char* mapped[3];
    static unsigned char host[SIZE];
    for (uint32_t i = 0; i < 3; ++i) {
        allocations[i] = rig_create_shared_buffer(&c->rig, SIZE, &buffers[i]);
        mapped[i] = maarGetMappedData(c->rig.allocator, allocations[i]);
        fill_bytes(mapped[i], SIZE, i);
    }
    assert_int_equal(rig_info(&c->rig, allocations[0]).blockId,
                     rig_info(&c->rig, allocations[1]).blockId);
    const MaarCudaMemory first = cuda_case_memory(c, allocations[0]);
    const MaarCudaMemory middle = cuda_case_memory(c, allocations[1]);
    const MaarCudaMemory last = cuda_case_memory(c, allocations[2]);
    assert_int_equal(c->fake->live(FAKE_KIND_MEMORY), 1);
    assert_int_equal(c->fake->live(FAKE_KIND_MAPPING), 1);
    assert_true(first.blockPointer == middle.blockPointer && first.blockSize == last.blockSize);
    assert_true(middle.devicePointer - middle.blockPointer ==
                rig_info(&c->rig, allocations[1]).offset);
    fill_bytes(host, SIZE, 77);
    const uint64_t target = swap ? last.devicePointer : middle.devicePointer;
    assert_int_equal(c->driver.cuMemcpyHtoDAsync(target, host, SIZE, c->stream), 0);
    cuda_case_finish(c);
    const bool right = are_filled(mapped[0], SIZE, 0) && are_filled(mapped[1], SIZE, 77) &&
                       are_filled(mapped[2], SIZE, 2);
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroyBuffer(c->rig.allocator, buffers[i], allocations[i]);
    }
    return right;
}

static void sub_range_leaves_its_neighbours_alone(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    assert_true(middle_alone_changes(c, false));
    assert_int_equal(c->fake->calls("cuImportExternalMemory"), 1);
}

static void swapped_offset_is_noticed(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    assert_false(middle_alone_changes(c, true));
}

static void bytes_outlive_the_allocation_in_cuda_only_as_long_as_it_lives(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
    (void)cuda_case_memory(c, allocation);
    assert_int_equal(cuda_case_info(c).importedBlockCount, 1);
    assert_true(cuda_case_info(c).importedBytes == c->fake->imported_bytes());
    maarDestroyBuffer(c->rig.allocator, buffer, allocation);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    /* The block is gone, and the import with it. */
    assert_int_equal(c->fake->live(FAKE_KIND_MEMORY), 0);
    assert_int_equal(c->fake->live(FAKE_KIND_MAPPING), 0);
    assert_int_equal(cuda_case_info(c).importedBlockCount, 0);
    assert_int_equal(rig_count_fds(), c->descriptors);
}

static void memory_not_made_for_export_is_refused(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    const MaarAllocation allocation = rig_allocate(&c->rig, SIZE, NULL);
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY, .devicePointer = 5};
    assert_int_equal(maarGetCudaMemory(c->cuda, allocation, &memory),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(memory.devicePointer, 0);
    rig_expect_message_naming(&c->rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE, "MaarExportInfo");
    assert_int_equal(c->fake->calls("cuImportExternalMemory"), 0);
    maarFreeMemory(c->rig.allocator, allocation);
}

/* ---- what CUDA is given ---- */

static void import_says_what_cuda_wants_to_know(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
    const MaarExportedMemory exported = rig_export(&c->rig, allocation);
    maarDestroyExternalHandle(c->rig.allocator, exported.handle);
    (void)cuda_case_memory(c, allocation);
    const struct maar_cuda_memory_handle handle = c->fake->last_memory();
    const struct maar_cuda_memory_range range = c->fake->last_range();
    assert_int_equal(handle.type, MAAR_CUDA_MEMORY_OPAQUE_FD);
    assert_true(handle.size == exported.blockSize);
    assert_int_equal(handle.flags,
                     exported.dedicated == VK_TRUE ? (int)MAAR_CUDA_MEMORY_DEDICATED : 0);
    assert_true(range.offset == 0 && range.size == exported.blockSize);
    maarDestroyBuffer(c->rig.allocator, buffer, allocation);
}

static void change_size(struct maar_cuda_memory_handle* handle, void* data)
{
    handle->size += *(const uint64_t*)data;
}

static void dirty_reserved(struct maar_cuda_memory_handle* handle, void* data)
{
    (void)data;
    handle->reserved[7] = 1;
}

static void change_type(struct maar_cuda_memory_handle* handle, void* data)
{
    (void)data;
    handle->type = MAAR_CUDA_MEMORY_DMA_BUF_FD;
}

static void leave_the_block(struct maar_cuda_memory_range* range, void* data)
{
    (void)data;
    range->offset = 4096;
}

/* What Maar gives to CUDA is spoiled on its way: CUDA refuses, for that reason; Maar says so, and
 * all is as before. */
static void expect_rejection(struct cuda_case* c, const struct fake_tamper* tamper,
                             const char* reason)
{
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
    const MaarExportedMemory exported = rig_export(&c->rig, allocation);
    const int fd = maarPeekFd(exported.handle);
    const uint32_t descriptors = rig_count_fds();
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY, .size = 1};
    c->fake->set_tamper(tamper);
    const VkResult result = maarGetCudaMemory(c->cuda, allocation, &memory);
    c->fake->set_tamper(NULL);
    assert_true(result < VK_SUCCESS);
    fake_expect_breach(c->fake, reason);
    assert_true(memory.devicePointer == 0 && memory.size == 0);
    assert_true(c->rig.messages.total > 0);
    rig_forget_messages(&c->rig);
    /* Nothing was taken, nothing lost, nothing kept. */
    assert_true(fake_is_open(fd));
    assert_int_equal(rig_count_fds(), descriptors);
    assert_int_equal(c->fake->live(FAKE_KIND_MEMORY), 0);
    assert_int_equal(cuda_case_info(c).importedBlockCount, 0);
    /* And it works once CUDA is given what it wants. */
    (void)cuda_case_memory(c, allocation);
    maarDestroyExternalHandle(c->rig.allocator, exported.handle);
    maarDestroyBuffer(c->rig.allocator, buffer, allocation);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
}

static void spoiled_import_is_refused_for_its_reason(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    uint64_t more = 4096;
    uint64_t less = (uint64_t)-4096;
    const struct {
        struct fake_tamper tamper;
        const char* reason;
    } rows[] = {
        {{.memory = change_size, .data = &more}, "cuImportExternalMemory: the size is"},
        {{.memory = change_size, .data = &less}, "cuImportExternalMemory: the size is"},
        {{.memory = dirty_reserved}, "the reserved fields of the handle are not zero"},
        {{.memory = change_type}, "handles of type 9 are not supported"},
        {{.range = leave_the_block}, "are outside of the memory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        expect_rejection(c, &rows[i].tamper, rows[i].reason);
    }
}

static void failing_import_leaves_the_descriptor_with_its_owner(void** state)
{
    static const struct {
        const char* function;
        int result;
        VkResult expected;
    } rows[] = {
        {"cuImportExternalMemory", MAAR_CUDA_OUT_OF_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {"cuImportExternalMemory", MAAR_CUDA_INVALID_VALUE, VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"cuImportExternalMemory", MAAR_CUDA_UNKNOWN, VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"cuImportExternalMemory", MAAR_CUDA_LAUNCH_FAILED, VK_ERROR_UNKNOWN},
        {"cuExternalMemoryGetMappedBuffer", MAAR_CUDA_OUT_OF_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {"cuExternalMemoryGetMappedBuffer", MAAR_CUDA_LAUNCH_FAILED, VK_ERROR_UNKNOWN},
        {"cuCtxPushCurrent", MAAR_CUDA_UNKNOWN, VK_ERROR_UNKNOWN},
    };
    struct cuda_case* c = cuda_case_get(state);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
    const MaarExportedMemory exported = rig_export(&c->rig, allocation);
    const uint32_t descriptors = rig_count_fds();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
        c->fake->set_fault(rows[i].function, 1, 1, rows[i].result);
        assert_int_equal(maarGetCudaMemory(c->cuda, allocation, &memory), rows[i].expected);
        rig_expect_message_naming(&c->rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, rows[i].function);
        assert_true(fake_is_open(maarPeekFd(exported.handle)));
        assert_int_equal(rig_count_fds(), descriptors);
        assert_int_equal(c->fake->live(FAKE_KIND_MEMORY), 0);
        assert_int_equal(c->fake->context_depth(), 1);
        fake_expect_no_breach(c->fake);
    }
    /* The descriptor is still what it was: another import takes it. */
    int fd = -1;
    struct maar_cuda_memory* memory = NULL;
    assert_int_equal(maarTakeFd(c->rig.allocator, exported.handle, &fd), VK_SUCCESS);
    const struct maar_cuda_memory_handle handle = {
        .type = MAAR_CUDA_MEMORY_OPAQUE_FD, .handle = {.fd = fd}, .size = exported.blockSize};
    assert_int_equal(c->driver.cuImportExternalMemory(&memory, &handle), 0);
    assert_int_equal(c->driver.cuDestroyExternalMemory(memory), 0);
    maarDestroyExternalHandle(c->rig.allocator, exported.handle);
    maarDestroyBuffer(c->rig.allocator, buffer, allocation);
}

/* ---- the same by hand, with one rule broken at a time ---- */

enum by_hand { RIGHT, CLOSED_TWICE, MEMORY_FIRST, POINTER_KEPT, FREED_TWICE, WRONG_CONTEXT };

static void import_by_hand(struct cuda_case* c, enum by_hand how)
{
    const struct maar_cuda_driver* d = &c->driver;
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
    const MaarExportedMemory exported = rig_export(&c->rig, allocation);
    struct maar_cuda_memory_handle handle = {.type = MAAR_CUDA_MEMORY_OPAQUE_FD,
                                             .size = exported.blockSize};
    const struct maar_cuda_memory_range range = {.offset = exported.offset, .size = SIZE};
    struct maar_cuda_memory* memory = NULL;
    maar_cuda_pointer pointer = 0;
    assert_int_equal(maarTakeFd(c->rig.allocator, exported.handle, &handle.handle.fd), VK_SUCCESS);
    maarDestroyExternalHandle(c->rig.allocator, exported.handle);
    assert_int_equal(d->cuImportExternalMemory(&memory, &handle), 0);
    assert_int_equal(d->cuExternalMemoryGetMappedBuffer(&pointer, memory, &range), 0);
    if (how == CLOSED_TWICE) {
        (void)close(handle.handle.fd);
    }
    if (how == MEMORY_FIRST || how == POINTER_KEPT) {
        (void)d->cuDestroyExternalMemory(memory);
    }
    if (how == WRONG_CONTEXT) {
        assert_int_equal(d->cuCtxPushCurrent(c->fake->make_context(0)), 0);
        (void)d->cuMemFree(pointer);
        assert_int_equal(d->cuCtxPopCurrent(NULL), 0);
    }
    if (how != POINTER_KEPT) {
        (void)d->cuMemFree(pointer);
    }
    if (how == FREED_TWICE) {
        (void)d->cuMemFree(pointer);
    }
    if (how != MEMORY_FIRST && how != POINTER_KEPT) {
        (void)d->cuDestroyExternalMemory(memory);
    }
    maarDestroyBuffer(c->rig.allocator, buffer, allocation);
}

static void import_by_hand_shows_each_broken_rule(void** state)
{
    static const struct {
        enum by_hand how;
        const char* words;
    } rows[] = {
        {CLOSED_TWICE, "which an import had taken, was closed by another"},
        {MEMORY_FIRST, "external memory is destroyed before 1 pointers"},
        {FREED_TWICE, "the pointer has been freed already"},
        {WRONG_CONTEXT, "the pointer belongs to another context than the current one"},
    };
    struct cuda_case* c = cuda_case_get(state);
    import_by_hand(c, RIGHT);
    fake_expect_no_breach(c->fake);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        import_by_hand(c, rows[i].how);
        if (strstr(c->fake->breach(0), rows[i].words) == NULL) {
            fail_msg("\"%s\" was said; expected \"%s\"", c->fake->breach(0), rows[i].words);
        }
        c->fake->forget_breaches();
    }
    import_by_hand(c, POINTER_KEPT);
    c->fake->forget_breaches();
    c->fake->expect_nothing_alive();
    bool found = false;
    for (uint32_t i = 0; i < c->fake->breach_count(); ++i) {
        found = found || strstr(c->fake->breach(i), "1 pointers into imported memory are alive");
    }
    assert_true(found);
    /* What was broken here on purpose must not count against the case. */
    assert_int_equal(c->driver.cuCtxPopCurrent(NULL), 0);
    maarDestroyCuda(c->cuda);
    c->cuda = VK_NULL_HANDLE;
    c->fake->reset();
}

/* ---- leaks ---- */

static void cycles_leave_nothing(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    for (uint32_t i = 0; i < CYCLES; ++i) {
        VkBuffer buffer = VK_NULL_HANDLE;
        const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
        const MaarCudaMemory memory = cuda_case_memory(c, allocation);
        assert_true(memory.devicePointer != 0);
        maarDestroyBuffer(c->rig.allocator, buffer, allocation);
        assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    }
    assert_int_equal(c->fake->calls("cuImportExternalMemory"), CYCLES);
    assert_int_equal(c->fake->live(FAKE_KIND_MEMORY) + c->fake->live(FAKE_KIND_MAPPING), 0);
    assert_int_equal(rig_count_fds(), c->descriptors);
}

/* Everything that one program does, with the nth call of CUDA failing; whether there was none. */
static bool live_with_fault(struct cuda_case* c, uint64_t nth)
{
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_CUDA,
    };
    MaarCuda cuda = VK_NULL_HANDLE;
    MaarCudaTimeline timelines[3] = {VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE};
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&c->rig, SIZE, &buffer);
    c->fake->set_fault(NULL, nth, 1, MAAR_CUDA_UNKNOWN);
    VkResult result = maarCreateCuda(c->rig.allocator, &info, &cuda);
    if (result == VK_SUCCESS) {
        result = maarGetCudaMemory(cuda, allocation, &memory);
    }
    for (uint32_t i = 0; i < 3 && result == VK_SUCCESS; ++i) {
        const MaarCudaTimelineCreateInfo create = {
            .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
            .mode = (MaarHandoffMode)(MAAR_HANDOFF_MODE_TIMELINE + i)};
        result = maarCreateCudaTimeline(cuda, &create, &timelines[i]);
    }
    const bool none = c->fake->faults_left() != 0;
    assert_true(!none || result == VK_SUCCESS);
    c->fake->set_fault(NULL, 1, 0, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroyCudaTimeline(cuda, timelines[i]);
    }
    maarDestroyBuffer(c->rig.allocator, buffer, allocation);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    maarDestroyCuda(cuda);
    assert_int_equal(c->fake->context_depth(), 0);
    fake_expect_clean_end(c->fake);
    assert_int_equal(rig_count_fds(), c->descriptors);
    rig_forget_messages(&c->rig);
    return none;
}

static void every_failing_call_is_survived(void** state)
{
    const struct cuda_case_setup setup = {.kinds = SEMAPHORE_WRAP_ALL, .without_cuda = true};
    static struct cuda_case c;
    uint64_t nth = 1;
    (void)state;
    if (!cuda_case_open(&c, &setup)) {
        skip();
    }
    for (; !live_with_fault(&c, nth); ++nth) {
        assert_true(nth < 200);
    }
    print_message("%u calls failed in turn\n", (unsigned)nth - 1);
    assert_true(nth > 15);
    cuda_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        CUDA_CASE(create_cuda_finds_the_device_by_its_uuid),
        CUDA_CASE(create_cuda_with_other_uuid_names_both),
        CUDA_CASE(create_cuda_without_driver_says_why),
        CUDA_CASE(create_cuda_with_a_context_uses_it),
        cmocka_unit_test(old_driver_shares_memory_all_the_same),
        CUDA_CASE(bytes_go_both_ways),
        CUDA_CASE(sub_range_leaves_its_neighbours_alone),
        CUDA_CASE(swapped_offset_is_noticed),
        CUDA_CASE(bytes_outlive_the_allocation_in_cuda_only_as_long_as_it_lives),
        CUDA_CASE(memory_not_made_for_export_is_refused),
        CUDA_CASE(import_says_what_cuda_wants_to_know),
        CUDA_CASE(spoiled_import_is_refused_for_its_reason),
        CUDA_CASE(failing_import_leaves_the_descriptor_with_its_owner),
        CUDA_CASE(import_by_hand_shows_each_broken_rule),
        CUDA_CASE(cycles_leave_nothing),
        cmocka_unit_test(every_failing_call_is_survived),
    };
    return cmocka_run_group_tests(cases, NULL, NULL) + run_cuda_timeline_cases();
}
