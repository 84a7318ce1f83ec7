/*
 * Draws pictures of a flight; see texture_pictures.h.
 */
#include "texture_pictures.h"

#include "support/png_file.h"
#include "support/svg.h"
#include "texture_landscape.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INK "#1B1F24"
#define DIM "#57606A"
#define LINE "#D0D7DE"
#define PAPER "#FFFFFF"
#define GROUND "#F4F6F8"
#define ALARM "#B3261E"
#define HITS "#0B6E4F"
#define RESIDENT "#0969DA"
#define BINDS "#8250DF"
#define UPLOADS "#D4820A"
#define MIB 1048576.0

static bool write_frames(const struct texture_flight* flight, const char* folder)
{
    for (uint32_t i = 0; i < flight->picture_count; ++i) {
        const struct texture_picture* const picture = &flight->pictures[i];
        const bool again = i + 1 == flight->picture_count;
        char path[4096];
        struct support_error error = {{0}};
        snprintf(path, sizeof(path), "%s/frame_%04u%s.png", folder, picture->frame,
                 !again          ? ""
                 : picture->tint ? "_levels"
                                 : "_plain");
        if (!support_png_write(path, picture->width, picture->height, picture->pixels, &error)) {
            sample_complain("%s", error.text);
            return false;
        }
    }
    return true;
}

/* The colours in dark surroundings. */
static void darken(struct support_svg* svg)
{
    static const struct support_svg_pair pairs[] = {
        {INK, "#E6EDF3"},    {DIM, "#9BA5B0"},     {LINE, "#2B323B"}, {PAPER, "#0D1117"},
        {GROUND, "#151A21"}, {ALARM, "#F0736A"},   {HITS, "#4CC38A"}, {RESIDENT, "#5AA9F5"},
        {BINDS, "#B392F0"},  {UPLOADS, "#F0A04B"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
        support_svg_darken(svg, pairs[i].light, pairs[i].dark);
    }
}

static void write_text(struct support_svg* svg, double x, double y, double size, const char* fill,
                       const char* anchor, const char* text)
{
    const struct support_svg_text style = {
        .x = x, .y = y, .size = size, .fill = fill, .anchor = anchor, .bold = size > 16.0};
    support_svg_text(svg, &style, text);
}

static bool finish(struct support_svg* svg, const char* folder, const char* name)
{
    char path[4096];
    struct support_error error = {{0}};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!support_svg_finish(svg, path, &error)) {
        sample_complain("%s", error.text);
        return false;
    }
    return true;
}

/* ---- which tiles are there ---- */

#define MOSAIC 64u /* squares of the faint map behind the tiles, in x and in y */
#define MOSAIC_LIGHT 172u
#define MOSAIC_DARK 18u

/* Finds the tiles of a level that may be sampled: the level is resident in their whole area. */
static bool is_there(const struct texture_flight* flight, const uint8_t* levels, uint32_t level,
                     uint32_t column, uint32_t row)
{
    const uint32_t columns = flight->stream.texture / flight->stream.info.tileExtent.width;
    const uint32_t rows = flight->stream.level_count / columns;
    const uint32_t x = (column << level) % columns;
    const uint32_t y = (row << level) % rows;
    return levels[(size_t)y * columns + x] <= level;
}

/* A small number of shades suffices for a faint map and gives long runs. `least` is the darkest. */
static uint32_t faint(const uint8_t* texel, uint32_t least)
{
    uint32_t colour = 0;
    for (uint32_t c = 0; c < 3; ++c) {
        colour = colour << 8 | (texel[c] / 32u * 10u + least);
    }
    return colour;
}

/* Draws the map as one symbol of MOSAIC x MOSAIC units, with a path for each colour. */
static void define_mosaic(struct support_svg* svg, uint32_t texture)
{
    uint8_t texels[MOSAIC * MOSAIC * 4];
    uint32_t level = 0;
    while (texture >> level > MOSAIC) {
        ++level;
    }
    const struct texture_box box = {.level = level, .width = MOSAIC, .height = MOSAIC};
    texture_landscape_fill(texture, &box, texels, (size_t)4 * MOSAIC);
    support_svg_raw(svg,
                    "<defs><symbol id=\"map\" viewBox=\"0 0 %u %u\"><g "
                    "shape-rendering=\"crispEdges\">\n",
                    MOSAIC, MOSAIC);
    for (uint32_t first = 0; first < MOSAIC * MOSAIC; ++first) {
        const uint32_t colour = faint(&texels[4 * first], MOSAIC_LIGHT);
        bool seen = false;
        for (uint32_t i = 0; i < first && !seen; ++i) {
            seen = faint(&texels[4 * i], MOSAIC_LIGHT) == colour;
        }
        if (seen) {
            continue;
        }
        char names[2][16];
        snprintf(names[0], sizeof(names[0]), "#%06X", colour);
        snprintf(names[1], sizeof(names[1]), "#%06X", faint(&texels[4 * first], MOSAIC_DARK));
        support_svg_darken(svg, names[0], names[1]);
        support_svg_raw(svg, "<path fill=\"%s\" d=\"", names[0]);
        for (uint32_t i = first; i < MOSAIC * MOSAIC;) {
            uint32_t run = 0;
            while (i + run < MOSAIC * MOSAIC && i / MOSAIC == (i + run) / MOSAIC &&
                   faint(&texels[4 * (i + run)], MOSAIC_LIGHT) == colour) {
                ++run;
            }
            if (run != 0) {
                support_svg_raw(svg, "M%u %uh%uv1h-%uz", i % MOSAIC, i / MOSAIC, run, run);
            }
            i += run != 0 ? run : 1;
        }
        support_svg_raw(svg, "\"/>\n");
    }
    support_svg_raw(svg, "</g></symbol></defs>\n");
}

static void draw_mosaic(struct support_svg* svg, double x, double y, double size)
{
    support_svg_raw(svg,
                    "<use href=\"#map\" x=\"%.1f\" y=\"%.1f\" "
                    "width=\"%.1f\" height=\"%.1f\"/>\n",
                    x, y, size, size);
}

/* Draws the resident tiles of a level in the level's colour. Returns their number. */
static uint32_t draw_level(struct support_svg* svg, const struct texture_flight* flight,
                           const struct texture_picture* picture, uint32_t level, double x,
                           double y, double size)
{
    const uint32_t texels = flight->stream.texture >> level;
    const uint32_t width = flight->stream.info.tileExtent.width;
    const uint32_t height = flight->stream.info.tileExtent.height;
    const uint32_t columns = (texels + width - 1) / width;
    const uint32_t rows = (texels + height - 1) / height;
    const uint8_t* const tint =
        texture_tints[level < TEXTURE_TINT_COUNT ? level : TEXTURE_TINT_COUNT - 1];
    uint32_t count = 0;
    for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t column = 0; column < columns; ++column) {
            uint32_t run = 0;
            while (column + run < columns &&
                   is_there(flight, picture->levels, level, column + run, row)) {
                ++run;
            }
            if (run != 0) {
                support_svg_raw(svg,
                                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                                "fill=\"#%02X%02X%02X\"/>\n",
                                x + size * column / columns, y + size * row / rows,
                                size * run / columns, size / rows, tint[0], tint[1], tint[2]);
                count += run;
                column += run;
            }
        }
    }
    return count;
}

/* Draws the visible part of the map. */
static void draw_sight(struct support_svg* svg, const struct texture_picture* picture,
                       uint32_t texture, double x, double y, double size)
{
    const struct texture_camera* const camera = &picture->camera;
    const double half_width = 0.5 * picture->width;
    const double half_height = 0.5 * picture->height;
    const double corners[4][2] = {{-half_width, half_height},
                                  {-half_width, -half_height},
                                  {half_width, -half_height},
                                  {half_width, half_height}};
    support_svg_raw(svg,
                    "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                    "viewBox=\"0 0 %.1f %.1f\"><path fill=\"none\" stroke=\"%s\" "
                    "stroke-width=\"2\" d=\"",
                    x, y, size, size, size, size, INK);
    for (uint32_t i = 0; i < 4; ++i) {
        double ray[3];
        for (uint32_t c = 0; c < 3; ++c) {
            ray[c] = (double)camera->forward[c] + corners[i][0] * (double)camera->right[c] +
                     corners[i][1] * (double)camera->down[c];
        }
        const double along = (double)camera->eye[2] / fmax(-ray[2], 0.02);
        support_svg_raw(svg, "%c%.1f %.1f ", i == 0 ? 'M' : 'L',
                        size * ((double)camera->eye[0] + along * ray[0]) / texture,
                        size * ((double)camera->eye[1] + along * ray[1]) / texture);
    }
    support_svg_raw(svg, "Z\"/></svg>\n");
}

static bool write_tiles(const struct texture_flight* flight, const char* folder)
{
    const struct texture_picture* const picture = &flight->pictures[flight->picture_count - 2];
    const struct texture_stream* const stream = &flight->stream;
    const double top = 96.0;
    const double large = 512.0;
    const double width = 1016.0;
    struct support_svg svg;
    char text[512];
    memset(&svg, 0, sizeof(svg));
    support_svg_begin(&svg, width, top + large + 60.0, PAPER);
    darken(&svg);
    snprintf(text, sizeof(text), "The part in memory of a map of %u x %u texels", stream->texture,
             stream->texture);
    write_text(&svg, 24.0, 36.0, 20.0, INK, "start", text);
    snprintf(text, sizeof(text),
             "In frame %u, the last: %.1f MiB of pages of a budget of %.1f MiB; the whole texture "
             "takes %.1f MiB. The outline is what the camera sees.",
             picture->frame, (double)flight->frames[picture->frame].resident / MIB,
             (double)stream->budget / MIB, (double)stream->texture_bytes / MIB);
    write_text(&svg, 24.0, 60.0, 13.0, DIM, "start", text);
    define_mosaic(&svg, stream->texture);
    const uint32_t shown = stream->info.mipLevels < 6 ? stream->info.mipLevels : 6;
    for (uint32_t level = 0; level < shown; ++level) {
        const double size = level == 0 ? large : level < 3 ? 200.0 : 96.0;
        const double x = level == 0  ? 24.0
                         : level < 3 ? 560.0 + (level - 1) * 224.0
                                     : 560.0 + (level - 3) * 126.0;
        const double y = level < 3 ? top : top + 292.0;
        const uint32_t tiles = (stream->texture >> level) / stream->info.tileExtent.width;
        draw_mosaic(&svg, x, y, size);
        const uint32_t count = draw_level(&svg, flight, picture, level, x, y, size);
        support_svg_frame(&svg, x, y, size, size, INK, 1.0);
        draw_sight(&svg, picture, stream->texture, x, y, size);
        snprintf(text, sizeof(text), "level %u", level);
        write_text(&svg, x, y + size + 18.0, 13.0, INK, "start", text);
        snprintf(text, sizeof(text), "%u of %u tiles", count,
                 tiles * tiles != 0 ? tiles * tiles : 1);
        write_text(&svg, x, y + size + 35.0, 12.0, DIM, "start", text);
    }
    write_text(&svg, 560.0, top + large - 20.0, 12.0, DIM, "start",
               "Each square is the whole map. A coloured tile is in memory; those out of");
    write_text(&svg, 560.0, top + large - 3.0, 12.0, DIM, "start",
               "sight were seen before, and nothing has needed their pages since.");
    if (shown < stream->info.mipLevels) {
        snprintf(text, sizeof(text), "Levels %u to %u, of a few tiles each, are left out.", shown,
                 stream->info.mipLevels - 1);
        write_text(&svg, 560.0, top + large + 14.0, 12.0, DIM, "start", text);
    }
    return finish(&svg, folder, "tiles.svg");
}

/* ---- figures over time ---- */

#define CHART_LEFT 92.0
#define CHART_WIDTH 800.0
#define CHART_HEIGHT 130.0
#define CHART_GAP 54.0
#define CHART_TOP 92.0
#define CURVE_WIDTH 1.6

struct panel {
    const char* title;
    const char* unit;
    double most; /* value at the upper end */
    double step; /* value between lines */
    double y;    /* upper edge of the panel */
};

static double panel_x(const struct texture_flight* flight, double frame)
{
    return CHART_LEFT + CHART_WIDTH * frame / (double)(flight->frame_count - 1);
}

static double panel_y(const struct panel* panel, double value)
{
    return panel->y + CHART_HEIGHT * (1.0 - fmin(value / panel->most, 1.0));
}

static void draw_panel(struct support_svg* svg, const struct texture_flight* flight,
                       const struct panel* panel)
{
    char text[64];
    support_svg_rectangle(svg, CHART_LEFT, panel->y, CHART_WIDTH, CHART_HEIGHT, GROUND, NULL);
    write_text(svg, CHART_LEFT, panel->y - 9.0, 13.0, INK, "start", panel->title);
    for (double value = 0.0; value <= panel->most * 1.001; value += panel->step) {
        const double y = panel_y(panel, value);
        support_svg_rectangle(svg, CHART_LEFT, y, CHART_WIDTH, 1.0, LINE, NULL);
        snprintf(text, sizeof(text), "%g%s", value, panel->unit);
        write_text(svg, CHART_LEFT - 8.0, y + 4.0, 11.0, DIM, "end", text);
    }
    const double x = panel_x(flight, texture_camera_jump(flight->frame_count));
    support_svg_rectangle(svg, x, panel->y, 1.0, CHART_HEIGHT, ALARM, NULL);
}

/* Draws one curve of value(frame). */
static void draw_curve(struct support_svg* svg, const struct texture_flight* flight,
                       const struct panel* panel, const char* colour,
                       double (*value)(const struct texture_frame* frame))
{
    support_svg_raw(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" d=\"", colour,
                    CURVE_WIDTH);
    for (uint32_t i = 0; i < flight->frame_count; ++i) {
        support_svg_raw(svg, "%c%.1f %.1f ", i == 0 ? 'M' : 'L', panel_x(flight, i),
                        panel_y(panel, value(&flight->frames[i])));
    }
    support_svg_raw(svg, "\"/>\n");
}

static double hits_of(const struct texture_frame* frame)
{
    return frame->asked != 0 ? 100.0 * frame->satisfied / frame->asked : 0.0;
}

static double resident_of(const struct texture_frame* frame)
{
    return (double)(frame->resident + frame->held) / MIB;
}

static double binds_of(const struct texture_frame* frame)
{
    return frame->binds;
}

static double uploads_of(const struct texture_frame* frame)
{
    return frame->uploads;
}

/* Returns the least of 1, 2, 5, 10, 20, ... that divides a range into at most four steps. */
static double nice_step(double most)
{
    double power = 1.0;
    for (;;) {
        const double factors[] = {1.0, 2.0, 5.0};
        for (uint32_t i = 0; i < 3; ++i) {
            if (power * factors[i] * 4.0 >= most) {
                return power * factors[i];
            }
        }
        power *= 10.0;
    }
}

/* How a line of a panel is drawn, there and in the legend. */
struct line_style {
    const char* colour;
    double thickness;
    const char* dashes;
};

static const struct line_style budget_line = {INK, 1.5, "6 4"};

static void draw_level_line(struct support_svg* svg, double x, double y, double x_end,
                            const struct line_style* style)
{
    support_svg_raw(svg,
                    "<path stroke=\"%s\" stroke-width=\"%.1f\" stroke-dasharray=\"%s\" "
                    "d=\"M%.1f %.1fH%.1f\"/>\n",
                    style->colour, style->thickness, style->dashes, x, y, x_end);
}

static void draw_legend(struct support_svg* svg, double x, double y, const struct line_style* style,
                        const char* text)
{
    draw_level_line(svg, x, y - 4.0, x + 24.0, style);
    write_text(svg, x + 30.0, y, 12.0, DIM, "start", text);
}

static void draw_axis(struct support_svg* svg, const struct texture_flight* flight, double y)
{
    const double step = nice_step(flight->frame_count * 0.5);
    char text[32];
    for (double frame = 0.0; frame < flight->frame_count; frame += step) {
        snprintf(text, sizeof(text), "%g", frame);
        write_text(svg, panel_x(flight, frame), y, 11.0, DIM, "middle", text);
    }
    write_text(svg, CHART_LEFT + 0.5 * CHART_WIDTH, y + 20.0, 12.0, DIM, "middle", "frame");
}

static bool write_figures(const struct texture_flight* flight, const char* folder)
{
    const struct texture_totals totals = texture_report_sum(flight);
    const double budget = (double)flight->stream.budget / MIB;
    const double most = fmax(totals.most_binds, 4.0);
    struct panel panels[3] = {
        {.title = "Pixels whose level was there", .unit = " %", .most = 100.0, .step = 25.0},
        {.title = "Pages of the texture", .unit = " MiB", .step = nice_step(budget * 1.2)},
        {.title = "Pages a frame", .unit = "", .step = nice_step(most)}};
    panels[1].most = panels[1].step * ceil(budget * 1.1 / panels[1].step);
    panels[2].most = panels[2].step * ceil(most / panels[2].step);
    struct support_svg svg;
    char text[512];
    memset(&svg, 0, sizeof(svg));
    support_svg_begin(&svg, CHART_LEFT + CHART_WIDTH + 40.0,
                      CHART_TOP + 3.0 * (CHART_HEIGHT + CHART_GAP) + 10.0, PAPER);
    darken(&svg);
    snprintf(text, sizeof(text), "A flight over %u x %u texels with %.1f MiB of pages",
             flight->stream.texture, flight->stream.texture, budget);
    write_text(&svg, 24.0, 34.0, 20.0, INK, "start", text);
    snprintf(text, sizeof(text),
             "%u frames on %s. The red line is a sudden jump to another place; what is asked for "
             "is read three frames later.",
             flight->frame_count, flight->device->properties.deviceName);
    write_text(&svg, 24.0, 56.0, 12.0, DIM, "start", text);
    for (uint32_t i = 0; i < 3; ++i) {
        panels[i].y = CHART_TOP + i * (CHART_HEIGHT + CHART_GAP);
        draw_panel(&svg, flight, &panels[i]);
    }
    draw_curve(&svg, flight, &panels[0], HITS, hits_of);
    draw_curve(&svg, flight, &panels[1], RESIDENT, resident_of);
    draw_curve(&svg, flight, &panels[2], BINDS, binds_of);
    draw_curve(&svg, flight, &panels[2], UPLOADS, uploads_of);
    const struct line_style curves[] = {{RESIDENT, CURVE_WIDTH, "none"},
                                        {BINDS, CURVE_WIDTH, "none"},
                                        {UPLOADS, CURVE_WIDTH, "none"}};
    draw_level_line(&svg, CHART_LEFT, panel_y(&panels[1], budget), CHART_LEFT + CHART_WIDTH,
                    &budget_line);
    draw_legend(&svg, CHART_LEFT + 570.0, panels[1].y - 9.0, &curves[0], "resident");
    draw_legend(&svg, CHART_LEFT + 700.0, panels[1].y - 9.0, &budget_line, "budget");
    draw_legend(&svg, CHART_LEFT + 540.0, panels[2].y - 9.0, &curves[1], "bound or unbound");
    draw_legend(&svg, CHART_LEFT + 710.0, panels[2].y - 9.0, &curves[2], "uploads");
    draw_axis(&svg, flight, panels[2].y + CHART_HEIGHT + 18.0);
    return finish(&svg, folder, "figures.svg");
}

bool texture_pictures_write(const struct texture_flight* flight, const char* folder)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        sample_complain("%s: %s", folder, strerror(errno));
        return false;
    }
    return write_frames(flight, folder) && write_tiles(flight, folder) &&
           write_figures(flight, folder);
}
