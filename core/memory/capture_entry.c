/*
 * The way into the capture of an allocator: see capture_entry.h.
 */
#include "core/memory/capture_entry.h"

struct maar_capture_log* maar_capture_enter(MaarAllocator allocator)
{
    struct maar_capture_log* const log =
        maar_may_capture(allocator) ? maar_atomic_pointer_load(&allocator->capture) : NULL;
    return log != NULL && maar_capture_log_enter(log) ? log : NULL;
}

struct maar_capture_log* maar_capture_log_of(MaarAllocator allocator)
{
    struct maar_capture_log* log = maar_atomic_pointer_load(&allocator->capture);
    if (log != NULL) {
        return log;
    }
    struct maar_capture_log* made = maar_capture_log_create(
        allocator->callbacks, &allocator->capture_users, maar_is_synchronized(allocator));
    if (made == NULL) {
        return NULL;
    }
    maar_mutex_lock(&allocator->list_lock);
    log = maar_atomic_pointer_load(&allocator->capture);
    if (log == NULL) {
        maar_atomic_pointer_store(&allocator->capture, made);
        log = made;
        made = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    maar_capture_log_destroy(made, allocator->callbacks);
    return log;
}
