/*
 * Steps: memory and timelines in CUDA, over the FAKE CUDA driver, whose calls fail as well. Ending
 * calls of CUDA's (cuMemFree, cuDestroyExternalMemory, cuCtxPopCurrent and their like) are left
 * alone: when they fail nobody can do anything about it.
 */
#include "core/handle.h"
#include "tests/fault/fault_cuda.h"

struct fault_cuda fault_cuda;

/* ---- the FAKE as a peer ---- */

static const char* const cuda_functions[] = {
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceGetUuid",
    "cuDevicePrimaryCtxRetain",
    "cuCtxPushCurrent",
    "cuCtxGetDevice",
    "cuImportExternalMemory",
    "cuExternalMemoryGetMappedBuffer",
    "cuImportExternalSemaphore",
    "cuSignalExternalSemaphoresAsync",
    "cuWaitExternalSemaphoresAsync",
    "cuLaunchHostFunc",
    "cuExternalMemoryGetMappedMipmappedArray",
    "cuMipmappedArrayGetLevel",
    "cuMemGetAllocationGranularity",
    "cuMemCreate",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
    "cuMemAddressReserve",
    "cuMemMap",
    "cuMemSetAccess",
    NULL,
};

static const int cuda_codes[] = {MAAR_CUDA_OUT_OF_MEMORY, MAAR_CUDA_INVALID_VALUE,
                                 MAAR_CUDA_UNKNOWN, 0};

const struct fault_peer fault_cuda_peer = {
    .functions = cuda_functions,
    .entry = "cuCtxPushCurrent",
    .codes = cuda_codes,
    FAULT_FAKE_PEER,
};

/* ---- the object ---- */

/* The FAKE writes what streams signal into the semaphores' files and calls no function of Vulkan's:
 * so every run calls the same ones. */
static void prepare_fake(struct fault_context* c)
{
    memset(&fault_cuda, 0, sizeof fault_cuda);
    fault_begin_fake(c, fake_load_cuda(MAAR_FAKE_CUDA, &fault_cuda.driver));
}

static VkResult make_cuda(struct fault_context* c, void* context)
{
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .flags = MAAR_CUDA_CREATE_CUDA_MEMORY_BIT,
        .pLibraryPath = MAAR_FAKE_CUDA,
        .pContext = context,
    };
    fault_cuda.cuda = (MaarCuda)(void*)1;
    VkResult result = maarCreateCuda(c->rig.allocator, &info, &fault_cuda.cuda);
    assert_true((result == VK_SUCCESS) == (fault_cuda.cuda != VK_NULL_HANDLE));
    return result;
}

static VkResult run_cuda(struct fault_context* c)
{
    return make_cuda(c, NULL);
}

static VkResult run_cuda_of_context(struct fault_context* c)
{
    return make_cuda(c, fault_cuda.context);
}

static void undo_cuda(struct fault_context* c)
{
    (void)c;
    maarDestroyCuda(fault_cuda.cuda);
    fault_cuda.cuda = VK_NULL_HANDLE;
}

static void prepare_context(struct fault_context* c)
{
    prepare_fake(c);
    assert_int_equal(fault_cuda.driver.cuInit(0), MAAR_CUDA_SUCCESS);
    fault_cuda.context = fault_fake->make_context(0);
}

void fault_prepare_cuda(struct fault_context* c)
{
    prepare_fake(c);
    assert_int_equal(run_cuda(c), VK_SUCCESS);
    MaarCudaInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO};
    assert_int_equal(maarGetCudaInfo(fault_cuda.cuda, &info), VK_SUCCESS);
    fault_cuda.context = info.pContext;
}

void fault_finish_cuda(struct fault_context* c)
{
    undo_cuda(c);
    fault_finish_fake(c);
}

static VkResult run_destroy_cuda(struct fault_context* c)
{
    undo_cuda(c);
    return VK_SUCCESS;
}

static VkResult run_cuda_info(struct fault_context* c)
{
    (void)c;
    MaarCudaInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO};
    return maarGetCudaInfo(fault_cuda.cuda, &info);
}

static const struct fault_step cuda_object_steps[] = {
    {"maarCreateCuda", .prepare = prepare_fake, .run = run_cuda, .undo = undo_cuda,
     .finish = fault_finish_fake, FAULT_CUDA_STEP},
    {"maarCreateCuda", "in a context", .prepare = prepare_context, .run = run_cuda_of_context,
     .undo = undo_cuda, .finish = fault_finish_fake, FAULT_CUDA_STEP},
    {"maarDestroyCuda", .never = "lets go", .prepare = fault_prepare_cuda, .run = run_destroy_cuda,
     .finish = fault_finish_fake, FAULT_CUDA_STEP},
    {"maarGetCudaInfo", .never = "reads what is kept", .prepare = fault_prepare_cuda,
     .run = run_cuda_info, .finish = fault_finish_cuda, FAULT_CUDA_STEP},
};

const struct fault_table fault_cuda_object_steps = {
    cuda_object_steps,
    sizeof cuda_object_steps / sizeof cuda_object_steps[0],
};

/* ---- memory ---- */

static void prepare_cuda_buffer(struct fault_context* c)
{
    fault_prepare_cuda(c);
    fault_make_exported_buffer(c, MAAR_DEDICATED_AUTO);
}

static void prepare_dedicated_for_cuda(struct fault_context* c)
{
    fault_prepare_cuda(c);
    fault_make_exported_buffer(c, MAAR_DEDICATED_ALWAYS);
}

static VkResult run_cuda_memory(struct fault_context* c)
{
    fault_cuda.memory =
        (MaarCudaMemory){.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY, .devicePointer = 7};
    VkResult result = maarGetCudaMemory(fault_cuda.cuda, c->memory, &fault_cuda.memory);
    assert_true((result == VK_SUCCESS) == (fault_cuda.memory.devicePointer != 0));
    return result;
}

static void prepare_seen_buffer(struct fault_context* c)
{
    prepare_cuda_buffer(c);
    assert_int_equal(run_cuda_memory(c), VK_SUCCESS);
}

static void finish_cuda_buffer(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    fault_finish_cuda(c);
}

static const struct fault_step cuda_memory_steps[] = {
    {"maarGetCudaMemory", "first", .prepare = prepare_cuda_buffer, .run = run_cuda_memory,
     .finish = finish_cuda_buffer, FAULT_CUDA_STEP, .keeps_fds = true},
    {"maarGetCudaMemory", "dedicated", .prepare = prepare_dedicated_for_cuda,
     .run = run_cuda_memory, .finish = finish_cuda_buffer, FAULT_CUDA_STEP, .keeps_fds = true},
    {"maarGetCudaMemory", "again", .prepare = prepare_seen_buffer, .run = run_cuda_memory,
     .finish = finish_cuda_buffer, FAULT_CUDA_STEP},
};

const struct fault_table fault_cuda_memory_steps = {
    cuda_memory_steps,
    sizeof cuda_memory_steps / sizeof cuda_memory_steps[0],
};

/* ---- timelines ---- */

static VkResult make_cuda_timeline(MaarHandoffMode mode, MaarCudaTimeline* timeline)
{
    const MaarCudaTimelineCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
        .mode = mode,
    };
    *timeline = MAAR_FROM_BITS(MaarCudaTimeline, 1);
    VkResult result = maarCreateCudaTimeline(fault_cuda.cuda, &info, timeline);
    assert_true((result == VK_SUCCESS) == (*timeline != VK_NULL_HANDLE));
    return result;
}

static VkResult run_shared_timeline(struct fault_context* c)
{
    (void)c;
    return make_cuda_timeline(MAAR_HANDOFF_MODE_TIMELINE, &fault_cuda.timeline);
}

static VkResult run_binary_timeline(struct fault_context* c)
{
    (void)c;
    return make_cuda_timeline(MAAR_HANDOFF_MODE_BINARY, &fault_cuda.timeline);
}

static VkResult run_host_timeline(struct fault_context* c)
{
    (void)c;
    return make_cuda_timeline(MAAR_HANDOFF_MODE_HOST, &fault_cuda.timeline);
}

static void undo_cuda_timeline(struct fault_context* c)
{
    (void)c;
    maarDestroyCudaTimeline(fault_cuda.cuda, fault_cuda.timeline);
    fault_cuda.timeline = VK_NULL_HANDLE;
}

static VkResult run_destroy_timeline(struct fault_context* c)
{
    undo_cuda_timeline(c);
    return VK_SUCCESS;
}

static VkSemaphore semaphore_of(MaarCudaTimeline timeline)
{
    MaarCudaTimelineInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    assert_int_equal(maarGetCudaTimelineInfo(fault_cuda.cuda, timeline, &info), VK_SUCCESS);
    return info.semaphore;
}

static void enter_cuda(void)
{
    assert_int_equal(fault_cuda.driver.cuCtxPushCurrent(fault_cuda.context), MAAR_CUDA_SUCCESS);
}

static void leave_cuda(void)
{
    struct maar_cuda_context* popped = NULL;
    assert_int_equal(fault_cuda.driver.cuCtxPopCurrent(&popped), MAAR_CUDA_SUCCESS);
}

/* A timeline of such a mode, and a stream. */
static void prepare_stream(struct fault_context* c, MaarHandoffMode mode)
{
    fault_prepare_cuda(c);
    assert_int_equal(make_cuda_timeline(mode, &fault_cuda.timeline), VK_SUCCESS);
    enter_cuda();
    assert_int_equal(
        fault_cuda.driver.cuStreamCreate(&fault_cuda.stream, MAAR_CUDA_STREAM_NON_BLOCKING),
        MAAR_CUDA_SUCCESS);
    leave_cuda();
    c->next_value = 1;
}

static void prepare_timeline_stream(struct fault_context* c)
{
    prepare_stream(c, MAAR_HANDOFF_MODE_TIMELINE);
}

static void prepare_binary_stream(struct fault_context* c)
{
    prepare_stream(c, MAAR_HANDOFF_MODE_BINARY);
}

/* Vulkan has signalled already what the stream is to wait for, which it may do once. */
static void prepare_binary_wait(struct fault_context* c)
{
    MaarPoint point;
    prepare_binary_stream(c);
    assert_int_equal(maarGetCudaTimelineSignal(fault_cuda.cuda, fault_cuda.timeline, 1, &point),
                     VK_SUCCESS);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &point.semaphore,
    };
    assert_int_equal(vkQueueSubmit(c->rig.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
}

/* Vulkan has signalled already what the host is to wait for. */
static void prepare_host_wait(struct fault_context* c)
{
    prepare_stream(c, MAAR_HANDOFF_MODE_HOST);
    rig_signal(&c->rig, semaphore_of(fault_cuda.timeline), 1);
}

/* The stream stands still, so that nothing is carried over before the step is undone. */
static void prepare_host_signal(struct fault_context* c)
{
    prepare_stream(c, MAAR_HANDOFF_MODE_HOST);
    assert_int_equal(make_cuda_timeline(MAAR_HANDOFF_MODE_TIMELINE, &fault_cuda.gate), VK_SUCCESS);
    assert_int_equal(maarCudaWait(fault_cuda.cuda, fault_cuda.gate, 1, fault_cuda.stream),
                     VK_SUCCESS);
}

static void synchronize_stream(void)
{
    enter_cuda();
    assert_int_equal(fault_cuda.driver.cuStreamSynchronize(fault_cuda.stream), MAAR_CUDA_SUCCESS);
    leave_cuda();
}

static void finish_stream(struct fault_context* c)
{
    if (fault_cuda.gate != VK_NULL_HANDLE) {
        rig_signal(&c->rig, semaphore_of(fault_cuda.gate), 1);
    }
    synchronize_stream();
    enter_cuda();
    assert_int_equal(fault_cuda.driver.cuStreamDestroy(fault_cuda.stream), MAAR_CUDA_SUCCESS);
    leave_cuda();
    maarDestroyCudaTimeline(fault_cuda.cuda, fault_cuda.gate);
    undo_cuda_timeline(c);
    fault_finish_cuda(c);
}

static VkResult run_stream_wait(struct fault_context* c)
{
    return maarCudaWait(fault_cuda.cuda, fault_cuda.timeline, c->next_value, fault_cuda.stream);
}

static void undo_stream_wait(struct fault_context* c)
{
    rig_signal(&c->rig, semaphore_of(fault_cuda.timeline), c->next_value);
}

static VkResult run_stream_signal(struct fault_context* c)
{
    return maarCudaSignal(fault_cuda.cuda, fault_cuda.timeline, c->next_value, fault_cuda.stream);
}

static VkResult run_timeline_info(struct fault_context* c)
{
    (void)c;
    assert_true(semaphore_of(fault_cuda.timeline) != VK_NULL_HANDLE);
    return VK_SUCCESS;
}

static VkResult run_point_to_signal(struct fault_context* c)
{
    MaarPoint point;
    return maarGetCudaTimelineSignal(fault_cuda.cuda, fault_cuda.timeline, c->next_value, &point);
}

static VkResult run_point_to_wait(struct fault_context* c)
{
    MaarPoint point;
    return maarGetCudaTimelineWait(fault_cuda.cuda, fault_cuda.timeline, c->next_value, &point);
}

static const struct fault_step cuda_timeline_steps[] = {
    {"maarCreateCudaTimeline", "timeline", .prepare = fault_prepare_cuda,
     .run = run_shared_timeline, .undo = undo_cuda_timeline, .finish = fault_finish_cuda,
     FAULT_CUDA_STEP},
    {"maarCreateCudaTimeline", "binary", .prepare = fault_prepare_cuda, .run = run_binary_timeline,
     .undo = undo_cuda_timeline, .finish = fault_finish_cuda, FAULT_CUDA_STEP},
    {"maarCreateCudaTimeline", "host", .prepare = fault_prepare_cuda, .run = run_host_timeline,
     .undo = undo_cuda_timeline, .finish = fault_finish_cuda, FAULT_CUDA_STEP},
    {"maarDestroyCudaTimeline", .never = "lets go", .prepare = prepare_timeline_stream,
     .run = run_destroy_timeline, .finish = finish_stream, FAULT_CUDA_STEP},
    {"maarGetCudaTimelineInfo", .never = "reads what is kept", .prepare = prepare_timeline_stream,
     .run = run_timeline_info, .finish = finish_stream, FAULT_CUDA_STEP},
    {"maarGetCudaTimelineSignal", .never = "notes a value", .prepare = prepare_timeline_stream,
     .run = run_point_to_signal, .finish = finish_stream, FAULT_CUDA_STEP},
    {"maarGetCudaTimelineWait", .never = "notes a value", .prepare = prepare_timeline_stream,
     .run = run_point_to_wait, .finish = finish_stream, FAULT_CUDA_STEP},
    {"maarCudaWait", "timeline", .prepare = prepare_timeline_stream, .run = run_stream_wait,
     .undo = undo_stream_wait, .finish = finish_stream, FAULT_CUDA_STEP},
    {"maarCudaWait", "binary", .prepare = prepare_binary_wait, .run = run_stream_wait,
     .finish = finish_stream, FAULT_CUDA_STEP},
    {"maarCudaWait", "host", .prepare = prepare_host_wait, .run = run_stream_wait,
     .finish = finish_stream, FAULT_CUDA_STEP, .lost_is_done = true},
    {"maarCudaSignal", "timeline", .prepare = prepare_timeline_stream, .run = run_stream_signal,
     .finish = finish_stream, FAULT_CUDA_STEP},
    {"maarCudaSignal", "binary", .prepare = prepare_binary_stream, .run = run_stream_signal,
     .finish = finish_stream, FAULT_CUDA_STEP},
    {"maarCudaSignal", "host", .prepare = prepare_host_signal, .run = run_stream_signal,
     .finish = finish_stream, FAULT_CUDA_STEP},
};

const struct fault_table fault_cuda_timeline_steps = {
    cuda_timeline_steps,
    sizeof cuda_timeline_steps / sizeof cuda_timeline_steps[0],
};

/* ---- handoffs ---- */

static void prepare_cuda_handoff(struct fault_context* c)
{
    prepare_timeline_stream(c);
    fault_make_exported_buffer(c, MAAR_DEDICATED_AUTO);
}

static void finish_cuda_handoff(struct fault_context* c)
{
    synchronize_stream();
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    finish_stream(c);
}

typedef VkResult(VKAPI_PTR* cuda_handoff_fn)(MaarCuda, MaarCudaTimeline timeline,
                                             const MaarCudaHandoffInfo* info);

/* One half may be done when the other fails, so that each attempt has a value of its own. */
static VkResult hand_over_once(struct fault_context* c, cuda_handoff_fn hand)
{
    const MaarHandoffResource resource = {.buffer = c->buffer};
    const MaarCudaHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = c->next_value++,
        .stream = fault_cuda.stream,
        .resourceCount = 1,
        .pResources = &resource,
    };
    return hand(fault_cuda.cuda, fault_cuda.timeline, &info);
}

static VkResult run_release_to_cuda(struct fault_context* c)
{
    return hand_over_once(c, maarReleaseToCuda);
}

static VkResult run_acquire_from_cuda(struct fault_context* c)
{
    return hand_over_once(c, maarAcquireFromCuda);
}

#define HANDOFF_STEP FAULT_CUDA_STEP, .paging = true, .partial = true, .lost_is_done = true

static const struct fault_step cuda_handoff_steps[] = {
    {"maarReleaseToCuda", .prepare = prepare_cuda_handoff, .run = run_release_to_cuda,
     .finish = finish_cuda_handoff, HANDOFF_STEP},
    {"maarAcquireFromCuda", .prepare = prepare_cuda_handoff, .run = run_acquire_from_cuda,
     .finish = finish_cuda_handoff, HANDOFF_STEP},
};

const struct fault_table fault_cuda_handoff_steps = {
    cuda_handoff_steps,
    sizeof cuda_handoff_steps / sizeof cuda_handoff_steps[0],
};
