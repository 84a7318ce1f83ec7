/*
 * The way into the capture of an allocator. A thread that records something enters the log, unless
 * it holds the lock of an arena that is captured, and leaves it afterwards.
 */
#ifndef MAAR_CORE_MEMORY_CAPTURE_ENTRY_H
#define MAAR_CORE_MEMORY_CAPTURE_ENTRY_H

#include "core/capture/capture_log.h"
#include "core/memory/allocator_state.h"

/* Whether a capture may be going on. The answer may be old. */
static inline bool maar_may_capture(MaarAllocator allocator)
{
    return maar_atomic32_load(&allocator->capture_users) != 0;
}

/* Returns the log of the capture that goes on, which the caller leaves with
 * maar_capture_log_leave, or NULL. Between both calls no foreign code is called. */
struct maar_capture_log* maar_capture_enter(MaarAllocator allocator);
/* Returns the log of an allocator. Makes it, if there is none. Returns NULL when there is no host
 * memory. No lock may be held. */
struct maar_capture_log* maar_capture_log_of(MaarAllocator allocator);

#endif
