/*
 * A walk through the hall, with some budgets.
 */
#ifndef MAAR_SAMPLE_HALL_SHOW_H
#define MAAR_SAMPLE_HALL_SHOW_H

#include "hall_options.h"
#include "hall_strip.h"

/* The pixels of all frames, four bytes each. */
struct hall_film {
    size_t frame_size;
    uint8_t* pixels;
};

struct hall_result {
    MaarResidencyInfo info; /* at the end */
    uint64_t not_ready;     /* calls of maarBeginUse for frames */
    struct hall_strip strip;
    uint32_t different; /* frames that are not those of the film */
    uint32_t first_different;
};

/* Walks with room for all textures, and stores the frames in the film. */
bool hall_show_roomy(const struct sample_device* device, const struct hall_options* options,
                     struct hall_film* film);
/* Walks with small budgets, and compares each frame with the film. The caller releases the strip of
 * the result in every case. */
bool hall_show_tight(const struct sample_device* device, const struct hall_options* options,
                     struct hall_film* film, struct hall_result* result);

#endif
