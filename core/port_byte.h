/*
 * Atomic bytes, for marks that one thread sets while another one reads them. Operations are
 * relaxed.
 */
#ifndef MAAR_CORE_PORT_BYTE_H
#define MAAR_CORE_PORT_BYTE_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct {
    _Atomic uint8_t value;
} maar_atomic8;

static inline uint8_t maar_atomic8_load(const maar_atomic8* word)
{
    return atomic_load_explicit(&word->value, memory_order_relaxed);
}

static inline void maar_atomic8_store(maar_atomic8* word, uint8_t value)
{
    atomic_store_explicit(&word->value, value, memory_order_relaxed);
}

#endif
