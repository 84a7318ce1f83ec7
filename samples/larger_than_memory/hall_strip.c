/*
 * Draws the picture; see hall_strip.h.
 */
#include "hall_strip.h"

#include "support/png_file.h"

#include <stdlib.h>
#include <string.h>

#define CELL_WIDTH 8u
#define CELL_HEIGHT 6u
#define MARGIN 8u

static const uint8_t paper[3] = {0xFF, 0xFF, 0xFF};
static const uint8_t ink[3] = {0x1B, 0x1F, 0x24};
static const uint8_t colours[MAAR_TIER_COUNT][3] = {
    [MAAR_TIER_NONE] = {0xEA, 0xEE, 0xF2}, [MAAR_TIER_DEVICE] = {0x3B, 0x8E, 0xEA},
    [MAAR_TIER_HOST] = {0x5F, 0xC2, 0x7E}, [MAAR_TIER_COMPRESSED] = {0xF2, 0xB1, 0x34},
    [MAAR_TIER_FILE] = {0xC9, 0x5D, 0x52},
};

bool hall_strip_create(struct hall_strip* strip, uint32_t rows, uint32_t columns)
{
    *strip = (struct hall_strip){.rows = rows, .columns = columns};
    strip->tiers = calloc((size_t)rows * columns, sizeof(strip->tiers[0]));
    strip->uses = calloc((size_t)rows * columns, sizeof(strip->uses[0]));
    return sample_has_memory(strip->tiers) && sample_has_memory(strip->uses);
}

void hall_strip_destroy(struct hall_strip* strip)
{
    free(strip->tiers);
    free(strip->uses);
    memset(strip, 0, sizeof(*strip));
}

uint32_t hall_strip_count(const struct hall_strip* strip, MaarTier tier)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < strip->rows; ++row) {
        count +=
            memchr(strip->tiers + (size_t)row * strip->columns, (int)tier, strip->columns) != NULL;
    }
    return count;
}

/* Returns the colour of a pixel. */
static const uint8_t* colour_at(const struct hall_strip* strip, uint32_t x, uint32_t y)
{
    const uint32_t column = (x - MARGIN) / CELL_WIDTH;
    const uint32_t row = (y - MARGIN) / CELL_HEIGHT;
    const uint32_t line = (y - MARGIN) % CELL_HEIGHT;
    if (x < MARGIN || y < MARGIN || column >= strip->columns || row >= strip->rows ||
        line == CELL_HEIGHT - 1) {
        return paper;
    }
    const size_t cell = (size_t)row * strip->columns + column;
    return strip->uses[cell] && line == CELL_HEIGHT / 2 - 1 ? ink : colours[strip->tiers[cell]];
}

bool hall_strip_write(const struct hall_strip* strip, const char* path)
{
    const uint32_t width = strip->columns * CELL_WIDTH + 2 * MARGIN;
    const uint32_t height = strip->rows * CELL_HEIGHT + 2 * MARGIN;
    uint8_t* const pixels = calloc((size_t)width * height, 4);
    struct support_error error = {{0}};
    if (!sample_has_memory(pixels)) {
        return false;
    }
    for (uint32_t y = 0; y < height; ++y) {
        for (uint32_t x = 0; x < width; ++x) {
            memcpy(pixels + 4 * ((size_t)y * width + x), colour_at(strip, x, y), 3);
        }
    }
    const bool done = support_png_write(path, width, height, pixels, &error);
    if (!done) {
        sample_complain("%s", error.text);
    }
    free(pixels);
    return done;
}
