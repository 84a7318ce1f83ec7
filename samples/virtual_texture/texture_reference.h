/*
 * The expected contents of a frame. The host computes them from the landscape itself, whose texels
 * are all available, and from the levels that the frame may sample. The reference shares with the
 * shader only the shader's plan of its fetches, and the rules for mixing colours.
 */
#ifndef MAAR_SAMPLE_TEXTURE_REFERENCE_H
#define MAAR_SAMPLE_TEXTURE_REFERENCE_H

#include "texture_view.h"

/* A drawn frame. */
struct texture_picture {
    uint32_t frame;
    uint32_t width, height;
    bool tint;
    struct texture_camera camera;
    uint8_t* pixels;                  /* four bytes each */
    struct texture_pixel_plan* plans; /* of each pixel */
    uint8_t* levels;                  /* of each tile of level 0 */
};

/* The results of comparisons, summed over pictures. */
struct texture_comparison {
    uint64_t pixels;          /* all compared pixels */
    uint64_t on_map;          /* those that show the map */
    uint64_t differing;       /* pixels that differ from the reference */
    uint64_t misplaced;       /* the shader fetched from another place than the camera looks at */
    uint64_t at_wanted_level; /* pixels of the map at the level that they want */
    uint64_t coarser[4]; /* pixels of the map that are one, two, three, or more levels coarser */
};

struct texture_reference;

/* Creates a reference. `texture` is the number of texels in x and in y. Tiles are those of the
 * image's info. Returns NULL when out of memory. */
struct texture_reference* texture_reference_create(const struct texture_stream* stream);
void texture_reference_destroy(struct texture_reference* reference);

/* Compares a picture and adds the results. Returns false when out of memory. */
bool texture_reference_compare(struct texture_reference* reference,
                               const struct texture_picture* picture,
                               struct texture_comparison* comparison);

/* The colours of levels, for legends. The last colour stands for all coarser levels. */
#define TEXTURE_TINT_COUNT 8u
extern const uint8_t texture_tints[TEXTURE_TINT_COUNT][3];

#endif
