/*
 * XXH64: four sums over the words of 8 bytes, which are independent and so run side by side in a
 * processor, and a mixture of all of them. It takes about as long as reading the bytes.
 */
#include "core/residency/checksum.h"

#include <string.h>

#define PRIME_1 0x9E3779B185EBCA87ull
#define PRIME_2 0xC2B2AE3D27D4EB4Full
#define PRIME_3 0x165667B19E3779F9ull
#define PRIME_4 0x85EBCA77C2B2AE63ull
#define PRIME_5 0x27D4EB2F165667C5ull

enum { SUM_COUNT = 4, STRIPE = 32 };

static uint64_t rotate_left(uint64_t value, uint32_t bits)
{
    return value << bits | value >> (64 - bits);
}

/* Return a number, its lowest byte first. Compilers make one load of each. */
static uint64_t half_at(const uint8_t* bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24;
}

static uint64_t word_at(const uint8_t* bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static uint64_t add_word(uint64_t sum, uint64_t word)
{
    return rotate_left(sum + word * PRIME_2, 31) * PRIME_1;
}

/* Sums all whole stripes. Returns the mixture of the sums, and sets *bytes behind them. */
static uint64_t sum_stripes(const uint8_t** bytes, size_t size)
{
    uint64_t sums[SUM_COUNT] = {PRIME_1 + PRIME_2, PRIME_2, 0, 0 - PRIME_1};
    const uint8_t* at = *bytes;
    for (size_t left = size; left >= STRIPE; left -= STRIPE, at += STRIPE) {
        sums[0] = add_word(sums[0], word_at(at));
        sums[1] = add_word(sums[1], word_at(at + 8));
        sums[2] = add_word(sums[2], word_at(at + 16));
        sums[3] = add_word(sums[3], word_at(at + 24));
    }
    *bytes = at;
    uint64_t mixed = rotate_left(sums[0], 1) + rotate_left(sums[1], 7) + rotate_left(sums[2], 12) +
                     rotate_left(sums[3], 18);
    for (uint32_t i = 0; i < SUM_COUNT; ++i) {
        mixed = (mixed ^ add_word(0, sums[i])) * PRIME_1 + PRIME_4;
    }
    return mixed;
}

uint64_t maar_checksum(const void* bytes, size_t size)
{
    const uint8_t* at = bytes;
    uint64_t sum = size >= STRIPE ? sum_stripes(&at, size) : PRIME_5;
    size_t left = size % STRIPE;
    sum += size;
    for (; left >= 8; left -= 8, at += 8) {
        sum = rotate_left(sum ^ add_word(0, word_at(at)), 27) * PRIME_1 + PRIME_4;
    }
    if (left >= 4) {
        sum = rotate_left(sum ^ half_at(at) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        at += 4;
        left -= 4;
    }
    for (; left != 0; --left, ++at) {
        sum = rotate_left(sum ^ *at * PRIME_5, 11) * PRIME_1;
    }
    sum = (sum ^ sum >> 33) * PRIME_2;
    sum = (sum ^ sum >> 29) * PRIME_3;
    return sum ^ sum >> 32;
}
