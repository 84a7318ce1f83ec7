/*
 * What the files of pictures of blocks share: measures, the colours of the kinds, the head.
 */
#ifndef MAAR_SUPPORT_PICTURE_INTERNAL_H
#define MAAR_SUPPORT_PICTURE_INTERNAL_H

#include "picture.h"

#define PICTURE_WIDTH 1200.0
#define MARGIN 24.0
#define INNER_WIDTH (PICTURE_WIDTH - 2 * MARGIN)
#define GUTTER 68.0 /* offsets in front of a map's lines */

/* The colours of light surroundings. `ON_DARK` and `ON_BRIGHT` stand on the colour of a kind and
 * are the same in dark surroundings. */
#define COLOUR_TEXT "#1B1F24"
#define COLOUR_DIM "#57606A"
#define COLOUR_PAPER "#FFFFFF"
#define COLOUR_FRAME "#8C959F"
#define COLOUR_FREE "#EEF1F4"
#define ON_DARK "white"
#define ON_BRIGHT "#0B0E12"

struct picture_style {
    const char* name;
    const char* fill[2]; /* two shades, which distinguish neighbours of one kind */
    const char* text;
};

extern const struct picture_style picture_styles[SUPPORT_PICTURE_KIND_COUNT];

/* The measures that are computed before anything is drawn. */
struct picture_layout {
    uint64_t totals[SUPPORT_PICTURE_KIND_COUNT];
    uint64_t reserved;
    uint64_t shared_bytes, dedicated_bytes, dedicated_live;
    size_t shared_count, dedicated_count;
    uint64_t largest_shared, largest_dedicated;
    uint64_t line_bytes; /* of a map's line */
    double line_height;
    bool grid;
    bool folded;          /* a map has folded lines */
    uint64_t shelf_bytes; /* of a full shelf */
    double height;
};

/* Writes bytes with a unit. Returns `buffer`. */
const char* picture_format_bytes(uint64_t bytes, char* buffer, size_t size);

double picture_percent(uint64_t part, uint64_t whole);

/* Names the colours of dark surroundings. */
void picture_darken(struct support_svg* svg);

/* Draws the title, a bar of all bytes by kind, and the legend. Returns the height of the head; only
 * measures if `svg` is NULL. */
double picture_draw_head(struct support_svg* svg, const struct support_picture* picture,
                         const struct picture_layout* layout);

#endif
