/*
 * What a capture records of allocations. An allocation is a range there, or an object has it for
 * itself: then the object's bind shows its bytes. core/objects records objects and binds.
 *
 * A slot remembers what was recorded of it: maar_slot::ranged, maar_slot::held. An allocation that
 * shares its bytes among several objects is held too, by none.
 */
#ifndef MAAR_CORE_MEMORY_CAPTURED_SLOT_H
#define MAAR_CORE_MEMORY_CAPTURED_SLOT_H

#include "core/memory/capture_entry.h"
#include "core/memory/slot_home.h"

/* ---- under the arena's lock ---- */

/* Records an allocation as a range, with its name. The arena is captured. needs may be NULL. */
void maar_captured_range(struct maar_arena* arena, struct maar_slot* slot, uint32_t index,
                         const VkMemoryRequirements* needs);
/* Records the end of an allocation that was recorded. */
void maar_captured_slot_end(struct maar_arena* arena, struct maar_slot* slot, uint32_t index);
/* Records an allocation that becomes pending, if the begin of the capture has missed it: a thread
 * was freeing it. The arena is captured. */
void maar_captured_pending(struct maar_arena* arena, struct maar_slot* slot, uint32_t index);
/* Marks an allocation as one that an object has for itself. If it was recorded as a range, the
 * range ends. Returns false if the arena is not captured yet. */
bool maar_captured_slot_yields(struct maar_arena* arena, struct maar_slot* slot, uint32_t index);

/* ---- with no lock held ---- */

/* Records an allocation without an object of Maar's. needs may be NULL. */
void maar_capture_allocation(MaarAllocator allocator, MaarAllocation allocation,
                             const VkMemoryRequirements* needs);
/* Marks an allocation whose bytes several objects share: their binds show the bytes. */
void maar_capture_parted(MaarAllocator allocator, MaarAllocation allocation);
/* Returns whether the capture knows an allocation, and sets *kind and *object to what it is there:
 * a range, or the object that has the allocation for itself. The caller is inside the log. */
bool maar_captured_as(MaarAllocator allocator, struct maar_capture_log* log,
                      MaarAllocation allocation, uint32_t* kind, uint64_t* object);
/* Records the name of an allocation, or of the object that has it for itself. */
void maar_capture_name(MaarAllocator allocator, MaarAllocation allocation, const char* name);

#endif
