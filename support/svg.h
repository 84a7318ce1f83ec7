/*
 * Writes SVG: a growing text, shapes, and labels. The width of a label is estimated in advance, so
 * that it never overlaps a neighbour. One thread at a time may use a drawing.
 */
#ifndef MAAR_SUPPORT_SVG_H
#define MAAR_SUPPORT_SVG_H

#include "readfile.h"

#include <stddef.h>

struct support_svg {
    char* text;
    size_t size, room;
    bool failed; /* out of memory: all later output is dropped */
};

/* Begins a drawing of the given units, with a background. */
void support_svg_begin(struct support_svg* svg, double width, double height,
                       const char* background);

/* Draws a filled rectangle. Viewers show `title`, which may be NULL, under the pointer. */
void support_svg_rectangle(struct support_svg* svg, double x, double y, double width, double height,
                           const char* fill, const char* title);

/* Draws the outline of a rectangle. */
void support_svg_frame(struct support_svg* svg, double x, double y, double width, double height,
                       const char* stroke, double thickness);

struct support_svg_text {
    double x, y; /* of the baseline's start, middle or end */
    double size; /* of the font */
    const char* fill;
    const char* anchor; /* start, middle or end */
    bool bold;
    double max_width; /* the text is cut with an ellipsis to fit; 0 for no limit */
};

/* Draws a text and escapes special characters. */
void support_svg_text(struct support_svg* svg, const struct support_svg_text* style,
                      const char* text);

/* Writes any other element in printf's format. The caller escapes special characters. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void support_svg_raw(struct support_svg* svg, const char* format, ...);

/* Returns a safe estimate of a text's width. */
double support_svg_text_width(const char* text, double size, bool bold);

/* Ends the drawing and writes it to a file. Releases the drawing in every case. */
bool support_svg_finish(struct support_svg* svg, const char* path, struct support_error* error);

#endif
