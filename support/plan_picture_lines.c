/*
 * Draws the lines of a plan: limits, aliasing edges, and the legend that explains them; see
 * plan_picture_internal.h.
 */
#include "support/plan_picture_internal.h"

#include <stdio.h>

/* The distance between the texts in the margin. */
#define CHART_TEXT_STEP 14.0

/* The sizes of an arrow's head, and the shortest arrow. */
#define ARROW_LENGTH 6.0
#define ARROW_HALF 2.6
#define ARROW_SHORTEST 11.0

/* The most items between the ends of an edge that its arrow avoids. */
#define MAX_BETWEEN 60u

#define SAMPLE_LENGTH 26.0

/* The kinds of lines, as they are drawn in the picture and in the legend. */
struct chart_line_style {
    const char* what;
    const char* colour;
    const char* dashes;
    double thickness;
};

static const struct chart_line_style peak_line = {"peak", CHART_PEAK, "none", 1.6};
static const struct chart_line_style bound_line = {"lower bound", CHART_BOUND, "6 3", 1.3};
static const struct chart_line_style capacity_line = {"capacity", CHART_CAPACITY, "2 3", 1.3};
static const struct chart_line_style edge_line = {"aliasing edge", CHART_EDGE, "none", 1.1};
static const struct chart_line_style cross_line = {"aliasing edge between queues", CHART_CROSS,
                                                   "4 2", 1.3};

static void chart_line(struct chart* chart, double x, double y, double x_end, double y_end,
                       const struct chart_line_style* style)
{
    support_svg_raw(&chart->svg,
                    "<path d=\"M%.2f %.2fL%.2f %.2f\" stroke=\"%s\" stroke-width=\"%.1f\" "
                    "stroke-dasharray=\"%s\"/>\n",
                    x, y, x_end, y_end, style->colour, style->thickness, style->dashes);
}

/* Draws an arrow to the right. Only its line slants; its head is level. */
static void chart_arrow(struct chart* chart, double x, double y, double x_end, double y_end,
                        const struct chart_line_style* style)
{
    chart_line(chart, x, y, x_end - ARROW_LENGTH + 1.0, y_end, style);
    support_svg_raw(&chart->svg, "<path d=\"M%.2f %.2fl-%.1f -%.1fv%.1fz\" fill=\"%s\"/>\n", x_end,
                    y_end, ARROW_LENGTH, ARROW_HALF, 2 * ARROW_HALF, style->colour);
}

/* Draws a line or arrow of the legend. Returns the x of the next one. */
static double chart_sample(struct chart* chart, double x, const struct chart_line_style* style,
                           bool arrow, const char* text)
{
    if (arrow) {
        chart_arrow(chart, x, CHART_LEGEND_Y, x + SAMPLE_LENGTH, CHART_LEGEND_Y, style);
    } else {
        chart_line(chart, x, CHART_LEGEND_Y, x + SAMPLE_LENGTH, CHART_LEGEND_Y, style);
    }
    chart_text(chart, x + SAMPLE_LENGTH + 6.0, CHART_LEGEND_Y + 4.0, 11.0, "start", CHART_DIM,
               text);
    return x + SAMPLE_LENGTH + 6.0 + support_svg_text_width(text, 11.0, false) + 14.0;
}

/* Returns whether the capacity is drawn. */
static bool chart_has_capacity(const struct chart* chart)
{
    return chart->picture->capacity != 0 && chart->picture->capacity < chart->total;
}

void chart_draw_legend(struct chart* chart)
{
    const struct support_plan_picture* const picture = chart->picture;
    bool below = false;
    bool cross = false;
    for (size_t i = 0; i < picture->part_count; ++i) {
        below = below || picture->parts[i].lower_bound < picture->parts[i].size;
    }
    for (size_t i = 0; i < picture->edge_count; ++i) {
        cross = cross || picture->edges[i].cross_queue;
    }
    double x = chart_sample(chart, 24.0, &peak_line, false, "peak: bytes needed");
    if (below) {
        x = chart_sample(chart, x, &bound_line, false,
                         "lower bound: most bytes that must be alive");
    }
    if (chart_has_capacity(chart)) {
        x = chart_sample(chart, x, &capacity_line, false, "capacity");
    }
    char text[96];
    if (picture->edge_count > CHART_MAX_EDGES) {
        snprintf(text, sizeof(text), "%zu aliasing edges, too many to draw", picture->edge_count);
        chart_text(chart, x, CHART_LEGEND_Y + 4.0, 11.0, "start", CHART_DIM, text);
    } else if (picture->edge_count != 0) {
        x = chart_sample(chart, x, &edge_line, true, "aliasing edge: takes over these bytes");
        if (cross) {
            chart_sample(chart, x, &cross_line, true, "the same, between queues");
        }
    }
}

/* A line across a panel. */
struct chart_mark {
    const struct chart_line_style* style;
    uint64_t bytes;
};

void chart_draw_bounds(struct chart* chart, double top, double scale,
                       const struct support_plan_part* part, uint64_t capacity)
{
    const uint64_t peak = part->size;
    const struct chart_mark least = {&bound_line, part->lower_bound};
    const struct chart_mark most = {&capacity_line, capacity};
    const bool small = capacity != 0 && capacity < peak;
    const bool above = small && capacity > part->lower_bound;
    const struct chart_mark marks[] = {
        {&peak_line, peak}, above ? most : least, above ? least : most};
    double free_y = top;
    for (size_t i = 0; i < (small ? 3 : 2); ++i) {
        const struct chart_line_style* const style = marks[i].style;
        char bytes[32];
        char text[64];
        const double y = top + scale * (double)(peak - marks[i].bytes);
        if (i != 0 && marks[i].bytes == peak) {
            snprintf(text, sizeof(text), "= %s", style->what);
        } else {
            snprintf(text, sizeof(text), "%s %s", style->what,
                     chart_bytes(marks[i].bytes, bytes, sizeof(bytes)));
            chart_line(chart, CHART_LEFT, y, CHART_LEFT + CHART_INNER, y, style);
        }
        free_y = y < free_y ? free_y : y;
        chart_text(chart, CHART_LEFT + CHART_INNER + 6.0, free_y + 3.5, 11.0, "start",
                   style->colour, text);
        free_y += CHART_TEXT_STEP;
        /* The bound of the live bytes alone does not show this. */
        if (i == 0 && part->optimal && part->lower_bound < peak) {
            chart_text(chart, CHART_LEFT + CHART_INNER + 6.0, free_y + 3.5, 11.0, "start",
                       style->colour, "proved optimal");
            free_y += CHART_TEXT_STEP;
        }
    }
}

/* A range of bytes. */
struct chart_span {
    double low, high;
};

static struct chart_span chart_bytes_of(const struct support_plan_item* item)
{
    return (struct chart_span){(double)item->offset, (double)item->offset + (double)item->size};
}

/* Lists the bytes of the items that live between two others, at most MAX_BETWEEN of them. */
static size_t chart_list_between(const struct support_plan_picture* picture,
                                 const struct support_plan_item* before,
                                 const struct support_plan_item* after, struct chart_span* out)
{
    size_t count = 0;
    for (size_t i = 0; i < picture->item_count && count < MAX_BETWEEN; ++i) {
        const struct support_plan_item* const item = &picture->items[i];
        if (item != before && item != after && item->part == before->part &&
            item->begin < after->begin && item->end > before->end) {
            out[count++] = chart_bytes_of(item);
        }
    }
    return count;
}

/* Returns the middle of the largest part of a range that no other range covers; the middle of the
 * whole if there is none. */
static double chart_find_gap(struct chart_span whole, const struct chart_span* others, size_t count)
{
    struct chart_span best = {whole.low, whole.low};
    for (size_t i = 0; i <= count; ++i) {
        struct chart_span gap = {i < count ? others[i].high : whole.low, whole.high};
        bool covered = gap.low < whole.low || gap.low >= whole.high;
        for (size_t j = 0; j < count && !covered; ++j) {
            covered = others[j].low <= gap.low && others[j].high > gap.low;
            gap.high =
                others[j].low > gap.low && others[j].low < gap.high ? others[j].low : gap.high;
        }
        best = !covered && gap.high - gap.low > best.high - best.low ? gap : best;
    }
    return best.high > best.low ? (best.low + best.high) / 2 : (whole.low + whole.high) / 2;
}

/* Finds the heights, as bytes, at which an edge leaves one item and reaches the other: bytes that
 * both use and nobody between them, or the nearest bytes where they only share a granule. */
static void chart_find_heights(const struct support_plan_picture* picture,
                               const struct support_plan_item* before,
                               const struct support_plan_item* after, double* from, double* to)
{
    const struct chart_span a = chart_bytes_of(before);
    const struct chart_span b = chart_bytes_of(after);
    const struct chart_span both = {a.low > b.low ? a.low : b.low,
                                    a.high < b.high ? a.high : b.high};
    if (both.low < both.high) {
        struct chart_span between[MAX_BETWEEN];
        const size_t count = chart_list_between(picture, before, after, between);
        *from = chart_find_gap(both, between, count);
        *to = *from;
        return;
    }
    *from = a.low < b.low ? a.high : a.low;
    *to = a.low < b.low ? b.low : b.high;
}

void chart_draw_edges(struct chart* chart, size_t part, double top, double scale)
{
    const struct support_plan_picture* const picture = chart->picture;
    const double bytes = (double)picture->parts[part].size;
    for (size_t i = 0; i < picture->edge_count && picture->edge_count <= CHART_MAX_EDGES; ++i) {
        const struct support_plan_edge* const edge = &picture->edges[i];
        const struct support_plan_item* const before = &picture->items[edge->before];
        const struct support_plan_item* const after = &picture->items[edge->after];
        if (before->part != part) {
            continue;
        }
        double from = 0.0;
        double to = 0.0;
        chart_find_heights(picture, before, after, &from, &to);
        double x = chart_x(chart, before->end);
        double x_end = chart_x(chart, after->begin);
        if (x_end - x < ARROW_SHORTEST) {
            const double middle = (x + x_end) / 2;
            x = middle - ARROW_SHORTEST / 2;
            x_end = middle + ARROW_SHORTEST / 2;
        }
        chart_arrow(chart, x, top + scale * (bytes - from), x_end, top + scale * (bytes - to),
                    edge->cross_queue ? &cross_line : &edge_line);
    }
}
