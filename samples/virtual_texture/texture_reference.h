/*
 * What a frame ought to look like: computed on the host from the landscape itself, of which every
 * texel is there, and from the levels that the frame was told it may sample. Shares with the shader
 * only what the shader says it fetches, and how colours are mixed.
 */
#ifndef MAAR_SAMPLE_TEXTURE_REFERENCE_H
#define MAAR_SAMPLE_TEXTURE_REFERENCE_H

#include "texture_view.h"

/* A frame, as it was drawn. */
struct texture_picture {
    uint32_t frame;
    uint32_t width, height;
    bool tint;
    struct texture_camera camera;
    uint8_t* pixels;                  /* four bytes each */
    struct texture_pixel_plan* plans; /* of each pixel */
    uint8_t* levels;                  /* of each tile of level 0 */
};

/* What comparing found; sums over pictures. */
struct texture_comparison {
    uint64_t pixels;     /* compared: all */
    uint64_t on_map;     /* of these, showing the map */
    uint64_t differing;  /* not as they ought to be */
    uint64_t misplaced;  /* the shader fetched from another place than the camera looks at */
    uint64_t wished;     /* on the map and at the level that they wish */
    uint64_t coarser[4]; /* on the map and one, two, three, more levels coarser */
};

struct texture_reference;

/* texture: texels in x and in y; tiles as in the image's info. NULL when out of memory. */
struct texture_reference* texture_reference_create(const struct texture_stream* stream);
void texture_reference_destroy(struct texture_reference* reference);

/* Compares a picture, and adds what it finds. False when out of memory. */
bool texture_reference_compare(struct texture_reference* reference,
                               const struct texture_picture* picture,
                               struct texture_comparison* comparison);

/* The colours of levels, for legends; the last one stands for all that are coarser. */
#define TEXTURE_TINT_COUNT 8u
extern const uint8_t texture_tints[TEXTURE_TINT_COUNT][3];

#endif
