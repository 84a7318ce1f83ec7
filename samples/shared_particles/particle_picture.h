/*
 * The resulting picture: the last frame, and a strip of earlier stages below it.
 */
#ifndef MAAR_SAMPLE_PARTICLE_PICTURE_H
#define MAAR_SAMPLE_PARTICLE_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#define PARTICLE_STAGES 5u

struct particle_picture {
    uint32_t width, height; /* of a frame */
    uint8_t* pixels;        /* of the last frame */
    uint8_t* stages;        /* small frames side by side, together as wide as a frame */
    uint32_t stage_width, stage_height;
    uint32_t stage_count;
};

bool particle_picture_create(struct particle_picture* picture, uint32_t width, uint32_t height);
void particle_picture_destroy(struct particle_picture* picture);

/* Adds the pixels to the strip as the next stage. */
void particle_picture_keep(struct particle_picture* picture);

/* Writes the pixels and the strip to a file. Prints an error and returns false on failure. */
bool particle_picture_write(const struct particle_picture* picture, const char* path);

#endif
