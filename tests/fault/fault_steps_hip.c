/*
 * Steps: memory and timelines in HIP, over the FAKE HIP runtime, whose calls fail as well. Ending
 * calls of HIP's (hipFree, hipDestroyExternalMemory) are left alone: when they fail nobody can do
 * anything about it.
 */
#include "core/handle.h"
#include "maar/hip.h"
#include "tests/fault/fault_peer.h"

/* What steps make of the FAKE. */
static struct {
    struct maar_hip_runtime runtime;
    struct maar_hip_stream* stream;
    MaarHip hip;
    MaarHipTimeline timeline;
    _Atomic bool open; /* the stream may go on */
} hip_bench;

/* ---- the FAKE as a peer ---- */

static const char* const hip_functions[] = {
    "hipInit",
    "hipDriverGetVersion",
    "hipRuntimeGetVersion",
    "hipGetDeviceCount",
    "hipGetDevice",
    "hipDeviceGetName",
    "hipDeviceGetPCIBusId",
    "hipDeviceGetUuid",
    "hipImportExternalMemory",
    "hipExternalMemoryGetMappedBuffer",
    "hipLaunchHostFunc",
    NULL,
};

static const int hip_codes[] = {MAAR_HIP_OUT_OF_MEMORY, MAAR_HIP_INVALID_VALUE, MAAR_HIP_UNKNOWN,
                                0};

static const struct fault_peer hip_peer = {
    .functions = hip_functions,
    .entry = "hipGetDevice",
    .codes = hip_codes,
    FAULT_FAKE_PEER,
};

/* ---- the object ---- */

static void prepare_fake_hip(struct fault_context* c)
{
    memset(&hip_bench, 0, sizeof hip_bench);
    fault_begin_fake(c, fake_load_hip(MAAR_FAKE_HIP, &hip_bench.runtime));
}

static VkResult run_hip(struct fault_context* c)
{
    const MaarHipCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_HIP,
    };
    hip_bench.hip = (MaarHip)(void*)1;
    VkResult result = maarCreateHip(c->rig.allocator, &info, &hip_bench.hip);
    assert_true((result == VK_SUCCESS) == (hip_bench.hip != VK_NULL_HANDLE));
    return result;
}

static void undo_hip(struct fault_context* c)
{
    (void)c;
    maarDestroyHip(hip_bench.hip);
    hip_bench.hip = VK_NULL_HANDLE;
}

static void prepare_hip(struct fault_context* c)
{
    prepare_fake_hip(c);
    assert_int_equal(run_hip(c), VK_SUCCESS);
}

static void finish_hip(struct fault_context* c)
{
    undo_hip(c);
    fault_finish_fake(c);
}

static VkResult run_destroy_hip(struct fault_context* c)
{
    undo_hip(c);
    return VK_SUCCESS;
}

static VkResult run_hip_info(struct fault_context* c)
{
    (void)c;
    MaarHipInfo info = {.sType = MAAR_STRUCTURE_TYPE_HIP_INFO};
    return maarGetHipInfo(hip_bench.hip, &info);
}

/* ---- memory ---- */

static void prepare_hip_buffer(struct fault_context* c)
{
    prepare_hip(c);
    fault_make_exported_buffer(c, MAAR_DEDICATED_AUTO);
}

static VkResult run_hip_memory(struct fault_context* c)
{
    MaarHipMemory memory = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY, .pDevice = c};
    VkResult result = maarGetHipMemory(hip_bench.hip, c->memory, &memory);
    assert_true((result == VK_SUCCESS) == (memory.pDevice != NULL));
    return result;
}

static void finish_hip_buffer(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    finish_hip(c);
}

/* ---- timelines ---- */

static VkResult run_hip_timeline(struct fault_context* c)
{
    (void)c;
    hip_bench.timeline = MAAR_FROM_BITS(MaarHipTimeline, 1);
    VkResult result = maarCreateHipTimeline(hip_bench.hip, 0, &hip_bench.timeline);
    assert_true((result == VK_SUCCESS) == (hip_bench.timeline != VK_NULL_HANDLE));
    return result;
}

static void undo_hip_timeline(struct fault_context* c)
{
    (void)c;
    maarDestroyHipTimeline(hip_bench.hip, hip_bench.timeline);
    hip_bench.timeline = VK_NULL_HANDLE;
}

static VkResult run_destroy_hip_timeline(struct fault_context* c)
{
    undo_hip_timeline(c);
    return VK_SUCCESS;
}

static VkSemaphore hip_semaphore(void)
{
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(maarGetHipTimelineSemaphore(hip_bench.hip, hip_bench.timeline, &semaphore),
                     VK_SUCCESS);
    return semaphore;
}

static VkResult run_hip_semaphore(struct fault_context* c)
{
    (void)c;
    assert_true(hip_semaphore() != VK_NULL_HANDLE);
    return VK_SUCCESS;
}

static void stand_still(void* data)
{
    (void)data;
    while (!atomic_load(&hip_bench.open)) {
        (void)usleep(100);
    }
}

/* The stream stands still, so that nothing is carried over before the step ends. */
static void prepare_hip_stream(struct fault_context* c)
{
    prepare_hip(c);
    assert_int_equal(run_hip_timeline(c), VK_SUCCESS);
    assert_int_equal(
        hip_bench.runtime.hipStreamCreateWithFlags(&hip_bench.stream, MAAR_HIP_STREAM_NON_BLOCKING),
        MAAR_HIP_SUCCESS);
    assert_int_equal(hip_bench.runtime.hipLaunchHostFunc(hip_bench.stream, stand_still, NULL),
                     MAAR_HIP_SUCCESS);
    c->next_value = 1;
}

static void prepare_hip_wait(struct fault_context* c)
{
    prepare_hip_stream(c);
    rig_signal(&c->rig, hip_semaphore(), 1);
}

static void finish_hip_stream(struct fault_context* c)
{
    atomic_store(&hip_bench.open, true);
    assert_int_equal(hip_bench.runtime.hipStreamSynchronize(hip_bench.stream), MAAR_HIP_SUCCESS);
    assert_int_equal(hip_bench.runtime.hipStreamDestroy(hip_bench.stream), MAAR_HIP_SUCCESS);
    undo_hip_timeline(c);
    finish_hip(c);
}

static VkResult run_hip_wait(struct fault_context* c)
{
    return maarHipWait(hip_bench.hip, hip_bench.timeline, c->next_value, hip_bench.stream);
}

static VkResult run_hip_signal(struct fault_context* c)
{
    return maarHipSignal(hip_bench.hip, hip_bench.timeline, c->next_value, hip_bench.stream);
}

/* ---- handoffs ---- */

static void prepare_hip_handoff(struct fault_context* c)
{
    prepare_hip_stream(c);
    fault_make_exported_buffer(c, MAAR_DEDICATED_AUTO);
}

static void finish_hip_handoff(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    c->buffer = VK_NULL_HANDLE;
    finish_hip_stream(c);
}

typedef VkResult(VKAPI_PTR* hip_handoff_fn)(MaarHip, MaarHipTimeline timeline,
                                            const MaarHipHandoffInfo* info);

/* One half may be done when the other fails, so that each attempt has a value of its own. */
static VkResult hand_over_to_hip(struct fault_context* c, hip_handoff_fn hand)
{
    const MaarHandoffResource resource = {.buffer = c->buffer};
    const MaarHipHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HIP_HANDOFF_INFO,
        .value = c->next_value++,
        .stream = hip_bench.stream,
        .resourceCount = 1,
        .pResources = &resource,
    };
    return hand(hip_bench.hip, hip_bench.timeline, &info);
}

static VkResult run_release_to_hip(struct fault_context* c)
{
    return hand_over_to_hip(c, maarReleaseToHip);
}

static VkResult run_acquire_from_hip(struct fault_context* c)
{
    return hand_over_to_hip(c, maarAcquireFromHip);
}

#define HIP_STEP .shares = true, .peer = &hip_peer
#define HIP_HANDOFF HIP_STEP, .paging = true, .partial = true, .lost_is_done = true

static const struct fault_step hip_steps[] = {
    {"maarCreateHip", .prepare = prepare_fake_hip, .run = run_hip, .undo = undo_hip,
     .finish = fault_finish_fake, HIP_STEP},
    {"maarDestroyHip", .never = "lets go", .prepare = prepare_hip, .run = run_destroy_hip,
     .finish = fault_finish_fake, HIP_STEP},
    {"maarGetHipInfo", .never = "reads what is kept", .prepare = prepare_hip, .run = run_hip_info,
     .finish = finish_hip, HIP_STEP},
    {"maarGetHipMemory", .prepare = prepare_hip_buffer, .run = run_hip_memory,
     .finish = finish_hip_buffer, HIP_STEP, .keeps_fds = true},
    {"maarCreateHipTimeline", .prepare = prepare_hip, .run = run_hip_timeline,
     .undo = undo_hip_timeline, .finish = finish_hip, HIP_STEP},
    {"maarDestroyHipTimeline", .never = "lets go", .prepare = prepare_hip_stream,
     .run = run_destroy_hip_timeline, .finish = finish_hip_stream, HIP_STEP},
    {"maarGetHipTimelineSemaphore", .never = "reads what is kept", .prepare = prepare_hip_stream,
     .run = run_hip_semaphore, .finish = finish_hip_stream, HIP_STEP},
    {"maarHipWait", .prepare = prepare_hip_wait, .run = run_hip_wait, .finish = finish_hip_stream,
     HIP_STEP, .lost_is_done = true},
    {"maarHipSignal", .prepare = prepare_hip_stream, .run = run_hip_signal,
     .finish = finish_hip_stream, HIP_STEP},
    {"maarReleaseToHip", .prepare = prepare_hip_handoff, .run = run_release_to_hip,
     .finish = finish_hip_handoff, HIP_HANDOFF},
    {"maarAcquireFromHip", .prepare = prepare_hip_handoff, .run = run_acquire_from_hip,
     .finish = finish_hip_handoff, HIP_HANDOFF},
};

const struct fault_table fault_hip_steps = {
    hip_steps,
    sizeof hip_steps / sizeof hip_steps[0],
};
