/*
 * Finds the slot of an allocation handle, and reports handles that name no allocation. No lock is
 * needed: a slot never moves, and its key shows whether it is live.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATION_HANDLE_H
#define MAAR_CORE_MEMORY_ALLOCATION_HANDLE_H

#include "core/memory/allocator_state.h"
#include "core/memory/slot_home.h"
#include "maar/move.h"

/* Reports why a handle names no allocation. result: the end of the sentence, which begins with "; "
 * and says what the call has left, or "". */
void maar_report_unresolved(MaarAllocator allocator, const char* call, MaarAllocation allocation,
                            const char* result);
/* Reports that another thread freed an allocation after this call had resolved its handle. result:
 * as above. */
void maar_report_late_free(MaarAllocator allocator, const char* call, const char* result);
/* Does so, and returns the error for the caller. */
VkResult maar_refuse_late_free(MaarAllocator allocator, const char* call);
/* Returns the slot of a handle. If the handle names no allocation, reports why and returns NULL.
 * *index receives the slot's number; index may be NULL. */
static inline struct maar_slot* maar_resolve(MaarAllocator allocator, const char* call,
                                             MaarAllocation allocation, uint32_t* index)
{
    uint32_t number = 0;
    struct maar_slot* slot =
        maar_slot_resolve(&allocator->slots, MAAR_TO_BITS(allocation), &number);
    if (index != NULL) {
        *index = number;
    }
    if (slot == NULL) {
        maar_report_unresolved(allocator, call, allocation, "");
    }
    return slot;
}

/* Resolves a handle and locks the arena of the allocation's block, which *block receives. The
 * caller unlocks the arena. Until then the allocation neither moves nor ends. If the handle names
 * no allocation, reports why and returns NULL, and nothing is locked. */
struct maar_slot* maar_allocation_enter(MaarAllocator allocator, const char* call,
                                        MaarAllocation allocation, struct maar_block** block);

/* Returns the number of the slot that a handle names. */
static inline uint32_t maar_slot_index(MaarAllocation allocation)
{
    return (uint32_t)MAAR_TO_BITS(allocation) - 1u;
}

/* Returns the slot of an allocation that is known to be live: Maar uses it itself, or its handle
 * was not returned to the program yet. */
static inline struct maar_slot* maar_slot_of_own(MaarAllocator allocator, MaarAllocation allocation)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, maar_slot_index(allocation));
    MAAR_DEBUG_ASSERT(maar_key_read(&slot->key) == MAAR_TO_BITS(allocation) >> 32);
    return slot;
}

/* Marks an allocation as memory of an object of Maar's. The program can no longer free it. */
static inline void maar_allocation_own(MaarAllocator allocator, MaarAllocation allocation)
{
    maar_slot_of_own(allocator, allocation)->owned = true;
}

/* Whether the allocation of a slot belongs to a movable object. No lock is needed. */
static inline bool maar_slot_is_movable(MaarAllocator allocator, const struct maar_slot* slot)
{
    return slot->owned && maar_slot_record_of(&allocator->movables,
                                              maar_slots_index_of(&allocator->slots, slot)) != NULL;
}

/* Returns what keeps the allocation of a slot from moving because an object owns it. */
MaarMoveObstacle maar_slot_owner_obstacle(MaarAllocator allocator, const struct maar_slot* slot);

/* Reports that the program frees memory of an object of Maar's or of a movable object. Returns the
 * error for the caller. */
VkResult maar_refuse_owned(MaarAllocator allocator, const char* call, const struct maar_slot* slot);

#endif
