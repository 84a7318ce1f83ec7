/*
 * What a capture records of memory: VkDeviceMemory objects, allocations without an object of
 * Maar's (ranges), names, mappings and budgets. core/objects and core/paging record the rest.
 *
 * Order: the lock of an arena decides. An arena is captured from the moment on at which the begin
 * of the capture has written, under the arena's lock, what the arena holds. From then on each
 * change of the arena is recorded under its lock, and none before. So nothing is recorded twice,
 * and a range ends in the file before another one gets its bytes.
 */
#ifndef MAAR_CORE_MEMORY_CAPTURED_MEMORY_H
#define MAAR_CORE_MEMORY_CAPTURED_MEMORY_H

#include "core/capture/capture_log.h"
#include "core/memory/allocator_state.h"
#include "core/memory/arena.h"
#include "core/memory/device_memory.h"

/* ---- the log ---- */

/* Whether a capture may be going on. The answer may be old. */
static inline bool maar_may_capture(MaarAllocator allocator)
{
    return maar_atomic32_load(&allocator->capture_users) != 0;
}

/* Returns the log of the capture that goes on, which the caller leaves with
 * maar_capture_log_leave, or NULL. Between both calls no foreign code is called. */
struct maar_capture_log* maar_capture_enter(MaarAllocator allocator);
/* Returns the log of an allocator. Makes it, if there is none. Returns NULL when there is no host
 * memory. */
struct maar_capture_log* maar_capture_log_of(MaarAllocator allocator);

/* Begins to record: writes what all pools hold. The file is open, and the devices are written. */
void maar_capture_start(MaarAllocator allocator, struct maar_capture_log* log);
/* Ends a capture, if one goes on. last: written before the end; a MaarCaptureKind, or 0. Sets
 * *state to the end state. Returns false if no capture goes on. No lock may be held. */
bool maar_capture_stop(MaarAllocator allocator, MaarCaptureKind last, MaarCaptureState* state);

/* ---- pools and arenas that are made during a capture ---- */

/* Captures what is new. No lock may be held. */
void maar_capture_new_pool(struct maar_pool* pool);
void maar_capture_new_arena(struct maar_arena* arena);

/* ---- under the arena's lock ---- */

/* Record that a block has entered its arena, or leaves it. The arena is captured. */
void maar_captured_block(struct maar_arena* arena, struct maar_block* block);
void maar_captured_block_end(struct maar_arena* arena, struct maar_block* block);
/* Records that an arena loses all it has. The arena is captured, and no longer afterwards. */
void maar_captured_arena_end(struct maar_arena* arena);
/* Records the end of an allocation that was recorded. */
void maar_captured_slot_end(struct maar_arena* arena, struct maar_slot* slot, uint32_t index);
/* Records an allocation that becomes pending, if the begin of the capture has missed it: a thread
 * was freeing it. The arena is captured. */
void maar_captured_pending(struct maar_arena* arena, struct maar_slot* slot, uint32_t index);
/* Marks an allocation as one that an object has for itself, whose bytes the object's binds show. If
 * it was recorded as a range, the range ends. Returns false if the arena is not captured yet. */
bool maar_captured_slot_yields(struct maar_arena* arena, struct maar_slot* slot, uint32_t index);

/* ---- with no lock held ---- */

/* Records an allocation without an object of Maar's. needs may be NULL. */
void maar_capture_allocation(MaarAllocator allocator, MaarAllocation allocation,
                             const VkMemoryRequirements* needs);
/* Marks an allocation whose bytes several objects share: their binds show the bytes. */
void maar_capture_parted(MaarAllocator allocator, MaarAllocation allocation);
/* Records a refusal of the driver. */
void maar_capture_failure(MaarAllocator allocator, const struct maar_device_memory_info* info,
                          VkResult result, uint64_t duration_ns);
/* Returns whether the capture knows an allocation, and sets *kind and *object to what it is there:
 * a range, or the object that has the allocation for itself. The caller is inside the log. */
bool maar_captured_as(MaarAllocator allocator, struct maar_capture_log* log,
                      MaarAllocation allocation, uint32_t* kind, uint64_t* object);
/* Records the name of an allocation, or of the object that has it for itself. */
void maar_capture_name(MaarAllocator allocator, MaarAllocation allocation, const char* name);
/* Records the budgets of the driver, if they are due. */
void maar_capture_budgets(MaarAllocator allocator);

/* ---- under the map lock ---- */

/* Records that a block was mapped, or will be unmapped. */
void maar_capture_mapping(MaarAllocator allocator, struct maar_block* block, bool mapped);

#endif
