/*
 * What the fuzz targets share: numbers and texts drawn from the fuzzer's bytes, and a condition
 * that stops the program in the midst of it, so that libFuzzer keeps the input.
 *
 * When the bytes run out every number is 0 and every text is empty; a loop asks fuzz_is_dry.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_INPUT_H
#define MAAR_TESTS_FUZZ_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A target. libFuzzer calls it, or fuzz_replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

struct fuzz_input {
    const uint8_t* at;
    size_t left;
};

static inline bool fuzz_is_dry(const struct fuzz_input* input)
{
    return input->left == 0;
}

static inline uint8_t fuzz_byte(struct fuzz_input* input)
{
    if (input->left == 0) {
        return 0;
    }
    input->left -= 1;
    return *input->at++;
}

/* 0 .. limit - 1, out of as many bytes as that takes; limit >= 1. */
static inline uint64_t fuzz_below(struct fuzz_input* input, uint64_t limit)
{
    uint64_t number = 0;
    for (uint64_t most = limit - 1; most != 0; most >>= 8) {
        number = number << 8 | fuzz_byte(input);
    }
    return number % limit;
}

/* Up to 2^bits - 1, small ones as likely as large ones; bits at most 64. */
static inline uint64_t fuzz_scaled(struct fuzz_input* input, uint32_t bits)
{
    const uint64_t width = fuzz_below(input, (uint64_t)bits + 1);
    uint64_t number = 0;
    for (uint64_t got = 0; got < width; got += 8) {
        number = number << 8 | fuzz_byte(input);
    }
    return width == 0 ? 0 : number & (UINT64_MAX >> (64 - width));
}

/* Fills text with up to room - 1 of the bytes, a zero behind them. Never zeros among them. */
static inline const char* fuzz_text(struct fuzz_input* input, char* text, size_t room)
{
    const size_t length = (size_t)fuzz_below(input, room);
    size_t got = 0;
    while (got < length && input->left != 0 && *input->at != 0) {
        text[got++] = (char)fuzz_byte(input);
    }
    if (got < length) {
        (void)fuzz_byte(input);
    }
    text[got] = '\0';
    return text;
}

/* Stops the program when what must hold does not. */
#define fuzz_require(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
