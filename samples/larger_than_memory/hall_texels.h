/*
 * The texels of the hall's textures.
 */
#ifndef MAAR_SAMPLE_HALL_TEXELS_H
#define MAAR_SAMPLE_HALL_TEXELS_H

#include <stdint.h>

/* Returns the number of mip levels of a texture, and the bytes of all of them. */
uint32_t hall_texels_levels(uint32_t side);
uint64_t hall_texels_size(uint32_t side);

/* Writes all levels of a texture, the largest first, four bytes a texel. */
void hall_texels_fill(uint32_t texture, uint32_t side, uint8_t* texels);

#endif
