/*
 * Makes meshes by formulas: surfaces of revolution and sheets of ground. All meshes share one list
 * of vertices and one of indices.
 */
#ifndef MAAR_SAMPLE_FRAME_MESH_H
#define MAAR_SAMPLE_FRAME_MESH_H

#include "frame_math.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_vertex {
    struct vec3 position, normal;
};

/* A mesh: a range of both lists. */
struct frame_mesh {
    uint32_t first_index, index_count;
    int32_t first_vertex;
};

struct frame_geometry {
    struct frame_vertex* vertices;
    uint32_t vertex_count, vertex_room;
    uint32_t* indices;
    uint32_t index_count, index_room;
    bool failed; /* out of memory */
};

/* A point of a profile that rotates around the y axis. */
struct frame_profile_point {
    float radius, height;
};

struct frame_lathe {
    const struct frame_profile_point* points; /* from bottom to top on the outside */
    uint32_t point_count;
    uint32_t segment_count; /* around */
    bool smooth;            /* smooth normals along the profile; else each piece is flat */
    uint32_t flute_count;   /* grooves around, 0 for none */
    float flute_depth;      /* of the radius */
    float begin, end;       /* angles; a partial turn is closed at both ends */
};

/* Makes a mesh by rotating a profile. The normals point to the right of the profile's direction. */
struct frame_mesh frame_mesh_turn(struct frame_geometry* geometry, const struct frame_lathe* lathe);

struct frame_mesh frame_mesh_sphere(struct frame_geometry* geometry, uint32_t segment_count);

/* Makes rings of ground from one radius to another. `height_of` returns the height of the
 * ground. */
struct frame_mesh frame_mesh_ground(struct frame_geometry* geometry, float inner, float outer,
                                    uint32_t ring_count, uint32_t segment_count,
                                    float (*height_of)(float x, float z));

void frame_geometry_release(struct frame_geometry* geometry);

#endif
