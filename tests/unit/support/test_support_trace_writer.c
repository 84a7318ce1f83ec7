/*
 * Captures as traces: a capture is written by the writer of the library, converted, and read again.
 */
#include "core/capture/capture_writer.h"
#include "support/trace_writer.h"
#include "tests/rig/rig.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    MEMORY = 0x10,
    BUFFER = 0x20,
    IMAGE = 0x30,
    SPARSE = 0x40,
    UNBOUND = 0x50,
    CHAIN = 0x60,
    CHAIN_IMAGE = 0x61,
    QUEUE = 0x70,
    TIMELINE = 0x80,
    FENCE = 0x90,
    COPIES = 40,
};

struct writer_bench {
    char path[64];
    struct maar_capture_writer* writer;
};

static int begin_capture(void** state)
{
    struct writer_bench* bench = calloc(1, sizeof *bench);
    char reason[MAAR_FILE_REASON_SIZE] = "";
    assert_non_null(bench);
    (void)snprintf(bench->path, sizeof bench->path, "/tmp/maar-convert-%d-%p", (int)getpid(),
                   (void*)bench);
    bench->writer = calloc(1, sizeof *bench->writer);
    const struct maar_capture_opening opening = {
        .path = bench->path, .origin = MAAR_CAPTURE_ORIGIN_LAYER, .program = "a program"};
    assert_true(maar_capture_open(bench->writer, &opening, reason));
    *state = bench;
    return 0;
}

static int end_capture(void** state)
{
    struct writer_bench* bench = *state;
    (void)unlink(bench->path);
    free(bench);
    return 0;
}

#define PUT(bench, kind, ...) maar_capture_write((bench)->writer, kind, __VA_ARGS__)

static void put_end(struct writer_bench* bench, MaarCaptureKind kind, uint64_t handle)
{
    const MaarCaptureEnd end = {.device = 1, .handle = handle};
    PUT(bench, kind, &end, sizeof end);
}

static void put_device(struct writer_bench* bench)
{
    const char* const names[] = {"A card, 8 GiB", "A driver", ""};
    const MaarCaptureDevice device = {.device = 1,
                                      .deviceType = 2,
                                      .vendorID = 0x10DE,
                                      .heapCount = 2,
                                      .typeCount = 2,
                                      .bufferImageGranularity = 1024,
                                      .maxMemoryAllocationCount = 4096,
                                      .nonCoherentAtomSize = 64};
    maar_capture_write_texts(bench->writer, MAAR_CAPTURE_KIND_DEVICE, &device, sizeof device, names,
                             3);
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarCaptureHeap heap = {.device = 1, .heap = i, .size = (i + 1) * 1024 * MIB};
        const MaarCaptureType type = {.device = 1, .type = i, .heap = 1 - i, .flags = 1u << i};
        PUT(bench, MAAR_CAPTURE_KIND_HEAP, &heap, sizeof heap);
        PUT(bench, MAAR_CAPTURE_KIND_TYPE, &type, sizeof type);
    }
    const MaarCaptureQueue queue = {.device = 1, .family = 1, .flags = 7, .queue = QUEUE};
    PUT(bench, MAAR_CAPTURE_KIND_QUEUE, &queue, sizeof queue);
}

static void put_memory(struct writer_bench* bench, uint64_t handle)
{
    const MaarCaptureMemory memory = {
        .device = 1, .type = 1, .memory = handle, .size = 64 * MIB, .duration_ns = 7};
    PUT(bench, MAAR_CAPTURE_KIND_MEMORY, &memory, sizeof memory);
}

static void put_buffer(struct writer_bench* bench, uint64_t handle, uint64_t size, uint32_t flags)
{
    const MaarCaptureBuffer buffer = {.device = 1,
                                      .createFlags = flags,
                                      .buffer = handle,
                                      .size = size - 1,
                                      .usage = 0x1000000020,
                                      .needsSize = size,
                                      .needsAlignment = 256,
                                      .typeBits = 3,
                                      .needsFlags = MAAR_CAPTURE_NEEDS_KNOWN_BIT};
    PUT(bench, MAAR_CAPTURE_KIND_BUFFER, &buffer, sizeof buffer);
}

static void put_image(struct writer_bench* bench)
{
    const MaarCaptureImage image = {
        .device = 1,
        .createFlags = 0x10,
        .image = IMAGE,
        .format = 37,
        .usage = 6,
        .width = 64,
        .height = 64,
        .depth = 1,
        .mipLevels = 7,
        .samples = 1,
        .arrayLayers = 6,
        .imageType = 1,
        .needsSize = 131072,
        .needsAlignment = 65536,
        .typeBits = 1,
        .needsFlags = MAAR_CAPTURE_NEEDS_KNOWN_BIT | MAAR_CAPTURE_NEEDS_PREFERS_DEDICATED_BIT,
    };
    PUT(bench, MAAR_CAPTURE_KIND_IMAGE, &image, sizeof image);
}

static void put_bind(struct writer_bench* bench, uint32_t kind, uint64_t object, uint64_t memory,
                     uint64_t offset)
{
    const MaarCaptureBind bind = {
        .device = 1, .objectKind = kind, .object = object, .memory = memory, .offset = offset};
    PUT(bench, MAAR_CAPTURE_KIND_BIND, &bind, sizeof bind);
}

static void put_name(struct writer_bench* bench, uint32_t kind, uint64_t object, const char* name)
{
    const MaarCaptureName facts = {.device = 1, .objectKind = kind, .object = object};
    maar_capture_write_texts(bench->writer, MAAR_CAPTURE_KIND_NAME, &facts, sizeof facts, &name, 1);
}

static void put_submission(struct writer_bench* bench)
{
    const MaarCaptureSemaphore semaphore = {
        .device = 1, .isTimeline = 1, .semaphore = TIMELINE, .value = 3};
    const MaarCaptureSubmit submit = {.device = 1,
                                      .submission = 1,
                                      .queue = QUEUE,
                                      .fence = FENCE,
                                      .commandBufferCount = 2,
                                      .waitCount = 1,
                                      .signalCount = 1};
    MaarCapturePoint point = {.device = 1, .submission = 1, .semaphore = TIMELINE, .value = 3};
    const MaarCaptureUse use = {.device = 1,
                                .objectKind = MAAR_CAPTURE_OBJECT_BUFFER,
                                .object = BUFFER,
                                .submission = 1,
                                .flags = 3};
    const MaarCaptureReached reached = {
        .device = 1, .objectKind = MAAR_CAPTURE_OBJECT_FENCE, .object = FENCE, .duration_ns = 99};
    PUT(bench, MAAR_CAPTURE_KIND_SEMAPHORE, &semaphore, sizeof semaphore);
    PUT(bench, MAAR_CAPTURE_KIND_SUBMIT, &submit, sizeof submit);
    PUT(bench, MAAR_CAPTURE_KIND_SUBMIT_WAIT, &point, sizeof point);
    point.value = 4;
    PUT(bench, MAAR_CAPTURE_KIND_SUBMIT_SIGNAL, &point, sizeof point);
    PUT(bench, MAAR_CAPTURE_KIND_USE, &use, sizeof use);
    PUT(bench, MAAR_CAPTURE_KIND_REACHED, &reached, sizeof reached);
}

static void put_pages(struct writer_bench* bench, uint64_t memory)
{
    const MaarCaptureSparseBind pages = {.device = 1,
                                         .objectKind = MAAR_CAPTURE_OBJECT_BUFFER,
                                         .object = SPARSE,
                                         .memory = memory,
                                         .memoryOffset = 65536,
                                         .offset = 131072,
                                         .size = 65536,
                                         .submission = 1};
    PUT(bench, MAAR_CAPTURE_KIND_SPARSE_BIND, &pages, sizeof pages);
}

static void put_swapchain(struct writer_bench* bench)
{
    const MaarCaptureSwapchain chain = {
        .device = 1, .swapchain = CHAIN, .imageCount = 3, .estimatedSize = 3 * MIB};
    const MaarCaptureSwapchainImage image = {.device = 1, .swapchain = CHAIN, .image = CHAIN_IMAGE};
    PUT(bench, MAAR_CAPTURE_KIND_SWAPCHAIN, &chain, sizeof chain);
    PUT(bench, MAAR_CAPTURE_KIND_SWAPCHAIN_IMAGE, &image, sizeof image);
}

/* Everything that a program does, once, and buffers that come and go. */
static void put_program(struct writer_bench* bench)
{
    const MaarCaptureBudget budget = {
        .device = 1, .heapCount = 2, .budget = {100, 200}, .usage = {10, 20}};
    const MaarCaptureFrame frame = {.device = 1};
    const MaarCaptureUses uses = {.device = 1, .flags = MAAR_CAPTURE_USES_WITHOUT_ADDRESSES_BIT};
    put_device(bench);
    PUT(bench, MAAR_CAPTURE_KIND_USES, &uses, sizeof uses);
    put_memory(bench, MEMORY);
    put_buffer(bench, BUFFER, 4096, 0);
    put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER, MEMORY, 512);
    put_name(bench, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER, "100 %, \"new\"\nline \xC3\xA9");
    put_buffer(bench, UNBOUND, 4096, 0);
    put_buffer(bench, SPARSE, MIB, 1);
    put_image(bench);
    put_bind(bench, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE, MEMORY, 65536);
    put_swapchain(bench);
    put_submission(bench);
    put_pages(bench, MEMORY);
    put_pages(bench, 0);
    PUT(bench, MAAR_CAPTURE_KIND_BUDGET, &budget, sizeof budget);
    PUT(bench, MAAR_CAPTURE_KIND_FRAME, &frame, sizeof frame);
    for (uint64_t i = 0; i < COPIES; ++i) {
        put_buffer(bench, 0x1000, 256 * (i + 1), 0);
        put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, 0x1000, MEMORY, MIB);
        put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, 0x1000);
    }
    put_end(bench, MAAR_CAPTURE_KIND_IMAGE_END, IMAGE);
    put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, SPARSE);
    put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, MEMORY);
    put_end(bench, MAAR_CAPTURE_KIND_DEVICE_END, 1);
    maar_capture_close(bench->writer);
    free(bench->writer);
}

static void load(struct writer_bench* bench, struct support_history* history,
                 struct support_trace* trace)
{
    struct support_error error = {.text = ""};
    if (!support_history_load(bench->path, history, &error) ||
        !support_trace_convert(history, trace, &error)) {
        fail_msg("%s", error.text);
    }
}

/* Each bound resource has a row with the size, the place and the life of the history's. */
static void lives_sizes_and_binds_are_the_same(void** state)
{
    struct writer_bench* bench = *state;
    struct support_history history;
    struct support_trace trace;
    put_program(bench);
    load(bench, &history, &trace);
    assert_int_equal(trace.resource_count, COPIES + 2);
    assert_int_equal(trace.memory_count, history.memories.count);
    for (size_t i = 0; i < trace.resource_count; ++i) {
        const struct support_trace_resource* row = &trace.resources[i];
        const struct support_history_resource* was = &history.resources.items[row->id];
        assert_int_equal(row->size, was->size);
        assert_int_equal(row->alignment, was->alignment);
        assert_int_equal(row->type_bits, was->type_bits);
        assert_int_equal(row->offset, was->offset);
        assert_int_equal(row->memory, was->memory);
        assert_int_equal(row->alloc_time_ns, was->bind_ns);
        assert_int_equal(row->free_time_ns, was->end_ns);
        assert_int_equal(row->usage + ((uint64_t)row->usage_above << 32), was->usage);
        assert_string_equal(support_trace_text(&trace, row->name),
                            support_history_text(&history, was->name));
    }
    assert_int_equal(trace.resources[0].asked, 4095);
    assert_int_equal(trace.memories[0].size, 64 * MIB);
    assert_int_equal(trace.frame_count, 1);
    assert_int_equal(trace.budget_count, 2);
    support_trace_release(&trace);
    support_history_release(&history);
}

static void images_keep_what_they_were_created_with(void** state)
{
    struct writer_bench* bench = *state;
    struct support_history history;
    struct support_trace trace;
    put_program(bench);
    load(bench, &history, &trace);
    const struct support_trace_resource* const cube = &trace.resources[1];
    assert_int_equal(cube->create_flags, 0x10);
    assert_int_equal(cube->needs, 3);
    assert_int_equal(trace.images[cube->image].layers, 6);
    assert_int_equal(trace.images[cube->image].mips, 7);
    assert_int_equal(trace.images[cube->image].dimensions, 2);
    support_trace_release(&trace);
    support_history_release(&history);
}

static void sparse_and_swapchain_are_reserved(void** state)
{
    struct writer_bench* bench = *state;
    struct support_history history;
    struct support_trace trace;
    put_program(bench);
    load(bench, &history, &trace);
    assert_int_equal(trace.reserved_count, 2);
    assert_int_equal(trace.reserved[0].size, MIB);
    assert_int_equal(trace.reserved[1].kind, SUPPORT_TRACE_SWAPCHAIN);
    assert_int_equal(trace.bind_count, 2);
    assert_int_equal(trace.binds[0].memory, 0);
    assert_int_equal(trace.binds[0].offset, 131072);
    assert_int_equal(trace.binds[0].submit, 0);
    assert_int_equal(trace.binds[1].memory, SUPPORT_TRACE_NONE);
    support_trace_release(&trace);
    support_history_release(&history);
}

static void submissions_keep_their_points(void** state)
{
    struct writer_bench* bench = *state;
    struct support_history history;
    struct support_trace trace;
    put_program(bench);
    load(bench, &history, &trace);
    assert_int_equal(trace.submit_count, 1);
    assert_int_equal(trace.submits[0].queue, 0);
    assert_int_equal(trace.submits[0].fence, 0);
    assert_int_equal(trace.submits[0].buffers, 2);
    const struct support_trace_point* const signal = &trace.points[trace.submits[0].last_point];
    assert_true(signal->is_signal && signal->value == 4 && signal->semaphore == 0);
    assert_true(trace.semaphores[0].is_timeline && trace.semaphores[0].value == 3);
    assert_int_equal(trace.use_count, 1);
    assert_int_equal(trace.resources[trace.uses[0].resource].size, 4096);
    assert_int_equal(trace.uses[0].flags, 3);
    assert_true(trace.devices[0].has_uses);
    assert_int_equal(trace.devices[0].uses_flags, MAAR_CAPTURE_USES_WITHOUT_ADDRESSES_BIT);
    assert_int_equal(trace.reached[0].kind, SUPPORT_TRACE_WAITED_FENCE);
    assert_int_equal(trace.reached[0].object, 0);
    assert_int_equal(trace.reached[0].waited_ns, 99);
    support_trace_release(&trace);
    support_history_release(&history);
}

/* The card of the capture, of its trace, and of the simulated device. */
static void card_of_a_capture_can_be_simulated(void** state)
{
    struct writer_bench* bench = *state;
    struct support_history history;
    struct support_trace trace;
    struct support_card card;
    MaarSimulatedProfile* profile = calloc(1, sizeof *profile);
    put_program(bench);
    load(bench, &history, &trace);
    support_history_card(&history, 0, &card);
    assert_memory_equal(&card, &trace.devices[0].card, sizeof card);
    assert_int_equal(support_trace_main_device(&trace), 0);
    const char* const name = support_trace_text(&trace, trace.devices[0].name);
    assert_string_equal(name, "A card, 8 GiB");
    assert_true(support_card_profile(&card, name, profile));
    assert_int_equal(profile->heaps[1].size, 2048 * MIB);
    assert_int_equal(profile->types[0].heap, 1);
    assert_int_equal(profile->limits.bufferImageGranularity, 1024);
    card.heaps[1].size = 0;
    assert_false(support_card_profile(&card, name, profile));
    free(profile);
    support_trace_release(&trace);
    support_history_release(&history);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_capture, end_capture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lives_sizes_and_binds_are_the_same), CASE(images_keep_what_they_were_created_with),
        CASE(sparse_and_swapchain_are_reserved),  CASE(submissions_keep_their_points),
        CASE(card_of_a_capture_can_be_simulated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
