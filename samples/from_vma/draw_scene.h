/*
 * The drawn scene: three solids, many instances of them, their stone texture, and the view of a
 * frame. This file contains only numbers and depends neither on Vulkan nor on memory.
 */
#ifndef MAAR_SAMPLE_DRAW_SCENE_H
#define MAAR_SAMPLE_DRAW_SCENE_H

#include <stdint.h>

enum {
    DRAW_SOLIDS = 3,
    DRAW_INSTANCES = 72,
    DRAW_INSTANCES_OF_SOLID = DRAW_INSTANCES / DRAW_SOLIDS,
    DRAW_MAX_VERTICES = 1024,
    DRAW_MAX_INDICES = 4096,
    DRAW_TEXTURE_SIZE = 256
};

struct draw_vertex {
    float position[3], normal[3], place[2];
};

struct draw_instance {
    float place[4]; /* xyz, size */
    float look[4];  /* two angles, hue */
};

struct draw_view {
    float camera[16]; /* columns */
    float light[4];
};

struct draw_solid {
    uint32_t vertex_count, index_count;
    struct draw_vertex vertices[DRAW_MAX_VERTICES];
    uint32_t indices[DRAW_MAX_INDICES];
};

/* Makes a solid: 0 is a cube, 1 an octahedron, 2 a ring. */
void draw_make_solid(uint32_t which, struct draw_solid* solid);

/* Fills in DRAW_TEXTURE_SIZE squared pixels of four bytes. */
void draw_make_texture(uint8_t* texels);

/* Fills in the instances at a time from 0 to 1. All instances of one solid are adjacent. */
void draw_make_instances(float time, struct draw_instance* instances);
void draw_make_view(float time, float aspect, struct draw_view* view);

#endif
