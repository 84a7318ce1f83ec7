/*
 * What the files of pictures of plans share: measures, colours, and the parts that a picture is
 * made of.
 */
#ifndef MAAR_SUPPORT_PLAN_PICTURE_INTERNAL_H
#define MAAR_SUPPORT_PLAN_PICTURE_INTERNAL_H

#include "plan_picture.h"

#define CHART_WIDTH 1280.0
#define CHART_LEFT 86.0   /* offsets */
#define CHART_RIGHT 152.0 /* names of the lines */
#define CHART_INNER (CHART_WIDTH - CHART_LEFT - CHART_RIGHT)
#define CHART_HEAD 104.0
#define CHART_LEGEND_Y 72.0
#define CHART_PANELS 640.0 /* height of all panels together, unless one becomes too low */
#define CHART_MIN_PANEL 70.0
#define CHART_PANEL_GAP 30.0
#define CHART_LIVE 120.0
#define CHART_AXIS 34.0
#define CHART_FOOT 12.0
#define CHART_QUEUE 15.0
#define CHART_NAMES 96.0 /* names of passes, in vertical text */

#define CHART_TEXT "#1B1F24"
#define CHART_DIM "#57606A"
#define CHART_PAPER "#FFFFFF"
#define CHART_GROUND "#F4F6F8"
#define CHART_LINE "#D0D7DE"
#define CHART_PEAK "#B3261E"
#define CHART_BOUND "#0B6E4F"
#define CHART_CAPACITY "#6F42C1"
#define CHART_EDGE "#3F4954"
#define CHART_CROSS "#B4540A"

/* The most aliasing edges that are drawn. */
#define CHART_MAX_EDGES 500u

struct chart {
    const struct support_plan_picture* picture;
    struct support_svg svg;
    uint64_t begin, end; /* of all items */
    uint64_t total;      /* of all parts */
    uint64_t most_alive;
    double height;
};

/* Writes bytes with a unit. Returns `buffer`. */
const char* chart_bytes(uint64_t bytes, char* buffer, size_t size);

/* Returns the place of a time. */
double chart_x(const struct chart* chart, uint64_t time);

void chart_text(struct chart* chart, double x, double y, double size, const char* anchor,
                const char* fill, const char* text);

/* Draws a vertical text that ends at a point, or is centred on it. */
void chart_upright(struct chart* chart, double x, double y, const char* anchor, double size,
                   const char* text);

/* Draws lines of bytes with their numbers in front, at most `most` and the zero. */
void chart_draw_scale(struct chart* chart, double top, double height, uint64_t size, uint64_t most);

/* ---- plan_picture_lines.c ---- */

/* Draws every kind of line that the picture uses, with its meaning. */
void chart_draw_legend(struct chart* chart);

/* Draws the lines of the peak, of the lower bound and of a capacity that is too small. Their names
 * stand in the margin, each beside its line or below the previous name. */
void chart_draw_bounds(struct chart* chart, double top, double scale,
                       const struct support_plan_part* part, uint64_t capacity);

/* Draws the aliasing edges of a part, whose bytes end at `top`. */
void chart_draw_edges(struct chart* chart, size_t part, double top, double scale);

/* ---- plan_picture_below.c ---- */

/* Each draws a part of the picture below the panels and returns the y below it: the numbers of
 * passes or times, the queues with the names of passes, the live bytes. */
double chart_draw_axis(struct chart* chart, double top);
double chart_draw_passes(struct chart* chart, double top);
double chart_draw_alive(struct chart* chart, double top);

#endif
