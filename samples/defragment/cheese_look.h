/*
 * What planets look like: the texels of their images and the heights of their buffers. The same
 * number gives the same planet.
 */
#ifndef MAAR_SAMPLE_CHEESE_LOOK_H
#define MAAR_SAMPLE_CHEESE_LOOK_H

#include <stdint.h>

/* Returns the levels of an image, and the bytes of all its levels, which lie one after another. */
uint32_t cheese_look_levels(uint32_t size);
uint32_t cheese_look_bytes(uint32_t size);

/* Fills in the texels of all levels, four bytes each. */
void cheese_look_texels(uint32_t number, uint32_t size, uint8_t* texels);

/* Fills in grid x grid heights. */
void cheese_look_heights(uint32_t number, uint32_t grid, float* heights);

/* Fills in the colour of the air. */
void cheese_look_air(uint32_t number, float air[3]);

#endif
