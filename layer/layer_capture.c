/*
 * The capture of this process. layer/layer_capture.h describes the module.
 *
 * The lock guards the beginning of the file. Nothing here prints, and nothing fails visibly: a
 * program runs the same whether its capture can be written or not.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* secure_getenv */
#endif

#include "layer/layer_capture.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/capture/capture_writer.h"
#include "core/host_memory.h"
#include "layer/layer_modules.h"
#include "layer/layer_registry.h"

enum {
    PATH_ROOM = 4096,
    NAME_ROOM = 64,       /* of the program's name in the file's name */
    ARGUMENT_ROOM = 2048, /* as many as the header has */
    MOST_FILES = 100000   /* of one process number; loads and unloads may be many */
};

static struct maar_capture_writer writer;
static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_begun; /* guarded by the lock: the writer is open, or could not be opened */
static bool is_open;  /* guarded by the lock: the writer is open */
static pid_t owner;   /* guarded by the lock: the process that began */
static maar_atomic64 device_count;
static maar_atomic64 submission_count;

/* Appends a line to the file that MAAR_CAPTURE_LOG names, if it names one. */
static void log_line(const char* what, const char* path, const char* reason)
{
    const char* const log = secure_getenv("MAAR_CAPTURE_LOG");
    char line[PATH_ROOM + 512];
    if (log == NULL || log[0] == '\0') {
        return;
    }
    const int length = snprintf(line, sizeof line, "%ld %s %s%s%s\n", (long)getpid(), what, path,
                                reason[0] != '\0' ? ": " : "", reason);
    const int number = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (number < 0) {
        return;
    }
    if (length > 0) {
        const size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
        /* Nobody hears when the log cannot be written. */
        const ssize_t written = write(number, line, size);
        (void)written;
    }
    (void)close(number);
}

/* Reads the arguments of the program, each ended by a zero byte. Returns their size. */
static size_t read_arguments(char* out, size_t size)
{
    const int number = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;
    if (number >= 0) {
        length = read(number, out, size);
        (void)close(number);
    }
    return length > 0 ? (size_t)length : 0;
}

/* Returns the last part of a path, of Linux or of Windows. */
static const char* last_part(const char* path)
{
    const char* part = path;
    for (; *path != '\0'; ++path) {
        if ((*path == '/' || *path == '\\') && path[1] != '\0') {
            part = path + 1;
        }
    }
    return part;
}

/* Makes the part of the file's name that names the program. */
static void make_name(char name[NAME_ROOM], const char* program)
{
    size_t length = 0;
    for (; *program != '\0' && length < NAME_ROOM - 1; ++program) {
        const bool is_plain =
            isalnum((unsigned char)*program) != 0 || strchr("+-._", *program) != NULL;
        name[length++] = (char)(is_plain ? *program : '_');
    }
    if (length == 0) {
        name[length++] = '_';
    }
    name[length] = '\0';
}

static bool is_folder(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Writes the path of the file, the n-th of its name. Returns false if it is too long. */
static bool make_path(char* out, size_t size, const char* name, unsigned n)
{
    const char* prefix = secure_getenv("MAAR_CAPTURE_FILE");
    const char* more = "";
    if (prefix == NULL || prefix[0] == '\0') {
        prefix = "maar";
    } else if (prefix[strlen(prefix) - 1] == '/') {
        more = "maar";
    } else if (is_folder(prefix)) {
        more = "/maar";
    }
    int length = 0;
    if (n < 2) {
        length = snprintf(out, size, "%s%s.%s.%ld.maarcap", prefix, more, name, (long)getpid());
    } else {
        length =
            snprintf(out, size, "%s%s.%s.%ld.%u.maarcap", prefix, more, name, (long)getpid(), n);
    }
    return length > 0 && (size_t)length < size;
}

/* Reads MAAR_CAPTURE_LIMIT: bytes, as a decimal number. Returns 0 if there is no limit. */
static uint64_t read_limit(void)
{
    const char* const text = secure_getenv("MAAR_CAPTURE_LIMIT");
    char* end = NULL;
    if (text == NULL || isdigit((unsigned char)text[0]) == 0) {
        return 0;
    }
    errno = 0;
    const unsigned long long limit = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' ? (uint64_t)limit : 0;
}

struct opening_room {
    char program[PATH_ROOM];
    char arguments[ARGUMENT_ROOM];
    char path[PATH_ROOM];
    char name[NAME_ROOM];
    char reason[MAAR_FILE_REASON_SIZE];
};

/* Opens the first file whose name is free. A program that has more rights than its user writes no
 * file, since the environment is the user's. */
static bool open_file(struct opening_room* room)
{
    if (getauxval(AT_SECURE) != 0) {
        return false;
    }
    const size_t argument_size = read_arguments(room->arguments, sizeof room->arguments);
    const char* program = last_part(maar_layer_program_path(room->program, sizeof room->program));
    if (strncmp(program, "wine", 4) == 0 && argument_size > 0) {
        room->arguments[sizeof room->arguments - 1] = '\0';
        program = last_part(room->arguments); /* Wine puts the Windows program there */
    }
    make_name(room->name, program);
    bool opened = false;
    for (unsigned n = 1; n <= MOST_FILES && !opened; ++n) {
        if (!make_path(room->path, sizeof room->path, room->name, n)) {
            (void)snprintf(room->reason, sizeof room->reason, "the path is too long");
            break;
        }
        opened = maar_capture_open(&writer,
                                   &(struct maar_capture_opening){
                                       .path = room->path,
                                       .origin = MAAR_CAPTURE_ORIGIN_LAYER,
                                       .program = program,
                                       .arguments = room->arguments,
                                       .argument_size = argument_size,
                                       .most_bytes = read_limit(),
                                   },
                                   room->reason);
        if (!opened && !writer.file.exists) {
            break;
        }
    }
    log_line(opened ? "writes" : "cannot write", room->path, opened ? "" : room->reason);
    return opened;
}

/* In the child of a fork: the file is the parent's. */
static void forget_device(struct layer_device* device)
{
    device->number = 0;
}

static void give_up_file(void)
{
    if (is_open) {
        maar_capture_abandon(&writer);
    }
    is_begun = false;
    is_open = false;
    maar_layer_each_device(forget_device);
    maar_layer_forget_modules();
    maar_atomic64_store(&device_count, 0);
    maar_atomic64_store(&submission_count, 0);
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&capture_lock);
    maar_layer_registry_hold();
}

static void after_fork(void)
{
    maar_layer_registry_release();
    (void)pthread_mutex_unlock(&capture_lock);
}

static void after_fork_in_child(void)
{
    give_up_file();
    after_fork();
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void maar_layer_begin_capture(void)
{
    (void)pthread_mutex_lock(&capture_lock);
    if (is_begun && owner != getpid()) {
        give_up_file(); /* a fork without the handlers of forks */
    }
    if (!is_begun) {
        struct opening_room* const room = maar_host_calloc(NULL, 1, sizeof *room);
        owner = getpid();
        is_begun = true;
        is_open = room != NULL && open_file(room);
        maar_host_free(NULL, room);
    }
    (void)pthread_mutex_unlock(&capture_lock);
}

/* The program exits, or unloads the layer. In the first case threads may still be at work, so what
 * they use stays. */
__attribute__((destructor)) static void end_capture_of_process(void)
{
    if (is_open && owner == getpid()) {
        if (maar_layer_instance_count() == 0) {
            is_open = false;
            maar_capture_close(&writer);
        } else {
            maar_capture_finish(&writer);
        }
    }
    if (maar_layer_instance_count() == 0) {
        maar_layer_registry_clear();
    }
}

uint32_t maar_layer_next_device(void)
{
    if (!is_open) {
        return 0;
    }
    return (uint32_t)maar_atomic64_add(&device_count, 1);
}

uint64_t maar_layer_next_submission(void)
{
    return maar_atomic64_add(&submission_count, 1);
}

bool maar_layer_wants_driver_memory(void)
{
    const char* const value = secure_getenv("MAAR_CAPTURE_DRIVER_MEMORY");
    return value != NULL && strcmp(value, "1") == 0;
}

void maar_layer_write(const struct layer_device* device, MaarCaptureKind kind, const void* payload,
                      size_t size)
{
    if (device->number != 0) {
        maar_capture_write(&writer, kind, payload, size);
    }
}

void maar_layer_write_texts(const struct layer_device* device, MaarCaptureKind kind,
                            const void* payload, size_t size, const char* const* texts,
                            size_t text_count)
{
    if (device->number != 0) {
        maar_capture_write_texts(&writer, kind, payload, size, texts, text_count);
    }
}

void maar_layer_write_end(const struct layer_device* device, MaarCaptureKind kind, uint64_t handle)
{
    const MaarCaptureEnd end = {.device = device->number, .handle = handle};
    maar_layer_write(device, kind, &end, sizeof end);
}

void maar_layer_write_global(MaarCaptureKind kind, const void* payload, size_t size,
                             const char* const* texts, size_t text_count)
{
    if (is_open) {
        maar_capture_write_texts(&writer, kind, payload, size, texts, text_count);
    }
}
