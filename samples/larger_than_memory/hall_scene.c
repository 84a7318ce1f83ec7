/*
 * The hall and the walk; see hall_scene.h.
 */
#include "hall_scene.h"

#include <math.h>

#define LENGTH 6.0f /* of a bay */
#define HALF 4.0f   /* the width */
#define HEIGHT 5.0f
#define PILLAR 0.8f /* the side of a pillar */
#define BEAM 0.6f
#define PI 3.14159265f

/* Rises smoothly from 0 to 1 between two moments. */
static float rise(float from, float to, float time)
{
    const float part = fminf(fmaxf((time - from) / (to - from), 0.0f), 1.0f);
    return part * part * (3.0f - 2.0f * part);
}

struct hall_eye hall_scene_eye(uint32_t frame, uint32_t frame_count, uint32_t bay_count)
{
    const float time = (float)frame / (float)(frame_count - 1);
    const float there = rise(0.0f, 0.45f, time) - rise(0.55f, 1.0f, time);
    const float way = LENGTH * ((float)bay_count - 2.0f);
    const float turn = PI * rise(0.43f, 0.57f, time) + 0.22f * sinf(there * way * 0.11f);
    struct hall_eye eye = {.is_leaving = time < 0.45f};
    eye.place[0] = 1.3f * sinf(there * way * 0.13f);
    eye.place[1] = 1.8f;
    eye.place[2] = LENGTH + there * way;
    eye.forward[0] = sinf(turn);
    eye.forward[2] = cosf(turn);
    eye.right[0] = cosf(turn);
    eye.right[2] = -sinf(turn);
    eye.up[1] = 1.0f;
    eye.bay = (uint32_t)(eye.place[2] / LENGTH);
    eye.bay = eye.bay < bay_count ? eye.bay : bay_count - 1;
    return eye;
}

uint32_t hall_scene_bays(const struct hall_eye* eye, uint32_t bay_count,
                         uint32_t bays[HALL_MOST_BAYS])
{
    uint32_t count = 0;
    bays[count++] = eye->bay;
    /* Sideways it sees both directions, and half as far. */
    const float ahead = eye->forward[2];
    const bool is_sideways = fabsf(ahead) < 0.75f;
    for (uint32_t far = 1; far <= (is_sideways ? HALL_VIEW / 2 : HALL_VIEW); ++far) {
        if ((is_sideways || ahead > 0.0f) && eye->bay + far < bay_count) {
            bays[count++] = eye->bay + far;
        }
        if ((is_sideways || ahead < 0.0f) && eye->bay >= far) {
            bays[count++] = eye->bay - far;
        }
    }
    return count;
}

void hall_scene_below(const struct hall_eye* eye, float place[2])
{
    place[0] = (eye->place[0] + HALF) / (2.0f * HALF);
    place[1] = eye->place[2] / LENGTH - (float)eye->bay;
}

/* Adds a surface with the corner (x, y, z). */
static void add(struct hall_surface* surfaces, uint32_t* count, const float corner[3],
                const float u[3], const float v[3], float scale)
{
    struct hall_surface* const surface = &surfaces[(*count)++];
    for (uint32_t i = 0; i < 3; ++i) {
        surface->origin[i] = corner[i];
        surface->u[i] = u[i];
        surface->v[i] = v[i];
    }
    surface->origin[3] = 0.0f;
    surface->u[3] = scale * sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    surface->v[3] = scale * sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Adds the sides of a box that can be seen from the hall. */
static void add_box(struct hall_surface* surfaces, uint32_t* count, const float least[3],
                    const float size[3])
{
    const float x[3] = {size[0], 0.0f, 0.0f};
    const float y[3] = {0.0f, size[1], 0.0f};
    const float z[3] = {0.0f, 0.0f, size[2]};
    const float minus_x[3] = {-size[0], 0.0f, 0.0f};
    const float minus_z[3] = {0.0f, 0.0f, -size[2]};
    const float right[3] = {least[0] + size[0], least[1], least[2]};
    const float back[3] = {least[0], least[1], least[2] + size[2]};
    const float far[3] = {right[0], least[1], back[2]};
    add(surfaces, count, right, minus_x, y, 0.25f); /* towards -z */
    add(surfaces, count, back, x, y, 0.25f);        /* towards +z */
    add(surfaces, count, far, minus_z, y, 0.25f);   /* towards +x */
    add(surfaces, count, least, z, y, 0.25f);       /* towards -x */
    add(surfaces, count, least, x, z, 0.25f);       /* below */
}

uint32_t hall_scene_surfaces(uint32_t bay, uint32_t texture,
                             struct hall_surface surfaces[HALL_MOST_SURFACES])
{
    const float near = LENGTH * (float)bay;
    const float along[3] = {0.0f, 0.0f, LENGTH};
    const float across[3] = {2.0f * HALF, 0.0f, 0.0f};
    const float up[3] = {0.0f, HEIGHT, 0.0f};
    const float corner[3] = {-HALF, 0.0f, near};
    uint32_t count = 0;
    if (texture == HALL_FLOOR) {
        add(surfaces, &count, corner, across, along, 0.0f);
        surfaces[0].u[3] = 1.0f;
        surfaces[0].v[3] = 1.0f;
        return count;
    }
    const bool is_left = texture == HALL_LEFT;
    const float side = is_left ? -HALF : HALF;
    const float foot[3] = {side, 0.0f, near};
    const float base[3] = {is_left ? -HALF : HALF - PILLAR, 0.0f, near};
    const float pillar[3] = {PILLAR, HEIGHT, PILLAR};
    const float beam_base[3] = {is_left ? -HALF : 0.0f, HEIGHT - BEAM, near};
    const float beam[3] = {HALF, BEAM, PILLAR};
    add(surfaces, &count, foot, along, up, 1.0f / LENGTH);
    add_box(surfaces, &count, base, pillar);
    add_box(surfaces, &count, beam_base, beam);
    return count;
}
