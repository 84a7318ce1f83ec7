/*
 * Running sums of histories: captures are written by the writer of the library, and the sums are
 * compared after each event with what was written. Traces are made of broken captures too.
 */
#include "support/heap_sums.h"
#include "support/perfetto_file.h"
#include "tests/rig/capture_bench.h"

#include <stdlib.h>

enum { FIRST_MEMORY = 0x10, SECOND_MEMORY = 0x11, FIRST_BUFFER = 0x20, SECOND_BUFFER = 0x21 };
enum { HEAP_DEVICE = 0, HEAP_HOST = 1, TYPE_HOST = 0, TYPE_DEVICE = 1 };

/* A history and the sums of its events so far. */
struct sums_case {
    struct support_history history;
    struct support_sums sums;
    size_t next;
};

static void load(struct capture_bench* bench, struct sums_case* own)
{
    struct support_error error = {.text = ""};
    capture_bench_close(bench);
    *own = (struct sums_case){.next = 0};
    if (!support_history_load(bench->path, &own->history, &error)) {
        fail_msg("%s", error.text);
    }
}

static void release(struct sums_case* own)
{
    assert_int_equal(own->next, own->history.events.count);
    support_sums_release(&own->sums);
    support_history_release(&own->history);
}

/* Applies the next event, which must be of a kind, and returns the heaps that it changed. */
static uint32_t step(struct sums_case* own, MaarCaptureKind kind)
{
    uint32_t device = 0;
    uint32_t heaps = 0;
    assert_true(own->next < own->history.events.count);
    const struct support_history_event* event = &own->history.events.items[own->next++];
    assert_int_equal(event->kind, kind);
    assert_true(support_sums_apply(&own->sums, &own->history, event, &device, &heaps));
    assert_true(heaps == 0 || device == 0);
    return heaps;
}

static const struct support_heap_sum* heap_of(const struct sums_case* own, uint32_t heap)
{
    return &own->sums.devices.items[0].heaps[heap];
}

static void expect(const struct sums_case* own, uint32_t heap, uint64_t held, uint64_t bound)
{
    assert_int_equal(heap_of(own, heap)->held, held);
    assert_int_equal(support_sums_bound(heap_of(own, heap)), bound);
}

static void sums_follow_memory_and_binds_by_heap(void** state)
{
    struct sums_case own;
    struct capture_bench* bench = *state;
    capture_put_device(bench);
    capture_put_memory(bench, FIRST_MEMORY, MIB, TYPE_DEVICE);
    capture_put_memory(bench, SECOND_MEMORY, 2 * MIB, TYPE_HOST);
    capture_put_buffer(bench, FIRST_BUFFER, 4096);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, FIRST_BUFFER, SECOND_MEMORY, 0);
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, FIRST_BUFFER);
    capture_put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, SECOND_MEMORY);
    load(bench, &own);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_DEVICE), 0);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_MEMORY), 1u << HEAP_DEVICE);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_MEMORY), 1u << HEAP_HOST);
    expect(&own, HEAP_DEVICE, MIB, 0);
    expect(&own, HEAP_HOST, 2 * MIB, 0);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_BUFFER), 0);
    assert_int_equal(own.sums.devices.items[0].resource_count[SUPPORT_HISTORY_BUFFER], 1);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_BIND), 1u << HEAP_HOST);
    expect(&own, HEAP_HOST, 2 * MIB, 4096);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_BUFFER_END), 1u << HEAP_HOST);
    expect(&own, HEAP_HOST, 2 * MIB, 0);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_MEMORY_END), 1u << HEAP_HOST);
    expect(&own, HEAP_HOST, 0, 0);
    expect(&own, HEAP_DEVICE, MIB, 0);
    assert_int_equal(heap_of(&own, HEAP_HOST)->held_peak, 2 * MIB);
    assert_int_equal(heap_of(&own, HEAP_HOST)->memory_count, 0);
    assert_int_equal(heap_of(&own, HEAP_HOST)->allocation_count, 1);
    release(&own);
}

/* Vulkan allows to free memory before what is bound there. */
static void memory_that_is_freed_first_ends_its_binds_once(void** state)
{
    struct sums_case own;
    struct capture_bench* bench = *state;
    capture_put_device(bench);
    capture_put_memory(bench, FIRST_MEMORY, MIB, TYPE_DEVICE);
    capture_put_buffer(bench, FIRST_BUFFER, 4096);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, FIRST_BUFFER, FIRST_MEMORY, 0);
    capture_put_buffer(bench, SECOND_BUFFER, 8192);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, SECOND_BUFFER, FIRST_MEMORY, 0);
    capture_put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, FIRST_MEMORY);
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, FIRST_BUFFER);
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, SECOND_BUFFER);
    load(bench, &own);
    (void)step(&own, MAAR_CAPTURE_KIND_DEVICE);
    (void)step(&own, MAAR_CAPTURE_KIND_MEMORY);
    (void)step(&own, MAAR_CAPTURE_KIND_BUFFER);
    (void)step(&own, MAAR_CAPTURE_KIND_BIND);
    (void)step(&own, MAAR_CAPTURE_KIND_BUFFER);
    (void)step(&own, MAAR_CAPTURE_KIND_BIND);
    /* They share bytes, and count each. */
    expect(&own, HEAP_DEVICE, MIB, 4096 + 8192);
    (void)step(&own, MAAR_CAPTURE_KIND_MEMORY_END);
    expect(&own, HEAP_DEVICE, 0, 0);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_BUFFER_END), 0);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_BUFFER_END), 0);
    expect(&own, HEAP_DEVICE, 0, 0);
    assert_int_equal(own.sums.devices.items[0].resource_count[SUPPORT_HISTORY_BUFFER], 0);
    assert_int_equal(own.sums.devices.items[0].resource_total, 2);
    release(&own);
}

static void imported_memory_is_counted_apart(void** state)
{
    struct sums_case own;
    struct capture_bench* bench = *state;
    const MaarCaptureMemory memory = {.device = 1,
                                      .type = TYPE_DEVICE,
                                      .memory = FIRST_MEMORY,
                                      .size = MIB,
                                      .flags = MAAR_CAPTURE_MEMORY_IMPORT_BIT};
    capture_put_device(bench);
    capture_put(bench, MAAR_CAPTURE_KIND_MEMORY, &memory, sizeof memory);
    capture_put_buffer(bench, FIRST_BUFFER, 4096);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, FIRST_BUFFER, FIRST_MEMORY, 0);
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, FIRST_BUFFER);
    capture_put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, FIRST_MEMORY);
    load(bench, &own);
    (void)step(&own, MAAR_CAPTURE_KIND_DEVICE);
    (void)step(&own, MAAR_CAPTURE_KIND_MEMORY);
    (void)step(&own, MAAR_CAPTURE_KIND_BUFFER);
    (void)step(&own, MAAR_CAPTURE_KIND_BIND);
    expect(&own, HEAP_DEVICE, 0, 0);
    assert_int_equal(heap_of(&own, HEAP_DEVICE)->imported, MIB);
    assert_int_equal(heap_of(&own, HEAP_DEVICE)->allocation_count, 0);
    (void)step(&own, MAAR_CAPTURE_KIND_BUFFER_END);
    (void)step(&own, MAAR_CAPTURE_KIND_MEMORY_END);
    expect(&own, HEAP_DEVICE, 0, 0);
    assert_int_equal(heap_of(&own, HEAP_DEVICE)->imported, 0);
    release(&own);
}

static void put_pages(struct capture_bench* bench, uint64_t memory, uint64_t size)
{
    const MaarCaptureSparseBind bind = {.device = 1,
                                        .objectKind = MAAR_CAPTURE_OBJECT_BUFFER,
                                        .object = FIRST_BUFFER,
                                        .memory = memory,
                                        .size = size};
    capture_put(bench, MAAR_CAPTURE_KIND_SPARSE_BIND, &bind, sizeof bind);
}

static void pages_come_move_to_another_heap_and_go(void** state)
{
    struct sums_case own;
    struct capture_bench* bench = *state;
    capture_put_device(bench);
    capture_put_memory(bench, FIRST_MEMORY, MIB, TYPE_DEVICE);
    capture_put_memory(bench, SECOND_MEMORY, MIB, TYPE_HOST);
    capture_put_buffer(bench, FIRST_BUFFER, 65536 * 4);
    put_pages(bench, FIRST_MEMORY, 65536 * 3);
    put_pages(bench, 0, 65536);
    put_pages(bench, SECOND_MEMORY, 65536);
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, FIRST_BUFFER);
    load(bench, &own);
    (void)step(&own, MAAR_CAPTURE_KIND_DEVICE);
    (void)step(&own, MAAR_CAPTURE_KIND_MEMORY);
    (void)step(&own, MAAR_CAPTURE_KIND_MEMORY);
    (void)step(&own, MAAR_CAPTURE_KIND_BUFFER);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_SPARSE_BIND), 1u << HEAP_DEVICE);
    expect(&own, HEAP_DEVICE, MIB, 65536 * 3);
    (void)step(&own, MAAR_CAPTURE_KIND_SPARSE_BIND);
    expect(&own, HEAP_DEVICE, MIB, 65536 * 2);
    /* All of a resource's pages are said to lie in the heap of the last bind. */
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_SPARSE_BIND),
                     1u << HEAP_DEVICE | 1u << HEAP_HOST);
    expect(&own, HEAP_DEVICE, MIB, 0);
    expect(&own, HEAP_HOST, MIB, 65536 * 3);
    (void)step(&own, MAAR_CAPTURE_KIND_BUFFER_END);
    expect(&own, HEAP_HOST, MIB, 0);
    release(&own);
}

static void budgets_failures_and_frames_are_counted(void** state)
{
    struct sums_case own;
    struct capture_bench* bench = *state;
    const MaarCaptureBudget budget = {
        .device = 1, .heapCount = 2, .budget = {5, 6}, .usage = {7, 8}};
    const MaarCaptureMemory failed = {.device = 1, .type = 0, .size = MIB, .result = -2};
    const MaarCaptureFrame frame = {.device = 1};
    const MaarCaptureSwapchain swapchain = {
        .device = 1, .swapchain = 0x40, .imageCount = 3, .estimatedSize = 3 * MIB};
    capture_put_device(bench);
    capture_put(bench, MAAR_CAPTURE_KIND_BUDGET, &budget, sizeof budget);
    capture_put(bench, MAAR_CAPTURE_KIND_MEMORY_FAILED, &failed, sizeof failed);
    capture_put(bench, MAAR_CAPTURE_KIND_SWAPCHAIN, &swapchain, sizeof swapchain);
    capture_put(bench, MAAR_CAPTURE_KIND_FRAME, &frame, sizeof frame);
    capture_put_end(bench, MAAR_CAPTURE_KIND_SWAPCHAIN_END, 0x40);
    load(bench, &own);
    (void)step(&own, MAAR_CAPTURE_KIND_DEVICE);
    assert_int_equal(step(&own, MAAR_CAPTURE_KIND_BUDGET), 3);
    (void)step(&own, MAAR_CAPTURE_KIND_MEMORY_FAILED);
    (void)step(&own, MAAR_CAPTURE_KIND_SWAPCHAIN);
    (void)step(&own, MAAR_CAPTURE_KIND_FRAME);
    const struct support_device_sums* device = &own.sums.devices.items[0];
    assert_int_equal(device->budget_heap_count, 2);
    assert_int_equal(device->budget[1], 6);
    assert_int_equal(device->usage[0], 7);
    assert_int_equal(device->failure_count, 1);
    assert_int_equal(device->frame_count, 1);
    assert_int_equal(device->swapchain_bytes, 3 * MIB);
    (void)step(&own, MAAR_CAPTURE_KIND_SWAPCHAIN_END);
    assert_int_equal(device->swapchain_bytes, 0);
    expect(&own, HEAP_DEVICE, 0, 0);
    release(&own);
}

/* Whether the bytes make a history; a trace of it is made then. */
static bool export_bytes(const char* data, size_t size, size_t* packets)
{
    struct support_error error = {.text = ""};
    struct support_history history = {.name = ""};
    struct support_perfetto perfetto = {.sequence = 0};
    struct support_capture_reader* reader =
        support_capture_open_memory("memory", data, size, &error);
    const bool good = reader != NULL && support_history_begin(&history, "memory", &error) &&
                      support_history_add(&history, reader, &error);
    if (good) {
        assert_true(support_perfetto_add(&perfetto, &history, &error));
        *packets = (size_t)perfetto.packet_count;
        assert_true(perfetto.packet_count >= 2);
    }
    support_perfetto_release(&perfetto);
    support_capture_close(reader);
    support_history_release(&history);
    return good;
}

/* Every byte of the records broken in turn: under the sanitizers, a trace or an error. */
static void broken_captures_make_traces_or_errors(void** state)
{
    struct capture_bench* bench = *state;
    const MaarCaptureBudget budget = {.device = 1, .heapCount = 2, .budget = {5, 6}};
    const MaarCaptureFrame frame = {.device = 1};
    char* data = NULL;
    size_t size = 0;
    size_t packets = 0;
    size_t traces = 0;
    capture_put_device(bench);
    capture_put_memory(bench, FIRST_MEMORY, MIB, TYPE_DEVICE);
    capture_put_memory(bench, SECOND_MEMORY, MIB, TYPE_HOST);
    capture_put_buffer(bench, FIRST_BUFFER, 65536 * 4);
    put_pages(bench, FIRST_MEMORY, 65536);
    put_pages(bench, SECOND_MEMORY, 65536);
    capture_put_buffer(bench, SECOND_BUFFER, 4096);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, SECOND_BUFFER, FIRST_MEMORY, 0);
    capture_put(bench, MAAR_CAPTURE_KIND_BUDGET, &budget, sizeof budget);
    capture_put(bench, MAAR_CAPTURE_KIND_FRAME, &frame, sizeof frame);
    capture_put(bench, MAAR_CAPTURE_KIND_FRAME, &frame, sizeof frame);
    capture_put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, FIRST_MEMORY);
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, SECOND_BUFFER);
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, FIRST_BUFFER);
    capture_bench_close(bench);
    assert_true(support_read_file(bench->path, 0, &data, &size, NULL));
    assert_true(export_bytes(data, size, &packets));
    assert_true(packets > 20);
    for (size_t i = MAAR_CAPTURE_HEADER_SIZE; i < size; ++i) {
        for (uint32_t change = 1; change < 256; change = change * 4 + 3) {
            data[i] = (char)(data[i] ^ (char)change);
            traces += export_bytes(data, size, &packets) ? 1 : 0;
            data[i] = (char)(data[i] ^ (char)change);
        }
    }
    assert_true(traces > 1000);
    free(data);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, capture_bench_begin, capture_bench_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(sums_follow_memory_and_binds_by_heap),
        CASE(memory_that_is_freed_first_ends_its_binds_once),
        CASE(imported_memory_is_counted_apart),
        CASE(pages_come_move_to_another_heap_and_go),
        CASE(budgets_failures_and_frames_are_counted),
        CASE(broken_captures_make_traces_or_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
