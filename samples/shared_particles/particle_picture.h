/*
 * The picture that the program leaves: the last frame, and below it how it came about.
 */
#ifndef MAAR_SAMPLE_PARTICLE_PICTURE_H
#define MAAR_SAMPLE_PARTICLE_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#define PARTICLE_STAGES 5u

struct particle_picture {
    uint32_t width, height; /* of a frame */
    uint8_t* pixels;        /* of the last one taken */
    uint8_t* stages;        /* frames, small, side by side: as wide as a frame */
    uint32_t stage_width, stage_height;
    uint32_t stage_count;
};

bool particle_picture_create(struct particle_picture* picture, uint32_t width, uint32_t height);
void particle_picture_destroy(struct particle_picture* picture);

/* Puts what is in pixels into the strip, as the next stage. */
void particle_picture_keep(struct particle_picture* picture);

/* Writes pixels and strip. Complains and returns false when it cannot. */
bool particle_picture_write(const struct particle_picture* picture, const char* path);

#endif
