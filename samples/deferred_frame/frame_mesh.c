/*
 * Makes meshes by formulas; see frame_mesh.h. Every mesh is a grid of vertices, and each cell is
 * two triangles.
 */
#include "frame_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(void** list, uint32_t* room, uint32_t needed, size_t size)
{
    if (needed <= *room) {
        return true;
    }
    uint32_t grown = *room == 0 ? 4096 : *room;
    while (grown < needed) {
        grown *= 2;
    }
    void* const moved = realloc(*list, grown * size);
    if (moved == NULL) {
        return false;
    }
    *list = moved;
    *room = grown;
    return true;
}

/* Allocates a grid of columns x rows vertices and fills in the indices of its cells. Returns NULL
 * when out of memory. */
static struct frame_vertex* add_grid(struct frame_geometry* geometry, struct frame_mesh* mesh,
                                     uint32_t columns, uint32_t rows)
{
    const uint32_t cells = (columns - 1) * (rows - 1);
    void* vertices = geometry->vertices;
    void* indices = geometry->indices;
    const bool there =
        make_room(&vertices, &geometry->vertex_room, geometry->vertex_count + columns * rows,
                  sizeof(struct frame_vertex)) &&
        make_room(&indices, &geometry->index_room, geometry->index_count + 6 * cells,
                  sizeof(uint32_t));
    geometry->vertices = vertices;
    geometry->indices = indices;
    if (!there) {
        geometry->failed = true;
        return NULL;
    }
    const uint32_t base = geometry->vertex_count - (uint32_t)mesh->first_vertex;
    for (uint32_t row = 0; row + 1 < rows; ++row) {
        for (uint32_t column = 0; column + 1 < columns; ++column) {
            const uint32_t at = base + row * columns + column;
            const uint32_t corners[6] = {at,     at + columns, at + 1,
                                         at + 1, at + columns, at + columns + 1};
            memcpy(geometry->indices + geometry->index_count, corners, sizeof(corners));
            geometry->index_count += 6;
        }
    }
    mesh->index_count += 6 * cells;
    struct frame_vertex* const grid = geometry->vertices + geometry->vertex_count;
    geometry->vertex_count += columns * rows;
    return grid;
}

static struct frame_mesh begin_mesh(const struct frame_geometry* geometry)
{
    return (struct frame_mesh){geometry->index_count, 0, (int32_t)geometry->vertex_count};
}

static float fluted(const struct frame_lathe* lathe, float angle)
{
    if (lathe->flute_count == 0) {
        return 1.0f;
    }
    const float groove = fabsf(sinf(0.5f * (float)lathe->flute_count * angle));
    return 1.0f - lathe->flute_depth * (1.0f - (1.0f - groove) * (1.0f - groove));
}

static struct vec3 turned(const struct frame_lathe* lathe, struct frame_profile_point point,
                          float angle)
{
    const float radius = point.radius * fluted(lathe, angle);
    return (struct vec3){radius * cosf(angle), point.height, radius * sinf(angle)};
}

/* Returns the normal of a profile with the given direction. */
static struct vec3 normal_at(const struct frame_lathe* lathe, struct frame_profile_point point,
                             struct frame_profile_point along, float angle)
{
    const float step = 0.01f;
    const struct frame_profile_point round = {point.radius > 0.01f ? point.radius : 0.01f,
                                              point.height};
    const struct vec3 around =
        vec3_subtract(turned(lathe, round, angle + step), turned(lathe, round, angle - step));
    const struct vec3 up = {along.radius * cosf(angle), along.height, along.radius * sinf(angle)};
    return vec3_normalize(vec3_cross(up, around));
}

static struct frame_profile_point direction(struct frame_profile_point from,
                                            struct frame_profile_point to)
{
    return (struct frame_profile_point){to.radius - from.radius, to.height - from.height};
}

/* Adds one piece of the profile: two rows of vertices. */
static void turn_piece(struct frame_geometry* geometry, struct frame_mesh* mesh,
                       const struct frame_lathe* lathe, uint32_t piece)
{
    const uint32_t columns = lathe->segment_count + 1;
    struct frame_vertex* const grid = add_grid(geometry, mesh, columns, 2);
    if (grid == NULL) {
        return;
    }
    const struct frame_profile_point* const points = lathe->points;
    const uint32_t last = lathe->point_count - 1;
    for (uint32_t row = 0; row < 2; ++row) {
        const uint32_t at = piece + row;
        const struct frame_profile_point along =
            lathe->smooth ? direction(points[at > 0 ? at - 1 : 0], points[at < last ? at + 1 : at])
                          : direction(points[piece], points[piece + 1]);
        for (uint32_t column = 0; column < columns; ++column) {
            const float share = (float)column / (float)lathe->segment_count;
            const float angle = lathe->begin + (lathe->end - lathe->begin) * share;
            grid[row * columns + column] = (struct frame_vertex){
                turned(lathe, points[at], angle), normal_at(lathe, points[at], along, angle)};
        }
    }
}

/* Closes one end of a partial turn. The profile encloses a box between its points. */
static void close_end(struct frame_geometry* geometry, struct frame_mesh* mesh,
                      const struct frame_lathe* lathe, float angle, float side)
{
    struct frame_vertex* const grid = add_grid(geometry, mesh, 2, 2);
    if (grid == NULL) {
        return;
    }
    static const uint32_t corners[4] = {0, 1, 3, 2};
    for (uint32_t i = 0; i < 4; ++i) {
        grid[i] = (struct frame_vertex){turned(lathe, lathe->points[corners[i]], angle),
                                        {-side * sinf(angle), 0.0f, side * cosf(angle)}};
    }
}

struct frame_mesh frame_mesh_turn(struct frame_geometry* geometry, const struct frame_lathe* lathe)
{
    struct frame_mesh mesh = begin_mesh(geometry);
    for (uint32_t piece = 0; piece + 1 < lathe->point_count; ++piece) {
        turn_piece(geometry, &mesh, lathe, piece);
    }
    if (lathe->end - lathe->begin < 1.99f * FRAME_PI && lathe->point_count >= 4) {
        close_end(geometry, &mesh, lathe, lathe->begin, -1.0f);
        close_end(geometry, &mesh, lathe, lathe->end, 1.0f);
    }
    return mesh;
}

struct frame_mesh frame_mesh_sphere(struct frame_geometry* geometry, uint32_t segment_count)
{
    struct frame_profile_point points[65];
    const uint32_t half = segment_count / 2 < 64 ? segment_count / 2 : 64;
    for (uint32_t i = 0; i <= half; ++i) {
        const float angle = FRAME_PI * ((float)i / (float)half - 0.5f);
        points[i] = (struct frame_profile_point){cosf(angle), sinf(angle)};
    }
    const struct frame_lathe lathe = {.points = points,
                                      .point_count = half + 1,
                                      .segment_count = segment_count,
                                      .smooth = true,
                                      .end = 2.0f * FRAME_PI};
    return frame_mesh_turn(geometry, &lathe);
}

struct frame_mesh frame_mesh_ground(struct frame_geometry* geometry, float inner, float outer,
                                    uint32_t ring_count, uint32_t segment_count,
                                    float (*height_of)(float x, float z))
{
    struct frame_mesh mesh = begin_mesh(geometry);
    struct frame_vertex* const grid = add_grid(geometry, &mesh, segment_count + 1, ring_count + 1);
    for (uint32_t ring = 0; grid != NULL && ring <= ring_count; ++ring) {
        const float share = (float)ring / (float)ring_count;
        const float radius = inner + (outer - inner) * share * share;
        for (uint32_t i = 0; i <= segment_count; ++i) {
            /* The order is the reverse of a profile's, so that the triangles face up. */
            const float angle = -2.0f * FRAME_PI * (float)i / (float)segment_count;
            const float x = radius * cosf(angle);
            const float z = radius * sinf(angle);
            const float step = 0.2f + 0.004f * radius;
            const struct vec3 slope = {height_of(x - step, z) - height_of(x + step, z), 2.0f * step,
                                       height_of(x, z - step) - height_of(x, z + step)};
            grid[ring * (segment_count + 1) + i] =
                (struct frame_vertex){{x, height_of(x, z), z}, vec3_normalize(slope)};
        }
    }
    return mesh;
}

void frame_geometry_release(struct frame_geometry* geometry)
{
    free(geometry->vertices);
    free(geometry->indices);
    *geometry = (struct frame_geometry){0};
}
