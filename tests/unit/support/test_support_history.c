/*
 * The reader of captures and the histories that it builds: captures are written by the writer of
 * the library, and broken byte by byte.
 */
#include "support/history.h"
#include "tests/rig/capture_bench.h"

#include <stdlib.h>
#include <unistd.h>

enum { HANDLE_MEMORY = 0x10, HANDLE_BUFFER = 0x20, HANDLE_IMAGE = 0x30 };

static void load(struct capture_bench* bench, struct support_history* history)
{
    struct support_error error = {.text = ""};
    if (!support_history_load(bench->path, history, &error)) {
        fail_msg("%s", error.text);
    }
}

static void history_of_a_life_is_as_it_was_written(void** state)
{
    struct capture_bench* bench = *state;
    struct support_history history;
    capture_put_device(bench);
    capture_put_memory(bench, HANDLE_MEMORY, MIB, 1);
    capture_put_buffer(bench, HANDLE_BUFFER, 4096);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, HANDLE_BUFFER, HANDLE_MEMORY, 512);
    capture_put_name(bench, MAAR_CAPTURE_OBJECT_BUFFER, HANDLE_BUFFER, "vertices");
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, HANDLE_BUFFER);
    capture_put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, HANDLE_MEMORY);
    capture_bench_close(bench);
    load(bench, &history);
    assert_string_equal(history.header.program, "a program");
    assert_int_equal(history.header.state, MAAR_CAPTURE_STATE_COMPLETE);
    assert_int_equal(history.devices.count, 1);
    assert_string_equal(support_history_text(&history, history.devices.items[0].name), "A card");
    assert_int_equal(history.memories.count, 1);
    assert_int_equal(support_history_heap(&history, 0), 0);
    assert_int_equal(history.memories.items[0].bound, 0);
    assert_int_equal(history.memories.items[0].bound_peak, 4096);
    const struct support_history_resource* buffer = &history.resources.items[0];
    assert_int_equal(buffer->asked, 4095);
    assert_int_equal(buffer->offset, 512);
    assert_int_equal(buffer->memory, 0);
    assert_true(buffer->begin_event < buffer->bind_event);
    assert_true(buffer->bind_event < buffer->end_event);
    char label[64];
    support_history_label(&history, 0, label, sizeof label);
    assert_string_equal(label, "vertices");
    assert_int_equal(history.strays + history.unknown + history.unfinished, 0);
    support_history_release(&history);
}

/* A handle that comes again is another object. */
static void handles_that_come_again_are_other_objects(void** state)
{
    struct capture_bench* bench = *state;
    struct support_history history;
    capture_put_device(bench);
    for (uint32_t i = 0; i < 3000; ++i) {
        capture_put_memory(bench, HANDLE_MEMORY + i % 2, 100 + i, 0);
        capture_put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, HANDLE_MEMORY + i % 2);
    }
    capture_bench_close(bench);
    load(bench, &history);
    assert_int_equal(history.memories.count, 3000);
    for (uint32_t i = 0; i < 3000; ++i) {
        const struct support_history_memory* memory = &history.memories.items[i];
        assert_int_equal(memory->size, 100 + i);
        assert_int_equal(memory->end_event, memory->begin_event + 1);
    }
    support_history_release(&history);
}

/* A name of 50,000 bytes takes many records. */
static void long_names_are_whole(void** state)
{
    enum { LENGTH = 50000 };
    struct capture_bench* bench = *state;
    struct support_history history;
    char* name = calloc(1, LENGTH + 1);
    assert_non_null(name);
    for (size_t i = 0; i < LENGTH; ++i) {
        name[i] = (char)('a' + i % 26);
    }
    capture_put_device(bench);
    capture_put_buffer(bench, HANDLE_BUFFER, 4096);
    capture_put_name(bench, MAAR_CAPTURE_OBJECT_BUFFER, HANDLE_BUFFER, name);
    capture_bench_close(bench);
    load(bench, &history);
    assert_string_equal(support_history_text(&history, history.resources.items[0].name), name);
    support_history_release(&history);
    free(name);
}

/* A growing capture: what is there is read, and the rest later. */
static void live_capture_is_read_as_it_grows(void** state)
{
    struct capture_bench* bench = *state;
    struct support_history history;
    struct support_error error = {.text = ""};
    capture_put_device(bench);
    capture_put_memory(bench, HANDLE_MEMORY, MIB, 0);
    struct support_capture_reader* reader = support_capture_open(bench->path, true, &error);
    assert_non_null(reader);
    assert_true(support_history_begin(&history, "live", &error));
    assert_true(support_history_add(&history, reader, &error));
    assert_int_equal(history.memories.count, 1);
    for (uint32_t i = 1; i < 40000; ++i) { /* more than one chunk */
        capture_put_memory(bench, HANDLE_MEMORY + i, MIB, 0);
        if (i % 10000 == 0) {
            assert_true(support_history_add(&history, reader, &error));
            assert_int_equal(history.memories.count, i + 1);
        }
    }
    capture_bench_close(bench);
    assert_true(support_history_add(&history, reader, &error));
    assert_int_equal(history.memories.count, 40000);
    assert_int_equal(history.header.state, MAAR_CAPTURE_STATE_COMPLETE);
    support_capture_close(reader);
    support_history_release(&history);
}

static char* read_whole(struct capture_bench* bench, size_t* size)
{
    char* data = NULL;
    assert_true(support_read_file(bench->path, 0, &data, size, NULL));
    return data;
}

static bool build(const char* data, size_t size, struct support_error* error)
{
    struct support_history history = {.name = ""};
    struct support_capture_reader* reader =
        support_capture_open_memory("memory", data, size, error);
    bool good = reader != NULL && support_history_begin(&history, "memory", error) &&
                support_history_add(&history, reader, error);
    support_capture_close(reader);
    support_history_release(&history);
    return good;
}

/* Every byte of the records broken in turn, and every length: an error that names a byte, or a
 * history; under the sanitizers, nothing else. */
static void broken_captures_are_refused_by_byte(void** state)
{
    struct capture_bench* bench = *state;
    struct support_error error;
    size_t size = 0;
    capture_put_device(bench);
    capture_put_memory(bench, HANDLE_MEMORY, MIB, 1);
    capture_put_buffer(bench, HANDLE_BUFFER, 4096);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, HANDLE_BUFFER, HANDLE_MEMORY, 512);
    capture_put_name(bench, MAAR_CAPTURE_OBJECT_BUFFER, HANDLE_BUFFER, "vertices");
    capture_bench_close(bench);
    char* data = read_whole(bench, &size);
    assert_true(build(data, size, &error));
    size_t refused = 0;
    for (size_t i = MAAR_CAPTURE_HEADER_SIZE; i < size; ++i) {
        for (uint32_t change = 1; change < 256; change = change * 4 + 3) {
            data[i] = (char)(data[i] ^ (char)change);
            error.text[0] = 0;
            if (!build(data, size, &error)) {
                refused += 1;
                assert_non_null(strstr(error.text, "byte "));
            }
            data[i] = (char)(data[i] ^ (char)change);
        }
    }
    assert_true(refused > 100);
    for (size_t i = 0; i < sizeof(MaarCaptureHeader); i += 7) {
        error.text[0] = 0;
        assert_false(build(data, i, &error));
        assert_non_null(strstr(error.text, "byte "));
    }
    free(data);
}

static void expect_fault(struct capture_bench* bench, const char* words)
{
    struct support_error error = {.text = ""};
    struct support_history history;
    capture_bench_close(bench);
    assert_false(support_history_load(bench->path, &history, &error));
    assert_non_null(strstr(error.text, words));
    assert_non_null(strstr(error.text, "byte "));
}

static void types_that_do_not_exist_are_refused(void** state)
{
    capture_put_device(*state);
    capture_put_memory(*state, HANDLE_MEMORY, MIB, 2);
    expect_fault(*state, "memory type");
}

static void impossible_sizes_are_refused(void** state)
{
    capture_put_device(*state);
    capture_put_buffer(*state, HANDLE_BUFFER, UINT64_MAX / 2);
    expect_fault(*state, "size");
}

/* Drivers that take memory only when it is used promise any size. */
static void promised_sizes_are_cut_off(void** state)
{
    struct capture_bench* bench = *state;
    struct support_history history;
    capture_put_device(bench);
    capture_put_memory(bench, HANDLE_MEMORY, (uint64_t)1 << 62, 1);
    capture_bench_close(bench);
    load(bench, &history);
    assert_int_equal(history.memories.items[0].size, (uint64_t)1 << 52);
    support_history_release(&history);
}

static void devices_that_do_not_exist_are_refused(void** state)
{
    capture_put_memory(*state, HANDLE_MEMORY, MIB, 0);
    expect_fault(*state, "device");
}

/* What the capture does not know is counted, and no error. */
static void ends_of_unknown_objects_are_counted(void** state)
{
    struct capture_bench* bench = *state;
    struct support_history history;
    capture_put_device(bench);
    capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, HANDLE_BUFFER);
    capture_put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, HANDLE_MEMORY);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, HANDLE_BUFFER, HANDLE_MEMORY, 0);
    capture_put(bench, (MaarCaptureKind)999, NULL, 0);
    capture_bench_close(bench);
    load(bench, &history);
    assert_int_equal(history.strays, 3);
    assert_int_equal(history.unknown, 1);
    support_history_release(&history);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, capture_bench_begin, capture_bench_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(history_of_a_life_is_as_it_was_written),
        CASE(handles_that_come_again_are_other_objects),
        CASE(long_names_are_whole),
        CASE(live_capture_is_read_as_it_grows),
        CASE(broken_captures_are_refused_by_byte),
        CASE(types_that_do_not_exist_are_refused),
        CASE(impossible_sizes_are_refused),
        CASE(promised_sizes_are_cut_off),
        CASE(devices_that_do_not_exist_are_refused),
        CASE(ends_of_unknown_objects_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
