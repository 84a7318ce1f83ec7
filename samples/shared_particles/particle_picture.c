/*
 * Composes the picture; see particle_picture.h.
 */
#include "particle_picture.h"

#include "sample_text.h"
#include "support/png_file.h"

#include <stdlib.h>
#include <string.h>

#define GAP 4u /* pixels between stages, and above them */

bool particle_picture_create(struct particle_picture* picture, uint32_t width, uint32_t height)
{
    memset(picture, 0, sizeof(*picture));
    picture->width = width;
    picture->height = height;
    picture->stage_width = width > 2 * PARTICLE_STAGES * GAP
                               ? (width - (PARTICLE_STAGES - 1) * GAP) / PARTICLE_STAGES
                               : 1;
    picture->stage_height = (uint32_t)((uint64_t)picture->stage_width * height / width);
    picture->stage_height += picture->stage_height == 0 ? 1 : 0;
    picture->pixels = calloc((size_t)width * height, 4);
    picture->stages = calloc((size_t)width * picture->stage_height, 4);
    if (picture->pixels == NULL || picture->stages == NULL) {
        sample_complain("out of memory");
        return false;
    }
    return true;
}

void particle_picture_destroy(struct particle_picture* picture)
{
    free(picture->pixels);
    free(picture->stages);
    memset(picture, 0, sizeof(*picture));
}

/* Returns the mean of the pixels that a small pixel represents. */
static void shrink_pixel(const struct particle_picture* picture, uint32_t x, uint32_t y,
                         uint8_t* small)
{
    const uint32_t left = (uint32_t)((uint64_t)x * picture->width / picture->stage_width);
    const uint32_t right = (uint32_t)((uint64_t)(x + 1) * picture->width / picture->stage_width);
    const uint32_t top = (uint32_t)((uint64_t)y * picture->height / picture->stage_height);
    const uint32_t bottom = (uint32_t)((uint64_t)(y + 1) * picture->height / picture->stage_height);
    uint32_t sums[3] = {0, 0, 0};
    uint32_t count = 0;
    for (uint32_t row = top; row < bottom; ++row) {
        for (uint32_t column = left; column < right; ++column) {
            const uint8_t* const pixel =
                picture->pixels + 4 * ((size_t)row * picture->width + column);
            for (uint32_t i = 0; i < 3; ++i) {
                sums[i] += pixel[i];
            }
            ++count;
        }
    }
    for (uint32_t i = 0; i < 3; ++i) {
        small[i] = (uint8_t)(count > 0 ? sums[i] / count : 0);
    }
}

void particle_picture_keep(struct particle_picture* picture)
{
    const uint32_t first = picture->stage_count * (picture->stage_width + GAP);
    if (picture->stage_count == PARTICLE_STAGES || first + picture->stage_width > picture->width) {
        return;
    }
    for (uint32_t y = 0; y < picture->stage_height; ++y) {
        for (uint32_t x = 0; x < picture->stage_width; ++x) {
            shrink_pixel(picture, x, y,
                         picture->stages + 4 * ((size_t)y * picture->width + first + x));
        }
    }
    ++picture->stage_count;
}

bool particle_picture_write(const struct particle_picture* picture, const char* path)
{
    const size_t row = (size_t)4 * picture->width;
    const uint32_t height = picture->height + GAP + picture->stage_height;
    uint8_t* const all = calloc(height, row);
    struct support_error error = {{0}};
    if (all == NULL) {
        sample_complain("out of memory");
        return false;
    }
    memcpy(all, picture->pixels, row * picture->height);
    memcpy(all + row * (picture->height + GAP), picture->stages, row * picture->stage_height);
    const bool done = support_png_write(path, picture->width, height, all, &error);
    if (!done) {
        sample_complain("%s", error.text);
    }
    free(all);
    return done;
}
