/*
 * The scene of the picture: a ring of columns on an island in a crater lake at dusk, with a fire in
 * the middle and lanterns on the water. Also the camera and the sun's cascades of a frame.
 */
#ifndef MAAR_SAMPLE_FRAME_SCENE_H
#define MAAR_SAMPLE_FRAME_SCENE_H

#include "frame_mesh.h"

#define FRAME_CASCADES 4
#define FRAME_MAX_LIGHTS 64
#define FRAME_MAX_DRAWS 16
#define FRAME_MAX_INSTANCES 256
#define FRAME_EMBERS 260u

/* The layout is that of shaders/deferred/frame.glsl. */
struct frame_instance {
    float rows[3][4];
    float albedo[3], roughness;
    float emissive[3], metalness;
    float bob, phase, pattern, seed;
};

struct frame_light {
    float position[3], radius;
    float color[4];
};

struct frame_constants {
    struct mat4 view_projection, steady_view_projection, previous_view_projection;
    struct mat4 view, inverse_view;
    struct mat4 cascades[FRAME_CASCADES];
    float cascade_ends[4], cascade_texels[4];
    float projection[4], jitter[4];
    float sun_direction[4], sun_color[4];
    float size[4], times[4], counts[4];
    struct frame_light lights[FRAME_MAX_LIGHTS];
};

/* The instances of one mesh. */
struct frame_draw {
    struct frame_mesh mesh;
    uint32_t first_instance, instance_count;
    bool casts_shadow;
};

struct frame_scene {
    struct frame_geometry geometry;
    struct frame_instance instances[FRAME_MAX_INSTANCES];
    uint32_t instance_count;
    struct frame_draw draws[FRAME_MAX_DRAWS];
    uint32_t draw_count;
    struct frame_light lights[FRAME_MAX_LIGHTS];
    uint32_t light_count;
};

/* Makes the scene. Returns false when out of memory. A scene is large and should not lie on the
 * stack. */
bool frame_scene_create(struct frame_scene* scene);

void frame_scene_destroy(struct frame_scene* scene);

/* Fills in the constants of a frame with a number and a size. */
void frame_scene_constants(const struct frame_scene* scene, uint32_t frame, uint32_t width,
                           uint32_t height, struct frame_constants* constants);

#endif
