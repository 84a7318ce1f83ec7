/*
 * The command line of the virtual texture.
 */
#ifndef MAAR_SAMPLE_TEXTURE_OPTIONS_H
#define MAAR_SAMPLE_TEXTURE_OPTIONS_H

#include "sample_text.h"

/* A mistake that is made on purpose: the program's checks must notice it. */
enum texture_plant {
    TEXTURE_PLANT_NONE,
    TEXTURE_PLANT_STALE,   /* the last frame samples tiles that were evicted just before it */
    TEXTURE_PLANT_SKIPPED, /* every third tile is not filled */
    TEXTURE_PLANT_OVERRUN, /* the cache is told a budget that is twice as large */
    TEXTURE_PLANT_WAIT     /* each frame waits for its own uploads */
};

struct texture_options {
    const char* device; /* auto, vulkan:N, lavapipe, or a part of a name */
    const char* out;    /* folder of the pictures; NULL for none */
    uint32_t width, height, frames;
    uint32_t rate;        /* frames a second at most */
    uint32_t texture;     /* texels in x and in y; 0: 16384, or what the device can */
    uint32_t budget_part; /* the budget is the texture's bytes by this, */
    uint32_t budget_kib;  /* unless it is given in KiB */
    enum texture_plant plant;
    bool tint; /* a colour for each level */
    bool validate;
    bool json;
};

/* Fills options. Returns false when the program is to end with *exit_code, having said why. */
bool texture_options_parse(struct texture_options* options, int argc, char** argv, int* exit_code);

#endif
