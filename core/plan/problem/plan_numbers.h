/*
 * Bit sets, random numbers and saturated sums.
 */
#ifndef MAAR_CORE_PLAN_PROBLEM_PLAN_NUMBERS_H
#define MAAR_CORE_PLAN_PROBLEM_PLAN_NUMBERS_H

#include "core/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of bits in one word of a set. */
enum { MAAR_PLAN_WORD_BITS = 64 };

/* Returns the number of words in a set of bits. */
static inline size_t maar_plan_words(size_t bits)
{
    return (bits + MAAR_PLAN_WORD_BITS - 1) / MAAR_PLAN_WORD_BITS;
}

/* Returns whether a bit is in a set. */
static inline bool maar_plan_has(const uint64_t* set, uint32_t bit)
{
    return (set[bit / 64] >> (bit % 64) & 1) != 0;
}

/* Adds a bit to a set. */
static inline void maar_plan_put(uint64_t* set, uint32_t bit)
{
    set[bit / 64] |= (uint64_t)1 << (bit % 64);
}

/* Draws 31 random bits by xorshift64* (Vigna, 2014). The state is never 0. */
static inline uint64_t maar_plan_draw(uint64_t* state)
{
    MAAR_DEBUG_ASSERT(*state != 0);
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545F4914F6CDD1Du) >> 33;
}

/* Returns the sum of two numbers, or UINT64_MAX if the sum is larger. */
static inline uint64_t maar_plan_add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
