/*
 * Makes the solids, the stone and the instances; see draw_scene.h.
 */
#include "draw_scene.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define TAU 6.28318530718f

static void add_vertex(struct draw_solid* solid, const float* position, const float* normal,
                       float u, float v)
{
    struct draw_vertex* vertex = &solid->vertices[solid->vertex_count++];
    memcpy(vertex->position, position, sizeof vertex->position);
    memcpy(vertex->normal, normal, sizeof vertex->normal);
    vertex->place[0] = u;
    vertex->place[1] = v;
}

static void add_triangle(struct draw_solid* solid, uint32_t a, uint32_t b, uint32_t c)
{
    solid->indices[solid->index_count++] = a;
    solid->indices[solid->index_count++] = b;
    solid->indices[solid->index_count++] = c;
}

static void make_cube(struct draw_solid* solid)
{
    for (uint32_t face = 0; face < 6; ++face) {
        const uint32_t axis = face / 2;
        const float side = face % 2 == 0 ? 1.0f : -1.0f;
        const uint32_t first = solid->vertex_count;
        float normal[3] = {0};
        normal[axis] = side;
        for (uint32_t corner = 0; corner < 4; ++corner) {
            const float u = corner % 2 == 0 ? 0.0f : 1.0f;
            const float v = corner / 2 == 0 ? 0.0f : 1.0f;
            float position[3];
            position[axis] = side * 0.8f;
            position[(axis + 1) % 3] = (u * 2.0f - 1.0f) * 0.8f * side;
            position[(axis + 2) % 3] = (v * 2.0f - 1.0f) * 0.8f;
            add_vertex(solid, position, normal, u, v);
        }
        add_triangle(solid, first, first + 1, first + 3);
        add_triangle(solid, first, first + 3, first + 2);
    }
}

static void make_octahedron(struct draw_solid* solid)
{
    for (uint32_t face = 0; face < 8; ++face) {
        const float x = (face & 1) != 0 ? 1.0f : -1.0f;
        const float y = (face & 2) != 0 ? 1.0f : -1.0f;
        const float z = (face & 4) != 0 ? 1.0f : -1.0f;
        const float normal[3] = {x * 0.57735f, y * 0.57735f, z * 0.57735f};
        const float corners[3][3] = {{x * 1.2f, 0, 0}, {0, y * 1.2f, 0}, {0, 0, z * 1.2f}};
        const bool outward = x * y * z > 0.0f;
        const uint32_t first = solid->vertex_count;
        add_vertex(solid, corners[0], normal, 0.0f, 0.0f);
        add_vertex(solid, corners[1], normal, 0.5f, 1.0f);
        add_vertex(solid, corners[2], normal, 1.0f, 0.0f);
        add_triangle(solid, first, first + (outward ? 1 : 2), first + (outward ? 2 : 1));
    }
}

static void make_ring(struct draw_solid* solid)
{
    enum { AROUND = 32, ACROSS = 14 };
    for (uint32_t i = 0; i <= AROUND; ++i) {
        const float a = TAU * (float)i / AROUND;
        for (uint32_t j = 0; j <= ACROSS; ++j) {
            const float b = TAU * (float)j / ACROSS;
            const float normal[3] = {cosf(a) * cosf(b), sinf(b), sinf(a) * cosf(b)};
            const float position[3] = {cosf(a) + 0.38f * normal[0], 0.38f * normal[1],
                                       sinf(a) + 0.38f * normal[2]};
            add_vertex(solid, position, normal, 4.0f * (float)i / AROUND, (float)j / ACROSS);
        }
    }
    for (uint32_t i = 0; i < AROUND; ++i) {
        for (uint32_t j = 0; j < ACROSS; ++j) {
            const uint32_t here = i * (ACROSS + 1) + j;
            const uint32_t next = here + ACROSS + 1;
            add_triangle(solid, here, here + 1, next + 1);
            add_triangle(solid, here, next + 1, next);
        }
    }
}

void draw_make_solid(uint32_t which, struct draw_solid* solid)
{
    static void (*const makers[DRAW_SOLIDS])(struct draw_solid*) = {make_cube, make_octahedron,
                                                                    make_ring};
    solid->vertex_count = 0;
    solid->index_count = 0;
    makers[which](solid);
}

static uint32_t mix_bits(uint32_t x, uint32_t y)
{
    uint32_t value = x * 0x9E3779B1u ^ y * 0x85EBCA77u;
    value = (value ^ value >> 15) * 0x2C1B3C6Du;
    return (value ^ value >> 12) * 0x297A2D39u >> 24;
}

/* Draws grains of two sizes, and joints between blocks of stone. */
void draw_make_texture(uint8_t* texels)
{
    for (uint32_t y = 0; y < DRAW_TEXTURE_SIZE; ++y) {
        for (uint32_t x = 0; x < DRAW_TEXTURE_SIZE; ++x) {
            const uint32_t row = y / 64;
            const uint32_t along = (x + row % 2 * 64) % DRAW_TEXTURE_SIZE;
            const bool joint = y % 64 < 4 || along % 128 < 4;
            const uint32_t grain = mix_bits(x, y) / 6 + mix_bits(x / 8, y / 8) / 5;
            const uint32_t shade = joint ? 70 + grain / 4 : 150 + grain;
            uint8_t* texel = &texels[(size_t)(y * DRAW_TEXTURE_SIZE + x) * 4];
            texel[0] = (uint8_t)(shade > 255 ? 255 : shade);
            texel[1] = (uint8_t)(shade * 61 / 64 > 255 ? 255 : shade * 61 / 64);
            texel[2] = (uint8_t)(shade * 7 / 8 > 255 ? 255 : shade * 7 / 8);
            texel[3] = 255;
        }
    }
}

/* The instances rise along a spiral, with the solids in turn. */
void draw_make_instances(float time, struct draw_instance* instances)
{
    for (uint32_t i = 0; i < DRAW_INSTANCES; ++i) {
        const float along = (float)i / DRAW_INSTANCES;
        const float angle = TAU * (4.0f * along + 0.25f * time);
        const float radius = 6.2f * (1.0f - 0.62f * along);
        struct draw_instance* instance =
            &instances[i % DRAW_SOLIDS * DRAW_INSTANCES_OF_SOLID + i / DRAW_SOLIDS];
        *instance = (struct draw_instance){
            .place = {radius * cosf(angle), 7.5f * along - 3.2f, radius * sinf(angle),
                      0.55f - 0.2f * along},
            .look = {angle + TAU * time * 0.5f, TAU * (along * 3.0f + time * 0.25f), along, 0.0f}};
    }
}

static void multiply(const float* a, const float* b, float* out)
{
    for (uint32_t column = 0; column < 4; ++column) {
        for (uint32_t row = 0; row < 4; ++row) {
            float sum = 0.0f;
            for (uint32_t k = 0; k < 4; ++k) {
                sum += a[k * 4 + row] * b[column * 4 + k];
            }
            out[column * 4 + row] = sum;
        }
    }
}

/* The camera stands on a hill opposite the spiral and looks slightly down. */
void draw_make_view(float time, float aspect, struct draw_view* view)
{
    const float near = 0.1f;
    const float far = 60.0f;
    const float tilt = 0.42f + 0.06f * time;
    const float c = cosf(tilt);
    const float s = sinf(tilt);
    const float look[16] = {1, 0, 0, 0, 0, c, s, 0, 0, -s, c, 0, 0, 1.2f, -13.2f, 1};
    const float lens[16] = {1.7f / aspect,
                            0,
                            0,
                            0,
                            0,
                            -1.7f,
                            0,
                            0,
                            0,
                            0,
                            far / (near - far),
                            -1,
                            0,
                            0,
                            near * far / (near - far),
                            0};
    multiply(lens, look, view->camera);
    view->light[0] = 0.48f;
    view->light[1] = 0.80f;
    view->light[2] = 0.36f;
    view->light[3] = 0.3f;
}
