/*
 * Draws textures: stone, bricks and tiles; see hall_texels.h. Some are smooth, so that they shrink
 * when they are compressed; others are rough, and do not.
 */
#include "hall_texels.h"

#include "hall_scene.h"

#include <math.h>

uint32_t hall_texels_levels(uint32_t side)
{
    uint32_t levels = 1;
    while (side >> levels > 0) {
        ++levels;
    }
    return levels;
}

uint64_t hall_texels_size(uint32_t side)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < hall_texels_levels(side); ++i) {
        size += UINT64_C(4) * (side >> i) * (side >> i);
    }
    return size;
}

static float scatter(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t mixed = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6Du;
    mixed = (mixed ^ mixed >> 12) * 0x297A2D39u;
    return (float)((mixed ^ mixed >> 15) & 0xFFFFu) / 65535.0f;
}

/* Smooth noise that repeats after `period` cells. */
static float smooth(float x, float y, uint32_t period, uint32_t seed)
{
    const float place[2] = {x * (float)period, y * (float)period};
    const uint32_t cell[2] = {(uint32_t)place[0], (uint32_t)place[1]};
    const float part[2] = {place[0] - (float)cell[0], place[1] - (float)cell[1]};
    const uint32_t left = cell[0] % period;
    const uint32_t top = cell[1] % period;
    const uint32_t right = (left + 1) % period;
    const uint32_t below = (top + 1) % period;
    const float upper =
        scatter(left, top, seed) * (1.0f - part[0]) + scatter(right, top, seed) * part[0];
    const float lower =
        scatter(left, below, seed) * (1.0f - part[0]) + scatter(right, below, seed) * part[0];
    return upper * (1.0f - part[1]) + lower * part[1];
}

/* Returns how bright the pattern is at a place: stones in rows, or square tiles, with joints. */
static float pattern(uint32_t texture, float x, float y)
{
    const uint32_t bay = texture / HALL_TEXTURES;
    const bool is_floor = texture % HALL_TEXTURES == HALL_FLOOR;
    const float rows = is_floor ? 6.0f : 8.0f + (float)(bay % 3) * 4.0f;
    const float columns = is_floor ? 8.0f : rows / 2.0f;
    const float row = y * rows;
    const float shift = is_floor ? 0.0f : 0.5f * (float)((uint32_t)row % 2);
    const float column = x * columns + shift;
    const uint32_t number[2] = {(uint32_t)column % (uint32_t)columns, (uint32_t)row};
    const float inside[2] = {column - floorf(column), row - floorf(row)};
    const float edge = fminf(fminf(inside[0], 1.0f - inside[0]) * (is_floor ? 1.0f : 2.0f),
                             fminf(inside[1], 1.0f - inside[1]));
    if (edge < 0.05f) {
        return 0.35f;
    }
    const float checker = is_floor && (number[0] + number[1]) % 2 == 0 ? 0.3f : 0.0f;
    return 1.0f - checker - 0.25f * scatter(number[0], number[1], texture);
}

static void draw(uint32_t texture, uint32_t side, uint8_t* texels)
{
    const uint32_t bay = texture / HALL_TEXTURES;
    const bool is_rough = bay % 2 == 0;
    const float hue = (float)bay * 0.61f + (float)(texture % HALL_TEXTURES) * 0.35f;
    for (uint32_t i = 0; i < side * side; ++i) {
        const float x = ((float)(i % side) + 0.5f) / (float)side;
        const float y = ((float)(i / side) + 0.5f) / (float)side;
        float light = pattern(texture, x, y);
        if (is_rough) {
            light *= 0.7f + 0.2f * smooth(x, y, 8, texture) + 0.15f * smooth(x, y, 32, texture) +
                     0.1f * scatter(i % side, i / side, texture);
        }
        for (uint32_t k = 0; k < 3; ++k) {
            const float tint = 0.7f + 0.15f * cosf(hue + 2.1f * (float)k);
            texels[4 * i + k] = (uint8_t)fminf(255.0f * light * tint, 255.0f);
        }
        texels[4 * i + 3] = 255;
    }
}

void hall_texels_fill(uint32_t texture, uint32_t side, uint8_t* texels)
{
    draw(texture, side, texels);
    uint8_t* above = texels;
    for (uint32_t level = 1; level < hall_texels_levels(side); ++level) {
        const uint32_t wide = side >> (level - 1);
        const uint32_t narrow = side >> level;
        uint8_t* const below = above + (uint64_t)4 * wide * wide;
        for (uint32_t i = 0; i < narrow * narrow * 4; ++i) {
            const uint32_t x = i / 4 % narrow * 2;
            const uint32_t y = i / 4 / narrow * 2;
            const uint8_t* const first = above + ((uint64_t)y * wide + x) * 4 + i % 4;
            below[i] = (uint8_t)((first[0] + first[4] + first[(uint64_t)4 * wide] +
                                  first[(uint64_t)4 * wide + 4] + 2) /
                                 4);
        }
        above = below;
    }
}
