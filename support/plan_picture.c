/*
 * Draws plans as SVG; see plan_picture.h.
 *
 * Each part is a panel. The panels stand one below the other, with heights in proportion to their
 * sizes. Below them, on the same time axis, stand the passes with their queues, if they are known,
 * and the live bytes.
 */
#include "support/plan_picture.h"

#include "support/svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHART_WIDTH 1280.0
#define CHART_LEFT 86.0   /* offsets */
#define CHART_RIGHT 152.0 /* names of the lines */
#define CHART_INNER (CHART_WIDTH - CHART_LEFT - CHART_RIGHT)
#define CHART_HEAD 78.0
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

/* The distance between the texts in the margin. */
#define CHART_TEXT_STEP 14.0

/* The most lines of offsets in a panel, and the most numbers on the axis. */
#define CHART_MAX_TICKS 8u
#define CHART_MAX_NUMBERS 24u

/* The smallest sizes of a rectangle with a border and with text, in units of the drawing. */
#define ITEM_MIN_BORDER 4.0
#define ITEM_TEXT 9.5
#define ITEM_MIN_TEXT 26.0

struct chart {
    const struct support_plan_picture* picture;
    struct support_svg svg;
    uint64_t begin, end; /* of all items */
    uint64_t total;      /* of all parts */
    uint64_t most_alive;
    double height;
};

static const char* chart_bytes(uint64_t bytes, char* buffer, size_t size)
{
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024.0;
        ++unit;
    }
    const int digits = value == (double)(uint64_t)value ? 0 : value >= 100.0 ? 1 : 2;
    snprintf(buffer, size, "%.*f %s", digits, value, units[unit]);
    return buffer;
}

static double chart_x(const struct chart* chart, uint64_t time)
{
    const uint64_t span = chart->end - chart->begin;
    return CHART_LEFT +
           CHART_INNER * (double)(time - chart->begin) / (double)(span != 0 ? span : 1);
}

/* Returns the smallest of 1, 2, 5, 10, 20, ... that makes at most `most` steps. */
static uint64_t chart_decimal_step(uint64_t span, uint64_t most)
{
    static const uint64_t factors[] = {1, 2, 5};
    for (uint64_t power = 1;; power *= 10) {
        for (size_t i = 0; i < 3; ++i) {
            if (span / (power * factors[i]) <= most || power > span) {
                return power * factors[i];
            }
        }
    }
}

static uint64_t chart_binary_step(uint64_t span)
{
    uint64_t step = 1;
    while (span / step > CHART_MAX_TICKS) {
        step *= 2;
    }
    return step;
}

/* Returns the hue of a name. Different names are spread over the circle of hues. */
static void chart_colour(const struct support_plan_item* item, char* out, size_t size)
{
    const char* const text = item->name[0] != '\0' ? item->name : item->id;
    uint32_t hash = 2166136261u;
    for (const char* at = text; *at != '\0'; ++at) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    hash ^= hash >> 15;
    hash *= 0x2C1B3C6Du;
    hash ^= hash >> 13;
    snprintf(out, size, "hsl(%u,%u%%,%u%%)", hash % 360u, 48u + (hash >> 9) % 3u * 10u,
             64u + (hash >> 12) % 3u * 6u);
}

static double chart_panel_height(const struct chart* chart, size_t part)
{
    const double share = CHART_PANELS * (double)chart->picture->parts[part].size /
                         (double)(chart->total != 0 ? chart->total : 1);
    return share > CHART_MIN_PANEL ? share : CHART_MIN_PANEL;
}

/* Draws a vertical text that ends at a point, or is centred on it. */
static void chart_upright(struct chart* chart, double x, double y, const char* anchor, double room,
                          double size, const char* text)
{
    const struct support_svg_text style = {
        .size = size, .fill = CHART_TEXT, .anchor = anchor, .max_width = room};
    support_svg_raw(&chart->svg, "<g transform=\"translate(%.2f %.2f) rotate(-90)\">", x, y);
    support_svg_text(&chart->svg, &style, text);
    support_svg_raw(&chart->svg, "</g>\n");
}

static void chart_text(struct chart* chart, double x, double y, double size, const char* anchor,
                       const char* fill, const char* text)
{
    const struct support_svg_text style = {
        .x = x, .y = y, .size = size, .fill = fill, .anchor = anchor};
    support_svg_text(&chart->svg, &style, text);
}

static void chart_line(struct chart* chart, double y, const char* colour, const char* dashes)
{
    support_svg_raw(&chart->svg,
                    "<path d=\"M%.2f %.2fH%.2f\" stroke=\"%s\" stroke-width=\"1.4\" "
                    "stroke-dasharray=\"%s\" fill=\"none\"/>\n",
                    CHART_LEFT, y, CHART_LEFT + CHART_INNER, colour, dashes);
}

/* Draws the name inside a rectangle, and the size below it. The text is horizontal, or vertical if
 * it only fits that way.
 */
static void chart_label_item(struct chart* chart, const struct support_plan_item* item, double x,
                             double y, double width, double height)
{
    const char* const text = item->name[0] != '\0' ? item->name : item->id;
    const double wanted = support_svg_text_width(text, ITEM_TEXT, false);
    const double least = wanted < ITEM_MIN_TEXT ? wanted : ITEM_MIN_TEXT;
    const bool upright = wanted > width - 4.0 && wanted <= height - 4.0 && width >= ITEM_TEXT + 2.0;
    if (height >= ITEM_TEXT + 2.0 && width >= least + 5.0 && !upright) {
        char size[32];
        const bool two = height >= 2 * ITEM_TEXT + 9.0 && width >= 48.0;
        struct support_svg_text style = {.x = x + width / 2,
                                         .y = y + height / 2 + (two ? -1.5 : ITEM_TEXT * 0.35),
                                         .size = ITEM_TEXT,
                                         .fill = CHART_TEXT,
                                         .anchor = "middle",
                                         .max_width = width - 4.0};
        support_svg_text(&chart->svg, &style, text);
        style.y += ITEM_TEXT + 1.5;
        style.size = ITEM_TEXT - 1.0;
        style.fill = CHART_DIM;
        if (two) {
            support_svg_text(&chart->svg, &style, chart_bytes(item->size, size, sizeof(size)));
        }
    } else if (width >= ITEM_TEXT + 2.0 && height >= least + 5.0) {
        chart_upright(chart, x + width / 2 + ITEM_TEXT * 0.35, y + height / 2, "middle",
                      height - 4.0, ITEM_TEXT, text);
    }
}

static void chart_draw_item(struct chart* chart, const struct support_plan_item* item, double top,
                            double scale, uint64_t size)
{
    char colour[32];
    char bytes[2][32];
    char title[400];
    const double x = chart_x(chart, item->begin);
    const double width = chart_x(chart, item->end) - x;
    const double height = scale * (double)item->size;
    const double y = top + scale * (double)(size - item->offset - item->size);
    chart_colour(item, colour, sizeof(colour));
    const bool single = item->end == item->begin + 1;
    snprintf(title, sizeof(title), "%.120s%s%.120s%s: %s at %s, time %" PRIu64, item->name,
             item->name[0] != '\0' ? " (" : "", item->id, item->name[0] != '\0' ? ")" : "",
             chart_bytes(item->size, bytes[0], sizeof(bytes[0])),
             chart_bytes(item->offset, bytes[1], sizeof(bytes[1])), item->begin);
    const size_t used = strlen(title);
    if (!single) {
        snprintf(title + used, sizeof(title) - used, " to %" PRIu64, item->end - 1);
    }
    support_svg_rectangle(&chart->svg, x, y, width > 0.5 ? width : 0.5, height > 0.5 ? height : 0.5,
                          colour, title);
    if (width >= ITEM_MIN_BORDER && height >= ITEM_MIN_BORDER) {
        support_svg_frame(&chart->svg, x, y, width, height, CHART_PAPER, 0.7);
    }
    chart_label_item(chart, item, x, y, width, height);
}

/* A line across a panel, and its name. */
struct chart_mark {
    const char* what;
    const char* colour;
    const char* dashes;
    uint64_t bytes;
};

/* Draws the lines of the peak, of the lower bound and of a capacity that is too small. Their names
 * stand in the margin, each beside its line or below the previous name. */
static void chart_draw_bounds(struct chart* chart, double top, double scale, uint64_t peak,
                              uint64_t bound, uint64_t capacity)
{
    const struct chart_mark least = {"lower bound", CHART_BOUND, "6 3", bound};
    const struct chart_mark most = {"capacity", CHART_CAPACITY, "2 3", capacity};
    const bool small = capacity != 0 && capacity < peak;
    const struct chart_mark marks[] = {
        {"peak", CHART_PEAK, "none", peak},
        small && capacity > bound ? most : least,
        small && capacity > bound ? least : most,
    };
    double free_y = top;
    for (size_t i = 0; i < (small ? 3 : 2); ++i) {
        char bytes[32];
        char text[64];
        const double y = top + scale * (double)(peak - marks[i].bytes);
        const bool same = i != 0 && marks[i].bytes == peak;
        if (same) {
            snprintf(text, sizeof(text), "= %s", marks[i].what);
        } else {
            snprintf(text, sizeof(text), "%s %s", marks[i].what,
                     chart_bytes(marks[i].bytes, bytes, sizeof(bytes)));
            chart_line(chart, y, marks[i].colour, marks[i].dashes);
        }
        free_y = y < free_y ? free_y : y;
        chart_text(chart, CHART_LEFT + CHART_INNER + 6.0, free_y + 3.5, 11.0, "start",
                   marks[i].colour, text);
        free_y += CHART_TEXT_STEP;
    }
}

/* Draws lines of offsets with their numbers in front. */
static void chart_draw_scale(struct chart* chart, double top, double height, uint64_t size)
{
    const uint64_t step = chart_binary_step(size);
    for (uint64_t at = 0; at <= size; at += step) {
        char bytes[32];
        const double y = top + height - height * (double)at / (double)(size != 0 ? size : 1);
        support_svg_raw(&chart->svg,
                        "<path d=\"M%.2f %.2fH%.2f\" stroke=\"%s\" stroke-width=\"0.7\"/>\n",
                        CHART_LEFT - 4.0, y, CHART_LEFT + CHART_INNER, CHART_LINE);
        chart_text(chart, CHART_LEFT - 8.0, y + 3.5, 10.5, "end", CHART_DIM,
                   chart_bytes(at, bytes, sizeof(bytes)));
    }
}

static double chart_draw_panels(struct chart* chart, double top)
{
    const struct support_plan_picture* const picture = chart->picture;
    for (size_t i = 0; i < picture->part_count; ++i) {
        const struct support_plan_part* const part = &picture->parts[i];
        const double height = chart_panel_height(chart, i);
        const double scale = height / (double)(part->size != 0 ? part->size : 1);
        if (picture->part_count > 1) {
            chart_text(chart, CHART_LEFT, top - 7.0, 11.5, "start", CHART_TEXT, part->label);
        }
        support_svg_rectangle(&chart->svg, CHART_LEFT, top, CHART_INNER, height, CHART_GROUND,
                              NULL);
        chart_draw_scale(chart, top, height, part->size);
        for (size_t j = 0; j < picture->item_count; ++j) {
            if (picture->items[j].part == i) {
                chart_draw_item(chart, &picture->items[j], top, scale, part->size);
            }
        }
        chart_draw_bounds(chart, top, scale, part->size, part->lower_bound,
                          picture->part_count == 1 ? picture->capacity : 0);
        top += height + CHART_PANEL_GAP;
    }
    return top - CHART_PANEL_GAP;
}

/* A time at which the number of live bytes changes. */
struct chart_event {
    uint64_t time;
    uint64_t come, go;
};

static int chart_compare_events(const void* a, const void* b)
{
    const struct chart_event* const x = a;
    const struct chart_event* const y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Returns all changes, sorted by time; NULL when out of memory. The caller frees them. */
static struct chart_event* chart_list_events(struct chart* chart)
{
    const size_t count = chart->picture->item_count;
    struct chart_event* const events = malloc((2 * count + 1) * sizeof(*events));
    for (size_t i = 0; events != NULL && i < count; ++i) {
        const struct support_plan_item* const item = &chart->picture->items[i];
        events[2 * i] = (struct chart_event){item->begin, item->size, 0};
        events[2 * i + 1] = (struct chart_event){item->end, 0, item->size};
    }
    if (events != NULL) {
        qsort(events, 2 * count, sizeof(*events), chart_compare_events);
    }
    return events;
}

/* Walks the live bytes as steps: first to find their maximum, then to draw them. */
static void chart_walk_alive(struct chart* chart, const struct chart_event* events, double bottom,
                             double scale, bool draw)
{
    const size_t count = 2 * chart->picture->item_count;
    uint64_t alive = 0;
    for (size_t i = 0; i < count;) {
        const uint64_t time = events[i].time;
        for (; i < count && events[i].time == time; ++i) {
            alive += events[i].come;
            alive -= events[i].go;
        }
        if (draw) {
            support_svg_raw(&chart->svg, "H%.2fV%.2f", chart_x(chart, time),
                            bottom - scale * (double)alive);
        } else {
            chart->most_alive = alive > chart->most_alive ? alive : chart->most_alive;
        }
    }
}

static double chart_draw_alive(struct chart* chart, double top)
{
    struct chart_event* const events = chart_list_events(chart);
    if (events == NULL) {
        chart->svg.failed = true;
        return top;
    }
    uint64_t bound = 0;
    for (size_t i = 0; i < chart->picture->part_count; ++i) {
        bound += chart->picture->parts[i].lower_bound;
    }
    char bytes[32];
    char text[96];
    const double scale = CHART_LIVE / (double)(chart->total != 0 ? chart->total : 1);
    chart_walk_alive(chart, events, 0.0, 0.0, false);
    snprintf(text, sizeof(text), "alive%s: at most %s",
             chart->picture->queue_count > 1 ? " in this one of the possible orders" : "",
             chart_bytes(chart->most_alive, bytes, sizeof(bytes)));
    chart_text(chart, CHART_LEFT, top - 7.0, 11.5, "start", CHART_TEXT, text);
    chart_text(chart, CHART_LEFT - 8.0, top + CHART_LIVE + 3.5, 10.5, "end", CHART_DIM, "0 B");
    support_svg_rectangle(&chart->svg, CHART_LEFT, top, CHART_INNER, CHART_LIVE, CHART_GROUND,
                          NULL);
    support_svg_raw(&chart->svg, "<path d=\"M%.2f %.2f", CHART_LEFT, top + CHART_LIVE);
    chart_walk_alive(chart, events, top + CHART_LIVE, scale, true);
    support_svg_raw(&chart->svg, "\" fill=\"#8CA6C4\" stroke=\"#33557A\" stroke-width=\"0.8\"/>\n");
    chart_draw_bounds(chart, top, scale, chart->total, bound, chart->picture->capacity);
    free(events);
    return top + CHART_LIVE;
}

/* Draws the numbers of passes, or times, below a panel. */
static double chart_draw_axis(struct chart* chart, double top)
{
    const uint64_t span = chart->end - chart->begin;
    const uint64_t step = chart_decimal_step(span, CHART_MAX_NUMBERS);
    const double half =
        chart->end <= 65536 ? CHART_INNER / (double)(span != 0 ? span : 1) / 2 : 0.0;
    const uint64_t skipped = (step - chart->begin % step) % step;
    for (uint64_t i = 0; skipped < span && i <= (span - 1 - skipped) / step; ++i) {
        char text[32];
        const uint64_t at = chart->begin + skipped + i * step;
        const double x = chart_x(chart, at);
        support_svg_raw(&chart->svg,
                        "<path d=\"M%.2f %.2fv4\" stroke=\"%s\" stroke-width=\"0.8\"/>\n", x, top,
                        CHART_DIM);
        snprintf(text, sizeof(text), "%" PRIu64, at);
        chart_text(chart, x + half, top + 15.0, 10.5, "middle", CHART_DIM, text);
    }
    chart_text(chart, CHART_LEFT - 8.0, top + 15.0, 10.5, "end", CHART_DIM,
               chart->end <= 65536 ? "pass" : "time");
    return top + CHART_AXIS;
}

/* Draws a row of cells for each queue, and the names of passes that fit. */
static double chart_draw_passes(struct chart* chart, double top)
{
    static const char* const colours[] = {"#4C78A8", "#E08A2E", "#54A24B", "#B279A2"};
    const struct support_plan_picture* const picture = chart->picture;
    const double rows = CHART_QUEUE * (double)picture->queue_count;
    double names = 0.0;
    for (size_t i = 0; i < picture->queue_count; ++i) {
        char text[64];
        snprintf(text, sizeof(text), "queue %.20s", picture->queues[i]);
        chart_text(chart, CHART_LEFT - 8.0, top + CHART_QUEUE * (double)i + 11.0, 10.5, "end",
                   CHART_DIM, text);
    }
    for (size_t i = 0; i < picture->pass_count; ++i) {
        const struct support_plan_pass* const pass = &picture->passes[i];
        if (i < chart->begin || i >= chart->end) {
            continue;
        }
        const double x = chart_x(chart, i);
        const double width = chart_x(chart, i + 1) - x;
        support_svg_rectangle(&chart->svg, x, top + CHART_QUEUE * pass->queue,
                              width > 2.0 ? width - 1.0 : width, CHART_QUEUE - 3.0,
                              colours[pass->queue % 4u], pass->name);
        if (width >= 10.0 && pass->name[0] != '\0') {
            chart_upright(chart, x + width / 2 + 3.5, top + rows + 2.0, "end", CHART_NAMES - 4.0,
                          9.5, pass->name);
            names = CHART_NAMES;
        }
    }
    return top + rows + names + 6.0;
}

static void chart_measure(struct chart* chart)
{
    const struct support_plan_picture* const picture = chart->picture;
    chart->begin = picture->item_count != 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < picture->item_count; ++i) {
        const struct support_plan_item* const item = &picture->items[i];
        chart->begin = item->begin < chart->begin ? item->begin : chart->begin;
        chart->end = item->end > chart->end ? item->end : chart->end;
    }
    for (size_t i = 0; i < picture->part_count; ++i) {
        chart->total += picture->parts[i].size;
    }
    for (size_t i = 0; i < picture->part_count; ++i) {
        chart->height += chart_panel_height(chart, i) + CHART_PANEL_GAP;
    }
    chart->height += CHART_HEAD + CHART_AXIS + CHART_LIVE + CHART_FOOT;
    if (picture->passes != NULL) {
        const double width =
            CHART_INNER / (double)(chart->end > chart->begin ? chart->end - chart->begin : 1);
        chart->height +=
            CHART_QUEUE * (double)picture->queue_count + 6.0 + (width >= 10.0 ? CHART_NAMES : 0.0);
    }
}

bool support_plan_picture_write(const struct support_plan_picture* picture, const char* path,
                                struct support_error* error)
{
    struct chart chart = {.picture = picture};
    chart_measure(&chart);
    support_svg_begin(&chart.svg, CHART_WIDTH, chart.height, CHART_PAPER);
    const struct support_svg_text title = {.x = 24.0,
                                           .y = 32.0,
                                           .size = 19.0,
                                           .fill = CHART_TEXT,
                                           .bold = true,
                                           .max_width = CHART_WIDTH - 48.0};
    const struct support_svg_text subtitle = {
        .x = 24.0, .y = 52.0, .size = 12.5, .fill = CHART_DIM, .max_width = CHART_WIDTH - 48.0};
    support_svg_text(&chart.svg, &title, picture->title);
    support_svg_text(&chart.svg, &subtitle, picture->subtitle);
    double top = chart_draw_panels(&chart, CHART_HEAD);
    top = chart_draw_axis(&chart, top);
    if (picture->passes != NULL) {
        top = chart_draw_passes(&chart, top);
    }
    chart_draw_alive(&chart, top + 18.0);
    return support_svg_finish(&chart.svg, path, error);
}
