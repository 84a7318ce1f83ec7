/*
 * The FAKE CUDA driver's streams, events, semaphores and virtual memory: what they do, and that
 * each rule that is broken is noticed in the words that say which.
 */
#include "tests/fakes/fake_cuda_case.h"

#include <sys/mman.h>
#include <time.h>

/* Time in which a stream that waits would have gone on if it did not. */
static void wait_a_little(void)
{
    const struct timespec time = {.tv_nsec = 20000000};
    (void)nanosleep(&time, NULL);
}

static struct maar_cuda_stream* create_stream(void)
{
    struct maar_cuda_stream* stream = NULL;
    assert_int_equal(cuda.cuStreamCreate(&stream, MAAR_CUDA_STREAM_NON_BLOCKING), 0);
    return stream;
}

/* ---- streams ---- */

struct note {
    struct maar_cuda_stream* stream;
    const char* at;
    char seen;
    enum maar_cuda_result inside;
};

static void MAAR_CUDA_CALL take_note(void* data)
{
    struct note* note = data;
    note->seen = *note->at;
}

static void stream_does_one_after_the_other(void** state)
{
    struct maar_cuda_stream* stream = create_stream();
    maar_cuda_pointer pointer = 0;
    char host[64] = {0};
    struct note notes[2] = {{.at = host}, {.at = host}};
    (void)state;
    assert_int_equal(cuda.cuMemAlloc(&pointer, sizeof host), 0);
    assert_int_equal(cuda.cuMemsetD8Async(pointer, 5, sizeof host, stream), 0);
    assert_int_equal(cuda.cuMemcpyDtoHAsync(host, pointer, sizeof host, stream), 0);
    assert_int_equal(cuda.cuLaunchHostFunc(stream, take_note, &notes[0]), 0);
    assert_int_equal(cuda.cuMemsetD32Async(pointer, 0x06060606, sizeof host / 4, stream), 0);
    assert_int_equal(cuda.cuMemcpyDtoHAsync(host, pointer, sizeof host, stream), 0);
    assert_int_equal(cuda.cuLaunchHostFunc(stream, take_note, &notes[1]), 0);
    assert_int_equal(cuda.cuStreamSynchronize(stream), 0);
    assert_int_equal(notes[0].seen, 5);
    assert_int_equal(notes[1].seen, 6);
    assert_int_equal(host[63], 6);
    assert_int_equal(cuda.cuStreamDestroy(stream), 0);
    assert_int_equal(cuda.cuStreamSynchronize(stream), MAAR_CUDA_INVALID_HANDLE);
    fake_expect_breach(control, "cuStreamSynchronize: the stream has been destroyed");
    assert_int_equal(cuda.cuMemFree(pointer), 0);
    fake_expect_no_breach(control);
}

static void MAAR_CUDA_CALL call_the_driver(void* data)
{
    struct note* note = data;
    note->inside = cuda.cuStreamSynchronize(note->stream);
}

static void host_function_that_calls_the_driver_is_a_breach(void** state)
{
    struct note note = {.stream = create_stream()};
    (void)state;
    assert_int_equal(cuda.cuLaunchHostFunc(note.stream, call_the_driver, &note), 0);
    assert_int_equal(cuda.cuStreamSynchronize(note.stream), 0);
    assert_int_equal(note.inside, MAAR_CUDA_NOT_PERMITTED);
    fake_expect_breach(control, "called by a function that a stream runs on the host");
}

static void memory_freed_while_work_is_queued_is_a_breach(void** state)
{
    struct maar_cuda_stream* stream = create_stream();
    struct maar_cuda_semaphore* semaphore = import_semaphore(FAKE_FILE_TIMELINE);
    const struct maar_cuda_semaphore_wait wait = {.value = 1};
    const struct maar_cuda_semaphore_signal signal = {.value = 1};
    maar_cuda_pointer pointer = 0;
    (void)state;
    assert_int_equal(cuda.cuMemAlloc(&pointer, 4096), 0);
    assert_int_equal(cuda.cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream), 0);
    assert_int_equal(cuda.cuMemsetD8Async(pointer, 1, 4096, stream), 0);
    assert_int_equal(cuda.cuMemFree(pointer), 0);
    assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL), 0);
    assert_int_equal(cuda.cuStreamSynchronize(stream), 0);
    fake_expect_breach(control, "a stream: what a stream writes, 4096 bytes, has been freed");
}

static void copy_outside_of_memory_is_a_breach(void** state)
{
    maar_cuda_pointer pointer = 0;
    char host[16];
    (void)state;
    assert_int_equal(cuda.cuMemcpyDtoHAsync(host, (maar_cuda_pointer)(uintptr_t)host, 16, NULL),
                     MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the source, 16 bytes, is no device memory");
    assert_int_equal(cuda.cuMemAlloc(&pointer, 4096), 0);
    assert_int_equal(cuda.cuMemcpyDtoDAsync(pointer + 4000, pointer, 97, NULL),
                     MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the target, 97 bytes, goes beyond its memory");
}

/* ---- events ---- */

static void event_orders_two_streams(void** state)
{
    struct maar_cuda_stream* first = create_stream();
    struct maar_cuda_stream* second = create_stream();
    struct maar_cuda_semaphore* semaphore = import_semaphore(FAKE_FILE_TIMELINE);
    const struct maar_cuda_semaphore_wait wait = {.value = 4};
    const struct maar_cuda_semaphore_signal signal = {.value = 4};
    struct maar_cuda_event* event = NULL;
    (void)state;
    assert_int_equal(cuda.cuEventCreate(&event, MAAR_CUDA_EVENT_DISABLE_TIMING), 0);
    assert_int_equal(cuda.cuEventQuery(event), 0);
    assert_int_equal(cuda.cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, first), 0);
    assert_int_equal(cuda.cuEventRecord(event, first), 0);
    assert_int_equal(cuda.cuStreamWaitEvent(second, event, 0), 0);
    wait_a_little();
    assert_int_equal(cuda.cuEventQuery(event), MAAR_CUDA_NOT_READY);
    assert_int_equal(cuda.cuStreamQuery(second), MAAR_CUDA_NOT_READY);
    assert_int_equal(control->pending(second), 1);
    assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL), 0);
    assert_int_equal(cuda.cuEventSynchronize(event), 0);
    assert_int_equal(cuda.cuStreamSynchronize(second), 0);
    assert_int_equal(cuda.cuEventDestroy(event), 0);
    assert_int_equal(cuda.cuEventQuery(event), MAAR_CUDA_INVALID_HANDLE);
    fake_expect_breach(control, "the event has been destroyed");
}

/* ---- semaphores ---- */

int make_semaphore(enum fake_file_kind kind, uint64_t value)
{
    const struct fake_file_head head = {
        .magic = FAKE_MAGIC_SIMULATED, .kind = kind, .value = value};
    const int fd = memfd_create("a test's semaphore", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 4096), 0);
    assert_int_equal(pwrite(fd, &head, sizeof head, 0), sizeof head);
    return fd;
}

static struct maar_cuda_semaphore_handle semaphore_handle(enum fake_file_kind kind, int fd)
{
    return (struct maar_cuda_semaphore_handle){.type = kind == FAKE_FILE_TIMELINE
                                                           ? MAAR_CUDA_SEMAPHORE_TIMELINE_FD
                                                           : MAAR_CUDA_SEMAPHORE_OPAQUE_FD,
                                               .handle = {.fd = fd}};
}

struct maar_cuda_semaphore* import_semaphore(enum fake_file_kind kind)
{
    struct maar_cuda_semaphore* semaphore = NULL;
    const struct maar_cuda_semaphore_handle handle =
        semaphore_handle(kind, make_semaphore(kind, 0));
    assert_int_equal(cuda.cuImportExternalSemaphore(&semaphore, &handle), MAAR_CUDA_SUCCESS);
    return semaphore;
}

static void wait_queued_first_ends_with_the_signal(void** state)
{
    struct maar_cuda_stream* stream = create_stream();
    struct maar_cuda_semaphore* semaphore = import_semaphore(FAKE_FILE_TIMELINE);
    (void)state;
    for (uint64_t value = 2; value < 100; value += 2) {
        const struct maar_cuda_semaphore_wait wait = {.value = value};
        const struct maar_cuda_semaphore_signal signal = {.value = value};
        assert_int_equal(cuda.cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream), 0);
        assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL), 0);
    }
    assert_int_equal(cuda.cuStreamSynchronize(stream), 0);
    assert_int_equal(cuda.cuDestroyExternalSemaphore(semaphore), 0);
    fake_expect_no_breach(control);
}

static void dropped_signal_is_noticed(void** state)
{
    struct maar_cuda_stream* stream = create_stream();
    struct maar_cuda_semaphore* semaphore = import_semaphore(FAKE_FILE_TIMELINE);
    const struct maar_cuda_semaphore_wait wait = {.value = 3};
    (void)state;
    assert_int_equal(cuda.cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream), 0);
    wait_a_little();
    assert_int_equal(cuda.cuStreamQuery(stream), MAAR_CUDA_NOT_READY);
    control->abandon_waits();
    assert_int_equal(cuda.cuStreamSynchronize(stream), 0);
    fake_expect_breach(control, "a stream waits for value 3 of a semaphore for ever");
}

static void value_that_does_not_grow_is_a_breach(void** state)
{
    struct maar_cuda_semaphore* semaphore = import_semaphore(FAKE_FILE_TIMELINE);
    const struct maar_cuda_semaphore_signal signal = {.value = 3};
    (void)state;
    assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL), 0);
    assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL), 0);
    assert_int_equal(cuda.cuStreamSynchronize(NULL), 0);
    fake_expect_breach(control, "a semaphore is signalled to 3, but is at 3");
}

static void binary_semaphore_alternates(void** state)
{
    struct maar_cuda_stream* stream = create_stream();
    struct maar_cuda_semaphore* semaphore = import_semaphore(FAKE_FILE_BINARY);
    const struct maar_cuda_semaphore_wait wait = {.value = 0};
    const struct maar_cuda_semaphore_signal signal = {.value = 0};
    (void)state;
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL), 0);
        assert_int_equal(cuda.cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream), 0);
        assert_int_equal(cuda.cuStreamSynchronize(stream), 0);
    }
    fake_expect_no_breach(control);
    assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL), 0);
    assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL), 0);
    assert_int_equal(cuda.cuStreamSynchronize(NULL), 0);
    fake_expect_breach(control, "a semaphore is signalled to 1, but is at 1");
}

static void semaphore_import_that_breaks_a_rule_leaves_the_descriptor(void** state)
{
    const int fd = make_semaphore(FAKE_FILE_TIMELINE, 0);
    const int block = make_block(BLOCK);
    struct {
        struct maar_cuda_semaphore_handle handle;
        enum maar_cuda_result result;
        const char* words;
    } rows[] = {
        {semaphore_handle(FAKE_FILE_BINARY, fd), MAAR_CUDA_INVALID_VALUE,
         "a timeline semaphore is imported as a binary one"},
        {semaphore_handle(FAKE_FILE_TIMELINE, block), MAAR_CUDA_INVALID_VALUE, "is no semaphore"},
        {semaphore_handle(FAKE_FILE_TIMELINE, fd), MAAR_CUDA_INVALID_VALUE, "the flags of the"},
        {semaphore_handle(FAKE_FILE_TIMELINE, fd), MAAR_CUDA_NOT_SUPPORTED, "the reserved fields"},
        {semaphore_handle(FAKE_FILE_TIMELINE, fd), MAAR_CUDA_NOT_SUPPORTED, "handles of this type"},
    };
    struct maar_cuda_semaphore* semaphore = NULL;
    (void)state;
    rows[2].handle.flags = 1;
    rows[3].handle.reserved[0] = 1;
    rows[4].handle.type = MAAR_CUDA_SEMAPHORE_TIMELINE_WIN32;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_int_equal(cuda.cuImportExternalSemaphore(&semaphore, &rows[i].handle),
                         rows[i].result);
        fake_expect_breach(control, rows[i].words);
        assert_true(fake_is_open(fd));
    }
    control->set_attribute(0, MAAR_CUDA_ATTRIBUTE_TIMELINE_SEMAPHORES, 0);
    const struct maar_cuda_semaphore_handle good = semaphore_handle(FAKE_FILE_TIMELINE, fd);
    assert_int_equal(cuda.cuImportExternalSemaphore(&semaphore, &good), MAAR_CUDA_NOT_SUPPORTED);
    fake_expect_breach(control, "the device does not support timeline semaphores");
    assert_null(semaphore);
    assert_int_equal(close(fd), 0);
    assert_int_equal(close(block), 0);
}

static void semaphore_parameters_must_be_zero(void** state)
{
    struct maar_cuda_semaphore* semaphore = import_semaphore(FAKE_FILE_TIMELINE);
    struct maar_cuda_semaphore_signal signals[3] = {{.value = 1}, {.value = 1}, {.value = 1}};
    (void)state;
    signals[0].flags = 1;
    signals[1].reserved[15] = 1;
    signals[2].reserved_kinds[0] = 1;
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signals[i], 1, NULL),
                         MAAR_CUDA_INVALID_VALUE);
        fake_expect_breach(control, "the reserved fields of the parameters are not zero");
    }
    assert_int_equal(cuda.cuDestroyExternalSemaphore(semaphore), 0);
    assert_int_equal(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signals[0], 1, NULL),
                     MAAR_CUDA_INVALID_HANDLE);
    fake_expect_breach(control, "the semaphore has been destroyed");
}

/* ---- virtual memory ---- */

static const struct maar_cuda_backing_info backing_info = {
    .type = MAAR_CUDA_BACKING_PINNED,
    .shareable = MAAR_CUDA_SHAREABLE_FD,
    .location = {.type = MAAR_CUDA_LOCATION_DEVICE, .id = 0},
};
static const struct maar_cuda_access_info access_info = {
    .location = {.type = MAAR_CUDA_LOCATION_DEVICE, .id = 0},
    .access = MAAR_CUDA_ACCESS_READ_WRITE,
};

static void blocks_lie_in_a_row(void** state)
{
    const size_t page = FAKE_GRANULARITY;
    maar_cuda_backing backings[3];
    maar_cuda_pointer start = 0;
    size_t granularity = 0;
    (void)state;
    assert_int_equal(cuda.cuMemGetAllocationGranularity(&granularity, &backing_info,
                                                        MAAR_CUDA_GRANULARITY_MINIMUM),
                     0);
    assert_int_equal(granularity, page);
    assert_int_equal(cuda.cuMemAddressReserve(&start, 3 * page, 0, 0, 0), 0);
    for (size_t i = 0; i < 3; ++i) {
        const int fd = make_block(page);
        assert_int_equal(cuda.cuMemImportFromShareableHandle(&backings[i], (void*)(intptr_t)fd,
                                                             MAAR_CUDA_SHAREABLE_FD),
                         0);
        assert_int_equal(close(fd), 0);
        assert_int_equal(cuda.cuMemMap(start + i * page, page, 0, backings[i], 0), 0);
        assert_int_equal(cuda.cuMemRelease(backings[i]), 0);
    }
    assert_int_equal(cuda.cuMemsetD8Async(start, 1, 3 * page, NULL), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "is mapped without access");
    assert_int_equal(cuda.cuMemSetAccess(start, 3 * page, &access_info, 1), 0);
    assert_int_equal(cuda.cuMemsetD8Async(start + page / 2, 9, 2 * page, NULL), 0);
    assert_int_equal(cuda.cuStreamSynchronize(NULL), 0);
    assert_int_equal(*(const char*)(uintptr_t)(start + 2 * page), 9);
    assert_int_equal(cuda.cuMemAddressFree(start, 3 * page), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "pages are still mapped in the range");
    assert_int_equal(cuda.cuMemUnmap(start, page / 2), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the range does not consist of whole mappings");
    assert_int_equal(cuda.cuMemUnmap(start, 3 * page), 0);
    assert_int_equal(cuda.cuMemAddressFree(start, 3 * page), 0);
    assert_int_equal(control->live(FAKE_KIND_RESERVATION) + control->live(FAKE_KIND_PAGES), 0);
    fake_expect_no_breach(control);
}

static void created_memory_is_shared_by_descriptor(void** state)
{
    const uint32_t before = rig_count_fds();
    maar_cuda_backing backing = 0;
    int fd = -1;
    size_t free_bytes = 0;
    size_t total = 0;
    (void)state;
    assert_int_equal(cuda.cuMemCreate(&backing, FAKE_GRANULARITY, &backing_info, 0), 0);
    assert_int_equal(cuda.cuMemExportToShareableHandle(&fd, backing, MAAR_CUDA_SHAREABLE_FD, 0), 0);
    assert_true(fake_is_open(fd));
    assert_int_equal(cuda.cuMemGetInfo(&free_bytes, &total), 0);
    assert_int_equal(total - free_bytes, FAKE_GRANULARITY);
    assert_int_equal(close(fd), 0);
    assert_int_equal(cuda.cuMemRelease(backing), 0);
    assert_int_equal(cuda.cuMemRelease(backing), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the memory has been destroyed");
    assert_int_equal(rig_count_fds(), before);
}

static void pages_that_break_a_rule_are_refused(void** state)
{
    const size_t page = FAKE_GRANULARITY;
    maar_cuda_backing backing = 0;
    maar_cuda_pointer start = 0;
    (void)state;
    assert_int_equal(cuda.cuMemCreate(&backing, page + 4096, &backing_info, 0),
                     MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "is no multiple of the granularity");
    assert_int_equal(cuda.cuMemCreate(&backing, page, &backing_info, 0), 0);
    assert_int_equal(cuda.cuMemMap(page, page, 0, backing, 0), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the range was not reserved");
    assert_int_equal(cuda.cuMemAddressReserve(&start, 4096, 0, 0, 0), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "does not fit the granularity");
    assert_int_equal(cuda.cuMemAddressReserve(&start, 2 * page, 0, 0, 0), 0);
    assert_int_equal(cuda.cuMemMap(start, 2 * page, 0, backing, 0), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the memory has no more than 2097152 bytes");
    assert_int_equal(cuda.cuMemMap(start + 4096, page, 0, backing, 0), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "does not fit the granularity");
    assert_int_equal(cuda.cuMemMap(start, page, 0, backing, 0), 0);
    assert_int_equal(cuda.cuMemMap(start, page, 0, backing, 0), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "something is mapped there already");
    assert_int_equal(cuda.cuMemFree(start), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the pointer is none that can be freed");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_cuda, teardown_cuda)

int run_work_cases(void)
{
    const struct CMUnitTest cases[] = {
        CASE(stream_does_one_after_the_other),
        CASE(host_function_that_calls_the_driver_is_a_breach),
        CASE(memory_freed_while_work_is_queued_is_a_breach),
        CASE(copy_outside_of_memory_is_a_breach),
        CASE(event_orders_two_streams),
        CASE(wait_queued_first_ends_with_the_signal),
        CASE(dropped_signal_is_noticed),
        CASE(value_that_does_not_grow_is_a_breach),
        CASE(binary_semaphore_alternates),
        CASE(semaphore_import_that_breaks_a_rule_leaves_the_descriptor),
        CASE(semaphore_parameters_must_be_zero),
        CASE(blocks_lie_in_a_row),
        CASE(created_memory_is_shared_by_descriptor),
        CASE(pages_that_break_a_rule_are_refused),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
