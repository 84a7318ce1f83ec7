/*
 * Keys of slots. A key counts the uses of its slot, and is odd while an allocation uses the slot. A
 * handle contains the key. The highest bit is set while the allocation moves (moving_slot.h): a
 * thread that frees it without knowing that does not succeed, so the common path of a free need not
 * ask.
 *
 * A claim ends the use of a slot for one caller alone. All functions may be called by any thread.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_KEY_H
#define MAAR_CORE_MEMORY_SLOT_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/port_atomic.h"

/* A bit of a key: the allocation of the slot moves. No handle has it. A key that reaches it by
 * counting is used up. */
#define MAAR_SLOT_MOVING 0x80000000u

/* What a claim finds. */
enum maar_claim {
    MAAR_CLAIM_LOST, /* another thread has claimed the slot */
    MAAR_CLAIMED,
    MAAR_CLAIMED_MOVING /* the slot moves: it ends by maar_slot_free_moving */
};

/* Returns a key without the bit of a move. */
static inline uint32_t maar_key_read(const maar_atomic32* key)
{
    return maar_atomic32_load_acquire(key) & ~MAAR_SLOT_MOVING;
}

/* Replaces a key by another one. Returns false when it is not the expected one. */
static inline bool maar_key_turn(maar_atomic32* key, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&key->value, &from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

/* Claims a slot that does not move. Returns false if it moves or was claimed. */
static inline bool maar_key_claim(maar_atomic32* key, uint32_t wanted)
{
    return maar_key_turn(key, wanted, wanted + 1u);
}

/* Claims a slot, whether it moves or not. */
static inline enum maar_claim maar_key_claim_moving(maar_atomic32* key, uint32_t wanted)
{
    /* The slot may begin to move, or cease to, between two attempts. */
    do {
        if (maar_key_claim(key, wanted)) {
            return MAAR_CLAIMED;
        }
        if (maar_key_turn(key, wanted | MAAR_SLOT_MOVING, (wanted + 1u) | MAAR_SLOT_MOVING)) {
            return MAAR_CLAIMED_MOVING;
        }
    } while (maar_key_read(key) == wanted);
    return MAAR_CLAIM_LOST;
}

/* Of a slot that was claimed while it moved: clears the bit of the move. Returns false if it was
 * cleared before. The lock of the slot's arena is held. */
static inline bool maar_key_leave_move(maar_atomic32* key)
{
    const uint32_t value = maar_atomic32_load(key);
    const bool is_first = (value & MAAR_SLOT_MOVING) != 0;
    if (is_first) {
        maar_atomic32_store_release(key, value & ~MAAR_SLOT_MOVING);
    }
    return is_first;
}

#endif
