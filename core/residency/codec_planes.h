/*
 * The chunks of packed bytes: which form compresses best, and how bytes are brought into that form
 * and back.
 *
 * Numbers compress badly as they are, because their bytes with much structure (exponents) stand
 * between bytes with none (mantissas). Byte planes put the first bytes of all numbers together,
 * then the second ones, and so on. Floating-point numbers are rotated by one bit before, so that
 * the exponent of bf16 and fp32 fills one byte and its sign joins the mantissa.
 */
#ifndef MAAR_CORE_RESIDENCY_CODEC_PLANES_H
#define MAAR_CORE_RESIDENCY_CODEC_PLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum maar_codec_form {
    MAAR_CODEC_AS_IS,
    MAAR_CODEC_PLANES_2_ROTATED,
    MAAR_CODEC_PLANES_2,
    MAAR_CODEC_PLANES_4_ROTATED,
    MAAR_CODEC_PLANES_4,
    MAAR_CODEC_FORMS
};

/* What a sample says of a chunk. */
struct maar_codec_guess {
    enum maar_codec_form form;
    uint32_t size; /* of the chunk in this form, compressed */
    /* Bits: planes that a compressor will not shrink. With all bits of the form set the chunk is
     * kept as it is. */
    uint32_t raw_planes;
};

/* Bytes of memory for the counts of a sample. */
#define MAAR_CODEC_COUNTS_SIZE ((size_t)10 * 256 * sizeof(uint16_t) + 1024 * sizeof(uint32_t))

/* Returns how many planes a form has: 1 for MAAR_CODEC_AS_IS. */
static inline uint32_t maar_codec_plane_count(enum maar_codec_form form)
{
    return form == MAAR_CODEC_AS_IS ? 1 : form <= MAAR_CODEC_PLANES_2 ? 2 : 4;
}

/* Samples a chunk of 1 to 65536 bytes. counts: memory of MAAR_CODEC_COUNTS_SIZE, aligned to 4. */
struct maar_codec_guess maar_codec_sample(void* counts, const uint8_t* bytes, uint32_t size);

/* Samples bytes. Returns whether parts of them, of 8 bytes or more, come again. counts as for
 * maar_codec_sample. */
bool maar_codec_repeats(void* counts, const uint8_t* bytes, uint32_t size);

/* Brings bytes into the planes of a form, and back. size is a multiple of 4, and the form is not
 * MAAR_CODEC_AS_IS. */
void maar_codec_divide(enum maar_codec_form form, const uint8_t* bytes, uint32_t size,
                       uint8_t* planes);
void maar_codec_join(enum maar_codec_form form, const uint8_t* planes, uint32_t size,
                     uint8_t* bytes);

#endif
