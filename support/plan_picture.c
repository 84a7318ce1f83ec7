/*
 * Draws plans as SVG; see plan_picture.h.
 *
 * Each part is a panel. The panels stand one below the other, with heights in proportion to their
 * sizes. Below them, on the same time axis, stand the passes with their queues, if they are known,
 * and the live bytes.
 */
#include "support/plan_picture_internal.h"

#include "support/short_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most lines of offsets in a panel. */
#define CHART_MAX_TICKS 8u

/* The smallest sizes of a rectangle with a border and with text, in units of the drawing. */
#define ITEM_MIN_BORDER 4.0
#define ITEM_TEXT 9.5
#define ITEM_MIN_TEXT 26.0

const char* chart_bytes(uint64_t bytes, char* buffer, size_t size)
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

double chart_x(const struct chart* chart, uint64_t time)
{
    const uint64_t span = chart->end - chart->begin;
    return CHART_LEFT +
           CHART_INNER * (double)(time - chart->begin) / (double)(span != 0 ? span : 1);
}

static uint64_t chart_binary_step(uint64_t span, uint64_t most)
{
    uint64_t step = 1;
    while (span / step > most) {
        step *= 2;
    }
    return step;
}

/* Writes a colour of the wheel as "#RRGGBB". */
static void chart_write_colour(double hue, double saturation, double lightness, char out[8])
{
    const double spread = saturation * (lightness < 0.5 ? lightness : 1.0 - lightness);
    unsigned channels[3];
    for (unsigned i = 0; i < 3; ++i) {
        /* Red, green and blue have the phases 0, 8 and 4 of 12. */
        double at = hue / 30.0 + (i == 0 ? 0.0 : i == 1 ? 8.0 : 4.0);
        at = at >= 12.0 ? at - 12.0 : at;
        double level = at - 3.0 < 9.0 - at ? at - 3.0 : 9.0 - at;
        level = level < -1.0 ? -1.0 : level > 1.0 ? 1.0 : level;
        channels[i] = (unsigned)(255.0 * (lightness - spread * level) + 0.5) & 0xFFu;
    }
    snprintf(out, 8, "#%02X%02X%02X", channels[0], channels[1], channels[2]);
}

/* Returns the colour of a name. Different names are spread over the wheel of hues. */
static void chart_colour(struct chart* chart, const struct support_plan_item* item, char out[8])
{
    const char* const text = item->name[0] != '\0' ? item->name : item->id;
    uint32_t hash = 2166136261u;
    for (const char* at = text; *at != '\0'; ++at) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    hash ^= hash >> 15;
    hash *= 0x2C1B3C6Du;
    hash ^= hash >> 13;
    const double hue = 10.0 * (hash % 36u);
    const double shade = (hash >> 12) % 3u;
    char dark[8];
    chart_write_colour(hue, 0.46 + 0.04 * shade, 0.70 + 0.04 * shade, out);
    chart_write_colour(hue, 0.36, 0.29 + 0.03 * shade, dark);
    support_svg_darken(&chart->svg, out, dark);
}

static double chart_panel_height(const struct chart* chart, size_t part)
{
    const double share = CHART_PANELS * (double)chart->picture->parts[part].size /
                         (double)(chart->total != 0 ? chart->total : 1);
    return share > CHART_MIN_PANEL ? share : CHART_MIN_PANEL;
}

void chart_upright(struct chart* chart, double x, double y, const char* anchor, double size,
                   const char* text)
{
    const struct support_svg_text style = {.size = size, .fill = CHART_TEXT, .anchor = anchor};
    support_svg_raw(&chart->svg, "<g transform=\"translate(%.2f %.2f) rotate(-90)\">", x, y);
    support_svg_text(&chart->svg, &style, text);
    support_svg_raw(&chart->svg, "</g>\n");
}

void chart_text(struct chart* chart, double x, double y, double size, const char* anchor,
                const char* fill, const char* text)
{
    const struct support_svg_text style = {
        .x = x, .y = y, .size = size, .fill = fill, .anchor = anchor};
    support_svg_text(&chart->svg, &style, text);
}

static const char* chart_name_of(const void* context, size_t index)
{
    const struct support_plan_item* const item =
        &((const struct support_plan_picture*)context)->items[index];
    return item->name[0] != '\0' ? item->name : item->id;
}

/* Draws the name inside a rectangle, and the size below it. The text is horizontal, or vertical if
 * it only fits that way. */
static void chart_label_item(struct chart* chart, const struct support_plan_item* item, double x,
                             double y, double width, double height)
{
    const char* const name = item->name[0] != '\0' ? item->name : item->id;
    const double wanted = support_svg_text_width(name, ITEM_TEXT, false);
    const double least = wanted < ITEM_MIN_TEXT ? wanted : ITEM_MIN_TEXT;
    const bool upright = wanted > width - 4.0 && wanted <= height - 4.0 && width >= ITEM_TEXT + 2.0;
    const bool level = height >= ITEM_TEXT + 2.0 && width >= least + 5.0 && !upright;
    char text[256];
    if (!(level || (width >= ITEM_TEXT + 2.0 && height >= least + 5.0)) ||
        !support_shorten_label(name, (level ? width : height) - 4.0, ITEM_TEXT, chart_name_of,
                               chart->picture, chart->picture->item_count, text, sizeof(text))) {
        return;
    }
    if (!level) {
        chart_upright(chart, x + width / 2 + ITEM_TEXT * 0.35, y + height / 2, "middle", ITEM_TEXT,
                      text);
        return;
    }
    char size[32];
    chart_bytes(item->size, size, sizeof(size));
    const bool two = height >= 2 * ITEM_TEXT + 9.0 &&
                     support_svg_text_width(size, ITEM_TEXT - 1.0, false) <= width - 4.0;
    struct support_svg_text style = {.x = x + width / 2,
                                     .y = y + height / 2 + (two ? -1.5 : ITEM_TEXT * 0.35),
                                     .size = ITEM_TEXT,
                                     .fill = CHART_TEXT,
                                     .anchor = "middle"};
    support_svg_text(&chart->svg, &style, text);
    style.y += ITEM_TEXT + 1.5;
    style.size = ITEM_TEXT - 1.0;
    style.fill = CHART_DIM;
    if (two) {
        support_svg_text(&chart->svg, &style, size);
    }
}

static void chart_draw_item(struct chart* chart, const struct support_plan_item* item, double top,
                            double scale, uint64_t size)
{
    char colour[8];
    char bytes[2][32];
    char title[400];
    const double x = chart_x(chart, item->begin);
    const double width = chart_x(chart, item->end) - x;
    const double height = scale * (double)item->size;
    const double y = top + scale * (double)(size - item->offset - item->size);
    chart_colour(chart, item, colour);
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

void chart_draw_scale(struct chart* chart, double top, double height, uint64_t size, uint64_t most)
{
    const uint64_t step = chart_binary_step(size, most);
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
        chart_text(chart, CHART_LEFT - 8.0, top - 9.0, 10.5, "end", CHART_DIM, "offset");
        if (picture->part_count > 1) {
            chart_text(chart, CHART_LEFT, top - 7.0, 11.5, "start", CHART_TEXT, part->label);
        }
        support_svg_rectangle(&chart->svg, CHART_LEFT, top, CHART_INNER, height, CHART_GROUND,
                              NULL);
        chart_draw_scale(chart, top, height, part->size, CHART_MAX_TICKS);
        for (size_t j = 0; j < picture->item_count; ++j) {
            if (picture->items[j].part == i) {
                chart_draw_item(chart, &picture->items[j], top, scale, part->size);
            }
        }
        chart_draw_edges(chart, i, top, scale);
        chart_draw_bounds(chart, top, scale, part,
                          picture->part_count == 1 ? picture->capacity : 0);
        top += height + CHART_PANEL_GAP;
    }
    return top - CHART_PANEL_GAP;
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

static void chart_darken(struct support_svg* svg)
{
    static const struct support_svg_pair pairs[] = {
        {CHART_TEXT, "#E6EDF3"},     {CHART_DIM, "#9BA5B0"},  {CHART_PAPER, "#0D1117"},
        {CHART_GROUND, "#151A21"},   {CHART_LINE, "#2B323B"}, {CHART_PEAK, "#F0736A"},
        {CHART_BOUND, "#4CC38A"},    {CHART_EDGE, "#B3BDC8"}, {CHART_CROSS, "#F0A04B"},
        {CHART_CAPACITY, "#B392F0"}, {"#8CA6C4", "#2F4A6B"},  {"#33557A", "#7FA8D6"},
        {"#4C78A8", "#4A78AD"},      {"#E08A2E", "#C27A2C"},  {"#54A24B", "#4B8F44"},
        {"#B279A2", "#9C678E"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
        support_svg_darken(svg, pairs[i].light, pairs[i].dark);
    }
}

bool support_plan_picture_write(const struct support_plan_picture* picture, const char* path,
                                struct support_error* error)
{
    struct chart chart = {.picture = picture};
    chart_measure(&chart);
    support_svg_begin(&chart.svg, CHART_WIDTH, chart.height, CHART_PAPER);
    chart.svg.theme = picture->theme;
    chart_darken(&chart.svg);
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
    chart_draw_legend(&chart);
    double top = chart_draw_panels(&chart, CHART_HEAD);
    top = chart_draw_axis(&chart, top);
    if (picture->passes != NULL) {
        top = chart_draw_passes(&chart, top);
    }
    chart_draw_alive(&chart, top + 18.0);
    return support_svg_finish(&chart.svg, path, error);
}
