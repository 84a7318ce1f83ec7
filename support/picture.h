/*
 * A picture of memory: every block as a bar, with what lies in it, as SVG. Few blocks are drawn one
 * below the other, many side by side in columns, very many as a heat map of how full they are.
 * Knows nothing of Vulkan or of the allocator.
 */
#ifndef MAAR_SUPPORT_PICTURE_H
#define MAAR_SUPPORT_PICTURE_H

#include "readfile.h"

#include <stdint.h>

/* What a stretch of a block is. */
enum support_picture_kind {
    SUPPORT_PICTURE_FREE = 0,
    SUPPORT_PICTURE_PADDING = 1, /* padding: alignment, rounding, granularity */
    SUPPORT_PICTURE_PENDING = 2, /* freed, waiting for the device */
    SUPPORT_PICTURE_BUFFER = 3,  /* the device's buffers */
    SUPPORT_PICTURE_STAGING = 4, /* buffers that the host writes or reads */
    SUPPORT_PICTURE_IMAGE = 5,   /* sampled images and the like */
    SUPPORT_PICTURE_TARGET = 6,  /* images that are rendered to */
    SUPPORT_PICTURE_OTHER = 7,   /* live, nothing known */
    SUPPORT_PICTURE_KIND_COUNT = 8,
};

struct support_picture_range {
    uint64_t offset, size;
    enum support_picture_kind kind;
    char label[40]; /* shown when pointed at, and inside when there is room */
};

struct support_picture_block {
    uint64_t id;    /* its number in every other list of the allocator */
    char label[64]; /* memory type and the like; its first two words are the short form */
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
};

/* Draws it into a file. */
bool support_picture_write(const struct support_picture* picture, const char* path,
                           struct support_error* error);

/* Frees what a picture holds and empties it. */
void support_picture_release(struct support_picture* picture);

#endif
