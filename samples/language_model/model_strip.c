/*
 * Draws the picture; see model_strip.h.
 */
#include "model_strip.h"

#include "support/svg.h"

#include <stdio.h>

#define LEFT 132.0
#define TOP 84.0
#define GAP 56.0
#define BOTTOM 40.0
#define RIGHT 24.0
#define WIDTH 880.0
#define HEIGHT 330.0 /* of a run */

#define PAPER "#FFFFFF"
#define INK "#22303C"
#define PALE "#5F6E7D"
#define NOTHING "#EAEEF2"
#define DEVICE "#3B8EEA"
#define HOST "#5FC27E"
#define SOURCE "#F2B134"

static const struct support_svg_pair dark_strip[] = {
    {PAPER, "#0D1117"},   {INK, "#E6EDF3"},    {PALE, "#9BA5B0"},
    {NOTHING, "#1D242C"}, {DEVICE, "#2F6FB8"}, {HOST, "#3C8F57"},
};

static const char* colour_of(const struct model_trace* trace, size_t cell)
{
    switch (trace->tiers[cell]) {
    case MAAR_TIER_NONE:
        return NOTHING;
    case MAAR_TIER_DEVICE:
        return DEVICE;
    case MAAR_TIER_HOST:
        return HOST;
    default:
        return SOURCE;
    }
}

static void write_label(struct support_svg* svg, double x, double y, double size, const char* fill,
                        const char* anchor, const char* text)
{
    const struct support_svg_text style = {
        .x = x, .y = y, .size = size, .fill = fill, .anchor = anchor, .bold = size > 13.0};
    support_svg_text(svg, &style, text);
}

/* Draws the cells of a row: neighbours of one tier as one rectangle, and a dark line through those
 * submissions that use the resident. */
static void draw_row(struct support_svg* svg, const struct model_trace* trace, uint32_t row,
                     double top, double height)
{
    const double width = WIDTH / trace->columns;
    uint32_t begin = 0;
    for (uint32_t column = 1; column <= trace->columns; ++column) {
        const char* const colour = colour_of(trace, model_trace_cell(trace, row, begin));
        if (column < trace->columns &&
            colour_of(trace, model_trace_cell(trace, row, column)) == colour) {
            continue;
        }
        support_svg_rectangle(svg, LEFT + begin * width, top, (column - begin) * width,
                              height * 0.86, colour, NULL);
        begin = column;
    }
    for (uint32_t column = 0; column < trace->columns; ++column) {
        if (trace->uses[model_trace_cell(trace, row, column)]) {
            support_svg_rectangle(svg, LEFT + column * width, top + height * 0.22, width,
                                  height * 0.42, INK, NULL);
        }
    }
}

static void draw_run(struct support_svg* svg, const struct model_shape* shape,
                     const struct model_result* result, const char* name, double top)
{
    const struct model_trace* const trace = &result->trace;
    const double height = HEIGHT / trace->rows;
    const uint32_t weights = model_weights_count(shape);
    char text[160];
    snprintf(text, sizeof(text), "%s: %.1f MiB restored for each token", name,
             (double)result->restored / 1048576.0 / (shape->positions - shape->prompt - 1));
    write_label(svg, LEFT, top - 10.0, 14.0, INK, "start", text);
    for (uint32_t row = 0; row < trace->rows; ++row) {
        draw_row(svg, trace, row, top + row * height, height);
    }
    write_label(svg, LEFT - 10.0, top + height, 11.0, PALE, "end", "vocabulary");
    write_label(svg, LEFT - 10.0, top + height * (1 + weights) / 2.0 + 4.0, 11.0, PALE, "end",
                "weights of layers");
    write_label(svg, LEFT - 10.0, top + height * (weights + trace->rows) / 2.0 + 4.0, 11.0, PALE,
                "end", "KV cache of layers");
    for (uint32_t pass = 0; pass < MODEL_TRACE_PASSES; ++pass) {
        const double x = LEFT + WIDTH * pass / MODEL_TRACE_PASSES;
        const uint32_t token = shape->positions - MODEL_TRACE_PASSES + pass;
        support_svg_rectangle(svg, x, top + HEIGHT, 1.0, 6.0, PALE, NULL);
        snprintf(text, sizeof(text), "token %u", token + 1);
        write_label(svg, x + 4.0, top + HEIGHT + 14.0, 11.0, PALE, "start", text);
    }
}

static void draw_legend(struct support_svg* svg)
{
    static const struct {
        const char* colour;
        const char* text;
    } entries[] = {{DEVICE, "on the device"},
                   {HOST, "in host memory"},
                   {NOTHING, "nothing yet"},
                   {INK, "the submission uses it"}};
    double x = LEFT;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); ++i) {
        support_svg_rectangle(svg, x, 41.0, 14.0, 10.0, entries[i].colour, NULL);
        write_label(svg, x + 20.0, 50.0, 12.0, INK, "start", entries[i].text);
        x += 44.0 + support_svg_text_width(entries[i].text, 12.0, false);
    }
}

bool model_strip_write(const struct model_shape* shape, const struct model_result* upper,
                       const struct model_result* lower, const char* path)
{
    const MaarTierInfo* const device = &upper->info.tiers[MAAR_TIER_DEVICE];
    const double second = TOP + HEIGHT + GAP;
    struct support_svg svg = {0};
    char title[160];
    support_svg_begin(&svg, LEFT + WIDTH + RIGHT, second + HEIGHT + BOTTOM, PAPER);
    for (size_t i = 0; i < sizeof(dark_strip) / sizeof(dark_strip[0]); ++i) {
        support_svg_darken(&svg, dark_strip[i].light, dark_strip[i].dark);
    }
    snprintf(title, sizeof(title), "A language model of %.1f MiB with %.1f MiB of device memory",
             (double)model_size(shape) / 1048576.0, (double)device->budget / 1048576.0);
    write_label(&svg, LEFT, 28.0, 18.0, INK, "start", title);
    draw_legend(&svg);
    draw_run(&svg, shape, upper, "Maar", TOP);
    draw_run(&svg, shape, lower, "LRU", second);
    struct support_error error = {{0}};
    if (!support_svg_finish(&svg, path, &error)) {
        sample_complain("%s", error.text);
        return false;
    }
    return true;
}
