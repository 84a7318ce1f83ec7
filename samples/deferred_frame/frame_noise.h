/*
 * Noise: for the shape of the ground, and as the one texture of the scene.
 */
#ifndef MAAR_SAMPLE_FRAME_NOISE_H
#define MAAR_SAMPLE_FRAME_NOISE_H

#include <stdint.h>

/* Smooth noise in [0, 1] that repeats every `period` units, a power of two; octaves add detail. */
float frame_noise(float x, float y, uint32_t period, uint32_t octaves);

/* Texels of one side of the texture, and how many sizes it has. */
#define FRAME_NOISE_SIZE 512u
#define FRAME_NOISE_LEVELS 10u

/* Bytes of all sizes. */
uint32_t frame_noise_bytes(void);

/* Fills all sizes, one after the other: RGBA, broad noise, fine noise, the slope of the fine one.
 */
void frame_noise_fill(uint8_t* texels);

#endif
