/*
 * The 32 bits of a VmaAllocation where a pointer has no more. A handle of Maar has 64: a number,
 * and how often the number was used before. The number is below 2^30. Nearly all numbers are below
 * 2^22, since 4 million allocations would fill a process of 32 bits. These leave room for the
 * lowest 8 bits of the count of uses, so that a freed allocation is distinguished from the next 255
 * of its number. Larger numbers have no count.
 */
#ifndef MAAR_VMA_NUMBER_H
#define MAAR_VMA_NUMBER_H

#include <stdint.h>

enum {
    MAAR_VMA_NUMBER_BIT = 1, /* no address has this bit */
    MAAR_VMA_WIDE_BIT = 2,   /* the number has no count */
    MAAR_VMA_NUMBER_SHIFT = 2,
    MAAR_VMA_USES_SHIFT = 24,
    MAAR_VMA_USES_MASK = 0xFF,
    MAAR_VMA_NARROW_NUMBERS = 1 << (MAAR_VMA_USES_SHIFT - MAAR_VMA_NUMBER_SHIFT)
};

/* Returns the lowest bits of the count of uses in a handle. Its lowest bit is set in any handle. */
static inline uint32_t maar_vma_uses(uint64_t handle)
{
    return (uint32_t)(handle >> 33) & MAAR_VMA_USES_MASK;
}

/* Returns the bits for a handle that is not null. */
static inline uint32_t maar_vma_pack(uint64_t handle)
{
    const uint32_t number = (uint32_t)handle;
    const uint32_t bits = number << MAAR_VMA_NUMBER_SHIFT | MAAR_VMA_NUMBER_BIT;
    return number < MAAR_VMA_NARROW_NUMBERS ? bits | maar_vma_uses(handle) << MAAR_VMA_USES_SHIFT
                                            : bits | MAAR_VMA_WIDE_BIT;
}

/* Returns the number in some bits. */
static inline uint32_t maar_vma_packed_number(uint32_t bits)
{
    const uint32_t number = bits >> MAAR_VMA_NUMBER_SHIFT;
    return (bits & MAAR_VMA_WIDE_BIT) != 0 ? number : number & (MAAR_VMA_NARROW_NUMBERS - 1);
}

/* Returns the handle of some bits. found: the one that lives under their number, or 0. What is
 * stale becomes a handle that Maar knows as a stale one, and reports. */
static inline uint64_t maar_vma_unpack(uint32_t bits, uint64_t found)
{
    const uint64_t uses = bits >> MAAR_VMA_USES_SHIFT;
    if (found == 0) {
        return (uint64_t)1 << 32 | maar_vma_packed_number(bits);
    }
    if ((bits & MAAR_VMA_WIDE_BIT) != 0) {
        return found;
    }
    return found - ((((uint64_t)maar_vma_uses(found) - uses) & MAAR_VMA_USES_MASK) << 33);
}

#endif
