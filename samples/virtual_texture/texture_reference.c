/*
 * Computes the reference; see texture_reference.h. A tile of the landscape is computed at its first
 * use and then kept.
 */
#include "texture_reference.h"

#include "texture_landscape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values are those of shaders/virtual_texture/colours.glsl. */
static const uint32_t zenith[3] = {92, 142, 206};
static const uint32_t horizon[3] = {206, 222, 234};
static const uint32_t outside[3] = {40, 66, 96};
static const uint32_t nothing_yet[3] = {128, 128, 128};
const uint8_t texture_tints[TEXTURE_TINT_COUNT][3] = {
    {214, 39, 40},  {255, 140, 20}, {242, 212, 40}, {44, 170, 60},
    {30, 190, 200}, {40, 100, 220}, {140, 80, 200}, {110, 110, 110}};

#define MAX_LEVELS 16u
#define MOST_PROBES 4u /* the shader's */

struct texture_reference {
    uint32_t texture, levels, tile_width, tile_height;
    uint8_t** tiles[MAX_LEVELS]; /* for each level: columns times rows, NULL until needed */
    uint32_t columns[MAX_LEVELS];
    bool failed; /* out of memory */
};

struct texture_reference* texture_reference_create(const struct texture_stream* stream)
{
    struct texture_reference* const reference = calloc(1, sizeof(*reference));
    if (reference == NULL || stream->info.mipLevels > MAX_LEVELS) {
        free(reference);
        return NULL;
    }
    reference->texture = stream->texture;
    reference->levels = stream->info.mipLevels;
    reference->tile_width = stream->info.tileExtent.width;
    reference->tile_height = stream->info.tileExtent.height;
    for (uint32_t level = 0; level < reference->levels; ++level) {
        const uint32_t size = reference->texture >> level;
        const uint32_t rows = (size + reference->tile_height - 1) / reference->tile_height;
        reference->columns[level] = (size + reference->tile_width - 1) / reference->tile_width;
        reference->tiles[level] =
            calloc((size_t)reference->columns[level] * rows, sizeof(reference->tiles[level][0]));
        reference->failed = reference->failed || reference->tiles[level] == NULL;
    }
    if (reference->failed) {
        texture_reference_destroy(reference);
        return NULL;
    }
    return reference;
}

void texture_reference_destroy(struct texture_reference* reference)
{
    for (uint32_t level = 0; reference != NULL && level < reference->levels; ++level) {
        const uint32_t rows =
            ((reference->texture >> level) + reference->tile_height - 1) / reference->tile_height;
        const size_t count = (size_t)reference->columns[level] * rows;
        for (size_t i = 0; reference->tiles[level] != NULL && i < count; ++i) {
            free(reference->tiles[level][i]);
        }
        free(reference->tiles[level]);
    }
    free(reference);
}

static uint8_t* compute_tile(const struct texture_reference* reference, uint32_t level,
                             uint32_t column, uint32_t row)
{
    const size_t pitch = (size_t)4 * reference->tile_width;
    const uint32_t size = reference->texture >> level;
    struct texture_box box = {.level = level,
                              .x = column * reference->tile_width,
                              .y = row * reference->tile_height,
                              .width = reference->tile_width,
                              .height = reference->tile_height};
    box.width = size - box.x < box.width ? size - box.x : box.width;
    box.height = size - box.y < box.height ? size - box.y : box.height;
    uint8_t* const texels = malloc(pitch * reference->tile_height);
    if (texels != NULL) {
        texture_landscape_fill(reference->texture, &box, texels, pitch);
    }
    return texels;
}

static const uint8_t* texel_at(struct texture_reference* reference, uint32_t level, int32_t x,
                               int32_t y)
{
    static const uint8_t black[4] = {0};
    const uint32_t column = (uint32_t)x / reference->tile_width;
    const uint32_t row = (uint32_t)y / reference->tile_height;
    uint8_t** const tile =
        &reference->tiles[level][(size_t)row * reference->columns[level] + column];
    if (*tile == NULL) {
        *tile = compute_tile(reference, level, column, row);
    }
    if (*tile == NULL) {
        reference->failed = true;
        return black;
    }
    const size_t index = (size_t)((uint32_t)y % reference->tile_height) * reference->tile_width +
                         (uint32_t)x % reference->tile_width;
    return *tile + 4 * index;
}

/* Finds the four texels around a place, and the position of the place between them. */
struct four_texels {
    int32_t x[2], y[2];
    uint32_t part_x, part_y;
};

static int32_t limited(int32_t value, int32_t end)
{
    return value < 0 ? 0 : value > end ? end : value;
}

static struct four_texels texels_around(const struct texture_reference* reference,
                                        const struct texture_pixel_plan* plan, uint32_t level)
{
    const int32_t end = (int32_t)(reference->texture >> level) - 1;
    const int32_t x = (int32_t)(plan->x >> level) + 128;
    const int32_t y = (int32_t)(plan->y >> level) + 128;
    /* The place moves back by half a texel, without a shift of negative numbers. */
    return (struct four_texels){{limited((x >> 8) - 1, end), limited(x >> 8, end)},
                                {limited((y >> 8) - 1, end), limited(y >> 8, end)},
                                (uint32_t)x & 255u,
                                (uint32_t)y & 255u};
}

static uint32_t finest_of(const struct texture_reference* reference, const uint8_t* levels,
                          uint32_t level, int32_t x, int32_t y)
{
    const uint32_t column = ((uint32_t)x << level) / reference->tile_width;
    const uint32_t row = ((uint32_t)y << level) / reference->tile_height;
    return levels[(size_t)row * reference->columns[0] + column];
}

/* Returns the finest level, from a given one on, that may be sampled at a place. */
static uint32_t level_at(const struct texture_reference* reference, const uint8_t* levels,
                         const struct texture_pixel_plan* plan, uint32_t level)
{
    while (level < reference->levels) {
        const struct four_texels four = texels_around(reference, plan, level);
        uint32_t finest = 0;
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t found =
                finest_of(reference, levels, level, four.x[i & 1], four.y[i >> 1]);
            finest = found > finest ? found : finest;
        }
        if (finest <= level) {
            break;
        }
        level = finest;
    }
    return level;
}

static void sample(struct texture_reference* reference, const struct texture_pixel_plan* plan,
                   uint32_t level, uint32_t colour[3])
{
    const struct four_texels four = texels_around(reference, plan, level);
    const uint8_t* const a = texel_at(reference, level, four.x[0], four.y[0]);
    const uint8_t* const b = texel_at(reference, level, four.x[1], four.y[0]);
    const uint8_t* const c = texel_at(reference, level, four.x[0], four.y[1]);
    const uint8_t* const d = texel_at(reference, level, four.x[1], four.y[1]);
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t top = a[i] * (256 - four.part_x) + b[i] * four.part_x;
        const uint32_t bottom = c[i] * (256 - four.part_x) + d[i] * four.part_x;
        colour[i] = (top * (256 - four.part_y) + bottom * four.part_y + 32768) >> 16;
    }
}

static void blend(uint32_t colour[3], const uint32_t other[3], uint32_t part)
{
    for (uint32_t i = 0; i < 3; ++i) {
        colour[i] = (colour[i] * (256 - part) + other[i] * part + 128) >> 8;
    }
}

/* Computes the map's colour at a place. Returns the level of the colour. */
static uint32_t colour_place(struct texture_reference* reference, const uint8_t* levels,
                             const struct texture_pixel_plan* plan, uint32_t colour[3])
{
    const uint32_t at_wanted_level = plan->level >> 8;
    const uint32_t level = level_at(reference, levels, plan, at_wanted_level);
    if (level >= reference->levels) {
        memcpy(colour, nothing_yet, sizeof(nothing_yet));
        return level;
    }
    sample(reference, plan, level, colour);
    if (level == at_wanted_level && (plan->level & 255) != 0) {
        const uint32_t coarser = level_at(reference, levels, plan, level + 1);
        if (coarser < reference->levels) {
            uint32_t other[3];
            sample(reference, plan, coarser, other);
            blend(colour, other, plan->level & 255);
        }
    }
    return level;
}

/* Computes the map's colour at a pixel. Returns the coarsest level of its samples. */
static uint32_t colour_map(struct texture_reference* reference,
                           const struct texture_picture* picture,
                           const struct texture_pixel_plan* plan, uint32_t colour[3])
{
    const int32_t end = (int32_t)(reference->texture * 256u) - 1;
    uint32_t coarsest = 0;
    memset(colour, 0, 3 * sizeof(colour[0]));
    for (uint32_t i = 0; i < plan->probes; ++i) {
        const int32_t away = (int32_t)(2 * i + 1) - (int32_t)plan->probes;
        struct texture_pixel_plan at = *plan;
        uint32_t part[3];
        at.x = (uint32_t)limited((int32_t)plan->x + plan->half_step_x * away, end);
        at.y = (uint32_t)limited((int32_t)plan->y + plan->half_step_y * away, end);
        const uint32_t level = colour_place(reference, picture->levels, &at, part);
        coarsest = level > coarsest ? level : coarsest;
        for (uint32_t c = 0; c < 3; ++c) {
            colour[c] += part[c];
        }
    }
    const uint32_t tint = coarsest < TEXTURE_TINT_COUNT ? coarsest : TEXTURE_TINT_COUNT - 1;
    for (uint32_t c = 0; c < 3; ++c) {
        colour[c] = (2 * colour[c] + plan->probes) / (2 * plan->probes);
        if (picture->tint && coarsest < reference->levels) {
            colour[c] = (colour[c] * 3 + texture_tints[tint][c] * 5u + 4) >> 3;
        }
    }
    return coarsest;
}

/* Returns whether a pixel fetches from about the place at which the camera looks. This check
 * prevents the shader from agreeing with the reference at a wrong place. */
static bool is_in_place(const struct texture_reference* reference,
                        const struct texture_picture* picture, uint32_t x, uint32_t y,
                        const struct texture_pixel_plan* plan)
{
    const struct texture_camera* const camera = &picture->camera;
    const double off_x = (double)x + 0.5 - 0.5 * (double)picture->width;
    const double off_y = (double)y + 0.5 - 0.5 * (double)picture->height;
    double ray[3];
    for (uint32_t i = 0; i < 3; ++i) {
        ray[i] = (double)camera->forward[i] + off_x * (double)camera->right[i] +
                 off_y * (double)camera->down[i];
    }
    const enum texture_kind kind = (enum texture_kind)(plan->haze >> 16);
    if (kind != TEXTURE_KIND_MAP) {
        return kind == TEXTURE_KIND_OUTSIDE || ray[2] > -2e-4;
    }
    const double along = -(double)camera->eye[2] / ray[2];
    const double at_x = (double)camera->eye[0] + along * ray[0];
    const double at_y = (double)camera->eye[1] + along * ray[1];
    const double texel = (double)(1u << (plan->level >> 8));
    const double error =
        fmax(fabs(at_x - (double)plan->x / 256.0), fabs(at_y - (double)plan->y / 256.0));
    return ray[2] < 0.0 && error < 0.25 * texel + 1e-5 * (double)reference->texture;
}

/* Returns whether the shader could have made a plan. */
static bool is_sound(const struct texture_reference* reference,
                     const struct texture_pixel_plan* plan)
{
    const uint32_t end = reference->texture * 256u;
    return plan->haze >> 16 <= TEXTURE_KIND_SKY && (plan->haze & 0xFFFF) <= 256 && plan->x < end &&
           plan->y < end && plan->level >> 8 < reference->levels && plan->probes >= 1 &&
           plan->probes <= MOST_PROBES && abs(plan->half_step_x) < (int32_t)end &&
           abs(plan->half_step_y) < (int32_t)end;
}

static void compare_pixel(struct texture_reference* reference,
                          const struct texture_picture* picture, uint32_t x, uint32_t y,
                          struct texture_comparison* comparison)
{
    const size_t index = (size_t)y * picture->width + x;
    const struct texture_pixel_plan* const plan = &picture->plans[index];
    const enum texture_kind kind = (enum texture_kind)(plan->haze >> 16);
    const uint32_t part = plan->haze & 0xFFFF;
    uint32_t colour[3] = {0};
    ++comparison->pixels;
    if (!is_sound(reference, plan)) {
        ++comparison->differing;
        ++comparison->misplaced;
        return;
    }
    memcpy(colour, kind == TEXTURE_KIND_SKY ? zenith : outside, sizeof(colour));
    if (kind == TEXTURE_KIND_MAP) {
        const uint32_t level = colour_map(reference, picture, plan, colour);
        const uint32_t away = level - (plan->level >> 8);
        ++comparison->on_map;
        if (away == 0) {
            ++comparison->at_wanted_level;
        } else {
            ++comparison->coarser[away < 4 ? away - 1 : 3];
        }
    }
    blend(colour, horizon, kind == TEXTURE_KIND_SKY ? 256 - part : part);
    const uint8_t* const pixel = &picture->pixels[4 * index];
    comparison->differing +=
        pixel[0] != colour[0] || pixel[1] != colour[1] || pixel[2] != colour[2] || pixel[3] != 255;
    comparison->misplaced += !is_in_place(reference, picture, x, y, plan);
}

bool texture_reference_compare(struct texture_reference* reference,
                               const struct texture_picture* picture,
                               struct texture_comparison* comparison)
{
    for (uint32_t y = 0; y < picture->height; ++y) {
        for (uint32_t x = 0; x < picture->width; ++x) {
            compare_pixel(reference, picture, x, y, comparison);
        }
    }
    return !reference->failed;
}
