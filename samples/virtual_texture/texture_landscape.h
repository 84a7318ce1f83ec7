/*
 * The contents of the texture: a map of a fictional country with a grid, a name for each square,
 * and coordinates, computed texel by texel. A coarser level is computed directly at its size and is
 * not an average of the finer level. Therefore any box of any level can be computed without the
 * others.
 *
 * No state; safe from any thread. The same arguments give the same bytes.
 */
#ifndef MAAR_SAMPLE_TEXTURE_LANDSCAPE_H
#define MAAR_SAMPLE_TEXTURE_LANDSCAPE_H

#include <stddef.h>
#include <stdint.h>

/* A box of one level. */
struct texture_box {
    uint32_t level;
    uint32_t x, y; /* texels */
    uint32_t width, height;
};

/* Writes the texels of a box, four bytes each, red first. `size` is the number of texels of level 0
 * in x and in y, a power of two from 256 on. `pitch` is the distance in bytes between rows. */
void texture_landscape_fill(uint32_t size, const struct texture_box* box, uint8_t* texels,
                            size_t pitch);

#endif
