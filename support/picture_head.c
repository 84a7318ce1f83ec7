/*
 * Draws the head of a picture of blocks: title, bytes by kind, legend; see picture_internal.h.
 *
 * The legend explains everything that the picture below it uses: the colours with their two shades,
 * padding, folded lines, and the widths of bars.
 */
#include "support/picture_internal.h"

#include <stdio.h>
#include <string.h>

#define TITLE_Y 36.0
#define BAR_Y 68.0
#define BAR_HEIGHT 12.0
#define LEGEND_Y 90.0
#define LEGEND_HEIGHT 18.0
#define NOTE_HEIGHT 16.0
#define SWATCH 11.0

/* The colours of Okabe and Ito, which people with the common kinds of colour blindness can
 * distinguish. */
const struct picture_style picture_styles[SUPPORT_PICTURE_KIND_COUNT] = {
    [SUPPORT_PICTURE_FREE] = {"free", {COLOUR_FREE, COLOUR_FREE}, COLOUR_DIM},
    [SUPPORT_PICTURE_PADDING] = {"padding", {"#24292F", "#24292F"}, ON_DARK},
    [SUPPORT_PICTURE_PENDING] = {"pending", {"#F0E442", "#E6D92F"}, ON_BRIGHT},
    [SUPPORT_PICTURE_BUFFER] = {"buffers", {"#0072B2", "#2A8AC4"}, ON_DARK},
    [SUPPORT_PICTURE_STAGING] = {"staging buffers", {"#56B4E9", "#7CC5EF"}, ON_BRIGHT},
    [SUPPORT_PICTURE_IMAGE] = {"images", {"#E69F00", "#EDB43C"}, ON_BRIGHT},
    [SUPPORT_PICTURE_TARGET] = {"render targets", {"#D55E00", "#DF7A2C"}, ON_DARK},
    [SUPPORT_PICTURE_OTHER] = {"other", {"#CC79A7", "#D893B8"}, ON_BRIGHT},
};

/* The order of the legend and of the bar above it. */
static const enum support_picture_kind legend_order[SUPPORT_PICTURE_KIND_COUNT] = {
    SUPPORT_PICTURE_IMAGE,   SUPPORT_PICTURE_TARGET, SUPPORT_PICTURE_BUFFER,
    SUPPORT_PICTURE_STAGING, SUPPORT_PICTURE_OTHER,  SUPPORT_PICTURE_PENDING,
    SUPPORT_PICTURE_PADDING, SUPPORT_PICTURE_FREE,
};

void picture_darken(struct support_svg* svg)
{
    static const struct support_svg_pair pairs[] = {
        {COLOUR_TEXT, "#E6EDF3"},  {COLOUR_DIM, "#9BA5B0"},  {COLOUR_PAPER, "#0D1117"},
        {COLOUR_FRAME, "#4A525C"}, {COLOUR_FREE, "#1A2028"}, {"#24292F", "#838D99"},
        {"#F0E442", "#D8CD3C"},    {"#E6D92F", "#C4BA32"},   {"#E69F00", "#D79508"},
        {"#EDB43C", "#C28A1C"},    {"#D55E00", "#C85A06"},   {"#DF7A2C", "#AF5210"},
        {"#2A8AC4", "#1C5F8C"},    {"#56B4E9", "#54AADA"},   {"#7CC5EF", "#3F8FBD"},
        {"#CC79A7", "#C0719D"},    {"#D893B8", "#A25F85"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
        support_svg_darken(svg, pairs[i].light, pairs[i].dark);
    }
}

const char* picture_format_bytes(uint64_t bytes, char* buffer, size_t size)
{
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024.0;
        ++unit;
    }
    const bool whole = unit == 0 || value >= 100.0 || value == (double)(uint64_t)value;
    snprintf(buffer, size, "%.*f %s", whole ? 0 : 1, value, units[unit]);
    return buffer;
}

double picture_percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

/* Draws a square of the legend, in both shades of a kind. */
static void draw_swatch(struct support_svg* svg, double x, double y,
                        const struct picture_style* style)
{
    support_svg_rectangle(svg, x, y, SWATCH / 2, SWATCH, style->fill[0], NULL);
    support_svg_rectangle(svg, x + SWATCH / 2, y, SWATCH / 2, SWATCH, style->fill[1], NULL);
    support_svg_frame(svg, x, y, SWATCH, SWATCH, COLOUR_FRAME, 0.6);
}

/* Draws the legend, with the bytes of each colour, in as many rows as necessary. Returns the y
 * below the last row. */
static double draw_legend(struct support_svg* svg, const struct picture_layout* layout)
{
    double x = MARGIN;
    double y = LEGEND_Y;
    for (size_t i = 0; i < SUPPORT_PICTURE_KIND_COUNT; ++i) {
        const enum support_picture_kind kind = legend_order[i];
        const uint64_t bytes = layout->totals[kind];
        if (bytes == 0 && kind != SUPPORT_PICTURE_PADDING && kind != SUPPORT_PICTURE_FREE) {
            continue;
        }
        char size[32];
        char text[96];
        snprintf(text, sizeof(text), "%s %s (%.1f %%)", picture_styles[kind].name,
                 picture_format_bytes(bytes, size, sizeof(size)),
                 picture_percent(bytes, layout->reserved));
        const double width = SWATCH + 5.0 + support_svg_text_width(text, 11.5, false);
        if (x + width > MARGIN + INNER_WIDTH) {
            x = MARGIN;
            y += LEGEND_HEIGHT;
        }
        if (svg != NULL) {
            draw_swatch(svg, x, y, &picture_styles[kind]);
            const struct support_svg_text style = {
                .x = x + SWATCH + 5.0, .y = y + 9.5, .size = 11.5, .fill = COLOUR_TEXT};
            support_svg_text(svg, &style, text);
        }
        x += width + 14.0;
    }
    return y + LEGEND_HEIGHT;
}

/* Draws one line of explanation. Returns the y of the next one. */
static double draw_note(struct support_svg* svg, double y, const char* text)
{
    const struct support_svg_text style = {
        .x = MARGIN, .y = y + 9.5, .size = 11.0, .fill = COLOUR_DIM, .max_width = INNER_WIDTH};
    if (svg != NULL) {
        support_svg_text(svg, &style, text);
    }
    return y + NOTE_HEIGHT;
}

/* Explains what the picture uses and the colours do not say. */
static double draw_notes(struct support_svg* svg, const struct picture_layout* layout, double y)
{
    const bool pending = layout->totals[SUPPORT_PICTURE_PENDING] != 0;
    char size[2][32];
    char text[320];
    snprintf(text, sizeof(text),
             "The two shades of a colour only distinguish neighbours. Padding: bytes lost to "
             "alignment and rounding.%s",
             pending ? " Pending: freed, but the device may still use it." : "");
    y = draw_note(svg, y, text);
    text[0] = '\0';
    if (layout->shared_count != 0 && !layout->grid) {
        snprintf(text, sizeof(text), "A line shows %s; its offset in the block stands before it.%s",
                 picture_format_bytes(layout->line_bytes, size[0], sizeof(size[0])),
                 layout->folded ? " A dashed line stands for several empty lines." : "");
    } else if (layout->grid) {
        snprintf(text, sizeof(text),
                 "A bar is as long as its block is large; the longest is %s. Ranges narrower than "
                 "a pixel are drawn together.",
                 picture_format_bytes(layout->largest_shared, size[0], sizeof(size[0])));
    }
    if (layout->dedicated_count != 0) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used,
                 "%sA dedicated block holds one resource; a full row of them is %s.",
                 used != 0 ? " " : "",
                 picture_format_bytes(layout->shelf_bytes, size[1], sizeof(size[1])));
    }
    return text[0] != '\0' ? draw_note(svg, y, text) : y;
}

/* Draws all bytes by kind as one bar. */
static void draw_totals(struct support_svg* svg, const struct picture_layout* layout)
{
    double x = MARGIN;
    for (size_t i = 0; i < SUPPORT_PICTURE_KIND_COUNT; ++i) {
        const enum support_picture_kind kind = legend_order[i];
        const double width = layout->reserved == 0 ? 0.0
                                                   : INNER_WIDTH * (double)layout->totals[kind] /
                                                         (double)layout->reserved;
        if (width > 0.0) {
            support_svg_rectangle(svg, x, BAR_Y, width, BAR_HEIGHT, picture_styles[kind].fill[0],
                                  picture_styles[kind].name);
        }
        x += width;
    }
    support_svg_frame(svg, MARGIN, BAR_Y, INNER_WIDTH, BAR_HEIGHT, COLOUR_FRAME, 0.8);
}

double picture_draw_head(struct support_svg* svg, const struct support_picture* picture,
                         const struct picture_layout* layout)
{
    if (svg != NULL) {
        struct support_svg_text style = {.x = MARGIN,
                                         .y = TITLE_Y,
                                         .size = 22.0,
                                         .fill = COLOUR_TEXT,
                                         .bold = true,
                                         .max_width = INNER_WIDTH};
        support_svg_text(svg, &style, picture->title);
        style = (struct support_svg_text){.x = MARGIN,
                                          .y = TITLE_Y + 21.0,
                                          .size = 13.0,
                                          .fill = COLOUR_DIM,
                                          .max_width = INNER_WIDTH};
        support_svg_text(svg, &style, picture->subtitle);
        draw_totals(svg, layout);
    }
    return draw_notes(svg, layout, draw_legend(svg, layout) + 2.0) + 12.0;
}
