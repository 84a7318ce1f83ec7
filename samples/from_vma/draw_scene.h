/*
 * What is drawn: three solids, many instances of them, the stone that they are made of, and the
 * view of a frame. Numbers only; knows nothing of Vulkan or of memory.
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

/* 0 a cube, 1 an octahedron, 2 a ring. */
void draw_make_solid(uint32_t which, struct draw_solid* solid);

/* DRAW_TEXTURE_SIZE squared pixels of four bytes. */
void draw_make_texture(uint8_t* texels);

/* At a time from 0 to 1. All instances of one solid stand together. */
void draw_make_instances(float time, struct draw_instance* instances);
void draw_make_view(float time, float aspect, struct draw_view* view);

#endif
