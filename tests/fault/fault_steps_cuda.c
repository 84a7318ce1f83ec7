/*
 * Steps: memory and timelines in CUDA, over the FAKE CUDA driver, whose calls fail as well. Ending
 * calls of CUDA's (cuMemFree, cuDestroyExternalMemory, cuCtxPopCurrent and their like) are left
 * alone: when they fail nobody can do anything about it.
 */
#include "maar/cuda.h"
#include "tests/fakes/fake_fixture.h"
#include "tests/fault/fault_steps.h"

/* The FAKE, and what steps make of it; one step runs at a time. */
static struct {
    struct maar_cuda_driver driver;
    const struct fake_control* fake;
    struct maar_cuda_context* context; /* the primary one */
    struct maar_cuda_stream* stream;
    MaarCuda cuda;
    MaarCudaTimeline timeline;
    MaarCudaTimeline gate; /* what the stream waits for before it does anything */
    MaarHandoffMode mode;
    MaarCudaMemory memory;
} bench;

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
    NULL,
};

static const int cuda_codes[] = {MAAR_CUDA_OUT_OF_MEMORY, MAAR_CUDA_INVALID_VALUE,
                                 MAAR_CUDA_UNKNOWN, 0};

static void set_cuda_fault(const char* function, uint64_t nth, uint64_t count, int code)
{
    bench.fake->set_fault(function, nth, count, code);
}

static uint64_t count_cuda_calls(const char* function)
{
    return bench.fake->calls(function);
}

/* The contexts on this thread's stack and broken rules are part of it. */
static uint64_t count_cuda_alive(void)
{
    uint64_t alive = bench.fake->context_depth() + bench.fake->breach_count();
    for (int kind = 0; kind < FAKE_KIND_COUNT; ++kind) {
        alive += bench.fake->live((enum fake_kind)kind);
    }
    return alive;
}

static const struct fault_peer cuda_peer = {
    .functions = cuda_functions,
    .entry = "cuCtxPushCurrent",
    .codes = cuda_codes,
    .set_fault = set_cuda_fault,
    .calls = count_cuda_calls,
    .alive = count_cuda_alive,
};

/* ---- the object ---- */

/* The FAKE writes what streams signal into the semaphores' files and calls no function of Vulkan's:
 * so every run calls the same ones. */
static void prepare_fake(struct fault_context* c)
{
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    memset(&bench, 0, sizeof bench);
    bench.fake = fake_load_cuda(MAAR_FAKE_CUDA, &bench.driver);
    assert_int_equal(maarGetSharingInfo(c->rig.allocator, &sharing), VK_SUCCESS);
    bench.fake->set_uuid(0, sharing.deviceUUID);
}

static void finish_fake(struct fault_context* c)
{
    (void)c;
    fake_expect_clean_end(bench.fake);
    bench.fake->reset();
}

static VkResult make_cuda(struct fault_context* c, void* context)
{
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_CUDA,
        .pContext = context,
    };
    bench.cuda = (MaarCuda)(void*)1;
    VkResult result = maarCreateCuda(c->rig.allocator, &info, &bench.cuda);
    assert_true((result == VK_SUCCESS) == (bench.cuda != VK_NULL_HANDLE));
    return result;
}

static VkResult run_cuda(struct fault_context* c)
{
    return make_cuda(c, NULL);
}

static VkResult run_cuda_of_context(struct fault_context* c)
{
    return make_cuda(c, bench.context);
}

static void undo_cuda(struct fault_context* c)
{
    (void)c;
    maarDestroyCuda(bench.cuda);
    bench.cuda = VK_NULL_HANDLE;
}

static void prepare_context(struct fault_context* c)
{
    prepare_fake(c);
    assert_int_equal(bench.driver.cuInit(0), MAAR_CUDA_SUCCESS);
    bench.context = bench.fake->make_context(0);
}

static void prepare_cuda(struct fault_context* c)
{
    prepare_fake(c);
    assert_int_equal(run_cuda(c), VK_SUCCESS);
    MaarCudaInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO};
    assert_int_equal(maarGetCudaInfo(bench.cuda, &info), VK_SUCCESS);
    bench.context = info.pContext;
}

static void finish_cuda(struct fault_context* c)
{
    undo_cuda(c);
    finish_fake(c);
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
    return maarGetCudaInfo(bench.cuda, &info);
}

#define CUDA_STEP .shares = true, .peer = &cuda_peer

static const struct fault_step cuda_object_steps[] = {
    {"maarCreateCuda", .prepare = prepare_fake, .run = run_cuda, .undo = undo_cuda,
     .finish = finish_fake, CUDA_STEP},
    {"maarCreateCuda", "in a context", .prepare = prepare_context, .run = run_cuda_of_context,
     .undo = undo_cuda, .finish = finish_fake, CUDA_STEP},
    {"maarDestroyCuda", .never = "lets go", .prepare = prepare_cuda, .run = run_destroy_cuda,
     .finish = finish_fake, CUDA_STEP},
    {"maarGetCudaInfo", .never = "reads what is kept", .prepare = prepare_cuda,
     .run = run_cuda_info, .finish = finish_cuda, CUDA_STEP},
};

const struct fault_table fault_cuda_object_steps = {
    cuda_object_steps,
    sizeof cuda_object_steps / sizeof cuda_object_steps[0],
};

/* ---- memory ---- */

static void make_cuda_buffer(struct fault_context* c, MaarDedicated dedicated)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.dedicated = dedicated;
    assert_int_equal(maarCreateBuffer(c->rig.allocator, &info, &how, &c->buffer, &c->memory),
                     VK_SUCCESS);
}

static void prepare_cuda_buffer(struct fault_context* c)
{
    prepare_cuda(c);
    make_cuda_buffer(c, MAAR_DEDICATED_AUTO);
}

static void prepare_dedicated_for_cuda(struct fault_context* c)
{
    prepare_cuda(c);
    make_cuda_buffer(c, MAAR_DEDICATED_ALWAYS);
}

static VkResult run_cuda_memory(struct fault_context* c)
{
    bench.memory = (MaarCudaMemory){.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY, .devicePointer = 7};
    VkResult result = maarGetCudaMemory(bench.cuda, c->memory, &bench.memory);
    assert_true((result == VK_SUCCESS) == (bench.memory.devicePointer != 0));
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
    finish_cuda(c);
}

static const struct fault_step cuda_memory_steps[] = {
    {"maarGetCudaMemory", "first", .prepare = prepare_cuda_buffer, .run = run_cuda_memory,
     .finish = finish_cuda_buffer, CUDA_STEP, .keeps_fds = true},
    {"maarGetCudaMemory", "dedicated", .prepare = prepare_dedicated_for_cuda,
     .run = run_cuda_memory, .finish = finish_cuda_buffer, CUDA_STEP, .keeps_fds = true},
    {"maarGetCudaMemory", "again", .prepare = prepare_seen_buffer, .run = run_cuda_memory,
     .finish = finish_cuda_buffer, CUDA_STEP},
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
    *timeline = (MaarCudaTimeline)(void*)1;
    VkResult result = maarCreateCudaTimeline(bench.cuda, &info, timeline);
    assert_true((result == VK_SUCCESS) == (*timeline != VK_NULL_HANDLE));
    return result;
}

static VkResult run_shared_timeline(struct fault_context* c)
{
    (void)c;
    return make_cuda_timeline(MAAR_HANDOFF_MODE_TIMELINE, &bench.timeline);
}

static VkResult run_binary_timeline(struct fault_context* c)
{
    (void)c;
    return make_cuda_timeline(MAAR_HANDOFF_MODE_BINARY, &bench.timeline);
}

static VkResult run_host_timeline(struct fault_context* c)
{
    (void)c;
    return make_cuda_timeline(MAAR_HANDOFF_MODE_HOST, &bench.timeline);
}

static void undo_cuda_timeline(struct fault_context* c)
{
    (void)c;
    maarDestroyCudaTimeline(bench.timeline);
    bench.timeline = VK_NULL_HANDLE;
}

static VkResult run_destroy_timeline(struct fault_context* c)
{
    undo_cuda_timeline(c);
    return VK_SUCCESS;
}

static VkSemaphore semaphore_of(MaarCudaTimeline timeline)
{
    MaarCudaTimelineInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    assert_int_equal(maarGetCudaTimelineInfo(timeline, &info), VK_SUCCESS);
    return info.semaphore;
}

static void enter_cuda(void)
{
    assert_int_equal(bench.driver.cuCtxPushCurrent(bench.context), MAAR_CUDA_SUCCESS);
}

static void leave_cuda(void)
{
    struct maar_cuda_context* popped = NULL;
    assert_int_equal(bench.driver.cuCtxPopCurrent(&popped), MAAR_CUDA_SUCCESS);
}

/* A timeline of such a mode, and a stream. */
static void prepare_stream(struct fault_context* c, MaarHandoffMode mode)
{
    prepare_cuda(c);
    assert_int_equal(make_cuda_timeline(mode, &bench.timeline), VK_SUCCESS);
    enter_cuda();
    assert_int_equal(bench.driver.cuStreamCreate(&bench.stream, MAAR_CUDA_STREAM_NON_BLOCKING),
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

/* Vulkan has signalled already what the host is to wait for. */
static void prepare_host_wait(struct fault_context* c)
{
    prepare_stream(c, MAAR_HANDOFF_MODE_HOST);
    rig_signal(&c->rig, semaphore_of(bench.timeline), 1);
}

/* The stream stands still, so that nothing is carried over before the step is undone. */
static void prepare_host_signal(struct fault_context* c)
{
    prepare_stream(c, MAAR_HANDOFF_MODE_HOST);
    assert_int_equal(make_cuda_timeline(MAAR_HANDOFF_MODE_TIMELINE, &bench.gate), VK_SUCCESS);
    assert_int_equal(maarCudaWait(bench.gate, 1, bench.stream), VK_SUCCESS);
}

static void synchronize_stream(void)
{
    enter_cuda();
    assert_int_equal(bench.driver.cuStreamSynchronize(bench.stream), MAAR_CUDA_SUCCESS);
    leave_cuda();
}

static void finish_stream(struct fault_context* c)
{
    if (bench.gate != VK_NULL_HANDLE) {
        rig_signal(&c->rig, semaphore_of(bench.gate), 1);
    }
    synchronize_stream();
    enter_cuda();
    assert_int_equal(bench.driver.cuStreamDestroy(bench.stream), MAAR_CUDA_SUCCESS);
    leave_cuda();
    maarDestroyCudaTimeline(bench.gate);
    undo_cuda_timeline(c);
    finish_cuda(c);
}

static VkResult run_stream_wait(struct fault_context* c)
{
    return maarCudaWait(bench.timeline, c->next_value, bench.stream);
}

static void undo_stream_wait(struct fault_context* c)
{
    rig_signal(&c->rig, semaphore_of(bench.timeline), c->next_value);
}

static VkResult run_stream_signal(struct fault_context* c)
{
    return maarCudaSignal(bench.timeline, c->next_value, bench.stream);
}

static VkResult run_timeline_info(struct fault_context* c)
{
    (void)c;
    assert_true(semaphore_of(bench.timeline) != VK_NULL_HANDLE);
    return VK_SUCCESS;
}

static VkResult run_point_to_signal(struct fault_context* c)
{
    MaarPoint point;
    return maarGetCudaTimelineSignal(bench.timeline, c->next_value, &point);
}

static VkResult run_point_to_wait(struct fault_context* c)
{
    MaarPoint point;
    return maarGetCudaTimelineWait(bench.timeline, c->next_value, &point);
}

static const struct fault_step cuda_timeline_steps[] = {
    {"maarCreateCudaTimeline", "timeline", .prepare = prepare_cuda, .run = run_shared_timeline,
     .undo = undo_cuda_timeline, .finish = finish_cuda, CUDA_STEP},
    {"maarCreateCudaTimeline", "binary", .prepare = prepare_cuda, .run = run_binary_timeline,
     .undo = undo_cuda_timeline, .finish = finish_cuda, CUDA_STEP},
    {"maarCreateCudaTimeline", "host", .prepare = prepare_cuda, .run = run_host_timeline,
     .undo = undo_cuda_timeline, .finish = finish_cuda, CUDA_STEP},
    {"maarDestroyCudaTimeline", .never = "lets go", .prepare = prepare_timeline_stream,
     .run = run_destroy_timeline, .finish = finish_stream, CUDA_STEP},
    {"maarGetCudaTimelineInfo", .never = "reads what is kept", .prepare = prepare_timeline_stream,
     .run = run_timeline_info, .finish = finish_stream, CUDA_STEP},
    {"maarGetCudaTimelineSignal", .never = "notes a value", .prepare = prepare_timeline_stream,
     .run = run_point_to_signal, .finish = finish_stream, CUDA_STEP},
    {"maarGetCudaTimelineWait", .never = "notes a value", .prepare = prepare_timeline_stream,
     .run = run_point_to_wait, .finish = finish_stream, CUDA_STEP},
    {"maarCudaWait", "timeline", .prepare = prepare_timeline_stream, .run = run_stream_wait,
     .undo = undo_stream_wait, .finish = finish_stream, CUDA_STEP},
    {"maarCudaWait", "host", .prepare = prepare_host_wait, .run = run_stream_wait,
     .finish = finish_stream, CUDA_STEP, .lost_is_done = true},
    {"maarCudaSignal", "timeline", .prepare = prepare_timeline_stream, .run = run_stream_signal,
     .finish = finish_stream, CUDA_STEP},
    {"maarCudaSignal", "binary", .prepare = prepare_binary_stream, .run = run_stream_signal,
     .finish = finish_stream, CUDA_STEP},
    {"maarCudaSignal", "host", .prepare = prepare_host_signal, .run = run_stream_signal,
     .finish = finish_stream, CUDA_STEP},
};

const struct fault_table fault_cuda_timeline_steps = {
    cuda_timeline_steps,
    sizeof cuda_timeline_steps / sizeof cuda_timeline_steps[0],
};

/* ---- handoffs ---- */

static void prepare_cuda_handoff(struct fault_context* c)
{
    prepare_timeline_stream(c);
    make_cuda_buffer(c, MAAR_DEDICATED_AUTO);
}

static void finish_cuda_handoff(struct fault_context* c)
{
    synchronize_stream();
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    finish_stream(c);
}

typedef VkResult(VKAPI_PTR* cuda_handoff_fn)(MaarCudaTimeline timeline,
                                             const MaarCudaHandoffInfo* info);

/* One half may be done when the other fails, so that each attempt has a value of its own. */
static VkResult hand_over_once(struct fault_context* c, cuda_handoff_fn hand)
{
    const MaarHandoffResource resource = {.buffer = c->buffer};
    const MaarCudaHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
        .value = c->next_value++,
        .stream = bench.stream,
        .resourceCount = 1,
        .pResources = &resource,
    };
    return hand(bench.timeline, &info);
}

static VkResult run_release_to_cuda(struct fault_context* c)
{
    return hand_over_once(c, maarReleaseToCuda);
}

static VkResult run_acquire_from_cuda(struct fault_context* c)
{
    return hand_over_once(c, maarAcquireFromCuda);
}

#define HANDOFF_STEP CUDA_STEP, .paging = true, .partial = true, .lost_is_done = true

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
