/*
 * Makes the objects of the scene; see frame_scene.h. The camera is in frame_camera.c.
 */
#include "frame_scene.h"

#include "frame_noise.h"

#include <math.h>
#include <string.h>

#define WATER_HEIGHT (-1.4f)
#define COLUMNS 14
#define COLUMN_RING 9.2f
#define COLUMN_HEIGHT 6.2f

/* The patterns of shaders/deferred/gbuffer.frag. */
enum pattern {
    PATTERN_STONE = 0,
    PATTERN_PAVING = 1,
    PATTERN_SLOPE = 2,
    PATTERN_WATER = 3,
    PATTERN_METAL = 4,
    PATTERN_LAVA = 5,
    PATTERN_GLASS = 6,
};

struct look {
    enum pattern pattern;
    struct vec3 albedo;
    float roughness, metalness;
    struct vec3 emissive;
};

static const struct look pale_stone = {PATTERN_STONE, {0.62f, 0.55f, 0.46f}, 0.72f, 0, {0, 0, 0}};
static const struct look dark_stone = {PATTERN_STONE, {0.25f, 0.23f, 0.22f}, 0.66f, 0, {0, 0, 0}};

static float crater_height(float x, float z)
{
    const float radius = sqrtf(x * x + z * z);
    const float broad = frame_noise(x * 0.013f + 40.0f, z * 0.013f + 40.0f, 64, 3);
    const float fine = frame_noise(x * 0.051f + 9.0f, z * 0.051f + 9.0f, 64, 4);
    float rise = (radius - 52.0f) / 52.0f;
    rise = rise < 0.0f ? 0.0f : rise > 1.0f ? 1.0f : rise;
    const float wall = rise * rise * (3.0f - 2.0f * rise);
    const float rim = 8.0f + 34.0f * broad * broad * 2.0f;
    return WATER_HEIGHT - 1.2f + wall * rim + (fine - 0.5f) * (1.2f + 9.0f * wall) +
           (radius > 50.0f ? (radius - 50.0f) * 0.02f : 0.0f);
}

static float water_height(float x, float z)
{
    (void)x;
    (void)z;
    return WATER_HEIGHT;
}

static void begin_draw(struct frame_scene* scene, struct frame_mesh mesh, bool casts_shadow)
{
    scene->draws[scene->draw_count++] =
        (struct frame_draw){mesh, scene->instance_count, 0, casts_shadow};
}

static struct frame_instance* add_instance(struct frame_scene* scene, const struct look* look,
                                           struct vec3 at, float scale, float turn)
{
    const float c = cosf(turn) * scale;
    const float s = sinf(turn) * scale;
    struct frame_instance* const instance = &scene->instances[scene->instance_count];
    *instance = (struct frame_instance){
        .rows = {{c, 0, s, at.x}, {0, scale, 0, at.y}, {-s, 0, c, at.z}},
        .albedo = {look->albedo.x, look->albedo.y, look->albedo.z},
        .roughness = look->roughness,
        .emissive = {look->emissive.x, look->emissive.y, look->emissive.z},
        .metalness = look->metalness,
        .pattern = (float)look->pattern,
        .seed = frame_hash(scene->instance_count),
    };
    ++scene->instance_count;
    ++scene->draws[scene->draw_count - 1].instance_count;
    return instance;
}

static void add_light(struct frame_scene* scene, struct vec3 at, float radius, struct vec3 color,
                      float strength)
{
    if (scene->light_count == FRAME_MAX_LIGHTS) {
        return;
    }
    scene->lights[scene->light_count++] =
        (struct frame_light){{at.x, at.y, at.z},
                             radius,
                             {color.x * strength, color.y * strength, color.z * strength, 0.0f}};
}

static struct vec3 on_ring(float radius, float height, float angle)
{
    return (struct vec3){radius * cosf(angle), height, radius * sinf(angle)};
}

static float column_angle(int index)
{
    return 2.0f * FRAME_PI * ((float)index + 0.5f) / COLUMNS;
}

/* The broken columns: those that would stand in front of the fire, and one behind it. */
static bool is_broken(int index)
{
    return index == 1 || index == 2 || index == 11;
}

static struct frame_mesh turn(struct frame_scene* scene, const struct frame_profile_point* points,
                              uint32_t count, uint32_t segments)
{
    const struct frame_lathe lathe = {
        .points = points, .point_count = count, .segment_count = segments, .end = 2.0f * FRAME_PI};
    return frame_mesh_turn(&scene->geometry, &lathe);
}

static void add_ground(struct frame_scene* scene)
{
    static const struct look slope = {PATTERN_SLOPE, {0.2f, 0.18f, 0.15f}, 0.9f, 0, {0, 0, 0}};
    static const struct look water = {PATTERN_WATER, {0.012f, 0.030f, 0.034f}, 0.07f, 0, {0, 0, 0}};
    static const struct look paving = {PATTERN_PAVING, {0.50f, 0.45f, 0.39f}, 0.62f, 0, {0, 0, 0}};
    begin_draw(scene, frame_mesh_ground(&scene->geometry, 30.0f, 230.0f, 70, 220, crater_height),
               false);
    add_instance(scene, &slope, (struct vec3){0, 0, 0}, 1.0f, 0.0f);
    begin_draw(scene, frame_mesh_ground(&scene->geometry, 10.0f, 120.0f, 6, 48, water_height),
               false);
    add_instance(scene, &water, (struct vec3){0, 0, 0}, 1.0f, 0.0f);
    static const struct frame_profile_point steps[] = {
        {13.4f, -3.0f}, {13.4f, -0.9f}, {12.7f, -0.9f}, {12.7f, -0.6f}, {12.0f, -0.6f},
        {12.0f, -0.3f}, {11.3f, -0.3f}, {11.3f, 0.0f},  {0.0f, 0.0f}};
    begin_draw(scene, turn(scene, steps, 9, 120), true);
    add_instance(scene, &paving, (struct vec3){0, 0, 0}, 1.0f, 0.0f);
}

static struct frame_mesh fluted_shaft(struct frame_scene* scene, float height)
{
    struct frame_profile_point points[9];
    for (int i = 0; i < 9; ++i) {
        const float share = (float)i / 8.0f;
        points[i] = (struct frame_profile_point){0.56f - 0.10f * share * share,
                                                 0.42f + (height - 0.42f) * share};
    }
    const struct frame_lathe lathe = {.points = points,
                                      .point_count = 9,
                                      .segment_count = 96,
                                      .smooth = true,
                                      .flute_count = 16,
                                      .flute_depth = 0.10f,
                                      .end = 2.0f * FRAME_PI};
    return frame_mesh_turn(&scene->geometry, &lathe);
}

static void add_columns(struct frame_scene* scene)
{
    static const struct frame_profile_point base[] = {
        {0.82f, 0.0f},  {0.82f, 0.18f}, {0.74f, 0.20f}, {0.76f, 0.27f},
        {0.70f, 0.33f}, {0.63f, 0.35f}, {0.63f, 0.42f}, {0.0f, 0.42f}};
    static const struct frame_profile_point capital[] = {
        {0.47f, -0.02f}, {0.53f, 0.04f}, {0.53f, 0.10f}, {0.50f, 0.12f}, {0.62f, 0.30f},
        {0.72f, 0.36f},  {0.78f, 0.38f}, {0.78f, 0.56f}, {0.0f, 0.56f}};
    static const struct frame_profile_point stump[] = {
        {0.52f, 0.0f}, {0.30f, 0.16f}, {0.0f, 0.05f}};
    const struct frame_mesh shaft = fluted_shaft(scene, COLUMN_HEIGHT);
    const struct frame_mesh broken = fluted_shaft(scene, 2.6f);
    const struct frame_mesh foot = turn(scene, base, 8, 40);
    const struct frame_mesh head = turn(scene, capital, 9, 40);
    const struct frame_mesh top = turn(scene, stump, 3, 24);
    const struct frame_mesh meshes[5] = {foot, shaft, broken, head, top};
    for (int part = 0; part < 5; ++part) {
        begin_draw(scene, meshes[part], true);
        for (int i = 0; i < COLUMNS; ++i) {
            const float height = part == 3 ? COLUMN_HEIGHT : part == 4 ? 2.55f : 0.0f;
            const bool fits = part == 0 || is_broken(i) == (part == 2 || part == 4);
            if (fits) {
                const float angle = column_angle(i);
                add_instance(scene, &pale_stone, on_ring(COLUMN_RING, height, angle), 1.0f, -angle);
            }
        }
    }
}

/* Places a beam on each pair of neighbouring columns that are unbroken. */
static void add_beams(struct frame_scene* scene)
{
    static const struct frame_profile_point box[] = {{COLUMN_RING - 0.55f, 0.0f},
                                                     {COLUMN_RING + 0.55f, 0.0f},
                                                     {COLUMN_RING + 0.55f, 0.85f},
                                                     {COLUMN_RING - 0.55f, 0.85f},
                                                     {COLUMN_RING - 0.55f, 0.0f}};
    static const struct frame_profile_point cornice[] = {{COLUMN_RING - 0.75f, 0.85f},
                                                         {COLUMN_RING + 0.75f, 0.85f},
                                                         {COLUMN_RING + 0.85f, 1.15f},
                                                         {COLUMN_RING - 0.85f, 1.15f},
                                                         {COLUMN_RING - 0.75f, 0.85f}};
    for (int layer = 0; layer < 2; ++layer) {
        const struct frame_lathe lathe = {.points = layer == 0 ? box : cornice,
                                          .point_count = 5,
                                          .segment_count = 10,
                                          .begin = -FRAME_PI / COLUMNS,
                                          .end = FRAME_PI / COLUMNS};
        begin_draw(scene, frame_mesh_turn(&scene->geometry, &lathe), true);
        for (int i = 0; i < COLUMNS; ++i) {
            if (!is_broken(i) && !is_broken((i + 1) % COLUMNS)) {
                const float middle = column_angle(i) + FRAME_PI / COLUMNS;
                add_instance(scene, &pale_stone, (struct vec3){0, COLUMN_HEIGHT + 0.56f, 0}, 1.0f,
                             -middle);
            }
        }
    }
}

static void add_fire(struct frame_scene* scene, struct frame_mesh sphere)
{
    static const struct look lava = {
        PATTERN_LAVA, {0.05f, 0.04f, 0.04f}, 0.8f, 0, {24.0f, 6.4f, 1.1f}};
    static const struct frame_profile_point bowl[] = {
        {1.3f, 0.0f},   {1.3f, 0.22f},  {0.55f, 0.34f}, {0.45f, 0.95f}, {1.25f, 1.35f},
        {1.55f, 1.75f}, {1.40f, 1.75f}, {1.05f, 1.45f}, {0.0f, 1.35f}};
    begin_draw(scene, turn(scene, bowl, 9, 64), true);
    add_instance(scene, &dark_stone, (struct vec3){0, 0, 0}, 1.0f, 0.0f);
    begin_draw(scene, sphere, true);
    add_instance(scene, &lava, (struct vec3){0, 2.45f, 0}, 1.0f, 0.4f);
    add_light(scene, (struct vec3){0, 2.6f, 0}, 17.0f, (struct vec3){1.0f, 0.38f, 0.10f}, 150.0f);
}

/* Places polished spheres of metal and glass on the paving. */
static void add_balls(struct frame_scene* scene, struct frame_mesh sphere)
{
    static const struct look metals[4] = {
        {PATTERN_METAL, {1.00f, 0.72f, 0.30f}, 0.14f, 1.0f, {0, 0, 0}},
        {PATTERN_METAL, {0.93f, 0.92f, 0.90f}, 0.06f, 1.0f, {0, 0, 0}},
        {PATTERN_METAL, {0.95f, 0.50f, 0.34f}, 0.24f, 1.0f, {0, 0, 0}},
        {PATTERN_METAL, {0.03f, 0.12f, 0.13f}, 0.10f, 0.0f, {0, 0, 0}}};
    static const float places[7][3] = {
        {4.1f, 1.05f, 0.85f}, {5.6f, 1.85f, 0.55f}, {3.6f, 2.25f, 0.42f}, {6.9f, 1.42f, 0.62f},
        {4.9f, 0.62f, 0.35f}, {6.2f, 2.45f, 0.40f}, {7.3f, 0.72f, 0.50f}};
    begin_draw(scene, sphere, true);
    for (int i = 0; i < 7; ++i) {
        add_instance(scene, &metals[i % 4], on_ring(places[i][0], places[i][2], places[i][1]),
                     places[i][2], 0.0f);
    }
}

static void add_lanterns(struct frame_scene* scene)
{
    static const struct vec3 warm = {1.0f, 0.52f, 0.18f};
    static const struct vec3 cold = {0.16f, 0.72f, 0.80f};
    const struct frame_mesh ball = frame_mesh_sphere(&scene->geometry, 20);
    begin_draw(scene, ball, false);
    for (int i = 0; i < COLUMNS; ++i) {
        const float angle = column_angle(i) + FRAME_PI / COLUMNS;
        const struct look glow = {PATTERN_GLASS, warm, 0.4f, 0, vec3_scale(warm, 5.5f)};
        const struct vec3 at = on_ring(COLUMN_RING + 0.6f, 0.16f, angle);
        add_instance(scene, &glow, at, 0.16f, 0.0f);
        add_light(scene, vec3_add(at, (struct vec3){0, 0.15f, 0}), 3.6f, warm, 2.6f);
    }
    for (unsigned i = 0; i < 34; ++i) {
        const float angle = 2.0f * FRAME_PI * ((float)i + 0.8f * frame_hash(3 * i + 500)) / 34.0f;
        const float radius = 16.5f + 19.0f * frame_hash(3 * i + 501) * frame_hash(7 * i + 13);
        const struct vec3 color = frame_hash(3 * i + 502) < 0.5f ? warm : cold;
        const struct look glow = {PATTERN_GLASS, color, 0.4f, 0, vec3_scale(color, 5.0f)};
        const struct vec3 at = on_ring(radius, WATER_HEIGHT + 0.14f, angle);
        struct frame_instance* const lantern = add_instance(scene, &glow, at, 0.21f, 0.0f);
        lantern->bob = 0.05f;
        lantern->phase = 2.0f * FRAME_PI * frame_hash(i);
        add_light(scene, vec3_add(at, (struct vec3){0, 0.3f, 0}), 5.0f, color, 3.2f);
    }
}

/* Lays an upright instance on the ground in the given direction. */
static void lay_down(struct frame_instance* instance, float radius, float angle)
{
    const float c = cosf(angle);
    const float s = sinf(angle);
    const float rows[3][3] = {{0, c, s}, {-1, 0, 0}, {0, -s, c}};
    for (int row = 0; row < 3; ++row) {
        memcpy(instance->rows[row], rows[row], sizeof(rows[row]));
    }
    instance->rows[1][3] += radius;
}

/* Places the fallen pieces of the broken columns. */
static void add_ruins(struct frame_scene* scene)
{
    static const struct frame_profile_point drum[] = {
        {0.0f, 0.0f}, {0.50f, 0.0f}, {0.54f, 0.06f}, {0.52f, 0.85f}, {0.46f, 0.92f}, {0.0f, 0.92f}};
    static const float places[5][2] = {
        {7.0f, 0.28f}, {7.9f, 0.62f}, {10.5f, 1.75f}, {6.4f, 5.55f}, {10.4f, 2.2f}};
    begin_draw(scene, turn(scene, drum, 6, 36), true);
    for (int i = 0; i < 5; ++i) {
        struct frame_instance* const piece =
            add_instance(scene, &pale_stone, on_ring(places[i][0], 0.0f, places[i][1]), 1.0f, 0.0f);
        if (i % 2 == 0) {
            lay_down(piece, 0.52f, 2.1f * (float)i);
        }
    }
}

bool frame_scene_create(struct frame_scene* scene)
{
    *scene = (struct frame_scene){0};
    add_ground(scene);
    add_columns(scene);
    add_beams(scene);
    const struct frame_mesh sphere = frame_mesh_sphere(&scene->geometry, 56);
    add_fire(scene, sphere);
    add_balls(scene, sphere);
    add_lanterns(scene);
    add_ruins(scene);
    if (scene->geometry.failed) {
        frame_scene_destroy(scene);
        return false;
    }
    return true;
}

void frame_scene_destroy(struct frame_scene* scene)
{
    frame_geometry_release(&scene->geometry);
}
