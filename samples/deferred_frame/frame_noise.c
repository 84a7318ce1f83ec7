/*
 * Gradient noise; see frame_noise.h.
 */
#include "frame_noise.h"

#include "frame_math.h"

#include <math.h>
#include <stddef.h>

static float gradient(uint32_t x, uint32_t y, float dx, float dy)
{
    const float angle = 2.0f * FRAME_PI * frame_hash(x * 7919u + y * 104729u);
    return cosf(angle) * dx + sinf(angle) * dy;
}

static float one_octave(float x, float y, uint32_t period)
{
    const float fx = floorf(x);
    const float fy = floorf(y);
    const float dx = x - fx;
    const float dy = y - fy;
    const uint32_t mask = period - 1;
    const uint32_t x0 = (uint32_t)(int32_t)fx & mask;
    const uint32_t y0 = (uint32_t)(int32_t)fy & mask;
    const uint32_t x1 = (x0 + 1) & mask;
    const uint32_t y1 = (y0 + 1) & mask;
    const float sx = dx * dx * dx * (dx * (dx * 6.0f - 15.0f) + 10.0f);
    const float sy = dy * dy * dy * (dy * (dy * 6.0f - 15.0f) + 10.0f);
    const float a = gradient(x0, y0, dx, dy);
    const float b = gradient(x1, y0, dx - 1.0f, dy);
    const float c = gradient(x0, y1, dx, dy - 1.0f);
    const float d = gradient(x1, y1, dx - 1.0f, dy - 1.0f);
    const float top = a + sx * (b - a);
    return top + sy * (c + sx * (d - c) - top);
}

float frame_noise(float x, float y, uint32_t period, uint32_t octaves)
{
    float sum = 0.0f;
    float size = 0.5f;
    for (uint32_t i = 0; i < octaves; ++i) {
        sum += size * one_octave(x, y, period);
        size *= 0.5f;
        x *= 2.0f;
        y *= 2.0f;
        period *= 2;
    }
    sum = 0.5f + 0.9f * sum;
    return sum < 0.0f ? 0.0f : sum > 1.0f ? 1.0f : sum;
}

uint32_t frame_noise_bytes(void)
{
    uint32_t bytes = 0;
    for (uint32_t level = 0; level < FRAME_NOISE_LEVELS; ++level) {
        bytes += 4 * (FRAME_NOISE_SIZE >> level) * (FRAME_NOISE_SIZE >> level);
    }
    return bytes;
}

static uint8_t to_byte(float value)
{
    const float scaled = value * 255.0f + 0.5f;
    return (uint8_t)(scaled < 0.0f ? 0.0f : scaled > 255.0f ? 255.0f : scaled);
}

static void fill_first(uint8_t* texels)
{
    const size_t size = FRAME_NOISE_SIZE;
    for (size_t y = 0; y < size; ++y) {
        for (size_t x = 0; x < size; ++x) {
            uint8_t* const texel = texels + 4 * (y * size + x);
            const float u = (float)x / (float)size;
            const float v = (float)y / (float)size;
            texel[0] = to_byte(frame_noise(4.0f * u, 4.0f * v, 4, 4));
            texel[1] = to_byte(frame_noise(16.0f * u + 0.37f, 16.0f * v + 0.71f, 16, 4));
        }
    }
    for (size_t y = 0; y < size; ++y) {
        for (size_t x = 0; x < size; ++x) {
            uint8_t* const texel = texels + 4 * (y * size + x);
            const size_t right = (x + 1) % size;
            const size_t below = (y + 1) % size;
            const float here = texel[1];
            texel[2] = to_byte(0.5f + (texels[4 * (y * size + right) + 1] - here) / 48.0f);
            texel[3] = to_byte(0.5f + (texels[4 * (below * size + x) + 1] - here) / 48.0f);
        }
    }
}

void frame_noise_fill(uint8_t* texels)
{
    fill_first(texels);
    const uint8_t* finer = texels;
    for (uint32_t level = 1; level < FRAME_NOISE_LEVELS; ++level) {
        const size_t size = FRAME_NOISE_SIZE >> level;
        uint8_t* const coarser = texels + (finer - texels) + 16 * size * size;
        for (size_t i = 0; i < 4 * size * size; ++i) {
            const size_t channel = i % 4;
            const size_t x = (i / 4) % size;
            const size_t y = i / 4 / size;
            const uint8_t* const at = finer + 4 * (4 * y * size + 2 * x) + channel;
            coarser[i] = (uint8_t)((at[0] + at[4] + at[8 * size] + at[8 * size + 4] + 2) / 4);
        }
        finer = coarser;
    }
}
