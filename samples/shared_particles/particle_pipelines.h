/*
 * The pipelines of a view: points of light, the darkening before them, and the picture.
 */
#ifndef MAAR_SAMPLE_PARTICLE_PIPELINES_H
#define MAAR_SAMPLE_PARTICLE_PIPELINES_H

#include "particle_view.h"

#define PARTICLE_LIGHT_FORMAT VK_FORMAT_R16G16B16A16_SFLOAT
#define PARTICLE_PUSH_STAGES (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_COMPUTE_BIT)

/* What is left of the light of a frame in the next one: the trails. */
#define PARTICLE_FADE 0.87f

/* Push constants, as in star.vert, */
struct particle_camera {
    float right[4];
    float up[4];
    float forward[4];
    float picture[4];
};

/* and in tone.comp. */
struct particle_tone {
    uint32_t width, height;
    float exposure;
    float unused;
};

/* Fills what the view has of them; its image view and its pixels must be there. */
bool particle_pipelines_create(struct particle_view* view);
void particle_pipelines_destroy(struct particle_view* view);

#endif
