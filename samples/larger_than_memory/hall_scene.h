/*
 * The hall, and a walk through it: to the far end, and back. Floating-point arithmetic only; no
 * Vulkan.
 *
 * A hall is a row of bays along the z axis. A bay has three textures of its own. A frame sees the
 * bays that are near and in front of the eye.
 */
#ifndef MAAR_SAMPLE_HALL_SCENE_H
#define MAAR_SAMPLE_HALL_SCENE_H

#include <stdbool.h>
#include <stdint.h>

/* The textures of a bay. */
enum { HALL_FLOOR, HALL_LEFT, HALL_RIGHT, HALL_TEXTURES };

#define HALL_VIEW 4u /* bays that are visible beside that of the eye */
#define HALL_MOST_BAYS (HALL_VIEW + 1u)
#define HALL_MOST_TEXTURES (HALL_MOST_BAYS * HALL_TEXTURES)
#define HALL_MOST_SURFACES 16u /* of a bay */

struct hall_eye {
    float place[3];
    float right[3], up[3], forward[3]; /* unit vectors */
    uint32_t bay;                      /* the bay that it is in */
    bool is_leaving;                   /* walks to the far end */
};

/* A parallelogram, as the shaders declare it. */
struct hall_surface {
    float origin[4];  /* one corner */
    float u[4], v[4]; /* the edges from there; w: texture coordinates along them */
};

/* Finds the eye of a frame. */
struct hall_eye hall_scene_eye(uint32_t frame, uint32_t frame_count, uint32_t bay_count);

/* Writes the visible bays, the nearest first. Returns their number. */
uint32_t hall_scene_bays(const struct hall_eye* eye, uint32_t bay_count,
                         uint32_t bays[HALL_MOST_BAYS]);

/* Writes the surfaces of a bay with one of its textures. Returns their number. */
uint32_t hall_scene_surfaces(uint32_t bay, uint32_t texture,
                             struct hall_surface surfaces[HALL_MOST_SURFACES]);

/* Returns where the eye is above the floor's texture, both 0 to 1. */
void hall_scene_below(const struct hall_eye* eye, float place[2]);

#endif
