/*
 * Ordered reuse: memory that was freed after points serves a request that is first used after them.
 * The state is made by the first call that needs it; before that, frees cost nothing more.
 *
 * A free after points makes a range of the bytes (ordered_range.h), which an ordered request takes
 * before the points have passed. Slot and bytes then belong to the new allocation; the item of the
 * retire queue still ends the old object, and only ceases to hold the range. A slot that has had a
 * range has `ordered` set: all ways to end an allocation ask this file then.
 *
 * Internally synchronized. The lock is held for no call of another file but those of the trees and
 * the clock, so no other lock is held with it.
 */
#ifndef MAAR_CORE_MEMORY_ORDERED_REUSE_H
#define MAAR_CORE_MEMORY_ORDERED_REUSE_H

#include "core/memory/allocator_state.h"
#include "core/memory/arena_place.h"
#include "core/memory/ordered_range.h"
#include "maar/ordered.h"

struct maar_ordered {
    struct maar_mutex lock; /* guards all that follows */
    struct maar_clock clock;
    struct maar_ordered_range* by_place; /* those that are offered */
    struct maar_ordered_range* by_slot;  /* all */
    uint64_t serial;
    uint64_t covered_count;
    uint64_t waited_count;
    uint64_t joined_count;
    uint64_t reused_bytes;
    uint64_t live_count;
    uint64_t offered_count;
    VkDeviceSize offered_bytes;
};

/* Returns the state, or NULL before the first call that needs it. */
static inline struct maar_ordered* maar_ordered_of(MaarAllocator allocator)
{
    return maar_atomic_pointer_load(&allocator->ordered);
}

/* ---- ordered_reuse.c ---- */

/* Makes the state unless there is one. Returns NULL when the host has no memory. */
struct maar_ordered* maar_ordered_open(MaarAllocator allocator);
/* Destroys the state, if there is one. The retire queue is empty. */
void maar_ordered_destroy(MaarAllocator allocator);

/* Called by a free after points, before its item is queued: the item holds the range of the slot,
 * which is pending already. Makes and offers the range, if that is possible. state: not NULL. */
void maar_ordered_note(MaarAllocator allocator, struct maar_ordered* state, struct maar_slot* slot,
                       uint32_t index, struct maar_retire_item* item);
/* Does so for a free of a claimed allocation, if there is a state. */
static inline void maar_ordered_note_free(MaarAllocator allocator, struct maar_slot* slot,
                                          uint32_t index, struct maar_retire_item* item,
                                          enum maar_claim claim)
{
    struct maar_ordered* state = maar_ordered_of(allocator);
    /* The bytes of an allocation that moves are those of its twin too. */
    if (state != NULL && claim == MAAR_CLAIMED) {
        maar_ordered_note(allocator, state, slot, index, item);
    }
}
/* Never offers the bytes of a pending slot any more, because another owner keeps them
 * (kept_range.h). Returns false if an ordered request is about to have them. The arena's lock is
 * held. */
bool maar_ordered_withhold(MaarAllocator allocator, const struct maar_slot* slot, uint32_t index);
/* Called when the points of an item that holds a range have passed. Ceases to hold its range.
 * Returns the slot that ends with it, or MAAR_SLOT_NONE. */
uint32_t maar_ordered_pass(MaarAllocator allocator, const struct maar_retire_item* item);
/* Whether a slot that has `ordered` set has a range. Any lock may be held. */
bool maar_ordered_has_range(MaarAllocator allocator, const struct maar_slot* slot);
/* Called by a free of a claimed slot that has `ordered` set. Returns true if the bytes still wait
 * for points of former owners: then they are pending, and the slot will end with them. */
bool maar_ordered_release(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);
/* Whether the bytes of a slot wait for points of former owners. */
static inline bool maar_ordered_holds(MaarAllocator allocator, const struct maar_slot* slot)
{
    return slot->ordered && maar_ordered_has_range(allocator, slot);
}

/* Offers a range that is in the tree by slot alone, unless somebody keeps its bytes (kept_range.h).
 * No lock may be held. */
void maar_ordered_offer_new(MaarAllocator allocator, struct maar_ordered* state,
                            struct maar_ordered_range* range);

/* Whether an allocation that another thread may free meanwhile waits for points of former owners.
 * No lock may be held. */
bool maar_ordered_inherits(MaarAllocator allocator, const struct maar_slot* slot, uint64_t handle);

/* Adds a point. Of each timeline the highest value alone counts. Returns false if there is no room.
 */
bool maar_ordered_add_point(struct maar_ordered_points* points, uint32_t number, uint64_t value);

/* These need the lock. Take a range out of the tree by place, and put one into it if its points
 * allow that. */
void maar_ordered_withdraw(struct maar_ordered* state, struct maar_ordered_range* range);
void maar_ordered_offer(struct maar_ordered* state, struct maar_ordered_range* range);
/* Forgets the points of a range, which is not offered. */
void maar_ordered_drop_points(struct maar_ordered* state, struct maar_ordered_range* range);
/* Adds a range, which has its slot and its points, to the tree by slot. */
void maar_ordered_enter(struct maar_ordered* state, struct maar_ordered_range* range);
/* Removes a range, which the caller then frees. */
void maar_ordered_leave(struct maar_ordered* state, struct maar_ordered_range* range);

/* Returns the first broken invariant, or NULL. */
const char* maar_ordered_check(MaarAllocator allocator);

/* ---- ordered_undo.c ---- */

/* Called for a slot that has `ordered` set when its request fails in a later step: gives the range
 * back as it was, and returns true. Returns false if all points have passed meanwhile: then the
 * slot ends as any other. No lock may be held. */
bool maar_ordered_undo(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);

#endif
