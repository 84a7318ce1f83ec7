/*
 * Atomic counters and pointers. Operations are relaxed, which is enough for counting. Those with
 * another memory order say so.
 */
#ifndef MAAR_CORE_PORT_ATOMIC_H
#define MAAR_CORE_PORT_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    _Atomic uint64_t value;
} maar_atomic64;

typedef struct {
    _Atomic uint32_t value;
} maar_atomic32;

static inline uint64_t maar_atomic64_load(const maar_atomic64* counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

static inline void maar_atomic64_store(maar_atomic64* counter, uint64_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}

/* Returns the value after the addition. */
static inline uint64_t maar_atomic64_add(maar_atomic64* counter, uint64_t value)
{
    return atomic_fetch_add_explicit(&counter->value, value, memory_order_relaxed) + value;
}

static inline uint64_t maar_atomic64_sub(maar_atomic64* counter, uint64_t value)
{
    return atomic_fetch_sub_explicit(&counter->value, value, memory_order_relaxed) - value;
}

static inline void maar_atomic64_max(maar_atomic64* counter, uint64_t value)
{
    uint64_t old = atomic_load_explicit(&counter->value, memory_order_relaxed);
    while (old < value &&
           !atomic_compare_exchange_weak_explicit(&counter->value, &old, value,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Stores value if the word still has the value *old. Otherwise sets *old to the present value.
 * Returns whether it stored. It may fail without a reason, so callers repeat it in a loop. */
static inline bool maar_atomic64_replace(maar_atomic64* word, uint64_t* old, uint64_t value)
{
    return atomic_compare_exchange_weak_explicit(&word->value, old, value, memory_order_relaxed,
                                                 memory_order_relaxed);
}

/* Adds unless the sum would exceed the limit; returns whether it did. */
static inline bool maar_atomic64_add_below(maar_atomic64* counter, uint64_t value, uint64_t limit)
{
    uint64_t old = atomic_load_explicit(&counter->value, memory_order_relaxed);
    do {
        if (value > limit || old > limit - value) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&counter->value, &old, old + value,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static inline uint32_t maar_atomic32_load(const maar_atomic32* counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

static inline void maar_atomic32_store(maar_atomic32* counter, uint32_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}

/* Adds unless the sum would exceed the limit; returns whether it did. */
static inline bool maar_atomic32_add_below(maar_atomic32* counter, uint32_t value, uint32_t limit)
{
    uint32_t old = atomic_load_explicit(&counter->value, memory_order_relaxed);
    do {
        if (value > limit || old > limit - value) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&counter->value, &old, old + value,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

/* Subtracts 1 unless the result would be below the floor. Returns whether it did. */
static inline bool maar_atomic32_take_above(maar_atomic32* counter, uint32_t floor)
{
    uint32_t old = atomic_load_explicit(&counter->value, memory_order_relaxed);
    do {
        if (old <= floor) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&counter->value, &old, old - 1u,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

/* Returns the value after the addition. To subtract, pass the two's complement of the number. */
static inline uint32_t maar_atomic32_add(maar_atomic32* counter, uint32_t value)
{
    return atomic_fetch_add_explicit(&counter->value, value, memory_order_relaxed) + value;
}

/* Stores value if the word is 0. Returns whether it did. */
static inline bool maar_atomic32_claim(maar_atomic32* word, uint32_t value)
{
    uint32_t old = 0;
    return atomic_compare_exchange_strong_explicit(&word->value, &old, value, memory_order_relaxed,
                                                   memory_order_relaxed);
}

static inline bool maar_atomic64_claim(maar_atomic64* word, uint64_t value)
{
    uint64_t old = 0;
    return atomic_compare_exchange_strong_explicit(&word->value, &old, value, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* These have acquire or release order. A thread that reads the stored value also sees what was
 * written before it was stored. */
static inline uint32_t maar_atomic32_load_acquire(const maar_atomic32* counter)
{
    return atomic_load_explicit(&counter->value, memory_order_acquire);
}

static inline void maar_atomic32_store_release(maar_atomic32* counter, uint32_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_release);
}

static inline uint64_t maar_atomic64_load_acquire(const maar_atomic64* counter)
{
    return atomic_load_explicit(&counter->value, memory_order_acquire);
}

static inline void maar_atomic64_store_release(maar_atomic64* counter, uint64_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_release);
}

/* Adds 1 with acquire and release order, and returns the result. The thread that gets the full
 * count sees all that the others wrote. */
static inline uint32_t maar_atomic32_count(maar_atomic32* counter)
{
    return atomic_fetch_add_explicit(&counter->value, 1, memory_order_acq_rel) + 1u;
}

/* Subtracts 1 with acquire and release order, and returns the result. The thread that gets 0 was
 * the last owner, and sees all that the other owners wrote. */
static inline uint32_t maar_atomic32_drop(maar_atomic32* counter)
{
    return atomic_fetch_sub_explicit(&counter->value, 1, memory_order_acq_rel) - 1u;
}

/* Changes 0 to 1, with acquire order. Returns false if the word was not 0. */
static inline bool maar_atomic32_take(maar_atomic32* word)
{
    uint32_t old = 0;
    return atomic_compare_exchange_strong_explicit(&word->value, &old, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* Changes the word from one value to another, with acquire and release order. Returns false if the
 * word had a third value. */
static inline bool maar_atomic32_turn(maar_atomic32* word, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&word->value, &from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

/* Inverts bits with acquire and release order. Returns the old value. */
static inline uint32_t maar_atomic32_flip(maar_atomic32* word, uint32_t bits)
{
    return atomic_fetch_xor_explicit(&word->value, bits, memory_order_acq_rel);
}

/* These are sequentially consistent: of two threads that each write one word and then read the
 * other's, at least one sees what the other has written. */
static inline uint32_t maar_atomic32_load_ordered(const maar_atomic32* word)
{
    return atomic_load_explicit(&word->value, memory_order_seq_cst);
}

static inline void maar_atomic32_store_ordered(maar_atomic32* word, uint32_t value)
{
    atomic_store_explicit(&word->value, value, memory_order_seq_cst);
}

static inline uint32_t maar_atomic32_exchange_ordered(maar_atomic32* word, uint32_t value)
{
    return atomic_exchange_explicit(&word->value, value, memory_order_seq_cst);
}

/* Changes the word from one value to another. Returns false if the word had a third value. */
static inline bool maar_atomic32_turn_ordered(maar_atomic32* word, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&word->value, &from, to, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

/* Stores value with acquire and release order. Returns the old value. */
static inline uint32_t maar_atomic32_exchange(maar_atomic32* word, uint32_t value)
{
    return atomic_exchange_explicit(&word->value, value, memory_order_acq_rel);
}

static inline uint64_t maar_atomic64_exchange(maar_atomic64* word, uint64_t value)
{
    return atomic_exchange_explicit(&word->value, value, memory_order_acq_rel);
}

/* Pointers that are stored once their target is complete. */
typedef struct {
    _Atomic(void*) value;
} maar_atomic_pointer;

static inline void* maar_atomic_pointer_load(const maar_atomic_pointer* pointer)
{
    return atomic_load_explicit(&pointer->value, memory_order_acquire);
}

static inline void maar_atomic_pointer_store(maar_atomic_pointer* pointer, void* value)
{
    atomic_store_explicit(&pointer->value, value, memory_order_release);
}

/* Stores value with acquire and release order. Returns the old value. */
static inline void* maar_atomic_pointer_exchange(maar_atomic_pointer* pointer, void* value)
{
    return atomic_exchange_explicit(&pointer->value, value, memory_order_acq_rel);
}

/* Does what maar_atomic64_replace does, with acquire and release order. */
static inline bool maar_atomic_pointer_replace(maar_atomic_pointer* pointer, void** old,
                                               void* value)
{
    return atomic_compare_exchange_weak_explicit(&pointer->value, old, value, memory_order_acq_rel,
                                                 memory_order_acquire);
}

#endif
