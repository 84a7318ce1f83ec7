/*
 * Ends out of order, over the FAKE CUDA driver and a simulated device: what a stream still has to
 * do when what it is for is destroyed. Nothing of this says anything about a GPU.
 */
#include "core/memory/allocator_state.h"
#include "tests/fakes/fake_gate.h"
#include "tests/interop/cuda_fixture.h"

#include <sched.h>

/* A stream of Maar's context, which becomes the thread's own. */
static struct maar_cuda_stream* begin_stream(struct cuda_desk* desk)
{
    struct maar_cuda_stream* stream = NULL;
    void* const context = cuda_desk_cuda_info(desk).pContext;
    assert_int_equal(desk->driver.cuCtxPushCurrent(context), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk->driver.cuStreamCreate(&stream, MAAR_CUDA_STREAM_NON_BLOCKING),
                     MAAR_CUDA_SUCCESS);
    return stream;
}

static void end_stream(struct cuda_desk* desk, struct maar_cuda_stream* stream)
{
    assert_int_equal(desk->driver.cuStreamDestroy(stream), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk->driver.cuCtxPopCurrent(&(struct maar_cuda_context*){0}),
                     MAAR_CUDA_SUCCESS);
}

/* The host carries a signal over on CUDA's thread, which needs the timeline and all behind it. */
static void signal_that_comes_late_finds_all_it_needs(void** state)
{
    static struct fake_gate gate = FAKE_GATE_CLOSED;
    struct cuda_desk desk;
    struct maar_cuda_stream* stream;
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    const MaarCudaTimelineCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
        .mode = MAAR_HANDOFF_MODE_HOST,
    };
    (void)state;
    cuda_desk_start(&desk, NULL);
    stream = begin_stream(&desk);
    assert_int_equal(maarCreateCudaTimeline(desk.cuda, &info, &timeline), VK_SUCCESS);
    assert_int_equal(desk.driver.cuLaunchHostFunc(stream, fake_wait_at_gate, &gate),
                     MAAR_CUDA_SUCCESS);
    assert_int_equal(maarCudaSignal(desk.cuda, timeline, 1, stream), VK_SUCCESS);
    maarDestroyCudaTimeline(desk.cuda, timeline);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE, "5");
    assert_int_equal(maarCudaSignal(desk.cuda, timeline, 2, stream),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_STALE_HANDLE, "timeline");
    maarDestroyCuda(desk.cuda);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_IN_USE, "1");
    fake_open_gate(&gate);
    assert_int_equal(desk.driver.cuStreamSynchronize(stream), MAAR_CUDA_SUCCESS);
    end_stream(&desk, stream);
    rig_forget_messages(&desk.rig);
    cuda_desk_close(&desk);
}

/* What is reported while a context is left, and whether the MaarCuda was in use still. */
struct leaving {
    MaarCuda cuda;
    uint32_t count;
    uint32_t blocks;
};

static void VKAPI_CALL note_leaving(void* data, const MaarMessage* report)
{
    struct leaving* leaving = data;
    if (report->id == MAAR_MESSAGE_ID_PEER_CALL_FAILED) {
        MaarCudaInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO};
        assert_int_equal(maarGetCudaInfo(leaving->cuda, &info), VK_SUCCESS);
        leaving->blocks = info.importedBlockCount;
        ++leaving->count;
    }
}

static void open_with_cuda_memory(struct cuda_desk* desk)
{
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    MaarCudaCreateInfo info = cuda_desk_info();
    struct fake_identity identity = {.memory_type = 0};
    cuda_desk_open(desk, NULL);
    assert_int_equal(maarGetSharingInfo(desk->rig.allocator, &sharing), VK_SUCCESS);
    memcpy(identity.device_uuid, sharing.deviceUUID, VK_UUID_SIZE);
    memcpy(identity.driver_uuid, sharing.driverUUID, VK_UUID_SIZE);
    desk->fake->set_identity(&identity);
    info.flags = MAAR_CUDA_CREATE_CUDA_MEMORY_BIT;
    assert_int_equal(maarCreateCuda(desk->rig.allocator, &info, &desk->cuda), VK_SUCCESS);
}

/* A thread that frees a block is done with the MaarCuda before that is reported: whoever destroys
 * it on another thread waits for no more than the count of blocks. */
static void end_block_of(struct cuda_desk* desk, VkBuffer buffer, MaarAllocation memory)
{
    MaarAllocator allocator = desk->rig.allocator;
    struct leaving leaving = {.cuda = desk->cuda};
    void* const data = allocator->reporter.user_data;
    const PFN_maarMessage message = allocator->reporter.message;
    allocator->reporter.message = note_leaving;
    allocator->reporter.user_data = &leaving;
    desk->fake->set_fault("cuCtxPopCurrent", 1, 1, MAAR_CUDA_UNKNOWN);
    maarDestroyBuffer(allocator, buffer, memory);
    assert_int_equal(maarTrim(allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    allocator->reporter.message = message;
    allocator->reporter.user_data = data;
    assert_int_equal(leaving.count, 1);
    assert_int_equal(leaving.blocks, 1);
    assert_int_equal(cuda_desk_cuda_info(desk).importedBlockCount, 0);
    /* The FAKE's call that failed left the context where it was. */
    assert_int_equal(desk->driver.cuCtxPopCurrent(&(struct maar_cuda_context*){0}),
                     MAAR_CUDA_SUCCESS);
}

static void block_that_ends_is_counted_to_the_last(void** state)
{
    struct cuda_desk desk;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    (void)state;
    open_with_cuda_memory(&desk);
    memory = rig_create_shared_buffer(&desk.rig, 4096, &buffer);
    (void)cuda_desk_memory(&desk, memory);
    end_block_of(&desk, buffer, memory);
    assert_int_equal(
        maarAllocateCudaMemory(desk.cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &memory),
        VK_SUCCESS);
    end_block_of(&desk, buffer, memory);
    cuda_desk_close(&desk);
}

struct shared_object {
    MaarAllocator allocator;
    VkBuffer buffer;
    MaarAllocation memory;
};

static void* end_object(void* data)
{
    const struct shared_object* object = data;
    maarDestroyBuffer(object->allocator, object->buffer, object->memory);
    (void)maarTrim(object->allocator, VK_NULL_HANDLE, NULL);
    return NULL;
}

/* cuMemFree may wait for the streams, as hipFree does. Nobody else waits for the thread that ends a
 * block, least of all the thread that has to give the streams what they wait for. */
static void free_that_waits_for_the_streams_holds_up_nobody_else(void** state)
{
    static struct fake_gate gate = FAKE_GATE_CLOSED;
    struct cuda_desk desk;
    struct maar_cuda_stream* stream;
    struct shared_object object = {.buffer = VK_NULL_HANDLE};
    VkBuffer other = VK_NULL_HANDLE;
    pthread_t thread;
    (void)state;
    cuda_desk_start(&desk, NULL);
    stream = begin_stream(&desk);
    object.allocator = desk.rig.allocator;
    object.memory = rig_create_shared_buffer(&desk.rig, 4096, &object.buffer);
    (void)cuda_desk_memory(&desk, object.memory);
    assert_int_equal(desk.driver.cuLaunchHostFunc(stream, fake_wait_at_gate, &gate),
                     MAAR_CUDA_SUCCESS);
    desk.fake->set_free_waits(true);
    assert_int_equal(pthread_create(&thread, NULL, end_object, &object), 0);
    while (desk.fake->calls("cuMemFree") == 0) {
        (void)sched_yield();
    }
    const MaarAllocation memory = rig_create_shared_buffer(&desk.rig, 8192, &other);
    (void)cuda_desk_memory(&desk, memory);
    assert_int_equal(maarCollect(desk.rig.allocator, NULL), VK_SUCCESS);
    assert_int_equal(maarWaitPending(desk.rig.allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(rig_statistics(&desk.rig, VK_NULL_HANDLE).allocationCount, 1);
    assert_int_equal(cuda_desk_cuda_info(&desk).importedBlockCount, 2); /* one of them leaves */
    fake_open_gate(&gate);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(cuda_desk_cuda_info(&desk).importedBlockCount, 1);
    maarDestroyBuffer(desk.rig.allocator, other, memory);
    end_stream(&desk, stream);
    cuda_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_that_ends_is_counted_to_the_last),
        cmocka_unit_test(free_that_waits_for_the_streams_holds_up_nobody_else),
        cmocka_unit_test(signal_that_comes_late_finds_all_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
