/*
 * The capture of one allocator: see capture_log.h.
 */
#include "core/capture/capture_log.h"

#include "core/host_memory.h"
#include "core/port_time.h"

struct maar_capture_log* maar_capture_log_create(const VkAllocationCallbacks* callbacks,
                                                 maar_atomic32* users, bool synchronized)
{
    struct maar_capture_log* const log = maar_host_calloc(callbacks, 1, sizeof *log);
    if (log == NULL) {
        return NULL;
    }
    log->users = users;
    if (!maar_captured_objects_init(&log->objects, synchronized)) {
        goto free_log;
    }
    if (!maar_mutex_init(&log->lock, MAAR_LOCK_CAPTURE, synchronized)) {
        goto destroy_objects;
    }
    if (!maar_condition_init(&log->quiet)) {
        goto destroy_lock;
    }
    return log;

destroy_lock:
    maar_mutex_destroy(&log->lock);
destroy_objects:
    maar_captured_objects_destroy(&log->objects);
free_log:
    maar_host_free(callbacks, log);
    return NULL;
}

void maar_capture_log_destroy(struct maar_capture_log* log, const VkAllocationCallbacks* callbacks)
{
    if (log != NULL) {
        maar_condition_destroy(&log->quiet);
        maar_mutex_destroy(&log->lock);
        maar_captured_objects_destroy(&log->objects);
        maar_host_free(callbacks, log);
    }
}

bool maar_capture_log_turn(struct maar_capture_log* log, enum maar_capture_phase from,
                           enum maar_capture_phase to)
{
    return maar_atomic32_turn(&log->phase, (uint32_t)from, (uint32_t)to);
}

void maar_capture_log_open(struct maar_capture_log* log)
{
    maar_atomic64_store(&log->submission_count, 0);
    maar_atomic64_store(&log->frame_count, 0);
    maar_atomic64_store(&log->budget_ns, 0);
    (void)maar_atomic32_flip(log->users, MAAR_CAPTURE_OPEN_BIT);
}

void maar_capture_log_close(struct maar_capture_log* log)
{
    (void)maar_atomic32_flip(log->users, MAAR_CAPTURE_OPEN_BIT);
    maar_mutex_lock(&log->lock);
    while (maar_atomic32_load_acquire(log->users) != 0) {
        maar_condition_wait(&log->quiet, &log->lock);
    }
    maar_mutex_unlock(&log->lock);
}

bool maar_capture_log_enter(struct maar_capture_log* log)
{
    if ((maar_atomic32_count(log->users) & MAAR_CAPTURE_OPEN_BIT) != 0) {
        return true;
    }
    maar_capture_log_leave(log);
    return false;
}

void maar_capture_log_leave(struct maar_capture_log* log)
{
    if (maar_atomic32_drop(log->users) == 0) {
        maar_mutex_lock(&log->lock);
        maar_condition_wake(&log->quiet);
        maar_mutex_unlock(&log->lock);
    }
}

bool maar_capture_log_wants_budget(struct maar_capture_log* log)
{
    const uint64_t now_ns = maar_now_ns();
    uint64_t due_ns = maar_atomic64_load(&log->budget_ns);
    return now_ns >= due_ns && maar_atomic64_replace(&log->budget_ns, &due_ns,
                                                     now_ns + MAAR_CAPTURE_BUDGET_INTERVAL_NS);
}

void maar_capture_log_end(struct maar_capture_log* log, MaarCaptureKind kind, uint64_t handle)
{
    const MaarCaptureEnd end = {.device = MAAR_CAPTURE_DEVICE, .handle = handle};
    maar_capture_write(&log->writer, kind, &end, sizeof end);
}

void maar_capture_log_name(struct maar_capture_log* log, uint32_t kind, uint64_t object,
                           const char* name)
{
    const MaarCaptureName facts = {
        .device = MAAR_CAPTURE_DEVICE, .objectKind = kind, .object = object};
    maar_capture_write_texts(&log->writer, MAAR_CAPTURE_KIND_NAME, &facts, sizeof facts, &name, 1);
}

uint64_t maar_capture_log_submit(struct maar_capture_log* log, const MaarCaptureSubmit* facts)
{
    MaarCaptureSubmit submit = *facts;
    submit.device = MAAR_CAPTURE_DEVICE;
    submit.submission = maar_atomic64_add(&log->submission_count, 1);
    maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_SUBMIT, &submit, sizeof submit);
    return submit.submission;
}

void maar_capture_log_point(struct maar_capture_log* log, MaarCaptureKind kind, uint64_t submission,
                            uint64_t semaphore, uint64_t value)
{
    const MaarCapturePoint point = {.device = MAAR_CAPTURE_DEVICE,
                                    .submission = submission,
                                    .semaphore = semaphore,
                                    .value = value};
    maar_capture_write(&log->writer, kind, &point, sizeof point);
}

void maar_capture_log_end_object(struct maar_capture_log* log, uint32_t kind, uint64_t object)
{
    if (maar_captured_objects_remove(&log->objects, kind, object)) {
        maar_capture_log_end(log,
                             kind == MAAR_CAPTURE_OBJECT_IMAGE ? MAAR_CAPTURE_KIND_IMAGE_END
                                                               : MAAR_CAPTURE_KIND_BUFFER_END,
                             object);
    }
}
