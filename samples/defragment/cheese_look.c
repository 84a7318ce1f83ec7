/*
 * Makes planets out of noise; see cheese_look.h. The noise repeats after one turn.
 */
#include "cheese_look.h"

#include <math.h>
#include <stddef.h>

#define OCTAVES 5u
#define KINDS 6u

/* A kind of planet: its colours from the lowest to the highest ground, and its air. */
struct kind {
    float colours[4][3];
    float air[3];
    float bands; /* stripes from pole to pole; 0 for none */
};

static const struct kind kinds[KINDS] = {
    {{{.05f, .13f, .34f}, {.09f, .25f, .50f}, {.32f, .44f, .22f}, {.86f, .88f, .86f}},
     {.35f, .60f, 1.0f},
     0},
    {{{.28f, .10f, .06f}, {.52f, .23f, .12f}, {.74f, .42f, .24f}, {.90f, .74f, .58f}},
     {1.0f, .55f, .34f},
     0},
    {{{.46f, .34f, .24f}, {.80f, .66f, .48f}, {.62f, .42f, .30f}, {.95f, .90f, .80f}},
     {1.0f, .82f, .60f},
     9},
    {{{.10f, .10f, .12f}, {.30f, .29f, .30f}, {.50f, .48f, .47f}, {.78f, .76f, .74f}},
     {.55f, .58f, .66f},
     0},
    {{{.14f, .36f, .50f}, {.40f, .66f, .78f}, {.72f, .87f, .93f}, {.97f, .99f, 1.0f}},
     {.52f, .88f, 1.0f},
     5},
    {{{.98f, .55f, .12f}, {.40f, .08f, .04f}, {.14f, .07f, .07f}, {.30f, .26f, .26f}},
     {1.0f, .38f, .14f},
     0},
};

static const struct kind* kind_of(uint32_t number)
{
    return &kinds[(number * 7u + number / 5u) % KINDS];
}

/* A random number for a corner of the lattice, 0 to 1. */
static float corner(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t bits = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    bits = (bits ^ bits >> 15) * 0x2C1B3C6Du;
    bits = (bits ^ bits >> 12) * 0x297A2D39u;
    return (float)((bits ^ bits >> 15) >> 8) / 16777216.0f;
}

static float smooth(float part)
{
    return part * part * (3.0f - 2.0f * part);
}

/* Noise at a place, 0 to 1 in both directions, that repeats in x. */
static float noise(float x, float y, uint32_t cells, uint32_t seed)
{
    const float column = floorf(x * (float)cells);
    const float row = floorf(y * (float)cells);
    const float right = smooth(x * (float)cells - column);
    const float up = smooth(y * (float)cells - row);
    const uint32_t x0 = (uint32_t)column % cells;
    const uint32_t x1 = (x0 + 1) % cells;
    const uint32_t y0 = (uint32_t)row;
    const float below = corner(x0, y0, seed) * (1 - right) + corner(x1, y0, seed) * right;
    const float above = corner(x0, y0 + 1, seed) * (1 - right) + corner(x1, y0 + 1, seed) * right;
    return below * (1 - up) + above * up;
}

/* Sums up noise of several sizes, 0 to 1. */
static float ground(float x, float y, uint32_t number)
{
    float sum = 0.0f;
    float weight = 0.5f;
    uint32_t cells = 5;
    for (uint32_t octave = 0; octave < OCTAVES; ++octave) {
        sum += noise(x, y, cells, number * 31u + octave) * weight;
        weight *= 0.5f;
        cells *= 2;
    }
    return sum;
}

/* Finds the place in a kind's list of colours. */
static float shade_of(const struct kind* kind, float x, float y, uint32_t number)
{
    const float height = ground(x, y, number);
    if (kind->bands > 0.0f) {
        return 0.5f + 0.5f * sinf((y + (height - 0.5f) * 0.16f) * kind->bands * 6.2831853f);
    }
    const float spread = (height - 0.5f) * 2.4f + 0.5f;
    return fminf(fmaxf(spread, 0.0f), 1.0f);
}

static void write_texel(uint32_t number, float x, float y, uint8_t* texel)
{
    const struct kind* const kind = kind_of(number);
    const float at = shade_of(kind, x, y, number) * 2.9999f;
    const uint32_t below = (uint32_t)at;
    const float part = at - (float)below;
    for (uint32_t c = 0; c < 3; ++c) {
        const float colour =
            kind->colours[below][c] * (1 - part) + kind->colours[below + 1][c] * part;
        texel[c] = (uint8_t)(sqrtf(colour) * 255.0f + 0.5f);
    }
    texel[3] = 255;
}

/* Makes a level of an image out of the next larger one. */
static void shrink(const uint8_t* larger, uint32_t size, uint8_t* smaller)
{
    for (uint32_t y = 0; y < size / 2; ++y) {
        for (uint32_t x = 0; x < size / 2; ++x) {
            const uint8_t* const from = larger + 4u * (2 * y * size + 2 * x);
            for (uint32_t c = 0; c < 4; ++c) {
                const uint32_t sum =
                    0u + from[c] + from[4 + c] + from[4u * size + c] + from[4u * size + 4 + c];
                smaller[4u * (y * (size / 2) + x) + c] = (uint8_t)((sum + 2) / 4);
            }
        }
    }
}

uint32_t cheese_look_levels(uint32_t size)
{
    uint32_t levels = 1;
    while (size >> levels != 0) {
        ++levels;
    }
    return levels;
}

uint32_t cheese_look_bytes(uint32_t size)
{
    uint32_t bytes = 0;
    for (; size > 0; size /= 2) {
        bytes += 4 * size * size;
    }
    return bytes;
}

void cheese_look_texels(uint32_t number, uint32_t size, uint8_t* texels)
{
    for (uint32_t y = 0; y < size; ++y) {
        for (uint32_t x = 0; x < size; ++x) {
            write_texel(number, ((float)x + 0.5f) / (float)size, ((float)y + 0.5f) / (float)size,
                        texels + 4u * (y * size + x));
        }
    }
    for (; size > 1; size /= 2) {
        shrink(texels, size, texels + (size_t)4 * size * size);
        texels += (size_t)4 * size * size;
    }
}

void cheese_look_heights(uint32_t number, uint32_t grid, float* heights)
{
    for (uint32_t y = 0; y < grid; ++y) {
        for (uint32_t x = 0; x < grid; ++x) {
            heights[y * grid + x] =
                ground(((float)x + 0.5f) / (float)grid, ((float)y + 0.5f) / (float)grid, number);
        }
    }
}

void cheese_look_air(uint32_t number, float air[3])
{
    for (uint32_t c = 0; c < 3; ++c) {
        air[c] = kind_of(number)->air[c];
    }
}
