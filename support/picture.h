/*
 * Draws a picture of memory as SVG: every block as a bar with its ranges. A small number of blocks
 * stand one below the other, many stand side by side in columns, and very many form a heat map of
 * their use. Depends neither on Vulkan nor on the allocator.
 */
#ifndef MAAR_SUPPORT_PICTURE_H
#define MAAR_SUPPORT_PICTURE_H

#include "readfile.h"
#include "svg.h"

#include <stdint.h>

/* The kinds of ranges in a block. */
enum support_picture_kind {
    SUPPORT_PICTURE_FREE = 0,
    SUPPORT_PICTURE_PADDING = 1, /* padding: alignment, rounding, granularity */
    SUPPORT_PICTURE_PENDING = 2, /* freed, waiting for the device */
    SUPPORT_PICTURE_BUFFER = 3,  /* buffers of the device */
    SUPPORT_PICTURE_STAGING = 4, /* buffers that the host writes or reads */
    SUPPORT_PICTURE_IMAGE = 5,   /* sampled and similar images */
    SUPPORT_PICTURE_TARGET = 6,  /* images that are rendered to */
    SUPPORT_PICTURE_OTHER = 7,   /* live, kind unknown */
    SUPPORT_PICTURE_KIND_COUNT = 8,
};

struct support_picture_range {
    uint64_t offset, size;
    enum support_picture_kind kind;
    char label[40]; /* shown under the pointer, and inside the range if it fits */
};

struct support_picture_block {
    uint64_t id;    /* its number in the allocator's other lists */
    char label[64]; /* memory type and further facts; the first two words are the short form */
    uint64_t size;
    uint64_t live, padding, pending; /* bytes */
    bool dedicated;
    struct support_picture_range* ranges; /* by offset, without gaps */
    size_t range_count;
};

struct support_picture {
    char title[160];
    char subtitle[320];
    struct support_picture_block* blocks;
    size_t block_count;
    enum support_svg_theme theme;
};

/* Draws a picture into a file. */
bool support_picture_write(const struct support_picture* picture, const char* path,
                           struct support_error* error);

/* Frees the contents of a picture and empties it. */
void support_picture_release(struct support_picture* picture);

#endif
