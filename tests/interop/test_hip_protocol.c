/*
 * Protocol tests of maar/hip.h, on lavapipe and the simulated device beside the FAKE HIP runtime:
 * who owns what, who waits for whom, and which bytes are meant. They say nothing about a GPU.
 */
#include "maar/hip.h"
#include "tests/fakes/fake_fixture.h"
#include "tests/interop/sharing_fixture.h"

#include <time.h>

enum { SIZE = 50000, ROUNDS = 300, CYCLES = 500 };

struct hip_case {
    struct rig rig;
    struct maar_hip_runtime runtime; /* the FAKE one's, for the test's own work */
    const struct fake_control* fake;
    MaarSharingInfo sharing;
    MaarQueue queue;
    MaarHip hip;
    MaarHipStream stream;
    uint32_t descriptors;
};

static struct hip_case hip_case;

static const MaarHipCreateInfo fake_info = {
    .sType = MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO,
    .pLibraryPath = MAAR_FAKE_HIP,
};

/* Several threads signal and wait: the validation layer of Debian 12 then loses count at times, and
 * says so ("most likely a validation bug") after ten seconds; so not under it. */
static bool open_rig(struct hip_case* h, bool threads)
{
    const char* name = getenv("MAAR_RIG");
    const bool real = name != NULL && strcmp(name, "none") != 0 && strcmp(name, "simulated") != 0;
    const struct rig_setup without_layer = {.without_layer = threads};
    MaarSimulatedSharingInfo sharing = *rig_sharing_everything();
    sharing.pciAddressKnown = VK_TRUE;
    sharing.pciBus = 0x2a;
    const struct rig_setup setup = {
        .flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT, .count_host = true, .sharing = &sharing};
    if (real) {
        return rig_open_vulkan(&h->rig, &without_layer, !threads);
    }
    rig_open(&h->rig, &setup);
    return true;
}

static void start_hip(struct hip_case* h)
{
    const VkResult result = maarCreateHip(h->rig.allocator, &fake_info, &h->hip);
    if (result != VK_SUCCESS) {
        fail_msg("no HIP: %d, \"%s\"", (int)result, h->rig.messages.last);
    }
    struct maar_hip_stream* stream = NULL;
    assert_int_equal(h->runtime.hipStreamCreateWithFlags(&stream, MAAR_HIP_STREAM_NON_BLOCKING), 0);
    h->stream = stream;
}

static void stop_hip(struct hip_case* h)
{
    if (h->hip == VK_NULL_HANDLE) {
        return;
    }
    assert_int_equal(h->runtime.hipStreamSynchronize(h->stream), 0);
    assert_int_equal(h->runtime.hipStreamDestroy(h->stream), 0);
    maarDestroyHip(h->hip);
    h->hip = VK_NULL_HANDLE;
    fake_expect_clean_end(h->fake);
}

static int open_case(void** state, bool threads)
{
    struct hip_case* h = &hip_case;
    memset(h, 0, sizeof *h);
    if (!open_rig(h, threads)) {
        return 0;
    }
    h->queue =
        (MaarQueue){.familyIndex = h->rig.recommendation.mainQueueFamily, .queue = h->rig.queue};
    h->rig.create_info.queueCount = 1;
    h->rig.create_info.pQueues = &h->queue;
    rig_make_allocator(&h->rig);
    h->sharing.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO;
    assert_int_equal(maarGetSharingInfo(h->rig.allocator, &h->sharing), VK_SUCCESS);
    h->descriptors = rig_count_fds();
    h->fake = fake_load_hip(MAAR_FAKE_HIP, &h->runtime);
    h->fake->set_uuid(0, h->sharing.deviceUUID);
    start_hip(h);
    *state = h;
    return 0;
}

static int open_hip(void** state)
{
    return open_case(state, false);
}

static int open_hip_threads(void** state)
{
    return open_case(state, true);
}

static int close_hip(void** state)
{
    struct hip_case* h = *state;
    if (h == NULL) {
        return 0;
    }
    stop_hip(h);
    fake_expect_clean_end(h->fake);
    h->fake->reset();
    assert_int_equal(maarTrim(h->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_count_fds(), h->descriptors);
    rig_close(&h->rig);
    return 0;
}

static struct hip_case* get_hip(void** state)
{
    if (*state == NULL) {
        skip();
    }
    return *state;
}

static MaarHipMemory get_memory(struct hip_case* h, MaarAllocation allocation)
{
    MaarHipMemory memory = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
    const VkResult result = maarGetHipMemory(h->hip, allocation, &memory);
    if (result != VK_SUCCESS) {
        fail_msg("no HIP memory: %d, \"%s\"", (int)result, h->rig.messages.last);
    }
    return memory;
}

static void copy_now(struct hip_case* h, void* target, const void* source, size_t size,
                     enum maar_hip_copy kind)
{
    assert_int_equal(h->runtime.hipMemcpyAsync(target, source, size, kind, h->stream), 0);
    assert_int_equal(h->runtime.hipStreamSynchronize(h->stream), 0);
}

static bool is_full_of(const unsigned char* bytes, size_t size, unsigned char value)
{
    size_t i = 0;
    while (i < size && bytes[i] == value) {
        ++i;
    }
    return i == size;
}

/* ---- the device ---- */

static void hip_says_what_it_lacks(void** state)
{
    struct hip_case* h = get_hip(state);
    MaarHipInfo info = {.sType = MAAR_STRUCTURE_TYPE_HIP_INFO};
    assert_int_equal(maarGetHipInfo(h->hip, &info), VK_SUCCESS);
    assert_string_equal(info.deviceName, "FAKE HIP device (Maar's tests; not a GPU)");
    assert_int_equal(info.deviceOrdinal, 0);
    assert_int_equal(info.memoryHandleType, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    assert_int_equal(info.handoffMode, MAAR_HANDOFF_MODE_HOST);
    assert_int_equal(info.importedBlockCount, 0);
}

static void create_hip_without_the_device_is_refused(void** state)
{
    struct hip_case* h = get_hip(state);
    const uint8_t other[VK_UUID_SIZE] = {1, 2, 3};
    MaarHip hip = (MaarHip)h;
    stop_hip(h);
    h->fake->set_uuid(0, other);
    assert_int_equal(maarCreateHip(h->rig.allocator, &fake_info, &hip),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    assert_null(hip);
    rig_expect_message_naming(&h->rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH,
                              rig_allocator_info(&h->rig).deviceName);
    MaarHipCreateInfo info = fake_info;
    info.pLibraryPath = "/nowhere/libamdhip64.so";
    assert_int_equal(maarCreateHip(h->rig.allocator, &info, &hip), VK_ERROR_INITIALIZATION_FAILED);
    rig_forget_messages(&h->rig);
    /* Who knows better may say which one it is. */
    info = fake_info;
    info.deviceOrdinalPlusOne = 1;
    assert_int_equal(maarCreateHip(h->rig.allocator, &info, &hip), VK_SUCCESS);
    maarDestroyHip(hip);
    rig_forget_messages(&h->rig);
    fake_expect_clean_end(h->fake);
}

/* HIP's UUIDs are serial numbers, so an AMD device is found by its place on the bus. */
static void create_hip_finds_the_device_by_its_address(void** state)
{
    struct hip_case* h = get_hip(state);
    const uint8_t other[VK_UUID_SIZE] = "0123456789abcde";
    MaarHipInfo info = {.sType = MAAR_STRUCTURE_TYPE_HIP_INFO};
    MaarHip hip = (MaarHip)h;
    if (!h->rig.simulated) {
        print_message("skipped: lavapipe is on no bus\n");
        skip();
    }
    stop_hip(h);
    h->fake->set_device_count(2);
    h->fake->set_uuid(0, other);
    h->fake->set_uuid(1, other);
    assert_int_equal(maarCreateHip(h->rig.allocator, &fake_info, &hip),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    assert_true(rig_message_names(&h->rig, "2a:00.0"));
    rig_expect_message_naming(&h->rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, "0000:01:00.0");
    h->fake->set_pci_address(1, "0000:2a:00.0");
    start_hip(h);
    assert_int_equal(maarGetHipInfo(h->hip, &info), VK_SUCCESS);
    assert_int_equal(info.deviceOrdinal, 1);
}

static void device_of_the_thread_stays(void** state)
{
    struct hip_case* h = get_hip(state);
    VkBuffer buffer = VK_NULL_HANDLE;
    int device = -1;
    stop_hip(h);
    h->fake->set_device_count(2);
    h->fake->set_uuid(1, h->sharing.deviceUUID);
    h->fake->set_uuid(0, (const uint8_t*)"another device's");
    assert_int_equal(h->runtime.hipSetDevice(0), 0);
    assert_int_equal(maarCreateHip(h->rig.allocator, &fake_info, &h->hip), VK_SUCCESS);
    const MaarAllocation allocation = rig_create_shared_buffer(&h->rig, SIZE, &buffer);
    (void)get_memory(h, allocation);
    assert_int_equal(h->runtime.hipGetDevice(&device), 0);
    assert_int_equal(device, 0);
    maarDestroyBuffer(h->rig.allocator, buffer, allocation);
    assert_int_equal(maarTrim(h->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    maarDestroyHip(h->hip);
    h->hip = VK_NULL_HANDLE;
    assert_int_equal(h->runtime.hipGetDevice(&device), 0);
    assert_int_equal(device, 0);
    fake_expect_clean_end(h->fake);
}

/* ---- bytes ---- */

/* Three buffers in a block; HIP writes the middle one, or what `swap` says instead. */
static bool middle_alone_changes(struct hip_case* h, bool swap)
{
    VkBuffer buffers[3];
    MaarAllocation allocations[3];
    unsigned char* mapped[3];
    static unsigned char host[SIZE];
    for (uint32_t i = 0; i < 3; ++i) {
        allocations[i] = rig_create_shared_buffer(&h->rig, SIZE, &buffers[i]);
        mapped[i] = maarGetMappedData(h->rig.allocator, allocations[i]);
        memset(mapped[i], (int)i + 1, SIZE);
    }
    const MaarHipMemory middle = get_memory(h, allocations[1]);
    const MaarHipMemory last = get_memory(h, allocations[2]);
    assert_ptr_equal(middle.pBlock, last.pBlock);
    assert_int_equal(h->fake->live(FAKE_KIND_MEMORY), 1);
    copy_now(h, host, middle.pDevice, SIZE, MAAR_HIP_COPY_DEVICE_TO_HOST);
    assert_true(is_full_of(host, SIZE, 2));
    memset(host, 9, SIZE);
    copy_now(h, swap ? last.pDevice : middle.pDevice, host, SIZE, MAAR_HIP_COPY_HOST_TO_DEVICE);
    const bool right = is_full_of(mapped[0], SIZE, 1) && is_full_of(mapped[1], SIZE, 9) &&
                       is_full_of(mapped[2], SIZE, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroyBuffer(h->rig.allocator, buffers[i], allocations[i]);
    }
    return right;
}

static void bytes_go_both_ways_and_neighbours_stay(void** state)
{
    struct hip_case* h = get_hip(state);
    assert_true(middle_alone_changes(h, false));
    assert_int_equal(h->fake->calls("hipImportExternalMemory"), 1);
}

static void swapped_offset_is_noticed(void** state)
{
    assert_false(middle_alone_changes(get_hip(state), true));
}

static void change_size(struct maar_cuda_memory_handle* handle, void* data)
{
    (void)data;
    handle->size /= 2;
}

static void refused_import_leaves_the_descriptor(void** state)
{
    const struct fake_tamper tamper = {.memory = change_size};
    struct hip_case* h = get_hip(state);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarHipMemory memory = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
    const MaarAllocation allocation = rig_create_shared_buffer(&h->rig, SIZE, &buffer);
    const MaarExportedMemory exported = rig_export(&h->rig, allocation);
    const uint32_t descriptors = rig_count_fds();
    h->fake->set_tamper(&tamper);
    assert_int_equal(maarGetHipMemory(h->hip, allocation, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    h->fake->set_tamper(NULL);
    fake_expect_breach(h->fake, "hipImportExternalMemory: the size is");
    static const char* const functions[] = {"hipImportExternalMemory",
                                            "hipExternalMemoryGetMappedBuffer"};
    static const VkResult results[] = {VK_ERROR_INVALID_EXTERNAL_HANDLE,
                                       VK_ERROR_OUT_OF_DEVICE_MEMORY};
    for (size_t i = 0; i < 2; ++i) {
        h->fake->set_fault(functions[i], 1, 1, MAAR_HIP_OUT_OF_MEMORY);
        assert_int_equal(maarGetHipMemory(h->hip, allocation, &memory), results[i]);
        assert_true(rig_message_names(&h->rig, functions[i]));
        assert_int_equal(h->fake->live(FAKE_KIND_MEMORY), 0);
        assert_int_equal(rig_count_fds(), descriptors);
        assert_true(fake_is_open(maarPeekFd(exported.handle)));
    }
    rig_forget_messages(&h->rig);
    assert_null(memory.pDevice);
    (void)get_memory(h, allocation);
    assert_true(h->fake->last_memory().size == exported.blockSize);
    maarDestroyExternalHandle(h->rig.allocator, exported.handle);
    maarDestroyBuffer(h->rig.allocator, buffer, allocation);
}

static void cycles_leave_nothing(void** state)
{
    struct hip_case* h = get_hip(state);
    for (uint32_t i = 0; i < CYCLES; ++i) {
        VkBuffer buffer = VK_NULL_HANDLE;
        const MaarAllocation allocation = rig_create_shared_buffer(&h->rig, SIZE, &buffer);
        (void)get_memory(h, allocation);
        maarDestroyBuffer(h->rig.allocator, buffer, allocation);
        assert_int_equal(maarTrim(h->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    }
    assert_int_equal(h->fake->calls("hipImportExternalMemory"), CYCLES);
    assert_int_equal(h->fake->live(FAKE_KIND_MEMORY) + h->fake->live(FAKE_KIND_MAPPING), 0);
    assert_int_equal(rig_count_fds(), h->descriptors);
}

/* Everything that one program does, with the nth call of HIP failing; whether there was none. */
static bool live_with_fault(struct hip_case* h, uint64_t nth)
{
    MaarHip hip = VK_NULL_HANDLE;
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    MaarHipMemory memory = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&h->rig, SIZE, &buffer);
    h->fake->set_fault(NULL, nth, 1, MAAR_HIP_UNKNOWN);
    VkResult result = maarCreateHip(h->rig.allocator, &fake_info, &hip);
    if (result == VK_SUCCESS) {
        result = maarGetHipMemory(hip, allocation, &memory);
    }
    if (result == VK_SUCCESS) {
        result = maarCreateHipTimeline(hip, 0, &timeline);
    }
    if (result == VK_SUCCESS) {
        result = maarHipSignal(hip, timeline, 1, NULL);
    }
    const bool none = h->fake->faults_left() != 0;
    assert_true(!none || result == VK_SUCCESS);
    h->fake->set_fault(NULL, 1, 0, 0);
    maarDestroyHipTimeline(hip, timeline);
    maarDestroyBuffer(h->rig.allocator, buffer, allocation);
    assert_int_equal(maarTrim(h->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    maarDestroyHip(hip);
    fake_expect_clean_end(h->fake);
    assert_int_equal(rig_count_fds(), h->descriptors);
    rig_forget_messages(&h->rig);
    return none;
}

static void every_failing_call_is_survived(void** state)
{
    struct hip_case* h = get_hip(state);
    uint64_t nth = 1;
    stop_hip(h);
    for (; !live_with_fault(h, nth); ++nth) {
        assert_true(nth < 200);
    }
    print_message("%u calls failed in turn\n", (unsigned)nth - 1);
    assert_true(nth > 8);
}

/* ---- handoffs through the host ---- */

enum { SLOTS = ROUNDS + 1 };

struct exchange {
    VkBuffer shared;
    MaarAllocation shared_memory;
    void* pointer;
    VkBuffer readback;
    MaarAllocation readback_memory;
    const uint32_t* seen_by_vulkan;
    uint32_t seen_by_hip[SLOTS];
    VkCommandPool pool;
};

static struct exchange exchange;

static void open_exchange(struct hip_case* h)
{
    struct exchange* x = &exchange;
    memset(x, 0, sizeof *x);
    x->shared_memory = rig_create_shared_buffer(&h->rig, 256, &x->shared);
    x->pointer = get_memory(h, x->shared_memory).pDevice;
    VkBufferCreateInfo info = rig_buffer_info((VkDeviceSize)4 * SLOTS);
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(
        maarCreateBuffer(h->rig.allocator, &info, &how, &x->readback, &x->readback_memory),
        VK_SUCCESS);
    x->seen_by_vulkan = maarGetMappedData(h->rig.allocator, x->readback_memory);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = h->queue.familyIndex,
    };
    assert_int_equal(vkCreateCommandPool(h->rig.device, &pool, NULL, &x->pool), VK_SUCCESS);
}

static void close_exchange(struct hip_case* h)
{
    sharing_finish(&h->rig);
    vkDestroyCommandPool(h->rig.device, exchange.pool, NULL);
    maarDestroyBuffer(h->rig.allocator, exchange.shared, exchange.shared_memory);
    maarDestroyBuffer(h->rig.allocator, exchange.readback, exchange.readback_memory);
}

/* Writes the number of the round into the shared word, or copies the word to what Vulkan saw. */
static void submit_part(struct hip_case* h, uint32_t round, bool writes)
{
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = exchange.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkBufferCopy region = {.dstOffset = 4 * (VkDeviceSize)round, .size = 4};
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT,
    };
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(vkAllocateCommandBuffers(h->rig.device, &allocate, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    if (writes) {
        vkCmdFillBuffer(commands, exchange.shared, 0, 4, round);
    } else {
        vkCmdCopyBuffer(commands, exchange.shared, exchange.readback, 1, &region);
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                             &barrier, 0, NULL, 0, NULL);
    }
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    assert_int_equal(vkQueueSubmit(h->rig.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
}

static void queue_hip_part(struct hip_case* h, uint32_t round)
{
    const struct maar_hip_runtime* r = &h->runtime;
    assert_int_equal(r->hipMemcpyAsync(&exchange.seen_by_hip[round], exchange.pointer, 4,
                                       MAAR_HIP_COPY_DEVICE_TO_HOST, h->stream),
                     0);
    assert_int_equal(r->hipMemsetAsync(exchange.pointer, (int)(round & 0xFF), 4, h->stream), 0);
}

/* How many numbers were not what the other side had written. */
static uint32_t hand_over_rounds(struct hip_case* h, MaarHipTimeline timeline, uint32_t rounds,
                                 bool leave_release_out)
{
    const MaarHandoffResource resource = {
        .buffer = exchange.shared,
        .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .access = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    uint32_t wrong = 0;
    for (uint32_t round = 1; round <= rounds; ++round) {
        MaarHipHandoffInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_HIP_HANDOFF_INFO,
            .value = 2 * (uint64_t)round - 1,
            .stream = h->stream,
            .resourceCount = 1,
            .pResources = &resource,
        };
        if (leave_release_out) {
            queue_hip_part(h, round);
            assert_int_equal(h->runtime.hipStreamSynchronize(h->stream), 0);
        }
        submit_part(h, round, true);
        if (!leave_release_out) {
            assert_int_equal(maarReleaseToHip(h->hip, timeline, &info), VK_SUCCESS);
            queue_hip_part(h, round);
        }
        ++info.value;
        assert_int_equal(maarAcquireFromHip(h->hip, timeline, &info), VK_SUCCESS);
        submit_part(h, round, false);
    }
    sharing_finish(&h->rig);
    assert_int_equal(h->runtime.hipStreamSynchronize(h->stream), 0);
    for (uint32_t round = 1; round <= rounds && !h->rig.simulated; ++round) {
        wrong += exchange.seen_by_hip[round] != round;
        wrong += exchange.seen_by_vulkan[round] != (round & 0xFF) * 0x01010101u;
    }
    return wrong;
}

static void handoffs_go_through_the_host(void** state)
{
    struct hip_case* h = get_hip(state);
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    uint64_t value = 0;
    assert_int_equal(maarCreateHipTimeline(h->hip, 0, &timeline), VK_SUCCESS);
    open_exchange(h);
    assert_int_equal(hand_over_rounds(h, timeline, ROUNDS, false), 0);
    assert_int_equal(maarGetHipTimelineSemaphore(h->hip, timeline, &semaphore), VK_SUCCESS);
    assert_int_equal(vkGetSemaphoreCounterValue(h->rig.device, semaphore, &value), VK_SUCCESS);
    assert_int_equal(value, 2 * ROUNDS);
    close_exchange(h);
    maarDestroyHipTimeline(h->hip, timeline);
}

static void left_out_release_is_noticed(void** state)
{
    struct hip_case* h = get_hip(state);
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    if (h->rig.simulated) {
        print_message("skipped: the simulated device writes nothing that could be wrong\n");
        skip();
    }
    assert_int_equal(maarCreateHipTimeline(h->hip, 0, &timeline), VK_SUCCESS);
    open_exchange(h);
    assert_true(hand_over_rounds(h, timeline, 1, true) > 0);
    close_exchange(h);
    maarDestroyHipTimeline(h->hip, timeline);
}

static void signal_comes_when_the_stream_gets_there(void** state)
{
    struct hip_case* h = get_hip(state);
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(maarCreateHipTimeline(h->hip, 10, &timeline), VK_SUCCESS);
    assert_int_equal(maarGetHipTimelineSemaphore(h->hip, timeline, &semaphore), VK_SUCCESS);
    rig_signal(&h->rig, semaphore, 11);
    assert_int_equal(maarHipWait(h->hip, timeline, 11, h->stream), VK_SUCCESS);
    assert_int_equal(maarHipSignal(h->hip, timeline, 12, h->stream), VK_SUCCESS);
    assert_int_equal(maarHipSignal(h->hip, timeline, 12, h->stream),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(&h->rig);
    const uint64_t value = 12;
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &value,
    };
    assert_int_equal(vkWaitSemaphores(h->rig.device, &wait, 5000000000u), VK_SUCCESS);
    maarDestroyHipTimeline(h->hip, timeline);
    fake_expect_no_breach(h->fake);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_hip, close_hip)
#define THREADS_CASE(name) cmocka_unit_test_setup_teardown(name, open_hip_threads, close_hip)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(hip_says_what_it_lacks),
        CASE(create_hip_without_the_device_is_refused),
        CASE(create_hip_finds_the_device_by_its_address),
        CASE(device_of_the_thread_stays),
        CASE(bytes_go_both_ways_and_neighbours_stay),
        CASE(swapped_offset_is_noticed),
        CASE(refused_import_leaves_the_descriptor),
        CASE(cycles_leave_nothing),
        THREADS_CASE(every_failing_call_is_survived),
        THREADS_CASE(handoffs_go_through_the_host),
        THREADS_CASE(left_out_release_is_noticed),
        THREADS_CASE(signal_comes_when_the_stream_gets_there),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
