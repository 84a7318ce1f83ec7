/*
 * Writes SVG: a growing text, shapes, and labels. The width of a label is estimated in advance, so
 * that it never overlaps a neighbour. A drawing names the colours of light surroundings and, for
 * each of them that changes, the colour in dark surroundings. One thread at a time may use a
 * drawing.
 */
#ifndef MAAR_SUPPORT_SVG_H
#define MAAR_SUPPORT_SVG_H

#include "readfile.h"

#include <stddef.h>

/* The surroundings that a drawing is made for. */
enum support_svg_theme {
    SUPPORT_SVG_THEME_AUTO = 0, /* both: the viewer chooses (prefers-color-scheme) */
    SUPPORT_SVG_THEME_LIGHT = 1,
    SUPPORT_SVG_THEME_DARK = 2,
    SUPPORT_SVG_THEME_COUNT = 3,
};

/* The names of the themes in command lines: auto, light, dark. */
extern const char* const support_svg_theme_names[SUPPORT_SVG_THEME_COUNT];

/* Finds a theme by its name. Returns false for an unknown name. */
bool support_svg_find_theme(const char* name, enum support_svg_theme* theme);

/* A colour in light and in dark surroundings, each as "#RRGGBB". */
struct support_svg_pair {
    char light[8], dark[8];
};

struct support_svg {
    char* text;
    size_t size, room;
    enum support_svg_theme theme;
    struct support_svg_pair* pairs;
    size_t pair_count, pair_room;
    bool failed; /* out of memory: all later output is dropped */
};

/* Begins a drawing of the given units, with a background. */
void support_svg_begin(struct support_svg* svg, double width, double height,
                       const char* background);

/*
 * Says for colours of attributes, each written as "#RRGGBB" in double quotes, how they look in dark
 * surroundings. A colour without a pair is the same in both. The first pair of a colour counts.
 */
void support_svg_darken(struct support_svg* svg, const char* light, const char* dark);

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
