/*
 * A buffer that two processes have: each writes parts of it, by its device and by mapped memory,
 * and sees what the other has written; what lies beside it stays as it was; and the bytes outlive
 * the process that made them. On lavapipe everything is executed; on a simulated device, which
 * executes nothing, the mapped halves are compared. A timeline that both have says whose turn it is
 * on the simulated device alone, since lavapipe exports none.
 *
 * The second process is this program again, started before the first one knows of Vulkan.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/interop/gpu_work.h"
#include "tests/interop/sharing_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PART ((VkDeviceSize)65536)

/* The parts of the shared buffer, by who writes them and with what. */
enum { MAKER_DEVICE, MAKER_HOST, TAKER_DEVICE, TAKER_HOST, PARTS };

enum { ROUNDS = 3, MANY = 300, TURNS = 50, PATIENCE_S = 60 };
static const uint64_t patience_ns = (uint64_t)PATIENCE_S * 1000000000;

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define SHARED_BYTES (PARTS * PART)

static struct rig rig;

/* ---- what both processes do ---- */

static bool device_executes(void)
{
    return !rig.simulated;
}

/* A word of a part in a round. */
static uint32_t word_of(uint32_t part, uint32_t round)
{
    return 0xA0B0C000u + part * 0x01010000u + round * 0x00000101u;
}

static bool is_made_by_device(uint32_t part)
{
    return part == MAKER_DEVICE || part == TAKER_DEVICE;
}

static void signal_other(int end)
{
    assert_int_equal(send(end, "w", 1, MSG_NOSIGNAL), 1);
}

static void await_other(int end)
{
    char word = 0;
    if (recv(end, &word, 1, 0) != 1 || word != 'w') {
        fail_msg("the other process says nothing");
    }
}

static VkBufferCreateInfo shared_info(void)
{
    return rig_buffer_info(SHARED_BYTES);
}

static MaarHandoffResource whole_buffer(VkBuffer buffer)
{
    return (MaarHandoffResource){
        .buffer = buffer,
        .stages = VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT,
        .access = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                  VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT,
    };
}

static void begin_owning(struct gpu_work* work, VkBuffer buffer, bool acquire)
{
    const MaarHandoffResource resource = whole_buffer(buffer);
    gpu_begin(&rig, work);
    if (acquire) {
        assert_int_equal(maarCmdAcquire(rig.allocator, work->commands,
                                        rig.recommendation.mainQueueFamily,
                                        MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource),
                         VK_SUCCESS);
    }
}

static void write_word(unsigned char* bytes, uint32_t part, uint32_t word)
{
    for (VkDeviceSize at = 0; at < PART; at += sizeof word) {
        memcpy(bytes + part * PART + at, &word, sizeof word);
    }
}

/* Writes two parts, the first by the device and the second through the mapping, and gives the
 * buffer away. */
static void write_parts(VkBuffer buffer, unsigned char* bytes, uint32_t first, uint32_t round)
{
    struct gpu_work work;
    const MaarHandoffResource resource = whole_buffer(buffer);
    write_word(bytes, first + 1, word_of(first + 1, round));
    gpu_begin(&rig, &work);
    vkCmdFillBuffer(work.commands, buffer, first * PART, PART, word_of(first, round));
    gpu_barrier(&work);
    assert_int_equal(maarCmdRelease(rig.allocator, work.commands,
                                    rig.recommendation.mainQueueFamily, MAAR_HANDOFF_PEER_EXTERNAL,
                                    1, &resource),
                     VK_SUCCESS);
    gpu_finish(&rig, &work);
}

static void expect_part(const unsigned char* bytes, uint32_t part, uint32_t round, const char* way)
{
    const uint32_t wanted = word_of(part, round);
    if (is_made_by_device(part) && !device_executes()) {
        return;
    }
    for (VkDeviceSize at = 0; at < PART; at += sizeof wanted) {
        uint32_t word = 0;
        memcpy(&word, bytes + part * PART + at, sizeof word);
        if (word != wanted) {
            fail_msg("part %u, byte %llu, seen by the %s: 0x%08x, not 0x%08x", (unsigned)part,
                     (unsigned long long)at, way, (unsigned)word, (unsigned)wanted);
        }
    }
}

/* Takes the buffer back and looks at every part, both ways. */
static void read_parts(VkBuffer buffer, const unsigned char* bytes, uint32_t maker_round,
                       uint32_t taker_round, uint32_t parts)
{
    static unsigned char copied[SHARED_BYTES];
    struct gpu_readback readback;
    struct gpu_work work;
    gpu_readback_make(&rig, SHARED_BYTES, &readback);
    begin_owning(&work, buffer, true);
    gpu_readback_record(&work, buffer, 0, &readback);
    gpu_finish(&rig, &work);
    gpu_readback_copy(&rig, &readback, copied);
    gpu_readback_destroy(&rig, &readback);
    for (uint32_t part = 0; part < parts; ++part) {
        const uint32_t round = part < TAKER_DEVICE ? maker_round : taker_round;
        expect_part(bytes, part, round, "host");
        if (device_executes()) {
            expect_part(copied, part, round, "device");
        }
    }
}

/* ---- the process that makes the buffer ---- */

struct made_buffers {
    VkBuffer buffers[3]; /* the middle one is shared */
    MaarAllocation memory[3];
    unsigned char* bytes[3];
};

static void make_buffers(struct made_buffers* made)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = OPAQUE,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const VkBufferCreateInfo info = shared_info();
    how.pNext = &export;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.requiredFlags = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    how.dedicated = MAAR_DEDICATED_NEVER;
    how.pName = "shared by two";
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(
            maarCreateBuffer(rig.allocator, &info, &how, &made->buffers[i], &made->memory[i]),
            VK_SUCCESS);
        made->bytes[i] = rig_info(&rig, made->memory[i]).pMappedData;
        assert_non_null(made->bytes[i]);
        memset(made->bytes[i], (int)(0x30 + i), SHARED_BYTES);
    }
    assert_true(rig_info(&rig, made->memory[0]).blockId == rig_info(&rig, made->memory[1]).blockId);
    assert_true(rig_info(&rig, made->memory[2]).blockId == rig_info(&rig, made->memory[1]).blockId);
}

static void expect_neighbours(const struct made_buffers* made)
{
    for (uint32_t i = 0; i < 3; i += 2) {
        for (VkDeviceSize at = 0; at < SHARED_BYTES; ++at) {
            if (made->bytes[i][at] != 0x30 + i) {
                fail_msg("neighbour %u is touched at byte %llu", (unsigned)i,
                         (unsigned long long)at);
            }
        }
    }
}

static void destroy_buffers(const struct made_buffers* made)
{
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroyBuffer(rig.allocator, made->buffers[i], made->memory[i]);
    }
}

static MaarExternalHandle describe_shared(const struct made_buffers* made,
                                          MaarDescriptor* descriptor)
{
    const VkBufferCreateInfo info = shared_info();
    MaarExternalHandle handle = VK_NULL_HANDLE;
    *descriptor = (MaarDescriptor){.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    assert_int_equal(
        maarDescribeMemory(rig.allocator, made->memory[1], OPAQUE, &info, descriptor, &handle),
        VK_SUCCESS);
    descriptor->userValue = 4711;
    return handle;
}

/* Writes, gives, takes back, looks; and ends while the other still has the bytes. */
static void make_and_share(int end)
{
    struct made_buffers made;
    MaarDescriptor descriptor;
    make_buffers(&made);
    MaarExternalHandle handle = describe_shared(&made, &descriptor);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        write_parts(made.buffers[1], made.bytes[1], MAKER_DEVICE, round);
        if (round == 0) {
            assert_int_equal(maarSendHandle(rig.allocator, end, &descriptor, handle), VK_SUCCESS);
            maarDestroyExternalHandle(rig.allocator, handle);
        } else {
            signal_other(end);
        }
        await_other(end);
        read_parts(made.buffers[1], made.bytes[1], round, round, PARTS);
        expect_neighbours(&made);
    }
    write_parts(made.buffers[1], made.bytes[1], MAKER_DEVICE, ROUNDS);
    destroy_buffers(&made);
}

/* Claims to be of another device, then of another driver, and then states the truth. */
static void make_and_lie(int end)
{
    struct made_buffers made;
    MaarDescriptor descriptor;
    make_buffers(&made);
    MaarExternalHandle handle = describe_shared(&made, &descriptor);
    for (uint32_t i = 0; i < 3; ++i) {
        MaarDescriptor lie = descriptor;
        lie.deviceUUID[3] ^= i == 0 ? 0xFF : 0;
        lie.driverUUID[3] ^= i == 1 ? 0xFF : 0;
        assert_int_equal(maarSendHandle(rig.allocator, end, &lie, handle), VK_SUCCESS);
    }
    await_other(end);
    maarDestroyExternalHandle(rig.allocator, handle);
    destroy_buffers(&made);
}

static void make_many(int end)
{
    struct made_buffers made;
    MaarDescriptor descriptor;
    make_buffers(&made);
    const uint32_t before = rig_count_fds();
    uint32_t most = 0;
    for (uint32_t i = 0; i < MANY; ++i) {
        MaarExternalHandle handle = describe_shared(&made, &descriptor);
        descriptor.userValue = i;
        assert_int_equal(maarSendHandle(rig.allocator, end, &descriptor, handle), VK_SUCCESS);
        maarDestroyExternalHandle(rig.allocator, handle);
        most = rig_count_fds() > most ? rig_count_fds() : most;
    }
    /* One more at most: what the block keeps of its first export. */
    assert_true(most <= before + 1);
    await_other(end);
    destroy_buffers(&made);
}

/* ---- a timeline that both have, which says whose turn it is ---- */

static bool exports_timelines(void)
{
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(rig.allocator, &info), VK_SUCCESS);
    return (info.exportableTimelineTypes &
            (VkFlags)VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) != 0;
}

static void await_turn(VkSemaphore timeline, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline,
        .pValues = &value,
    };
    assert_int_equal(vkWaitSemaphores(rig.device, &info, patience_ns), VK_SUCCESS);
}

static void make_timeline(int end)
{
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = VK_SEMAPHORE_TYPE_TIMELINE,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    struct made_buffers made;
    MaarDescriptor descriptor;
    VkSemaphore timeline = VK_NULL_HANDLE;
    MaarExternalHandle clock = VK_NULL_HANDLE;
    if (!exports_timelines()) {
        return;
    }
    make_buffers(&made);
    MaarExternalHandle handle = describe_shared(&made, &descriptor);
    assert_int_equal(maarSendHandle(rig.allocator, end, &descriptor, handle), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, handle);
    assert_int_equal(maarCreateSharedSemaphore(rig.allocator, &info, &timeline), VK_SUCCESS);
    assert_int_equal(maarDescribeTimeline(rig.allocator, timeline,
                                          VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                          &descriptor, &clock),
                     VK_SUCCESS);
    assert_int_equal(maarSendHandle(rig.allocator, end, &descriptor, clock), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, clock);
    for (uint32_t round = 0; round < TURNS; ++round) {
        await_turn(timeline, 2 * (uint64_t)round + 1);
        expect_part(made.bytes[1], TAKER_HOST, round, "host");
        write_word(made.bytes[1], MAKER_HOST, word_of(MAKER_HOST, round));
        rig_signal(&rig, timeline, 2 * (uint64_t)round + 2);
    }
    await_other(end);
    vkDestroySemaphore(rig.device, timeline, NULL);
    destroy_buffers(&made);
}

static const struct {
    const char* name;
    void (*run)(int end);
} makers[] = {
    {"share", make_and_share},
    {"lie", make_and_lie},
    {"many", make_many},
    {"timeline", make_timeline},
};

static int run_maker(const char* name, int end)
{
    (void)alarm(PATIENCE_S);
    if (!sharing_start(&rig, NULL)) {
        return 77;
    }
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; ++i) {
        if (strcmp(makers[i].name, name) == 0) {
            makers[i].run(end);
        }
    }
    rig_close(&rig);
    return 0; /* a failure has ended the process before */
}

/* ---- the process that takes it: the one that reports ---- */

static struct {
    pid_t maker;
    int end;
    uint32_t fds;
} taker;

static void start_maker(const char* name)
{
    int ends[2];
    char number[16];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    taker.end = ends[0];
    taker.maker = fork();
    assert_true(taker.maker >= 0);
    if (taker.maker == 0) {
        (void)close(ends[0]);
        (void)snprintf(number, sizeof number, "%d", ends[1]);
        (void)execl("/proc/self/exe", "test_two_processes", "--maker", name, number, (char*)NULL);
        _exit(126);
    }
    (void)close(ends[1]);
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    assert_int_equal(setsockopt(taker.end, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
}

static void expect_maker_done(void)
{
    int status = 0;
    assert_int_equal(waitpid(taker.maker, &status, 0), taker.maker);
    taker.maker = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("the other process ended with status 0x%x", (unsigned)status);
    }
}

static int open_taker(void** state, const char* name)
{
    taker.fds = rig_count_fds();
    start_maker(name);
    *state = sharing_start(&rig, NULL) ? &rig : NULL;
    return 0;
}

static int open_share(void** state)
{
    return open_taker(state, "share");
}

static int open_lie(void** state)
{
    return open_taker(state, "lie");
}

static int open_many(void** state)
{
    return open_taker(state, "many");
}

static int open_timeline(void** state)
{
    return open_taker(state, "timeline");
}

static int close_taker(void** state)
{
    (void)close(taker.end);
    if (taker.maker != 0) {
        (void)kill(taker.maker, SIGKILL);
        (void)waitpid(taker.maker, NULL, 0);
    }
    const int result = rig_teardown(state);
    assert_int_equal(rig_count_fds(), taker.fds);
    return result;
}

static VkResult receive_shared(MaarDescriptor* descriptor, MaarExternalHandle* handle)
{
    *descriptor = (MaarDescriptor){.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    return maarReceiveHandle(rig.allocator, taker.end, patience_ns, descriptor, handle);
}

static MaarAllocation import_shared(const MaarDescriptor* descriptor, MaarExternalHandle handle,
                                    VkBuffer* buffer)
{
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarImportDescribedBuffer(rig.allocator, descriptor, handle, buffer, &memory),
                     VK_SUCCESS);
    assert_int_equal(maarPeekFd(handle), -1);
    maarDestroyExternalHandle(rig.allocator, handle);
    return memory;
}

static void each_process_sees_the_others_writes(void** state)
{
    rig_need(state, true, "");
    MaarDescriptor descriptor;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    void* block = NULL;
    assert_int_equal(receive_shared(&descriptor, &handle), VK_SUCCESS);
    assert_int_equal(descriptor.kind, MAAR_DESCRIPTOR_KIND_BUFFER);
    assert_string_equal(descriptor.name, "shared by two");
    assert_int_equal(descriptor.userValue, 4711);
    assert_int_equal(descriptor.size, SHARED_BYTES);
    assert_true(descriptor.offset != 0); /* a part of a block, with a neighbour in front */
    MaarAllocation memory = import_shared(&descriptor, handle, &buffer);
    assert_int_equal(maarMapMemory(rig.allocator, memory, &block), VK_SUCCESS);
    unsigned char* bytes = (unsigned char*)block + descriptor.offset;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        if (round != 0) {
            await_other(taker.end);
        }
        read_parts(buffer, bytes, round, round - 1, round == 0 ? TAKER_DEVICE : PARTS);
        write_parts(buffer, bytes, TAKER_DEVICE, round);
        signal_other(taker.end);
    }
    /* The maker goes, having written once more; the bytes stay, and serve on. */
    expect_maker_done();
    read_parts(buffer, bytes, ROUNDS, ROUNDS - 1, PARTS);
    write_parts(buffer, bytes, TAKER_DEVICE, ROUNDS + 1);
    read_parts(buffer, bytes, ROUNDS, ROUNDS + 1, PARTS);
    rig_check(&rig);
    maarUnmapMemory(rig.allocator, memory);
    maarDestroyBuffer(rig.allocator, buffer, memory);
    rig_expect_silence(&rig);
}

static void hex(const uint8_t* uuid, char* text)
{
    for (uint32_t i = 0; i < VK_UUID_SIZE; ++i) {
        (void)snprintf(text + (size_t)2 * i, 3, "%02x", uuid[i]);
    }
}

static void other_device_or_driver_is_refused_by_name(void** state)
{
    rig_need(state, true, "");
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(rig.allocator, &info), VK_SUCCESS);
    MaarDescriptor descriptor;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    const uint32_t before = rig_count_fds();
    for (uint32_t i = 0; i < 2; ++i) {
        uint8_t* uuid = i == 0 ? info.deviceUUID : info.driverUUID;
        char own[2 * VK_UUID_SIZE + 1];
        char other[2 * VK_UUID_SIZE + 1];
        hex(uuid, own);
        uuid[3] ^= 0xFF;
        hex(uuid, other);
        assert_int_equal(receive_shared(&descriptor, &handle), VK_ERROR_INCOMPATIBLE_DRIVER);
        assert_null(handle);
        assert_true(rig_message_names(&rig, i == 0 ? "deviceUUID" : "driverUUID"));
        assert_true(rig_message_names(&rig, own));
        rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_OTHER_DEVICE, other);
        assert_int_equal(rig_count_fds(), before);
    }
    assert_int_equal(receive_shared(&descriptor, &handle), VK_SUCCESS);
    /* The import asks as well, for those who have a channel of their own. */
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    MaarDescriptor lie = descriptor;
    lie.deviceUUID[0] ^= 1;
    assert_int_equal(maarImportDescribedBuffer(rig.allocator, &lie, handle, &buffer, &memory),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_OTHER_DEVICE, "maarImportDescribedBuffer");
    /* Nor does a sender switch features on. */
    const VkBufferCreateFlags flags[] = {VK_BUFFER_CREATE_PROTECTED_BIT,
                                         VK_BUFFER_CREATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT};
    for (uint32_t i = 0; i < 2; ++i) {
        lie = descriptor;
        lie.bufferFlags = flags[i];
        assert_int_equal(maarImportDescribedBuffer(rig.allocator, &lie, handle, &buffer, &memory),
                         VK_ERROR_FEATURE_NOT_PRESENT);
        rig_expect_message(&rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED);
    }
    assert_true(maarPeekFd(handle) >= 0);
    memory = import_shared(&descriptor, handle, &buffer);
    maarDestroyBuffer(rig.allocator, buffer, memory);
    signal_other(taker.end);
    expect_maker_done();
}

static void many_handles_leave_none_behind(void** state)
{
    rig_need(state, true, "");
    const uint32_t before = rig_count_fds();
    for (uint32_t i = 0; i < MANY; ++i) {
        MaarDescriptor descriptor;
        MaarExternalHandle handle = VK_NULL_HANDLE;
        VkBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(receive_shared(&descriptor, &handle), VK_SUCCESS);
        assert_int_equal(descriptor.userValue, i);
        MaarAllocation memory = import_shared(&descriptor, handle, &buffer);
        maarDestroyBuffer(rig.allocator, buffer, memory);
        assert_int_equal(rig_count_fds(), before);
    }
    signal_other(taker.end);
    expect_maker_done();
}

static void timeline_says_whose_turn_it_is(void** state)
{
    rig_need(state, true, "");
    rig_need(state, exports_timelines(), "the device exports no timelines");
    MaarDescriptor descriptor;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkSemaphore timeline = VK_NULL_HANDLE;
    void* block = NULL;
    assert_int_equal(receive_shared(&descriptor, &handle), VK_SUCCESS);
    MaarAllocation memory = import_shared(&descriptor, handle, &buffer);
    assert_int_equal(maarMapMemory(rig.allocator, memory, &block), VK_SUCCESS);
    unsigned char* bytes = (unsigned char*)block + descriptor.offset;
    assert_int_equal(receive_shared(&descriptor, &handle), VK_SUCCESS);
    assert_int_equal(descriptor.kind, MAAR_DESCRIPTOR_KIND_TIMELINE);
    assert_int_equal(
        maarImportSemaphore(rig.allocator, handle,
                            (VkExternalSemaphoreHandleTypeFlagBits)descriptor.handleType,
                            VK_SEMAPHORE_TYPE_TIMELINE, &timeline),
        VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, handle);
    for (uint32_t round = 0; round < TURNS; ++round) {
        await_turn(timeline, 2 * (uint64_t)round);
        write_word(bytes, TAKER_HOST, word_of(TAKER_HOST, round));
        rig_signal(&rig, timeline, 2 * (uint64_t)round + 1);
        await_turn(timeline, 2 * (uint64_t)round + 2);
        expect_part(bytes, MAKER_HOST, round, "host");
    }
    signal_other(taker.end);
    expect_maker_done();
    vkDestroySemaphore(rig.device, timeline, NULL);
    maarUnmapMemory(rig.allocator, memory);
    maarDestroyBuffer(rig.allocator, buffer, memory);
}

int main(int argc, char** argv)
{
    if (argc == 4 && strcmp(argv[1], "--maker") == 0) {
        return run_maker(argv[2], atoi(argv[3]));
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_process_sees_the_others_writes, open_share,
                                        close_taker),
        cmocka_unit_test_setup_teardown(other_device_or_driver_is_refused_by_name, open_lie,
                                        close_taker),
        cmocka_unit_test_setup_teardown(many_handles_leave_none_behind, open_many, close_taker),
        cmocka_unit_test_setup_teardown(timeline_says_whose_turn_it_is, open_timeline, close_taker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
