/*
 * The command line of the virtual texture.
 */
#ifndef MAAR_SAMPLE_TEXTURE_OPTIONS_H
#define MAAR_SAMPLE_TEXTURE_OPTIONS_H

#include "sample_text.h"

/* The deliberate mistakes, which the program's checks must notice. */
enum texture_plant {
    TEXTURE_PLANT_NONE,
    TEXTURE_PLANT_STALE,   /* the last frame samples tiles that were evicted just before it */
    TEXTURE_PLANT_SKIPPED, /* every third tile is not filled */
    TEXTURE_PLANT_OVERRUN, /* the cache gets twice the budget */
    TEXTURE_PLANT_WAIT     /* each frame waits for its own uploads */
};

struct texture_options {
    const char* device; /* auto, vulkan:N, lavapipe, or a part of a name */
    const char* out;    /* folder of the pictures; NULL for none */
    uint32_t width, height, frames;
    uint32_t rate;        /* most frames in a second */
    uint32_t texture;     /* texels in x and in y; 0: 16384, or the device's maximum */
    uint32_t budget_part; /* the budget is the texture's bytes divided by this, */
    uint32_t budget_kib;  /* unless it is given in KiB */
    enum texture_plant plant;
    bool tint; /* a colour for each level */
    bool validate;
    bool json;
};

/* Fills in the options. Returns false if the program must end with *exit_code; an error has then
 * been printed. */
bool texture_options_parse(struct texture_options* options, int argc, char** argv, int* exit_code);

#endif
