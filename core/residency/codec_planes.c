/*
 * Forms of chunks: see codec_planes.h.
 */
#include "core/residency/codec_planes.h"

#include "core/bits.h"
#include "core/check.h"

#include <string.h>

enum {
    /* A sample has so many pieces of so many bytes: 2 KiB of 64 KiB, which distinguish a byte with
     * all of its entropy from one that has lost a quarter of a bit. */
    PIECES = 8,
    PIECE_BYTES = 256,
    SAMPLE_BYTES = PIECES * PIECE_BYTES,
    /* Where the planes' counts begin, in planes: 4 of bytes as they are, 2 of rotated words of 2
     * bytes, 4 of rotated words of 4 bytes. */
    HALVES_AT = 4,
    WORDS_AT = 6,
    PLANES_COUNTED = 10,
    SEEN_WORDS = 1024,
    /* Bits, in parts of 256: a plane whose bytes have more entropy is not compressed. 7.7 bits of
     * 8 is what a sample can distinguish from 8. */
    MOST_ENTROPY = 1971,
    FULL_ENTROPY = 2048,
    /* A form with planes must promise so many parts of 64 less than the chunk as it is, because
     * only neighbours show repetitions. */
    PLANES_GAIN = 3,
    /* Two samples of one kind of bytes differ by less than one of so many parts of the chunk. A
     * later form, whose planes are more or not rotated, must promise more than that. */
    NOISE_PART = 128,
    /* If one of so many words of 8 bytes was seen before in the sample, repetitions count more than
     * entropy. */
    REPEATED_PART = 4
};

struct codec_counts {
    uint16_t planes[PLANES_COUNTED][256];
    uint32_t seen[SEEN_WORDS];
};

_Static_assert(sizeof(struct codec_counts) == MAAR_CODEC_COUNTS_SIZE, "see codec_planes.h");

static uint32_t rotate_word(uint32_t word)
{
    return word << 1 | word >> 31;
}

static uint16_t rotate_half(uint32_t half)
{
    return (uint16_t)(half << 1 | half >> 15);
}

/* Counts the bytes of a piece, a multiple of 4. Returns how many of its words of 8 bytes were seen
 * before. */
static uint32_t count_piece(struct codec_counts* counts, const uint8_t* bytes, uint32_t size)
{
    uint32_t repeated = 0;
    uint32_t before = 0;
    for (uint32_t i = 0; i + 4 <= size; i += 4) {
        uint32_t word = 0;
        memcpy(&word, bytes + i, sizeof word);
        const uint32_t rotated = rotate_word(word);
        for (uint32_t k = 0; k < 4; ++k) {
            ++counts->planes[k][word >> 8 * k & 0xFF];
            ++counts->planes[WORDS_AT + k][rotated >> 8 * k & 0xFF];
        }
        const uint32_t low = rotate_half(word & 0xFFFF);
        const uint32_t high = rotate_half(word >> 16);
        ++counts->planes[HALVES_AT][low & 0xFF];
        ++counts->planes[HALVES_AT][high & 0xFF];
        ++counts->planes[HALVES_AT + 1][low >> 8];
        ++counts->planes[HALVES_AT + 1][high >> 8];
        if ((i & 4) != 0) {
            const uint32_t mixed = word * 0x9E3779B1u ^ before * 0x85EBCA77u;
            uint32_t* seen = &counts->seen[mixed >> 22];
            repeated += *seen == (mixed | 1) ? 1 : 0;
            *seen = mixed | 1;
        }
        before = word;
    }
    return repeated;
}

/* Returns the logarithm to base 2 of a number above 0, in parts of 256; at most 2 parts wrong. */
static uint32_t logarithm(uint32_t number)
{
    const uint32_t top = maar_top_bit(number);
    const uint32_t rest = (uint32_t)(((uint64_t)number << 8) >> top) & 0xFF;
    return (top << 8) + rest + (rest * (256 - rest) * 88 >> 16);
}

/* Returns the entropy of one byte, in parts of 256 bits. The counts are of `total` samples; second
 * may be NULL, or more counts. The entropy of few samples is too low by half a nat for each value
 * that occurs, which is corrected (Miller and Madow). */
static uint32_t entropy(const uint16_t* counts, const uint16_t* second, const uint16_t* third,
                        const uint16_t* fourth, uint32_t total)
{
    uint64_t sum = 0;
    uint32_t values = 0;
    for (uint32_t i = 0; i < 256; ++i) {
        const uint32_t count = (uint32_t)counts[i] + (second != NULL ? second[i] : 0u) +
                               (third != NULL ? third[i] : 0u) + (fourth != NULL ? fourth[i] : 0u);
        if (count != 0) {
            sum += (uint64_t)count * logarithm(count);
            ++values;
        }
    }
    const uint32_t plain = logarithm(total) - (uint32_t)(sum / total);
    const uint32_t corrected = plain + (values - 1) * 185 / total;
    return corrected < FULL_ENTROPY ? corrected : FULL_ENTROPY;
}

/* Adds a plane to a form: its share of the chunk is one of plane_count. */
static void promise_plane(struct maar_codec_guess* guess, uint32_t plane, uint32_t bits,
                          uint32_t size)
{
    if (bits > MOST_ENTROPY) {
        guess->raw_planes |= 1u << plane;
        bits = FULL_ENTROPY;
    }
    guess->size += (uint32_t)((uint64_t)size * bits / FULL_ENTROPY);
}

/* Returns what the counts say of a form. */
static struct maar_codec_guess guess_form(const struct codec_counts* counts,
                                          enum maar_codec_form form, uint32_t sampled,
                                          uint32_t size)
{
    struct maar_codec_guess guess = {.form = form};
    const uint16_t(*planes)[256] = (const uint16_t(*)[256])counts->planes;
    const uint32_t count = maar_codec_plane_count(form);
    for (uint32_t k = 0; k < count; ++k) {
        uint32_t bits = 0;
        switch (form) {
        case MAAR_CODEC_PLANES_2:
            bits = entropy(planes[k], planes[k + 2], NULL, NULL, sampled / 2);
            break;
        case MAAR_CODEC_PLANES_2_ROTATED:
            bits = entropy(planes[HALVES_AT + k], NULL, NULL, NULL, sampled / 2);
            break;
        case MAAR_CODEC_PLANES_4:
            bits = entropy(planes[k], NULL, NULL, NULL, sampled / 4);
            break;
        case MAAR_CODEC_PLANES_4_ROTATED:
            bits = entropy(planes[WORDS_AT + k], NULL, NULL, NULL, sampled / 4);
            break;
        default:
            bits = entropy(planes[0], planes[1], planes[2], planes[3], sampled);
            break;
        }
        promise_plane(&guess, k, bits, size / count);
    }
    return guess;
}

/* Whether so many of the words of 8 bytes came again that repetitions count more than entropy. */
static bool is_repetitive(uint32_t sampled, uint32_t repeated)
{
    return repeated * REPEATED_PART >= sampled / 8;
}

/* Returns the form that promises the fewest bytes. */
static struct maar_codec_guess guess_chunk(const struct codec_counts* counts, uint32_t sampled,
                                           uint32_t repeated, uint32_t size)
{
    struct maar_codec_guess best = guess_form(counts, MAAR_CODEC_AS_IS, sampled, size);
    if (is_repetitive(sampled, repeated)) {
        const uint32_t unseen = size - size / (sampled / 8) * repeated;
        best.size = best.size < unseen ? best.size : unseen;
        best.raw_planes = 0;
        return best;
    }
    uint32_t to_beat = best.size - best.size / 64 * PLANES_GAIN;
    for (uint32_t form = 1; form < MAAR_CODEC_FORMS; ++form) {
        const struct maar_codec_guess guess =
            guess_form(counts, (enum maar_codec_form)form, sampled, size);
        if (guess.size < to_beat) {
            best = guess;
            to_beat = guess.size - size / NOISE_PART;
        }
    }
    return best;
}

/* Counts a sample of bytes. Returns its size, a multiple of 8, which may be 0. */
static uint32_t take_sample(struct codec_counts* counts, const uint8_t* bytes, uint32_t size,
                            uint32_t* repeated)
{
    const uint32_t all = size & ~7u;
    memset(counts, 0, sizeof *counts);
    *repeated = 0;
    if (all <= SAMPLE_BYTES) {
        *repeated = count_piece(counts, bytes, all);
        return all;
    }
    /* Pieces are not at equal distances, so that they differ in their place within rows. */
    const uint32_t step = (size - PIECE_BYTES) / (PIECES - 1);
    for (uint32_t i = 0; i < PIECES; ++i) {
        const uint32_t at = i * step - (i != 0 ? i * 24 % step : 0);
        *repeated += count_piece(counts, bytes + (at & ~7u), PIECE_BYTES);
    }
    return SAMPLE_BYTES;
}

struct maar_codec_guess maar_codec_sample(void* counts, const uint8_t* bytes, uint32_t size)
{
    uint32_t repeated = 0;
    MAAR_DEBUG_ASSERT(size != 0 && size <= 65536);
    const uint32_t sampled = take_sample(counts, bytes, size, &repeated);
    if (sampled == 0) {
        return (struct maar_codec_guess){.size = size, .raw_planes = 1};
    }
    return guess_chunk(counts, sampled, repeated, size);
}

bool maar_codec_repeats(void* counts, const uint8_t* bytes, uint32_t size)
{
    uint32_t repeated = 0;
    const uint32_t sampled = take_sample(counts, bytes, size, &repeated);
    return is_repetitive(sampled, repeated);
}

/* ---- planes ---- */

static void divide_halves(const uint8_t* bytes, uint32_t count, uint32_t turn, uint8_t* planes)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint16_t half = 0;
        memcpy(&half, bytes + (size_t)2 * i, sizeof half);
        const uint32_t turned = (uint32_t)half << turn | (uint32_t)half >> (16 - turn);
        planes[i] = (uint8_t)turned;
        planes[count + i] = (uint8_t)(turned >> 8);
    }
}

static void join_halves(const uint8_t* planes, uint32_t count, uint32_t turn, uint8_t* bytes)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t turned = (uint32_t)planes[i] | (uint32_t)planes[count + i] << 8;
        const uint16_t half = (uint16_t)(turned >> turn | turned << (16 - turn));
        memcpy(bytes + (size_t)2 * i, &half, sizeof half);
    }
}

static void divide_words(const uint8_t* bytes, uint32_t count, bool is_turned, uint8_t* planes)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t word = 0;
        memcpy(&word, bytes + (size_t)4 * i, sizeof word);
        word = is_turned ? rotate_word(word) : word;
        planes[i] = (uint8_t)word;
        planes[count + i] = (uint8_t)(word >> 8);
        planes[2 * count + i] = (uint8_t)(word >> 16);
        planes[3 * count + i] = (uint8_t)(word >> 24);
    }
}

static void join_words(const uint8_t* planes, uint32_t count, bool is_turned, uint8_t* bytes)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t word = (uint32_t)planes[i] | (uint32_t)planes[count + i] << 8 |
                        (uint32_t)planes[2 * count + i] << 16 |
                        (uint32_t)planes[3 * count + i] << 24;
        word = is_turned ? word >> 1 | word << 31 : word;
        memcpy(bytes + (size_t)4 * i, &word, sizeof word);
    }
}

void maar_codec_divide(enum maar_codec_form form, const uint8_t* bytes, uint32_t size,
                       uint8_t* planes)
{
    MAAR_DEBUG_ASSERT(form != MAAR_CODEC_AS_IS && size % 4 == 0);
    if (maar_codec_plane_count(form) == 2) {
        divide_halves(bytes, size / 2, form == MAAR_CODEC_PLANES_2_ROTATED ? 1 : 0, planes);
    } else {
        divide_words(bytes, size / 4, form == MAAR_CODEC_PLANES_4_ROTATED, planes);
    }
}

void maar_codec_join(enum maar_codec_form form, const uint8_t* planes, uint32_t size,
                     uint8_t* bytes)
{
    MAAR_DEBUG_ASSERT(form != MAAR_CODEC_AS_IS && size % 4 == 0);
    if (maar_codec_plane_count(form) == 2) {
        join_halves(planes, size / 2, form == MAAR_CODEC_PLANES_2_ROTATED ? 1 : 0, bytes);
    } else {
        join_words(planes, size / 4, form == MAAR_CODEC_PLANES_4_ROTATED, bytes);
    }
}
