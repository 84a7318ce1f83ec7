/*
 * Writing SVG: a growing text, shapes, and text whose width is known in advance, so that it never
 * runs into anything. One owner at a time.
 */
#ifndef MAAR_SUPPORT_SVG_H
#define MAAR_SUPPORT_SVG_H

#include "readfile.h"

#include <stddef.h>

struct support_svg {
    char* text;
    size_t size, room;
    bool failed; /* out of memory: nothing more is added */
};

/* Begins a drawing of that many units, with a background. */
void support_svg_begin(struct support_svg* svg, double width, double height,
                       const char* background);

/* A filled rectangle. title, which may be NULL, is shown by a viewer that points at it. */
void support_svg_rectangle(struct support_svg* svg, double x, double y, double width, double height,
                           const char* fill, const char* title);

/* The outline of one. */
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

/* Text; special characters are escaped. */
void support_svg_text(struct support_svg* svg, const struct support_svg_text* style,
                      const char* text);

/* Anything else, as printf does it; the caller escapes. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void support_svg_raw(struct support_svg* svg, const char* format, ...);

/* A safe estimate of a text's width. */
double support_svg_text_width(const char* text, double size, bool bold);

/* Ends the drawing and writes it to a file; releases it in any case. */
bool support_svg_finish(struct support_svg* svg, const char* path, struct support_error* error);

#endif
