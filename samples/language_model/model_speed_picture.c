/*
 * Draws tokens a second over budgets; see model_speed.h.
 */
#include "model_speed.h"

#include "model_virtual.h"
#include "support/svg.h"

#include <math.h>
#include <stdio.h>

#define LEFT 76.0
#define TOP 104.0
#define WIDTH 640.0
#define HEIGHT 320.0
#define INSET 20.0 /* between the axis and the first figure */
#define RIGHT 150.0
#define BOTTOM 76.0

#define PAPER "#FFFFFF"
#define INK "#22303C"
#define PALE "#5F6E7D"
#define GRID "#E3E8EE"
#define ROOMY "#8A6FC0"

/* Each way's line. */
static const struct {
    const char* name;
    const char* colour;
    double thickness;
} curves[MODEL_WAY_COUNT] = {
    [MODEL_WAY_HINTED] = {"Maar, with hints", "#2471A3", 3.0},
    [MODEL_WAY_UNHINTED] = {"Maar, without hints", "#27804A", 2.0},
    [MODEL_WAY_LRU] = {"LRU", "#C0392B", 2.0},
};

static const struct support_svg_pair dark_speed[] = {
    {PAPER, "#0D1117"},     {INK, "#E6EDF3"},       {PALE, "#9BA5B0"},      {GRID, "#2B323B"},
    {"#2471A3", "#5AA9E0"}, {"#27804A", "#4CC38A"}, {"#C0392B", "#F0736A"}, {ROOMY, "#B49BE6"},
};

static void write_speed_text(struct support_svg* svg, double x, double y, double size,
                             const char* fill, const char* anchor, const char* text)
{
    const struct support_svg_text style = {
        .x = x, .y = y, .size = size, .fill = fill, .anchor = anchor, .bold = size > 14.0};
    support_svg_text(svg, &style, text);
}

static double x_of(double percent)
{
    return LEFT + INSET +
           (WIDTH - 2.0 * INSET) * (percent - MODEL_SPEED_FIRST) / (100.0 - MODEL_SPEED_FIRST);
}

/* The axis is logarithmic, and begins at one token a second or at a power of ten below. */
static double least_of(const struct model_speed* speed)
{
    double least = 1.0;
    while (least > speed->points[0].tokens_per_second[MODEL_WAY_LRU]) {
        least /= 10.0;
    }
    return least;
}

static double y_of(const struct model_speed* speed, double tokens)
{
    const double least = least_of(speed);
    return TOP + HEIGHT * (1.0 - log(tokens / least) / log(1.2 * speed->roomy / least));
}

static void draw_speed_axes(struct support_svg* svg, const struct model_speed* speed)
{
    static const double marks[] = {1.0, 2.0, 5.0};
    char text[64];
    for (double power = least_of(speed); power <= 1.2 * speed->roomy; power *= 10.0) {
        for (size_t i = 0; i < 3 && power * marks[i] <= 1.2 * speed->roomy; ++i) {
            const double y = y_of(speed, power * marks[i]);
            support_svg_rectangle(svg, LEFT, y, WIDTH, 1.0, GRID, NULL);
            snprintf(text, sizeof(text), "%g", power * marks[i]);
            write_speed_text(svg, LEFT - 8.0, y + 4.0, 11.0, PALE, "end", text);
        }
    }
    for (uint32_t percent = MODEL_SPEED_FIRST; percent <= 100; percent += 10) {
        support_svg_rectangle(svg, x_of(percent) - 0.5, TOP + HEIGHT, 1.0, 5.0, PALE, NULL);
        snprintf(text, sizeof(text), "%u %%", percent);
        write_speed_text(svg, x_of(percent), TOP + HEIGHT + 18.0, 11.0, PALE, "middle", text);
    }
    write_speed_text(svg, LEFT + WIDTH / 2.0, TOP + HEIGHT + 40.0, 12.0, PALE, "middle",
                     "device memory, of what weights and KV cache need");
}

static void draw_curve(struct support_svg* svg, const struct model_speed* speed, uint32_t way)
{
    support_svg_raw(svg,
                    "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" "
                    "stroke-linejoin=\"round\" points=\"",
                    curves[way].colour, curves[way].thickness);
    for (uint32_t i = 0; i < MODEL_SPEED_POINTS; ++i) {
        const struct model_speed_point* const point = &speed->points[i];
        support_svg_raw(svg, "%s%.1f,%.1f", i == 0 ? "" : " ", x_of(point->percent),
                        y_of(speed, point->tokens_per_second[way]));
    }
    support_svg_raw(svg, "\"/>\n");
}

/* Writes the figures of a way above or below its line. */
static void write_values(struct support_svg* svg, const struct model_speed* speed, uint32_t way,
                         double dy)
{
    for (uint32_t i = 0; i < MODEL_SPEED_POINTS; ++i) {
        const struct model_speed_point* const point = &speed->points[i];
        char text[32];
        snprintf(text, sizeof(text), "%.1f", point->tokens_per_second[way]);
        write_speed_text(svg, x_of(point->percent), y_of(speed, point->tokens_per_second[way]) + dy,
                         11.0, INK, "middle", text);
    }
}

static void draw_speed_legend(struct support_svg* svg, const struct model_speed* speed)
{
    double y = TOP + 56.0;
    support_svg_rectangle(svg, LEFT, y_of(speed, speed->roomy) - 1.0, WIDTH, 2.0, ROOMY, NULL);
    write_speed_text(svg, LEFT + WIDTH + 12.0, y_of(speed, speed->roomy) + 4.0, 12.0, INK, "start",
                     "room for everything");
    for (uint32_t way = 0; way < MODEL_WAY_COUNT; ++way) {
        support_svg_rectangle(svg, LEFT + 16.0, y - 4.0 - curves[way].thickness / 2.0, 18.0,
                              curves[way].thickness, curves[way].colour, NULL);
        write_speed_text(svg, LEFT + 42.0, y, 12.0, INK, "start", curves[way].name);
        y += 20.0;
    }
}

bool model_speed_draw(const struct model_speed* speed, const struct model_shape* shape,
                      const char* device_name, const char* path)
{
    struct support_svg svg = {0};
    char text[256];
    support_svg_begin(&svg, LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM, PAPER);
    for (size_t i = 0; i < sizeof(dark_speed) / sizeof(dark_speed[0]); ++i) {
        support_svg_darken(&svg, dark_speed[i].light, dark_speed[i].dark);
    }
    write_speed_text(&svg, LEFT, 30.0, 18.0, INK, "start",
                     "Tokens a second in virtual time, by device memory");
    snprintf(text, sizeof(text), "%u layers, %.1f GiB of weights and KV cache on a simulated %s",
             shape->layers, (double)model_size(shape) * MODEL_BYTE_STANDS_FOR / 1073741824.0,
             device_name);
    write_speed_text(&svg, LEFT, 50.0, 11.5, PALE, "start", text);
    snprintf(text, sizeof(text),
             "%.0f GB/s on the device, %.0f GB/s between it and the host. No shader is executed.",
             (double)MODEL_DEVICE_BANDWIDTH / 1e9, (double)MODEL_HOST_BANDWIDTH / 1e9);
    write_speed_text(&svg, LEFT, 67.0, 11.5, PALE, "start", text);
    draw_speed_axes(&svg, speed);
    for (uint32_t way = MODEL_WAY_COUNT; way-- > 0;) {
        draw_curve(&svg, speed, way);
    }
    write_values(&svg, speed, MODEL_WAY_HINTED, -9.0);
    write_values(&svg, speed, MODEL_WAY_LRU, -7.0);
    draw_speed_legend(&svg, speed);
    struct support_error error = {{0}};
    if (!support_svg_finish(&svg, path, &error)) {
        sample_complain("%s", error.text);
        return false;
    }
    return true;
}
