/*
 * Draws growth; see grow_picture.h.
 */
#include "grow_picture.h"

#include "support/svg.h"

#include <stdio.h>

#define PANEL_WIDTH 440.0
#define PANEL_HEIGHT 300.0
#define LEFT 64.0
#define TOP 104.0
#define GAP 40.0
#define BOTTOM 96.0

#define PAPER "#FFFFFF"
#define INK "#22303C"
#define PALE "#5F6E7D"
#define GRID "#E3E8EE"

/* The lines of a panel. */
static const struct {
    const char* name;
    const char* colour;
    size_t offset; /* offset of the figure in a mark */
    double thickness;
} lines[] = {
    {"device memory", "#B8860B", offsetof(struct grow_mark, memory), 1.5},
    {"bytes copied, in all", "#C0392B", offsetof(struct grow_mark, copied), 2.5},
    {"committed", "#2471A3", offsetof(struct grow_mark, committed), 2.5},
    {"appended", "#27804A", offsetof(struct grow_mark, appended), 1.5},
};
#define LINE_COUNT (sizeof(lines) / sizeof(lines[0]))

/* The colours in dark surroundings. */
static const struct support_svg_pair dark_colours[] = {
    {PAPER, "#0D1117"},     {INK, "#E6EDF3"},       {PALE, "#9BA5B0"},      {GRID, "#2B323B"},
    {"#B8860B", "#D9A93A"}, {"#C0392B", "#F0736A"}, {"#2471A3", "#5AA9E0"}, {"#27804A", "#4CC38A"},
};

static uint64_t value_of(const struct grow_mark* mark, size_t offset)
{
    return *(const uint64_t*)(const void*)((const char*)mark + offset);
}

static uint64_t highest_of(const struct grow_figures* const* ways, uint32_t count)
{
    uint64_t highest = 1;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t at = 0; at < ways[i]->mark_count; ++at) {
            for (size_t line = 0; line < LINE_COUNT; ++line) {
                const uint64_t value = value_of(&ways[i]->marks[at], lines[line].offset);
                highest = value > highest ? value : highest;
            }
        }
    }
    return highest;
}

static void write_text(struct support_svg* svg, double x, double y, double size, const char* fill,
                       const char* anchor, bool bold, const char* text)
{
    const struct support_svg_text style = {
        .x = x, .y = y, .size = size, .fill = fill, .anchor = anchor, .bold = bold};
    support_svg_text(svg, &style, text);
}

/* Returns a step of the axis: 1, 2 or 5 times a power of two units, so that at most eight
 * steps fit. */
static uint64_t axis_step(uint64_t highest)
{
    uint64_t step = 1 << 10;
    while (highest / step > 6) {
        step *= 2;
    }
    return step;
}

static void write_bytes(uint64_t bytes, char* text, size_t size)
{
    const double mib = (double)bytes / 1048576.0;
    if (mib >= 1024.0) {
        snprintf(text, size, "%.3g GiB", mib / 1024.0);
    } else {
        snprintf(text, size, "%.3g MiB", mib);
    }
}

static void draw_axes(struct support_svg* svg, const struct grow_figures* figures, double left,
                      uint64_t highest, bool labels)
{
    const uint64_t step = axis_step(highest);
    for (uint64_t value = 0; value <= highest; value += step) {
        const double y = TOP + PANEL_HEIGHT * (1.0 - (double)value / (double)highest);
        char text[32];
        support_svg_rectangle(svg, left, y, PANEL_WIDTH, 1.0, GRID, NULL);
        write_bytes(value, text, sizeof(text));
        if (labels) {
            write_text(svg, left - 8.0, y + 4.0, 11.0, PALE, "end", false, text);
        }
    }
    char batch[32];
    char text[64];
    const uint32_t stride = figures->mark_count < 4 ? 1 : figures->mark_count / 4;
    for (uint32_t at = 0; at <= figures->mark_count; at += stride) {
        const double x = left + PANEL_WIDTH * at / figures->mark_count;
        support_svg_rectangle(svg, x - 0.5, TOP + PANEL_HEIGHT, 1.0, 5.0, PALE, NULL);
        snprintf(text, sizeof(text), "%u", at);
        write_text(svg, x, TOP + PANEL_HEIGHT + 18.0, 11.0, PALE, "middle", false, text);
    }
    write_bytes(figures->batch, batch, sizeof(batch));
    snprintf(text, sizeof(text), "appends, each of %s", batch);
    write_text(svg, left + PANEL_WIDTH / 2.0, TOP + PANEL_HEIGHT + 36.0, 11.0, PALE, "middle",
               false, text);
}

/* Draws a curve of steps: a value holds until the next append. */
static void draw_line(struct support_svg* svg, const struct grow_figures* figures, double left,
                      uint64_t highest, size_t line)
{
    support_svg_raw(svg,
                    "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" "
                    "stroke-linejoin=\"round\" points=\"",
                    lines[line].colour, lines[line].thickness);
    double y = TOP + PANEL_HEIGHT;
    support_svg_raw(svg, "%.1f,%.1f", left, y);
    for (uint32_t at = 0; at < figures->mark_count; ++at) {
        const double x = left + PANEL_WIDTH * (at + 1) / figures->mark_count;
        const double before = left + PANEL_WIDTH * at / figures->mark_count;
        y = TOP + PANEL_HEIGHT * (1.0 - (double)value_of(&figures->marks[at], lines[line].offset) /
                                            (double)highest);
        support_svg_raw(svg, " %.1f,%.1f %.1f,%.1f", before, y, x, y);
    }
    support_svg_raw(svg, "\"/>\n");
}

static void draw_panel(struct support_svg* svg, const struct grow_figures* figures, double left,
                       uint64_t highest, bool labels)
{
    char text[160];
    char copied[32];
    char memory[32];
    write_bytes(figures->copied, copied, sizeof(copied));
    write_bytes(figures->most_memory, memory, sizeof(memory));
    write_text(svg, left, TOP - 26.0, 14.0, INK, "start", true,
               figures->copying ? "growing by copies" : "growing by pages");
    if (figures->copied == 0) {
        snprintf(copied, sizeof(copied), "nothing");
    }
    snprintf(text, sizeof(text), "%s copied; at most %s of memory; %s", copied, memory,
             figures->moves == 0 ? "the address never changes" : "the address changes");
    write_text(svg, left, TOP - 9.0, 11.5, INK, "start", false, text);
    draw_axes(svg, figures, left, highest, labels);
    for (size_t line = 0; line < LINE_COUNT; ++line) {
        draw_line(svg, figures, left, highest, line);
    }
}

bool grow_picture_write(const struct grow_figures* const* ways, uint32_t count,
                        const char* device_name, const char* path)
{
    struct support_svg svg = {0};
    const uint64_t highest = highest_of(ways, count);
    const double width = LEFT + (PANEL_WIDTH + GAP) * count;
    const double height = TOP + PANEL_HEIGHT + BOTTOM;
    char size[32];
    char title[256];
    write_bytes(ways[0]->appended, size, sizeof(size));
    snprintf(title, sizeof(title), "An array that grows to %s", size);
    support_svg_begin(&svg, width, height, PAPER);
    for (size_t i = 0; i < sizeof(dark_colours) / sizeof(dark_colours[0]); ++i) {
        support_svg_darken(&svg, dark_colours[i].light, dark_colours[i].dark);
    }
    write_text(&svg, LEFT, 30.0, 18.0, INK, "start", true, title);
    write_text(&svg, LEFT, 48.0, 11.5, PALE, "start", false, device_name);
    for (uint32_t i = 0; i < count; ++i) {
        draw_panel(&svg, ways[i], LEFT + (PANEL_WIDTH + GAP) * i, highest, i == 0);
    }
    double x = LEFT;
    const double y = TOP + PANEL_HEIGHT + 66.0;
    for (size_t line = LINE_COUNT; line-- > 0;) {
        support_svg_rectangle(&svg, x, y - 4.0 - lines[line].thickness / 2.0, 18.0,
                              lines[line].thickness, lines[line].colour, NULL);
        write_text(&svg, x + 24.0, y, 12.0, INK, "start", false, lines[line].name);
        x += 36.0 + support_svg_text_width(lines[line].name, 12.0, false);
        if (x > width - 150.0) {
            break;
        }
    }
    struct support_error error = {{0}};
    if (!support_svg_finish(&svg, path, &error)) {
        sample_complain("%s", error.text);
        return false;
    }
    return true;
}
