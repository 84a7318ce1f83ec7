/*
 * Slots whose allocations get another home: see slot_home.h. A slot that moves (MAAR_SLOT_MOVING)
 * has a twin, a pending slot of Maar's own that holds the new range until the move ends. Then the
 * two slots either exchange their homes or keep them, and the twin ends.
 *
 * A free of an allocation that moves only makes the bytes pending, since the device may still copy
 * them. Two parties need the bytes: the free, which may wait for points, and the owner of the move.
 * The first of them that needs the bytes no longer clears the bit in the key, and the second one,
 * which finds it cleared, ends the slot.
 */
#ifndef MAAR_CORE_MEMORY_MOVING_SLOT_H
#define MAAR_CORE_MEMORY_MOVING_SLOT_H

#include "core/memory/slot_home.h"

/* ---- for the free of an allocation that moves ---- */

/* Frees a slot that was claimed while it moved. No lock may be held. */
void maar_slot_free_moving(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);

/* ---- for the owner of a move; no lock may be held ---- */

/* Makes a live slot move. Returns false if it moves already, or if its handle was freed. */
bool maar_slot_begin_move(struct maar_slot* slot, uint64_t handle);
/* Makes an allocation of Maar's own a twin: the handle becomes invalid, and its bytes are pending
 * without ever having been live. */
void maar_slot_make_twin(MaarAllocator allocator, MaarAllocation allocation);
/* Ends a twin. */
void maar_twin_end(MaarAllocator allocator, uint32_t index);

/* What a move finds when it ends. */
enum maar_move_end {
    MAAR_MOVE_DONE,
    MAAR_MOVE_MAPPED, /* the allocation is mapped, and stays where it is */
    /* The allocation was freed. Call maar_slot_settle when the device uses its bytes no longer. */
    MAAR_MOVE_FREED
};
/* Ends the move of a slot: exchanges its home with that of its twin, unless the slot is mapped or
 * was freed. The epoch of the handle has a place. */
enum maar_move_end maar_slot_end_move(MaarAllocator allocator, uint64_t handle, uint32_t twin);
/* Ends the move of a slot that stays where it is. Returns false if the allocation was freed: see
 * MAAR_MOVE_FREED. */
bool maar_slot_abandon_move(struct maar_slot* slot, uint64_t handle);
/* Settles a slot that was freed while it moved. */
void maar_slot_settle(MaarAllocator allocator, uint32_t index);

#endif
