/*
 * Bytes of the kinds that programs keep in device memory, made from a number.
 */
#ifndef MAAR_SUPPORT_SAMPLE_BYTES_H
#define MAAR_SUPPORT_SAMPLE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum sample_kind {
    SAMPLE_ZERO,
    SAMPLE_PATTERN,
    SAMPLE_RANDOM,
    SAMPLE_BF16, /* weights: normal distribution */
    SAMPLE_FP32,
    SAMPLE_TEXT,
    SAMPLE_INDICES, /* of vertices, 4 bytes each */
    SAMPLE_PAGES,   /* three of four pages of 4 KiB are zero */
    SAMPLE_Q4,      /* blocks of a number of 2 bytes and 32 random weights of 4 bits */
    SAMPLE_PERIOD,  /* random bytes that come again after 1,000 */
    SAMPLE_KINDS
};

static inline uint64_t sample_next(uint64_t* state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

/* Returns a number of a distribution that is nearly normal. */
static inline float sample_normal(uint64_t* state)
{
    float sum = 0.0F;
    for (uint32_t i = 0; i < 12; ++i) {
        sum += (float)(sample_next(state) >> 40) / (float)(1 << 24) - 0.5F;
    }
    return sum * 0.02F;
}

static inline void sample_put(uint8_t* bytes, size_t size, size_t at, const void* word,
                              size_t word_size)
{
    memcpy(bytes + at, word, size - at < word_size ? size - at : word_size);
}

static inline size_t sample_words(uint64_t* state, uint8_t* bytes, size_t size, size_t at)
{
    static const char* const words[] = {"memory ", "block ",  "the ", "of ", "pool ",
                                        "heap ",   "device ", "a ",   "is ", "point "};
    const char* word = words[sample_next(state) % 10];
    sample_put(bytes, size, at, word, strlen(word));
    return strlen(word);
}

static inline void sample_fill(enum sample_kind kind, uint64_t seed, uint8_t* bytes, size_t size)
{
    uint64_t state = seed * 2 + 1;
    for (size_t at = 0; at < size;) {
        uint64_t word = sample_next(&state);
        size_t step = 8;
        if (kind == SAMPLE_ZERO || (kind == SAMPLE_PAGES && at / 4096 % 4 != 0)) {
            word = 0;
        } else if (kind == SAMPLE_PATTERN) {
            word = 0x0123456789ABCDEFull;
        } else if (kind == SAMPLE_BF16 || kind == SAMPLE_FP32) {
            const float number = sample_normal(&state);
            uint32_t bits = 0;
            memcpy(&bits, &number, sizeof bits);
            bits ^= (uint32_t)word & 0xFFF; /* the sum is coarser than a float */
            step = kind == SAMPLE_FP32 ? 4 : 2;
            word = kind == SAMPLE_FP32 ? bits : bits >> 16;
        } else if (kind == SAMPLE_INDICES) {
            word = at / 16 + word % 8;
            step = 4;
        } else if (kind == SAMPLE_Q4 && at % 18 == 0) {
            word = 0x2C00 + word % 0x800; /* fp16, about 0.1 */
            step = 2;
        } else if (kind == SAMPLE_PERIOD && at >= 1000) {
            memcpy(&word, bytes + at - 1000, sizeof word);
        }
        if (kind == SAMPLE_TEXT) {
            at += sample_words(&state, bytes, size, at);
        } else {
            sample_put(bytes, size, at, &word, step);
            at += step;
        }
    }
}

#endif
