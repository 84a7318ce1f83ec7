/*
 * A show: some frames of one heap, with or without moves meanwhile.
 */
#ifndef MAAR_SAMPLE_CHEESE_SHOW_H
#define MAAR_SAMPLE_CHEESE_SHOW_H

#include "cheese_blocks.h"
#include "cheese_options.h"

/* The pixels of all frames, four bytes each. */
struct cheese_film {
    uint32_t width, height, count;
    uint8_t* pixels;
};

enum { CHEESE_BEFORE, CHEESE_DURING, CHEESE_AFTER, CHEESE_MOMENTS };

struct cheese_result {
    uint32_t planets;                            /* those that were drawn */
    struct cheese_blocks blocks[CHEESE_MOMENTS]; /* with moves only */
    struct cheese_account account;
    uint32_t different; /* frames */
    uint32_t first_different;
};

/* Allocates a film. Prints an error and returns false on failure. */
bool cheese_film_create(struct cheese_film* film, uint32_t width, uint32_t height, uint32_t count);
void cheese_film_destroy(struct cheese_film* film);
/* Returns a frame of a film. */
uint8_t* cheese_film_frame(const struct cheese_film* film, uint32_t frame);

/* Makes a heap, renders all frames and stores them in the film. */
bool cheese_show_still(const struct sample_device* device, const struct cheese_options* options,
                       struct cheese_film* film);

/* Makes the same heap again, moves a part of it in each frame, and compares each frame with the
 * film. The caller releases the result in every case. */
bool cheese_show_moving(const struct sample_device* device, const struct cheese_options* options,
                        const struct cheese_film* film, struct cheese_result* result);
void cheese_result_release(struct cheese_result* result);

#endif
