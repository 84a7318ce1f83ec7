/*
 * The camera, the sun and its cascades; see frame_scene.h.
 */
#include "frame_scene.h"

#include <math.h>
#include <string.h>

#define NEAR_PLANE 0.1f
#define FIELD_OF_VIEW 0.86f /* vertical, radians */
#define SHADOW_REACH 46.0f  /* metres */
#define SHADOW_TEXELS 1024.0f
#define SECONDS_PER_FRAME (1.0f / 30.0f)

static const struct vec3 sun_direction = {-0.72f, 0.325f, -0.62f};

static void copy3(float* to, struct vec3 from)
{
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

/* The camera drifts slowly to the side. */
static struct mat4 view_at(float time)
{
    const float angle = 0.925f + 0.015f * time;
    const struct vec3 eye = {20.5f * cosf(angle), 4.1f + 0.06f * time, 20.5f * sinf(angle)};
    const struct vec3 target = {-1.0f, 2.75f, 0.3f};
    return mat4_look(eye, vec3_subtract(target, eye), (struct vec3){0, 1, 0});
}

/* Returns places that cover a pixel evenly: Halton's sequence. */
static float halton(uint32_t index, uint32_t base)
{
    float share = 1.0f;
    float result = 0.0f;
    for (; index > 0; index /= base) {
        share /= (float)base;
        result += share * (float)(index % base);
    }
    return result;
}

/* Fits a sphere around the part of the view between two depths, and a box around that sphere in the
 * sun's direction. */
static void fit_cascade(struct frame_constants* constants, int cascade, float from, float to)
{
    const float sx = 1.0f / constants->projection[0];
    const float sy = 1.0f / constants->projection[1];
    const float spread = sx * sx + sy * sy;
    float depth = 0.5f * (from + to) * (1.0f + spread);
    depth = depth > to ? to : depth;
    const float near_edge = spread * from * from + (depth - from) * (depth - from);
    const float far_edge = spread * to * to + (to - depth) * (to - depth);
    const float radius = ceilf(sqrtf(near_edge > far_edge ? near_edge : far_edge) * 4.0f) / 4.0f;
    const struct vec3 center =
        mat4_apply(&constants->inverse_view, (struct vec3){0.0f, 0.0f, -depth});
    const struct vec3 sun = vec3_normalize(sun_direction);
    const struct mat4 turned =
        mat4_look((struct vec3){0, 0, 0}, vec3_scale(sun, -1.0f), (struct vec3){0, 1, 0});
    /* The box moves by whole texels, so that edges of shadows do not flicker. */
    const float texel = 2.0f * radius / SHADOW_TEXELS;
    struct vec3 place = mat4_apply(&turned, center);
    place.x = floorf(place.x / texel) * texel;
    place.y = floorf(place.y / texel) * texel;
    struct mat4 view = turned;
    view.m[12] = -place.x;
    view.m[13] = -place.y;
    view.m[14] = -place.z;
    const struct mat4 box = mat4_box(radius, -radius - 30.0f, radius + 5.0f);
    constants->cascades[cascade] = mat4_multiply(&box, &view);
    constants->cascade_ends[cascade] = to;
    constants->cascade_texels[cascade] = texel;
}

static void fit_cascades(struct frame_constants* constants)
{
    float from = 4.0f;
    for (int i = 0; i < FRAME_CASCADES; ++i) {
        const float share = (float)(i + 1) / FRAME_CASCADES;
        const float even = 4.0f + (SHADOW_REACH - 4.0f) * share;
        const float growing = 7.0f * powf(SHADOW_REACH / 7.0f, share);
        const float to = 0.55f * even + 0.45f * growing;
        fit_cascade(constants, i, i == 0 ? NEAR_PLANE : from, to);
        from = to;
    }
}

void frame_scene_constants(const struct frame_scene* scene, uint32_t frame, uint32_t width,
                           uint32_t height, struct frame_constants* constants)
{
    const float w = (float)width;
    const float h = (float)height;
    const float time = (float)frame * SECONDS_PER_FRAME;
    const float before = time - SECONDS_PER_FRAME;
    memset(constants, 0, sizeof(*constants));
    const float scale = 1.0f / tanf(0.5f * FIELD_OF_VIEW);
    const float jitter[2] = {(2.0f * halton(frame % 16 + 1, 2) - 1.0f) / w,
                             (2.0f * halton(frame % 16 + 1, 3) - 1.0f) / h};
    const struct mat4 steady = mat4_perspective(scale * h / w, scale, NEAR_PLANE);
    struct mat4 moved = steady;
    moved.m[8] = -jitter[0];
    moved.m[9] = -jitter[1];
    const struct mat4 previous_view = view_at(before);
    constants->view = view_at(time);
    constants->inverse_view = mat4_invert_rigid(&constants->view);
    constants->view_projection = mat4_multiply(&moved, &constants->view);
    constants->steady_view_projection = mat4_multiply(&steady, &constants->view);
    constants->previous_view_projection = mat4_multiply(&steady, &previous_view);
    const float projection[4] = {steady.m[0], steady.m[5], NEAR_PLANE, 0.0f};
    memcpy(constants->projection, projection, sizeof(projection));
    memcpy(constants->jitter, jitter, sizeof(jitter));
    copy3(constants->sun_direction, vec3_normalize(sun_direction));
    copy3(constants->sun_color, (struct vec3){9.5f, 5.0f, 2.35f});
    const float size[4] = {w, h, 1.0f / w, 1.0f / h};
    memcpy(constants->size, size, sizeof(size));
    const float times[4] = {20.0f + time, 20.0f + before, (float)frame, frame == 0 ? 0.0f : 1.0f};
    memcpy(constants->times, times, sizeof(times));
    constants->counts[0] = (float)scene->light_count;
    const uint32_t tiles_in_a_row = (width + 15) / 16;
    constants->counts[1] = (float)tiles_in_a_row;
    memcpy(constants->lights, scene->lights, sizeof(constants->lights));
    fit_cascades(constants);
}
