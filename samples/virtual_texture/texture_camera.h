/*
 * The flight over the map.
 */
#ifndef MAAR_SAMPLE_TEXTURE_CAMERA_H
#define MAAR_SAMPLE_TEXTURE_CAMERA_H

#include <stdint.h>

/* The layout is that of the shader's first push constants. Units are texels of level 0; x to the
 * east, y to the south, z up. */
struct texture_camera {
    float eye[4];
    float right[4]; /* per pixel; the fourth: haze per texel */
    float down[4];
    float forward[4];
};

/* The first frame after the sudden jump. */
uint32_t texture_camera_jump(uint32_t frames);

/* Returns the camera of a frame of a flight. */
void texture_camera_place(struct texture_camera* camera, uint32_t texture, uint32_t width,
                          uint32_t frame, uint32_t frames);

#endif
