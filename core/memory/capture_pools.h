/*
 * Begins and ends a capture in all pools.
 */
#ifndef MAAR_CORE_MEMORY_CAPTURE_POOLS_H
#define MAAR_CORE_MEMORY_CAPTURE_POOLS_H

#include "core/memory/capture_entry.h"

/* Begins to record: writes what all pools have. The file is open, and the device is written. No
 * lock may be held. */
void maar_capture_start(MaarAllocator allocator, struct maar_capture_log* log);
/* Ends a capture, if one goes on. last: written before the end; a MaarCaptureKind, or 0. Sets
 * *state to the end state. Returns false if no capture goes on. No lock may be held. */
bool maar_capture_stop(MaarAllocator allocator, MaarCaptureKind last, MaarCaptureState* state);

#endif
