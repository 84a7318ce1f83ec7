/*
 * One table of objects under one lock. An object has no fence until it is first signalled; of a
 * timeline, the value is the greatest point signalled. What is submitted is executed already, so
 * "available" and "signalled" are the same.
 */
#include "tests/radv/syncobjs.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* ---- the kernel's interface ---- */

enum {
    SYNCOBJ_CREATE = 0xBF,
    SYNCOBJ_DESTROY = 0xC0,
    SYNCOBJ_FD_TO_HANDLE = 0xC2,
    SYNCOBJ_WAIT = 0xC3,
    SYNCOBJ_RESET = 0xC4,
    SYNCOBJ_SIGNAL = 0xC5,
    SYNCOBJ_TIMELINE_WAIT = 0xCA,
    SYNCOBJ_QUERY = 0xCB,
    SYNCOBJ_TRANSFER = 0xCC,
    SYNCOBJ_TIMELINE_SIGNAL = 0xCD
};

enum { CREATE_SIGNALED = 1, IMPORT_SYNC_FILE = 1, WAIT_ALL = 1, WAIT_FOR_SUBMIT = 2 };
enum { WAIT_AVAILABLE = 4 };
enum { CHUNK_SIGNAL = 5, CHUNK_TIMELINE_SIGNAL = 9 };

struct syncobj_create {
    uint32_t handle;
    uint32_t flags;
};

struct syncobj_file {
    uint32_t handle;
    uint32_t flags;
    int32_t file;
    uint32_t padding;
};

struct syncobj_wait {
    uint64_t handles;
    int64_t until; /* ns, by the monotonic clock */
    uint32_t count;
    uint32_t flags;
    uint32_t first_signaled;
};

struct syncobj_timeline_wait {
    uint64_t handles;
    uint64_t points;
    int64_t until;
    uint32_t count;
    uint32_t flags;
    uint32_t first_signaled;
};

struct syncobj_array {
    uint64_t handles;
    uint32_t count;
    uint32_t padding;
};

struct syncobj_timeline_array {
    uint64_t handles;
    uint64_t points;
    uint32_t count;
    uint32_t flags;
};

struct syncobj_transfer {
    uint32_t source;
    uint32_t target;
    uint64_t source_point;
    uint64_t target_point;
    uint32_t flags;
    uint32_t padding;
};
static_assert(sizeof(struct syncobj_transfer) == 32, "the kernel's size");

struct submission {
    uint32_t context;
    uint32_t objects;
    uint32_t chunk_count;
    uint32_t flags;
    uint64_t chunks; /* of pointers to chunks */
};
static_assert(sizeof(struct submission) == 24, "the kernel's size");

struct submission_chunk {
    uint32_t what;
    uint32_t words;
    uint64_t data;
};

struct chunk_point {
    uint32_t handle;
    uint32_t flags;
    uint64_t point;
};

/* ---- state ---- */

enum { MOST_SYNCOBJS = 1 << 16 };

struct syncobj {
    uint64_t value;
    bool is_used;
    bool has_fence;
};

static pthread_mutex_t syncobjs_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t syncobjs_changed = PTHREAD_COND_INITIALIZER;
static struct syncobj syncobjs[MOST_SYNCOBJS];
static uint32_t syncobjs_end = 1; /* handles in use are below; 0 is none */
static bool syncobjs_wait_signals;

static const void* at_address(uint64_t address)
{
    return (const void*)(uintptr_t)address;
}

static struct syncobj* find_object(uint32_t handle)
{
    return handle < MOST_SYNCOBJS && syncobjs[handle].is_used ? &syncobjs[handle] : NULL;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static int create_syncobj(struct syncobj_create* create)
{
    uint32_t handle = 1;
    while (handle < syncobjs_end && syncobjs[handle].is_used) {
        ++handle;
    }
    if (handle >= MOST_SYNCOBJS) {
        return fail(ENOMEM);
    }
    syncobjs_end = handle >= syncobjs_end ? handle + 1 : syncobjs_end;
    syncobjs[handle] = (struct syncobj){
        .is_used = true,
        .has_fence = (create->flags & CREATE_SIGNALED) != 0,
    };
    create->handle = handle;
    return 0;
}

static int destroy_syncobj(const struct syncobj_create* gone)
{
    struct syncobj* object = find_object(gone->handle);
    if (object == NULL) {
        return fail(EINVAL);
    }
    *object = (struct syncobj){.is_used = false};
    return 0;
}

static void signal_point(uint32_t handle, uint64_t point)
{
    struct syncobj* object = find_object(handle);
    if (object != NULL) {
        object->has_fence = true;
        object->value = point > object->value ? point : object->value;
        (void)pthread_cond_broadcast(&syncobjs_changed);
    }
}

static int signal_points(const struct syncobj_timeline_array* array)
{
    const uint32_t* handles = at_address(array->handles);
    const uint64_t* points = at_address(array->points);
    for (uint32_t i = 0; i < array->count; ++i) {
        signal_point(handles[i], points != NULL ? points[i] : 0);
    }
    return 0;
}

static int signal_all(const struct syncobj_array* array, bool signaled)
{
    const uint32_t* handles = at_address(array->handles);
    for (uint32_t i = 0; i < array->count; ++i) {
        struct syncobj* object = find_object(handles[i]);
        if (object == NULL) {
            return fail(ENOENT);
        }
        *object = (struct syncobj){.is_used = true, .has_fence = signaled};
    }
    (void)pthread_cond_broadcast(&syncobjs_changed);
    return 0;
}

static int query_points(const struct ioctl_faults* faults,
                        const struct syncobj_timeline_array* array)
{
    const uint32_t* handles = at_address(array->handles);
    uint64_t* points = (void*)(uintptr_t)array->points;
    for (uint32_t i = 0; i < array->count; ++i) {
        const struct syncobj* object = find_object(handles[i]);
        if (object == NULL) {
            return fail(ENOENT);
        }
        points[i] = atomic_load(&faults->reads_zero) != 0 ? 0 : object->value;
    }
    return 0;
}

static bool is_signaled(const struct syncobj* object, uint64_t point)
{
    return object->has_fence && object->value >= point;
}

static int transfer_fence(const struct syncobj_transfer* transfer)
{
    const struct syncobj* source = find_object(transfer->source);
    if (source == NULL || find_object(transfer->target) == NULL) {
        return fail(ENOENT);
    }
    if (!syncobjs_wait_signals && !is_signaled(source, transfer->source_point)) {
        return fail(EINVAL);
    }
    signal_point(transfer->target, transfer->target_point);
    return 0;
}

/* Index of the first that is signalled, count when all must be and are; else -1, and errno. */
static int64_t look_at_all(const struct syncobj_timeline_wait* wait)
{
    const uint32_t* handles = at_address(wait->handles);
    const uint64_t* points = at_address(wait->points);
    int64_t first = -1;
    uint32_t signaled = 0;
    for (uint32_t i = 0; i < wait->count; ++i) {
        const struct syncobj* object = find_object(handles[i]);
        if (object == NULL) {
            return fail(ENOENT);
        }
        if (is_signaled(object, points != NULL ? points[i] : 0)) {
            first = first < 0 ? i : first;
            ++signaled;
        } else if ((wait->flags & (WAIT_FOR_SUBMIT | WAIT_AVAILABLE)) == 0) {
            return fail(EINVAL); /* nothing has been submitted that would signal it */
        }
    }
    const bool done = (wait->flags & WAIT_ALL) != 0 ? signaled == wait->count : first >= 0;
    return done || wait->count == 0 ? (first < 0 ? 0 : first) : fail(EAGAIN);
}

static int signal_awaited(struct syncobj_timeline_wait* wait)
{
    const struct syncobj_timeline_array awaited = {
        .handles = wait->handles,
        .points = wait->points,
        .count = wait->count,
    };
    wait->first_signaled = 0;
    return signal_points(&awaited);
}

static int wait_for_points(struct syncobj_timeline_wait* wait)
{
    if (syncobjs_wait_signals) {
        return signal_awaited(wait);
    }
    const struct timespec until = {
        .tv_sec = wait->until > 0 ? wait->until / 1000000000 : 0,
        .tv_nsec = wait->until > 0 ? wait->until % 1000000000 : 0,
    };
    int64_t first = look_at_all(wait);
    while (first < 0 && errno == EAGAIN) {
        if (pthread_cond_clockwait(&syncobjs_changed, &syncobjs_lock, CLOCK_MONOTONIC, &until) ==
            ETIMEDOUT) {
            first = look_at_all(wait);
            return first >= 0 ? 0 : errno == EAGAIN ? fail(ETIME) : -1;
        }
        first = look_at_all(wait);
    }
    wait->first_signaled = first >= 0 ? (uint32_t)first : 0;
    return first >= 0 ? 0 : -1;
}

static int wait_for_fences(struct syncobj_wait* wait)
{
    struct syncobj_timeline_wait points = {
        .handles = wait->handles,
        .until = wait->until,
        .count = wait->count,
        .flags = wait->flags,
    };
    int result = wait_for_points(&points);
    wait->first_signaled = points.first_signaled;
    return result;
}

/* A file stands for nothing but fences that were signalled. */
static bool import_file(const struct syncobj_file* file, int* result)
{
    if ((file->flags & IMPORT_SYNC_FILE) == 0) {
        return false;
    }
    signal_point(file->handle, 0);
    *result = 0;
    return true;
}

/* ---- the door ---- */

bool syncobjs_answer(const struct ioctl_faults* faults, unsigned number, void* argument,
                     int* result)
{
    bool known = true;
    (void)pthread_mutex_lock(&syncobjs_lock);
    switch (number) {
    case SYNCOBJ_CREATE:
        *result = create_syncobj(argument);
        break;
    case SYNCOBJ_DESTROY:
        *result = destroy_syncobj(argument);
        break;
    case SYNCOBJ_FD_TO_HANDLE:
        known = import_file(argument, result);
        break;
    case SYNCOBJ_WAIT:
        *result = wait_for_fences(argument);
        break;
    case SYNCOBJ_RESET:
    case SYNCOBJ_SIGNAL:
        *result = signal_all(argument, number == SYNCOBJ_SIGNAL);
        break;
    case SYNCOBJ_TIMELINE_WAIT:
        *result = wait_for_points(argument);
        break;
    case SYNCOBJ_QUERY:
        *result = query_points(faults, argument);
        break;
    case SYNCOBJ_TRANSFER:
        *result = transfer_fence(argument);
        break;
    case SYNCOBJ_TIMELINE_SIGNAL:
        *result = signal_points(argument);
        break;
    default:
        known = false;
        break;
    }
    (void)pthread_mutex_unlock(&syncobjs_lock);
    return known;
}

void syncobjs_never_wait(void)
{
    syncobjs_wait_signals = true;
}

void syncobjs_signal_submission(const void* argument)
{
    const struct submission* submission = argument;
    const uint64_t* chunks = at_address(submission->chunks);
    (void)pthread_mutex_lock(&syncobjs_lock);
    for (uint32_t i = 0; i < submission->chunk_count; ++i) {
        const struct submission_chunk* chunk = at_address(chunks[i]);
        const uint32_t* handles = at_address(chunk->data);
        const struct chunk_point* points = at_address(chunk->data);
        for (uint32_t at = 0; chunk->what == CHUNK_SIGNAL && at < chunk->words; ++at) {
            signal_point(handles[at], 0);
        }
        const uint32_t count = chunk->words * 4 / (uint32_t)sizeof *points;
        for (uint32_t at = 0; chunk->what == CHUNK_TIMELINE_SIGNAL && at < count; ++at) {
            signal_point(points[at].handle, points[at].point);
        }
    }
    (void)pthread_mutex_unlock(&syncobjs_lock);
}
