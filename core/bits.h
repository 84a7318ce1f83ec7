/*
 * Arithmetic on powers of two and on multiples, in 64 bits.
 */
#ifndef MAAR_CORE_BITS_H
#define MAAR_CORE_BITS_H

#include "core/check.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns whether at most one bit is set. */
static inline bool maar_is_power_of_two_or_zero(uint64_t value)
{
    return (value & (value - 1)) == 0;
}

static inline bool maar_is_power_of_two(uint64_t value)
{
    return value != 0 && maar_is_power_of_two_or_zero(value);
}

/* Returns the index of the highest bit, which is the logarithm rounded down. value is not 0. */
static inline uint32_t maar_top_bit(uint64_t value)
{
    MAAR_DEBUG_ASSERT(value != 0);
#if defined(__GNUC__)
    return 63u ^ (uint32_t)__builtin_clzll(value);
#else
    uint32_t bit = 0;
    for (uint32_t step = 32; step != 0; step >>= 1) {
        if (value >> step != 0) {
            value >>= step;
            bit += step;
        }
    }
    return bit;
#endif
}

/* Returns the index of the lowest bit. value is not 0. */
static inline uint32_t maar_low_bit(uint64_t value)
{
    MAAR_DEBUG_ASSERT(value != 0);
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(value);
#else
    return maar_top_bit(value & (~value + 1));
#endif
}

/* Lists the numbers of the bits that are set, and returns how many they are. */
static inline uint32_t maar_list_bits(uint32_t bits, uint32_t numbers[32])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 32; ++i) {
        if ((bits & (1u << i)) != 0) {
            numbers[count++] = i;
        }
    }
    return count;
}

/* Returns the lowest multiple of alignment at or above value. alignment is not 0 and need not be a
 * power of two. The multiple is below 2^64. */
static inline uint64_t maar_align_up(uint64_t value, uint64_t alignment)
{
    MAAR_DEBUG_ASSERT(alignment != 0);
    if (maar_is_power_of_two_or_zero(alignment)) {
        return (value + alignment - 1) & ~(alignment - 1);
    }
    const uint64_t rest = value % alignment;
    return rest == 0 ? value : value + (alignment - rest);
}

/* Returns the greatest common divisor. The divisor of 0 and a number is that number. */
static inline uint64_t maar_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Returns the least common multiple, or 0 when it is above limit. An argument of 0 counts as 1. */
static inline uint64_t maar_common_multiple(uint64_t a, uint64_t b, uint64_t limit)
{
    if (maar_is_power_of_two_or_zero(a) && maar_is_power_of_two_or_zero(b) && (a | b) != 0) {
        const uint64_t larger = a > b ? a : b;
        return larger <= limit ? larger : 0;
    }
    a = a != 0 ? a : 1;
    b = b != 0 ? b : 1;
    const uint64_t factor = a / maar_common_divisor(a, b);
    return factor > limit / b ? 0 : factor * b;
}

#endif
