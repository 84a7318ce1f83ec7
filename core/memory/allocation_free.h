/*
 * The end of an allocation: now, after points, or because a later step failed.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATION_FREE_H
#define MAAR_CORE_MEMORY_ALLOCATION_FREE_H

#include "core/memory/slot_table.h"
#include "core/time/retire.h"

/* Frees a claimed slot with its mappings and its name. */
void maar_release_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);
/* Frees one that was pending. */
void maar_release_pending(MaarAllocator allocator, uint32_t index);
/* Takes back a slot that nobody has a handle of, and what it decided for its pool. */
void maar_undo_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);
/* Takes back an allocation of a call that fails, and the block that it made. */
void maar_undo_allocation(MaarAllocator allocator, MaarAllocation allocation);
/* Counts a live allocation as one that is not as it was to be. */
void maar_note_fallback(MaarAllocator allocator, MaarAllocation allocation);
/* Live bytes of a claimed slot become pending ones, in all totals. */
void maar_slot_make_pending(MaarAllocator allocator, uint32_t index);
/* Ends the range of an item: the range action of the retire queue. */
void maar_end_pending_range(MaarAllocator allocator, struct maar_retire_item* item,
                            enum maar_retire_step step);

/* Makes an allocation (or none) pending and queues the action that ends it, and with it the object
 * that a room above binds there: 0, or a handle that only the action understands. */
VkResult maar_free_after(MaarAllocator allocator, const char* call, uint64_t object,
                         MaarAllocation allocation, uint32_t point_count, const MaarPoint* points,
                         maar_retire_action action);

#endif
