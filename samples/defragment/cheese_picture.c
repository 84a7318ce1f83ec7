/*
 * Draws blocks; see cheese_picture.h. Each row is a block of the heap, and each panel a moment.
 */
#include "cheese_picture.h"

#include "support/svg.h"

#include <stdio.h>

#define MARGIN 28.0
#define TOP 112.0
#define PANEL 300.0
#define GAP 28.0
#define ROW 17.0
#define BAR 13.0
#define BOTTOM 58.0

#define PAPER "#FFFFFF"
#define INK "#22303C"
#define PALE "#5F6E7D"
#define HOLE "#E8EDF2"
#define GONE "#B9C4CF"
#define IMAGE "#2F6DB5"
#define BUFFER "#83B3E6"
#define MOVED_IMAGE "#C4661F"
#define MOVED_BUFFER "#F2A65A"

#define MIB(bytes) ((double)(bytes) / 1048576.0)

static const struct support_svg_pair dark_colours[] = {
    {PAPER, "#0D1117"},  {INK, "#E6EDF3"},         {PALE, "#9BA5B0"},
    {HOLE, "#1C232C"},   {GONE, "#3A444F"},        {IMAGE, "#4A8AD6"},
    {BUFFER, "#2C5A8C"}, {MOVED_IMAGE, "#F0943E"}, {MOVED_BUFFER, "#9A5A22"},
};

static void write_label(struct support_svg* svg, double x, double y, double size, const char* fill,
                        bool bold, const char* text)
{
    const struct support_svg_text style = {
        .x = x, .y = y, .size = size, .fill = fill, .anchor = "start", .bold = bold};
    support_svg_text(svg, &style, text);
}

/* Returns the row of a block: blocks are numbered in the order of their making. */
static uint32_t row_of(const struct cheese_result* result, uint64_t block)
{
    const struct cheese_blocks* const before = &result->blocks[CHEESE_BEFORE];
    uint32_t row = 0;
    for (uint32_t i = 0; i < before->count && before->ranges[i].block != block; ++i) {
        const bool last = i + 1 == before->count;
        row += last || before->ranges[i].block != before->ranges[i + 1].block;
    }
    return row;
}

/* Draws the blocks of a moment that hold something. Those that hold nothing are
 * given back as soon as no frame in flight needs them. */
static void draw_rows(struct support_svg* svg, const struct cheese_result* result,
                      const struct cheese_blocks* blocks, double left)
{
    const uint32_t rows = result->blocks[CHEESE_BEFORE].used_count;
    for (uint32_t row = 0; row < rows; ++row) {
        bool is_used = false;
        const double y = TOP + ROW * row;
        for (uint32_t i = 0; i < blocks->count && !is_used; ++i) {
            is_used = row_of(result, blocks->ranges[i].block) == row;
        }
        if (is_used) {
            support_svg_rectangle(svg, left, y, PANEL, BAR, HOLE, NULL);
        } else {
            support_svg_raw(svg,
                            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                            "fill=\"none\" stroke=\"%s\" stroke-dasharray=\"3 3\"/>\n",
                            left + 0.5, y + 0.5, PANEL - 1.0, BAR - 1.0, GONE);
        }
    }
    for (uint32_t i = 0; i < blocks->count; ++i) {
        const struct cheese_range* const range = &blocks->ranges[i];
        const char* const still = range->is_image ? IMAGE : BUFFER;
        const char* const moved = range->is_image ? MOVED_IMAGE : MOVED_BUFFER;
        const double scale = PANEL / (double)CHEESE_BLOCK_SIZE;
        const double width = (double)range->size * scale;
        support_svg_rectangle(svg, left + (double)range->offset * scale,
                              TOP + ROW * row_of(result, range->block), width > 0.6 ? width : 0.6,
                              BAR, range->has_moved ? moved : still, NULL);
    }
}

/* Writes what a moment is, and its figures. */
static void head_panel(struct support_svg* svg, const struct cheese_result* result, uint32_t moment,
                       double left)
{
    static const char* const names[CHEESE_MOMENTS] = {"Before", "During", "After"};
    const struct cheese_blocks* const blocks = &result->blocks[moment];
    const double held = MIB(CHEESE_BLOCK_SIZE) * blocks->used_count;
    char title[64];
    char text[160];
    if (moment == CHEESE_DURING) {
        snprintf(title, sizeof(title), "%s: step %u of %u", names[moment], blocks->step,
                 result->account.steps);
    } else {
        snprintf(title, sizeof(title), "%s", names[moment]);
    }
    snprintf(text, sizeof(text), "%u blocks, %.0f MiB, %.0f %% of it used", blocks->used_count,
             held, 100.0 * MIB(blocks->live) / held);
    write_label(svg, left, TOP - 28.0, 14.0, INK, true, title);
    write_label(svg, left, TOP - 11.0, 11.5, INK, false, text);
}

static void draw_legend(struct support_svg* svg, double y)
{
    static const struct {
        const char* colour;
        const char* name;
    } entries[] = {
        {IMAGE, "image"},
        {BUFFER, "buffer"},
        {MOVED_IMAGE, "image that was moved"},
        {MOVED_BUFFER, "buffer that was moved"},
        {HOLE, "free"},
        {NULL, "emptied, and given back"},
    };
    double x = MARGIN;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); ++i) {
        if (entries[i].colour != NULL) {
            support_svg_rectangle(svg, x, y - 10.0, 16.0, 12.0, entries[i].colour, NULL);
        } else {
            support_svg_raw(svg,
                            "<rect x=\"%.1f\" y=\"%.1f\" width=\"15\" height=\"11\" fill=\"none\" "
                            "stroke=\"%s\" stroke-dasharray=\"3 3\"/>\n",
                            x + 0.5, y - 9.5, GONE);
        }
        write_label(svg, x + 22.0, y, 12.0, INK, false, entries[i].name);
        x += 44.0 + support_svg_text_width(entries[i].name, 12.0, false);
    }
}

bool cheese_picture_write(const struct cheese_result* result, const char* device_name,
                          const char* path)
{
    struct support_svg svg = {0};
    struct support_error error = {{0}};
    const uint32_t rows = result->blocks[CHEESE_BEFORE].used_count;
    const double width = 2 * MARGIN + CHEESE_MOMENTS * PANEL + (CHEESE_MOMENTS - 1) * GAP;
    const double height = TOP + ROW * rows + BOTTOM;
    char text[256];
    support_svg_begin(&svg, width, height, PAPER);
    for (size_t i = 0; i < sizeof(dark_colours) / sizeof(dark_colours[0]); ++i) {
        support_svg_darken(&svg, dark_colours[i].light, dark_colours[i].dark);
    }
    write_label(&svg, MARGIN, 32.0, 18.0, INK, true,
                "A heap is defragmented while frames use what lies in it");
    snprintf(text, sizeof(text), "each row is a block of %.0f MiB; %.1f MiB moved in %u moves; %s",
             MIB(CHEESE_BLOCK_SIZE), MIB(result->account.bytes), result->account.moves,
             device_name);
    write_label(&svg, MARGIN, 51.0, 11.5, PALE, false, text);
    for (uint32_t i = 0; i < CHEESE_MOMENTS; ++i) {
        const double left = MARGIN + (PANEL + GAP) * i;
        head_panel(&svg, result, i, left);
        draw_rows(&svg, result, &result->blocks[i], left);
    }
    draw_legend(&svg, height - 24.0);
    if (!support_svg_finish(&svg, path, &error)) {
        sample_complain("%s", error.text);
        return false;
    }
    return true;
}
