/*
 * Begins and ends a capture in all pools: see capture_pools.h.
 */
#include "core/memory/capture_pools.h"

#include "core/memory/captured_arena.h"
#include "core/memory/captured_driver.h"
#include "core/memory/pool_list.h"
#include "core/memory/pool_walk.h"

void maar_capture_start(MaarAllocator allocator, struct maar_capture_log* log)
{
    maar_capture_log_open(log);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        maar_pool_begin_walk(pool);
        maar_capture_pool(pool, log);
        maar_pool_end_walk(pool);
    }
    maar_capture_budgets(allocator);
}

bool maar_capture_stop(MaarAllocator allocator, MaarCaptureKind last, MaarCaptureState* state)
{
    struct maar_capture_log* const log = maar_atomic_pointer_load(&allocator->capture);
    if (log == NULL || !maar_capture_log_turn(log, MAAR_CAPTURE_RUNNING, MAAR_CAPTURE_CHANGING)) {
        return false;
    }
    /* Threads that began a free before the capture may have listed it since then. */
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        maar_pool_begin_walk(pool);
        maar_pool_end_walk(pool);
    }
    maar_capture_log_close(log);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        maar_uncapture_pool(pool);
    }
    if (last != MAAR_CAPTURE_KIND_EMPTY) {
        maar_capture_log_end(log, last, MAAR_CAPTURE_DEVICE);
    }
    maar_capture_close(&log->writer);
    *state = (MaarCaptureState)maar_atomic32_load(&log->writer.ended);
    maar_captured_objects_close(&log->objects, allocator->callbacks);
    (void)maar_capture_log_turn(log, MAAR_CAPTURE_CHANGING, MAAR_CAPTURE_IDLE);
    return true;
}
