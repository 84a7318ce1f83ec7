/*
 * Where each texture was in each frame, and a picture of that.
 */
#ifndef MAAR_SAMPLE_HALL_STRIP_H
#define MAAR_SAMPLE_HALL_STRIP_H

#include "hall_textures.h"

struct hall_strip {
    uint32_t rows, columns; /* textures, frames */
    uint8_t* tiers;         /* a MaarTier each */
    bool* uses;             /* whether the frame uses the texture */
};

bool hall_strip_create(struct hall_strip* strip, uint32_t rows, uint32_t columns);
void hall_strip_destroy(struct hall_strip* strip);

/* Counts the textures that were in a tier at some time. */
uint32_t hall_strip_count(const struct hall_strip* strip, MaarTier tier);

/* Writes the picture: a row for each texture, a column for each frame, a colour for each tier, and
 * a dark line through what the frame uses. */
bool hall_strip_write(const struct hall_strip* strip, const char* path);

#endif
