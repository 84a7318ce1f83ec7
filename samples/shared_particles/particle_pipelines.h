/*
 * The pipelines of a view: the points of light, the darkening of earlier light, and the final
 * picture.
 */
#ifndef MAAR_SAMPLE_PARTICLE_PIPELINES_H
#define MAAR_SAMPLE_PARTICLE_PIPELINES_H

#include "particle_view.h"

#define PARTICLE_LIGHT_FORMAT VK_FORMAT_R16G16B16A16_SFLOAT
#define PARTICLE_PUSH_STAGES (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_COMPUTE_BIT)

/* The share of a frame's light that remains in the next frame, which makes the trails. */
#define PARTICLE_FADE 0.87f

/* Push constants as in star.vert. */
struct particle_camera {
    float right[4];
    float up[4];
    float forward[4];
    float picture[4];
};

/* Push constants as in tone.comp. */
struct particle_tone {
    uint32_t width, height;
    float exposure;
    float unused;
};

/* Creates the view's pipelines. The view's image view and pixels must exist. */
bool particle_pipelines_create(struct particle_view* view);
void particle_pipelines_destroy(struct particle_view* view);

#endif
