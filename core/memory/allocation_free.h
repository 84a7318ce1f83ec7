/*
 * Ends allocations: at once, after their points have passed, or because a later step failed. Public
 * functions that free call these functions, and so does the retire queue. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATION_FREE_H
#define MAAR_CORE_MEMORY_ALLOCATION_FREE_H

#include "core/memory/slot_table.h"
#include "core/time/retire.h"

/* Frees an allocation now. If the handle names no allocation, reports that with the name of the
 * public function, `call`. */
VkResult maar_free_allocation(MaarAllocator allocator, const char* call, MaarAllocation allocation);
/* Frees a claimed slot, its bytes or pages, its mappings and its name. */
void maar_release_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);
/* Frees a claimed slot, which may move. */
void maar_release_claimed(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                          enum maar_claim claim);
/* Frees a pending slot. */
void maar_release_pending(MaarAllocator allocator, uint32_t index);
/* Frees a slot whose handle was never returned. Takes back the slot's claim on the kind of its
 * pool: see pool_kind.h. */
void maar_undo_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);
/* Frees an allocation of a call that failed in a later step, and releases the block that was made
 * for it. Counts the failure, and corrects the counts of fallbacks and of exceeded budgets. */
void maar_undo_allocation(MaarAllocator allocator, MaarAllocation allocation);
/* Does the same for an allocation of Maar's own, and counts no failure: the call that needed it
 * counts as one. */
void maar_undo_own_allocation(MaarAllocator allocator, MaarAllocation allocation);
/* Counts a live allocation as a fallback, because it is not placed as requested. */
void maar_note_fallback(MaarAllocator allocator, MaarAllocation allocation);
/* Turns the live bytes of a claimed slot into pending bytes, in all totals. */
void maar_slot_make_pending(MaarAllocator allocator, uint32_t index);
/* Ends the slot of a retire item, in two steps. This function is the range action of the retire
 * queue: see core/time/retire.h. */
void maar_end_pending_range(MaarAllocator allocator, struct maar_retire_item* item,
                            enum maar_retire_step step);

/* Makes an allocation pending, and queues an item that ends the allocation when the points have
 * passed. action ends the object that another room has bound to the allocation; it is NULL if there
 * is none. object: 0, or a handle that only the action understands. allocation may be
 * VK_NULL_HANDLE: then only the object is pending. own: an object of Maar's owns the allocation. */
VkResult maar_free_after(MaarAllocator allocator, const char* call, uint64_t object,
                         MaarAllocation allocation, uint32_t point_count, const MaarPoint* points,
                         maar_retire_action action, bool own);

#endif
