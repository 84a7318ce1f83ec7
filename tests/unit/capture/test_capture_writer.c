/*
 * The writer of captures, read back record by record: many threads, chunks, limits, full disks,
 * killed processes, forks, long texts.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* O_TMPFILE, mount */
#endif
#include "core/capture/capture_writer.h"
#include "tests/rig/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 16, ENTRIES = 4000 };

struct writer_bench {
    char path[256];
    struct maar_capture_writer* writer;
    uint8_t* file; /* after read_back */
    size_t size;
    size_t record_count;
};

static int begin_bench(void** state)
{
    static int number;
    struct writer_bench* bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    const char* folder = getenv("TMPDIR");
    (void)snprintf(bench->path, sizeof bench->path, "%s/maar-writer-%d-%d",
                   folder != NULL ? folder : "/tmp", (int)getpid(), ++number);
    bench->writer = calloc(1, sizeof *bench->writer);
    *state = bench;
    return 0;
}

static int end_bench(void** state)
{
    struct writer_bench* bench = *state;
    (void)unlink(bench->path);
    free(bench->file);
    free(bench->writer);
    free(bench);
    return 0;
}

static bool try_open(struct writer_bench* bench, uint64_t most_bytes, char* reason)
{
    const struct maar_capture_opening opening = {.path = bench->path,
                                                 .origin = MAAR_CAPTURE_ORIGIN_LAYER,
                                                 .program = "a program",
                                                 .arguments = "a program\0--fast",
                                                 .argument_size = 17,
                                                 .most_bytes = most_bytes};
    return maar_capture_open(bench->writer, &opening, reason);
}

static void open_writer(struct writer_bench* bench, uint64_t most_bytes)
{
    char reason[MAAR_FILE_REASON_SIZE] = "";
    assert_true(try_open(bench, most_bytes, reason));
}

static void read_back(struct writer_bench* bench)
{
    struct stat status;
    const int number = open(bench->path, O_RDONLY);
    assert_true(number >= 0);
    assert_int_equal(fstat(number, &status), 0);
    free(bench->file);
    bench->size = (size_t)status.st_size;
    bench->file = malloc(bench->size);
    assert_non_null(bench->file);
    size_t got = 0;
    while (got < bench->size) {
        const ssize_t step = read(number, bench->file + got, bench->size - got);
        assert_true(step > 0);
        got += (size_t)step;
    }
    (void)close(number);
    assert_true(bench->size >= MAAR_CAPTURE_HEADER_SIZE);
    bench->record_count = (bench->size - MAAR_CAPTURE_HEADER_SIZE) / MAAR_CAPTURE_RECORD_SIZE;
}

static const MaarCaptureHeader* header_of(const struct writer_bench* bench)
{
    return (const MaarCaptureHeader*)(const void*)bench->file;
}

static MaarCaptureRecord record_at(const struct writer_bench* bench, size_t index)
{
    MaarCaptureRecord record;
    assert_true(index < bench->record_count);
    memcpy(&record, bench->file + MAAR_CAPTURE_HEADER_SIZE + index * MAAR_CAPTURE_RECORD_SIZE,
           sizeof record);
    return record;
}

/* The bytes of an entry's payload, which is at most `room` long. Returns how many there are. */
static size_t payload_at(const struct writer_bench* bench, size_t index, uint8_t* out, size_t room)
{
    const MaarCaptureRecord first = record_at(bench, index);
    size_t size = MAAR_CAPTURE_FIRST_PAYLOAD;
    assert_true(room >= size);
    memcpy(out, first.payload, size);
    for (size_t i = 1; i <= first.continuations; ++i) {
        MaarCaptureContinuation more;
        const MaarCaptureRecord record = record_at(bench, index + i);
        memcpy(&more, &record, sizeof more);
        assert_int_equal(more.kind, MAAR_CAPTURE_KIND_CONTINUATION);
        assert_int_equal(more.index, i);
        assert_int_equal(more.thread, first.thread);
        assert_true(size + sizeof more.payload <= room);
        memcpy(out + size, more.payload, sizeof more.payload);
        size += sizeof more.payload;
    }
    return size;
}

static void put_number(struct writer_bench* bench, uint64_t number)
{
    const MaarCaptureEnd end = {.device = 1, .handle = number};
    maar_capture_write(bench->writer, MAAR_CAPTURE_KIND_BUFFER_END, &end, sizeof end);
}

static void header_says_who_wrote(void** state)
{
    struct writer_bench* bench = *state;
    open_writer(bench, 0);
    read_back(bench);
    assert_int_equal(header_of(bench)->state, MAAR_CAPTURE_STATE_OPEN);
    maar_capture_close(bench->writer);
    read_back(bench);
    const MaarCaptureHeader* header = header_of(bench);
    assert_memory_equal(header->magic, MAAR_CAPTURE_MAGIC, sizeof MAAR_CAPTURE_MAGIC);
    assert_int_equal(header->headerSize, MAAR_CAPTURE_HEADER_SIZE);
    assert_int_equal(header->recordSize, MAAR_CAPTURE_RECORD_SIZE);
    assert_int_equal(header->origin, MAAR_CAPTURE_ORIGIN_LAYER);
    assert_int_equal(header->state, MAAR_CAPTURE_STATE_COMPLETE);
    assert_int_equal(header->process, getpid());
    assert_int_equal(header->parent, getppid());
    assert_int_equal(header->pointerSize, sizeof(void*));
    assert_string_equal(header->program, "a program");
    assert_string_equal(header->arguments, "a program");
    assert_string_equal(header->arguments + 10, "--fast");
    assert_int_equal(bench->record_count, 1);
    assert_int_equal(record_at(bench, 0).kind, MAAR_CAPTURE_KIND_END);
}

static void file_that_exists_is_kept(void** state)
{
    struct writer_bench* bench = *state;
    char reason[MAAR_FILE_REASON_SIZE] = "";
    FILE* const file = fopen(bench->path, "w");
    assert_non_null(file);
    (void)fputs("mine", file);
    (void)fclose(file);
    assert_false(try_open(bench, 0, reason));
    assert_true(bench->writer->file.exists);
    assert_true(strlen(reason) > 0);
    struct stat status;
    assert_int_equal(stat(bench->path, &status), 0);
    assert_int_equal(status.st_size, 4);
}

static void folder_that_is_missing_is_a_reason(void** state)
{
    struct writer_bench* bench = *state;
    char reason[MAAR_FILE_REASON_SIZE] = "";
    (void)snprintf(bench->path, sizeof bench->path, "/nonexistent/folder/file");
    assert_false(try_open(bench, 0, reason));
    assert_false(bench->writer->file.exists);
    assert_string_equal(reason, strerror(ENOENT));
}

static void texts_of_every_length_come_back(void** state)
{
    struct writer_bench* bench = *state;
    static char text[512];
    static uint8_t payload[2048];
    open_writer(bench, 0);
    memset(text, 'x', sizeof text - 1);
    for (size_t length = 0; length < sizeof text; ++length) {
        const MaarCaptureInstance facts = {.apiVersion = (uint32_t)length};
        const char* const texts[] = {text + (sizeof text - 1 - length), NULL, "end"};
        maar_capture_write_texts(bench->writer, MAAR_CAPTURE_KIND_INSTANCE, &facts, sizeof facts,
                                 texts, 3);
    }
    maar_capture_close(bench->writer);
    read_back(bench);
    size_t index = 0;
    for (size_t length = 0; length < sizeof text; ++length) {
        const MaarCaptureRecord first = record_at(bench, index);
        assert_int_equal(first.kind, MAAR_CAPTURE_KIND_INSTANCE);
        memset(payload, 0xEE, sizeof payload);
        (void)payload_at(bench, index, payload, sizeof payload);
        MaarCaptureInstance facts;
        memcpy(&facts, payload, sizeof facts);
        assert_int_equal(facts.apiVersion, length);
        const char* at = (const char*)payload + sizeof facts;
        assert_int_equal(strlen(at), length);
        at += length + 1;
        assert_string_equal(at, "");
        assert_string_equal(at + 1, "end");
        index += 1u + first.continuations;
    }
    assert_int_equal(record_at(bench, index).kind, MAAR_CAPTURE_KIND_END);
}

static void text_that_is_too_long_is_cut_and_ended(void** state)
{
    struct writer_bench* bench = *state;
    const size_t most = MAAR_CAPTURE_FIRST_PAYLOAD +
                        (size_t)MAAR_CAPTURE_MOST_CONTINUATIONS * MAAR_CAPTURE_NEXT_PAYLOAD;
    char* const text = malloc(2 * most);
    uint8_t* const payload = malloc(most);
    assert_non_null(text);
    assert_non_null(payload);
    memset(text, 'y', 2 * most - 1);
    text[2 * most - 1] = '\0';
    open_writer(bench, 0);
    const MaarCaptureMark mark = {.device = 1};
    const char* const texts[] = {text};
    maar_capture_write_texts(bench->writer, MAAR_CAPTURE_KIND_MARK, &mark, sizeof mark, texts, 1);
    maar_capture_close(bench->writer);
    read_back(bench);
    assert_int_equal(payload_at(bench, 0, payload, most), most);
    assert_int_equal(strnlen((const char*)payload + sizeof mark, most), most - sizeof mark - 1);
    assert_int_equal(record_at(bench, MAAR_CAPTURE_MOST_CONTINUATIONS + 1).kind,
                     MAAR_CAPTURE_KIND_END);
    free(text);
    free(payload);
}

static void entries_cross_the_ends_of_chunks(void** state)
{
    struct writer_bench* bench = *state;
    const char* const texts[] = {"a text of more than one record, which lies across the end of a "
                                 "chunk in some entries"};
    enum { COUNT = 3 * MAAR_CAPTURE_CHUNK_RECORDS / 2 };
    open_writer(bench, 0);
    for (uint32_t i = 0; i < COUNT; ++i) {
        const MaarCaptureMark mark = {.device = i + 1};
        maar_capture_write_texts(bench->writer, MAAR_CAPTURE_KIND_MARK, &mark, sizeof mark, texts,
                                 1);
    }
    maar_capture_close(bench->writer);
    read_back(bench);
    size_t index = 0;
    uint8_t payload[512];
    for (uint32_t i = 0; i < COUNT; ++i) {
        MaarCaptureMark mark;
        (void)payload_at(bench, index, payload, sizeof payload);
        memcpy(&mark, payload, sizeof mark);
        assert_int_equal(mark.device, i + 1);
        assert_string_equal((const char*)payload + sizeof mark, texts[0]);
        index += 1u + record_at(bench, index).continuations;
    }
    assert_int_equal(index + 1, bench->record_count);
    assert_int_equal(header_of(bench)->lostRecords, 0);
}

struct writing_thread {
    struct writer_bench* bench;
    uint64_t number;
    pthread_t thread;
};

static void* write_many(void* context)
{
    const struct writing_thread* const self = context;
    for (uint64_t i = 0; i < ENTRIES; ++i) {
        put_number(self->bench, self->number << 32 | i);
    }
    return NULL;
}

/* Each entry of each thread is there once, in the order of its thread. */
static void threads_lose_nothing(void** state)
{
    struct writer_bench* bench = *state;
    static struct writing_thread threads[THREADS];
    uint64_t next[THREADS] = {0};
    open_writer(bench, 0);
    for (uint64_t i = 0; i < THREADS; ++i) {
        threads[i].bench = bench;
        threads[i].number = i;
        assert_int_equal(pthread_create(&threads[i].thread, NULL, write_many, &threads[i]), 0);
    }
    for (size_t i = 0; i < THREADS; ++i) {
        (void)pthread_join(threads[i].thread, NULL);
    }
    maar_capture_close(bench->writer);
    read_back(bench);
    assert_int_equal(bench->record_count, THREADS * ENTRIES + 1);
    for (size_t i = 0; i + 1 < bench->record_count; ++i) {
        MaarCaptureEnd end;
        const MaarCaptureRecord record = record_at(bench, i);
        assert_int_equal(record.kind, MAAR_CAPTURE_KIND_BUFFER_END);
        memcpy(&end, record.payload, sizeof end);
        const size_t thread = (size_t)(end.handle >> 32);
        assert_true(thread < THREADS);
        assert_int_equal(end.handle & UINT32_MAX, next[thread]++);
    }
    for (size_t i = 0; i < THREADS; ++i) {
        assert_int_equal(next[i], ENTRIES);
    }
}

static void limit_ends_the_capture(void** state)
{
    struct writer_bench* bench = *state;
    const uint64_t limit = MAAR_CAPTURE_HEADER_SIZE + 1000 * MAAR_CAPTURE_RECORD_SIZE + 7;
    open_writer(bench, limit);
    for (uint64_t i = 0; i < 1200; ++i) {
        put_number(bench, i);
        assert_int_equal(maar_capture_is_open(bench->writer), i < 1000);
    }
    maar_capture_close(bench->writer);
    read_back(bench);
    assert_int_equal(header_of(bench)->state, MAAR_CAPTURE_STATE_LIMIT);
    assert_int_equal(bench->record_count, 1000);
    assert_true(bench->size <= limit);
}

/* A process that may only write files of some size gets a signal from the system if it tries more.
 */
static void size_limit_of_the_process_is_no_signal(void** state)
{
    struct writer_bench* bench = *state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit limit = before;
    limit.rlim_cur = 3 << 20;
    open_writer(bench, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (uint64_t i = 0; i < 4 * MAAR_CAPTURE_CHUNK_RECORDS; ++i) {
        put_number(bench, i);
    }
    assert_false(maar_capture_is_open(bench->writer));
    maar_capture_close(bench->writer);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    read_back(bench);
    assert_int_equal(header_of(bench)->state, MAAR_CAPTURE_STATE_DISK_FULL);
    assert_int_equal(record_at(bench, 2 * MAAR_CAPTURE_CHUNK_RECORDS - 1).kind,
                     MAAR_CAPTURE_KIND_BUFFER_END);
}

/* Writes on a file system of 3 MiB. */
static void full_disk_ends_the_capture(void** state)
{
    struct writer_bench* bench = *state;
    char folder[128];
    char reason[MAAR_FILE_REASON_SIZE] = "";
    (void)snprintf(folder, sizeof folder, "%.100s", bench->path);
    assert_int_equal(mkdir(folder, 0700), 0);
    if (mount("maar", folder, "tmpfs", 0, "size=3m") != 0) {
        (void)rmdir(folder);
        print_message("skipped: a small file system cannot be mounted here\n");
        skip();
    }
    (void)snprintf(bench->path, sizeof bench->path, "%s/capture", folder);
    open_writer(bench, 0);
    for (uint64_t i = 0; i < 4 * MAAR_CAPTURE_CHUNK_RECORDS; ++i) {
        put_number(bench, i);
    }
    maar_capture_close(bench->writer);
    read_back(bench);
    /* Not even a header fits behind a file that takes the rest. */
    const int rest = open(folder, O_RDWR | O_TMPFILE, 0600);
    while (rest >= 0 && write(rest, bench->file, 4096) > 0) {
    }
    (void)snprintf(bench->path, sizeof bench->path, "%s/second", folder);
    const bool opened = try_open(bench, 0, reason);
    struct stat status;
    const bool exists = stat(bench->path, &status) == 0;
    (void)close(rest);
    (void)umount(folder);
    (void)rmdir(folder);
    assert_int_equal(header_of(bench)->state, MAAR_CAPTURE_STATE_DISK_FULL);
    assert_true(bench->record_count >= MAAR_CAPTURE_CHUNK_RECORDS);
    assert_false(opened);
    assert_false(exists);
    assert_string_equal(reason, "the disk is full");
}

static void killed_process_leaves_its_entries(void** state)
{
    struct writer_bench* bench = *state;
    enum { BEFORE = 20000 };
    int ends[2];
    char ready = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        open_writer(bench, 0);
        for (uint64_t i = 0;; ++i) {
            put_number(bench, i);
            if (i == BEFORE && write(ends[1], "x", 1) != 1) {
                _exit(1);
            }
        }
    }
    assert_int_equal(read(ends[0], &ready, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(ends[0]);
    (void)close(ends[1]);
    read_back(bench);
    assert_int_equal(header_of(bench)->state, MAAR_CAPTURE_STATE_OPEN);
    assert_int_equal(header_of(bench)->process, child);
    size_t count = 0;
    while (count < bench->record_count && record_at(bench, count).kind != 0) {
        MaarCaptureEnd end;
        const MaarCaptureRecord record = record_at(bench, count);
        memcpy(&end, record.payload, sizeof end);
        assert_int_equal(end.handle, count++);
    }
    assert_true(count > BEFORE);
}

/* A child gives the file up, which stays the parent's, and may begin another. */
static void child_of_a_fork_begins_its_own(void** state)
{
    struct writer_bench* bench = *state;
    int status = 0;
    open_writer(bench, 0);
    put_number(bench, 1);
    const pid_t child = fork();
    if (child == 0) {
        maar_capture_abandon(bench->writer);
        put_number(bench, 99);
        maar_capture_finish(bench->writer);
        (void)strcat(bench->path, "-child");
        open_writer(bench, 0);
        put_number(bench, 3);
        maar_capture_close(bench->writer);
        read_back(bench);
        const bool right = bench->record_count == 2 &&
                           header_of(bench)->process == (uint64_t)getpid() &&
                           record_at(bench, 0).thread == (uint32_t)getpid();
        (void)unlink(bench->path);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    put_number(bench, 2);
    maar_capture_close(bench->writer);
    read_back(bench);
    assert_int_equal(bench->record_count, 3);
    assert_int_equal(header_of(bench)->state, MAAR_CAPTURE_STATE_COMPLETE);
}

/* A program closes descriptors that it does not know, and gets the number for a file of its own. */
static void descriptor_of_another_file_is_left_alone(void** state)
{
    struct writer_bench* bench = *state;
    open_writer(bench, 0);
    const int number = (int)bench->writer->file.handle;
    const int other = open("/tmp", O_RDWR | O_TMPFILE, 0600);
    if (other < 0) {
        maar_capture_close(bench->writer);
        print_message("skipped: no file without a name\n");
        skip();
    }
    assert_int_equal(write(other, "mine", 4), 4);
    assert_int_equal(dup2(other, number), number);
    for (uint64_t i = 0; i < 2 * MAAR_CAPTURE_CHUNK_RECORDS; ++i) {
        put_number(bench, i);
    }
    maar_capture_close(bench->writer);
    struct stat status;
    assert_int_equal(fstat(other, &status), 0);
    assert_int_equal(status.st_size, 4);
    assert_int_equal(fstat(number, &status), 0);
    (void)close(number);
    (void)close(other);
    read_back(bench);
    assert_int_equal(header_of(bench)->state, MAAR_CAPTURE_STATE_DISK_FULL);
}

/* What the writer drops after the end, and that the first reason to end stays. */
static void entries_after_the_end_are_dropped(void** state)
{
    struct writer_bench* bench = *state;
    open_writer(bench, 0);
    put_number(bench, 1);
    maar_capture_finish(bench->writer);
    put_number(bench, 2);
    maar_capture_finish(bench->writer);
    maar_capture_close(bench->writer);
    read_back(bench);
    assert_int_equal(bench->record_count, 2);
    assert_int_equal(header_of(bench)->state, MAAR_CAPTURE_STATE_COMPLETE);
}

/* Descriptors of captures leave the low numbers to the program. */
static void descriptors_are_high_and_close_on_exec(void** state)
{
    struct writer_bench* bench = *state;
    open_writer(bench, 0);
    const int number = (int)bench->writer->file.handle;
    assert_true(number >= 256);
    assert_true((fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
    maar_capture_close(bench->writer);
    assert_int_equal(fcntl(number, F_GETFD), -1);
}

/* The layouts are those of 32-bit and of 64-bit programs. */
static void layouts_have_no_holes(void** state)
{
    (void)state;
    assert_int_equal(sizeof(MaarCaptureRecord), MAAR_CAPTURE_RECORD_SIZE);
    assert_int_equal(sizeof(MaarCaptureContinuation), MAAR_CAPTURE_RECORD_SIZE);
    assert_int_equal(sizeof(MaarCaptureHeader), 2408);
    assert_int_equal(sizeof(MaarCaptureDevice), 80);
    assert_int_equal(sizeof(MaarCaptureHeap), 24);
    assert_int_equal(sizeof(MaarCaptureQueue), 24);
    assert_int_equal(sizeof(MaarCaptureEnd), 16);
    assert_int_equal(sizeof(MaarCaptureMemory), 64);
    assert_int_equal(sizeof(MaarCaptureBuffer), 72);
    assert_int_equal(sizeof(MaarCaptureImage), 88);
    assert_int_equal(sizeof(MaarCaptureBind), 48);
    assert_int_equal(sizeof(MaarCaptureRange), 56);
    assert_int_equal(sizeof(MaarCaptureSparseBind), 96);
    assert_int_equal(sizeof(MaarCaptureStructure), 40);
    assert_int_equal(sizeof(MaarCaptureSwapchain), 48);
    assert_int_equal(sizeof(MaarCaptureSubmit), 48);
    assert_int_equal(sizeof(MaarCapturePoint), 32);
    assert_int_equal(sizeof(MaarCaptureReached), 40);
    assert_int_equal(sizeof(MaarCaptureBudget), 264);
    assert_int_equal(sizeof(MaarCaptureModule), 24);
    assert_int_equal(sizeof(MaarCaptureReport), 40);
}

#define WRITER_CASE(name) cmocka_unit_test_setup_teardown(name, begin_bench, end_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WRITER_CASE(header_says_who_wrote),
        WRITER_CASE(file_that_exists_is_kept),
        WRITER_CASE(folder_that_is_missing_is_a_reason),
        WRITER_CASE(texts_of_every_length_come_back),
        WRITER_CASE(text_that_is_too_long_is_cut_and_ended),
        WRITER_CASE(entries_cross_the_ends_of_chunks),
        WRITER_CASE(threads_lose_nothing),
        WRITER_CASE(limit_ends_the_capture),
        WRITER_CASE(size_limit_of_the_process_is_no_signal),
        WRITER_CASE(full_disk_ends_the_capture),
        WRITER_CASE(killed_process_leaves_its_entries),
        WRITER_CASE(child_of_a_fork_begins_its_own),
        WRITER_CASE(descriptor_of_another_file_is_left_alone),
        WRITER_CASE(entries_after_the_end_are_dropped),
        WRITER_CASE(descriptors_are_high_and_close_on_exec),
        cmocka_unit_test(layouts_have_no_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
