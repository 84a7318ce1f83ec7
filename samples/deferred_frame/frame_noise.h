/*
 * Noise for the shape of the ground and for the scene's only texture.
 */
#ifndef MAAR_SAMPLE_FRAME_NOISE_H
#define MAAR_SAMPLE_FRAME_NOISE_H

#include <stdint.h>

/* Returns smooth noise in [0, 1] that repeats every `period` units, a power of two. Octaves add
 * detail. */
float frame_noise(float x, float y, uint32_t period, uint32_t octaves);

/* The texels of a side of the texture, and the number of its sizes. */
#define FRAME_NOISE_SIZE 512u
#define FRAME_NOISE_LEVELS 10u

/* Returns the bytes of all sizes. */
uint32_t frame_noise_bytes(void);

/* Fills in all sizes in sequence. The four channels are broad noise, fine noise, and the slope of
 * the fine noise in two directions.
 */
void frame_noise_fill(uint8_t* texels);

#endif
