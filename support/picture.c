/*
 * Draws blocks of memory as SVG; see picture.h.
 *
 * A picture uses three layouts. A small number of shared blocks are drawn as maps: lines of equal
 * numbers of bytes, one below the other, like lines of text. Consecutive empty lines are folded
 * into one. A large number of shared blocks are drawn as one bar each in a grid. Dedicated blocks,
 * which hold one allocation each, lie side by side on shelves.
 */
#include "support/picture.h"

#include "support/svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PICTURE_WIDTH 1200.0
#define MARGIN 24.0
#define INNER_WIDTH (PICTURE_WIDTH - 2 * MARGIN)
#define GUTTER 68.0 /* offsets in front of a map's lines */
#define HEAD_HEIGHT 118.0
#define LABEL_HEIGHT 18.0
#define LEGEND_HEIGHT 18.0

/* The intended number of lines of all maps together, and the most blocks that are drawn as maps. */
#define MAP_LINES 28u
#define MAP_MAX_BLOCKS 24u

/* The factor by which lines may become finer because others are folded. */
#define MAP_FINEST 256u

/* The fewest consecutive empty lines that are folded. */
#define MAP_MIN_FOLD 3u

/* The columns of the grid, and the most blocks in it. */
#define GRID_COLUMNS 5u
#define GRID_MAX_BLOCKS 400u
#define GRID_ROW_HEIGHT 32.0

#define SHELF_HEIGHT 22.0
#define SHELF_MIN_CELL 3.0

#define COLOUR_TEXT "#1B1F24"
#define COLOUR_DIM "#57606A"
#define COLOUR_PAPER "#FFFFFF"
#define COLOUR_FRAME "#8C959F"

/*
 * The colours of Okabe and Ito, which people with the common kinds of colour blindness can
 * distinguish. Each has two tints, which distinguish neighbours of one kind.
 */
struct kind_style {
    const char* name;
    const char* fill[2];
    const char* text;
};

static const struct kind_style styles[SUPPORT_PICTURE_KIND_COUNT] = {
    [SUPPORT_PICTURE_FREE] = {"free", {"#EEF1F4", "#EEF1F4"}, COLOUR_DIM},
    [SUPPORT_PICTURE_PADDING] = {"padding", {"#24292F", "#24292F"}, "#FFFFFF"},
    [SUPPORT_PICTURE_PENDING] = {"pending", {"#F0E442", "#E6D92F"}, COLOUR_TEXT},
    [SUPPORT_PICTURE_BUFFER] = {"buffers", {"#0072B2", "#2A8AC4"}, "#FFFFFF"},
    [SUPPORT_PICTURE_STAGING] = {"staging buffers", {"#56B4E9", "#7CC5EF"}, COLOUR_TEXT},
    [SUPPORT_PICTURE_IMAGE] = {"images", {"#E69F00", "#EDB43C"}, COLOUR_TEXT},
    [SUPPORT_PICTURE_TARGET] = {"render targets", {"#D55E00", "#DF7A2C"}, "#FFFFFF"},
    [SUPPORT_PICTURE_OTHER] = {"other", {"#CC79A7", "#D893B8"}, COLOUR_TEXT},
};

/* The order of the legend and of the bar above it. */
static const enum support_picture_kind legend_order[SUPPORT_PICTURE_KIND_COUNT] = {
    SUPPORT_PICTURE_IMAGE,   SUPPORT_PICTURE_TARGET, SUPPORT_PICTURE_BUFFER,
    SUPPORT_PICTURE_STAGING, SUPPORT_PICTURE_OTHER,  SUPPORT_PICTURE_PENDING,
    SUPPORT_PICTURE_PADDING, SUPPORT_PICTURE_FREE,
};

/* The measures that are computed before anything is drawn. */
struct picture_layout {
    uint64_t totals[SUPPORT_PICTURE_KIND_COUNT];
    uint64_t reserved;
    uint64_t shared_bytes, dedicated_bytes, dedicated_live;
    size_t shared_count, dedicated_count;
    uint64_t largest_shared, largest_dedicated;
    uint64_t line_bytes; /* of a map's line */
    double line_height;
    bool grid;
    uint64_t shelf_bytes; /* of a full shelf */
    double height;
};

static const char* format_bytes(uint64_t bytes, char* buffer, size_t size)
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

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

/*
 * Returns the bytes of a block, from `start` on, that one line shows: those of one line, or of
 * several folded empty lines. `range` is moved to the first range that may reach beyond `start`.
 */
static uint64_t next_line(const struct support_picture_block* block, uint64_t line_bytes,
                          uint64_t start, size_t* range)
{
    const uint64_t left = block->size - start;
    while (*range < block->range_count &&
           block->ranges[*range].offset + block->ranges[*range].size <= start) {
        ++*range;
    }
    uint64_t end = start;
    for (size_t i = *range; i < block->range_count && block->ranges[i].offset <= end &&
                            block->ranges[i].kind == SUPPORT_PICTURE_FREE;
         ++i) {
        end = block->ranges[i].offset + block->ranges[i].size;
    }
    /* The last line of a block may be shorter. */
    const uint64_t lines =
        end >= block->size ? (left + line_bytes - 1) / line_bytes : (end - start) / line_bytes;
    const uint64_t bytes = lines >= MAP_MIN_FOLD ? lines * line_bytes : line_bytes;
    return bytes < left ? bytes : left;
}

static uint64_t count_lines(const struct support_picture* picture, uint64_t line_bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < picture->block_count; ++i) {
        const struct support_picture_block* const block = &picture->blocks[i];
        size_t range = 0;
        for (uint64_t start = 0; start < block->size && !block->dedicated; ++lines) {
            start += next_line(block, line_bytes, start, &range);
        }
    }
    return lines;
}

/* Finds the place of a shelf's next cell. Returns the width of the cell. */
static double next_cell(const struct picture_layout* layout, uint64_t size, double* x, double* y)
{
    double width = INNER_WIDTH * (double)size / (double)layout->shelf_bytes;
    width = width < SHELF_MIN_CELL ? SHELF_MIN_CELL : width;
    width = width > INNER_WIDTH ? INNER_WIDTH : width;
    if (*x + width > INNER_WIDTH + 0.01) {
        *x = 0.0;
        *y += SHELF_HEIGHT + 4.0;
    }
    return width;
}

static void measure_blocks(const struct support_picture* picture, struct picture_layout* layout)
{
    for (size_t i = 0; i < picture->block_count; ++i) {
        const struct support_picture_block* const block = &picture->blocks[i];
        layout->reserved += block->size;
        for (size_t j = 0; j < block->range_count; ++j) {
            layout->totals[block->ranges[j].kind] += block->ranges[j].size;
        }
        uint64_t* const largest =
            block->dedicated ? &layout->largest_dedicated : &layout->largest_shared;
        *largest = block->size > *largest ? block->size : *largest;
        if (block->dedicated) {
            ++layout->dedicated_count;
            layout->dedicated_bytes += block->size;
            layout->dedicated_live += block->live;
        } else {
            ++layout->shared_count;
            layout->shared_bytes += block->size;
        }
    }
}

static double measure_shared(const struct support_picture* picture, struct picture_layout* layout)
{
    layout->grid = layout->shared_count > MAP_MAX_BLOCKS;
    if (layout->grid) {
        const size_t drawn =
            layout->shared_count < GRID_MAX_BLOCKS ? layout->shared_count : GRID_MAX_BLOCKS;
        const size_t rows = (drawn + GRID_COLUMNS - 1) / GRID_COLUMNS;
        return (double)rows * GRID_ROW_HEIGHT + 8.0;
    }
    layout->line_bytes = 1024;
    while (layout->line_bytes * MAP_LINES * MAP_FINEST < layout->shared_bytes) {
        layout->line_bytes *= 2;
    }
    uint64_t lines = count_lines(picture, layout->line_bytes);
    while (lines > MAP_LINES + layout->shared_count) {
        layout->line_bytes *= 2;
        lines = count_lines(picture, layout->line_bytes);
    }
    layout->line_height = lines <= 8 ? 30.0 : lines <= 20 ? 22.0 : 16.0;
    return (double)lines * (layout->line_height + 2.0) +
           (double)layout->shared_count * (LABEL_HEIGHT + 10.0);
}

static double measure_shelves(const struct support_picture* picture, struct picture_layout* layout)
{
    if (layout->dedicated_count == 0) {
        return 0.0;
    }
    /* Many dedicated blocks get several shelves, few blocks get one. */
    const uint64_t shelves = layout->dedicated_count < 8    ? 2
                             : layout->dedicated_count < 64 ? 6
                                                            : 12;
    layout->shelf_bytes = layout->dedicated_bytes / shelves;
    if (layout->shelf_bytes < layout->largest_dedicated) {
        layout->shelf_bytes = layout->largest_dedicated;
    }
    double x = 0.0;
    double y = 0.0;
    for (size_t i = 0; i < picture->block_count; ++i) {
        if (picture->blocks[i].dedicated) {
            const double width = next_cell(layout, picture->blocks[i].size, &x, &y);
            x += width + 2.0;
        }
    }
    return LABEL_HEIGHT + y + SHELF_HEIGHT + 12.0;
}

/* Draws black or white text inside a shape if the text fits. */
static void draw_inside(struct support_svg* svg, double x, double y, double width, double height,
                        const char* fill, const char* text)
{
    const double size = height >= 18.0 ? 11.0 : 9.5;
    if (text[0] == '\0' || support_svg_text_width(text, size, false) + 8.0 > width) {
        return;
    }
    const struct support_svg_text style = {.x = x + width / 2,
                                           .y = y + height / 2 + size * 0.36,
                                           .size = size,
                                           .fill = fill,
                                           .anchor = "middle"};
    support_svg_text(svg, &style, text);
}

/*
 * Draws the legend, with the bytes of each colour, in as many rows as necessary. Draws nothing if
 * `svg` is NULL. Returns the height of the rows after the first.
 */
static double draw_legend(struct support_svg* svg, const struct picture_layout* layout)
{
    double x = MARGIN;
    double y = 90.0;
    for (size_t i = 0; i < SUPPORT_PICTURE_KIND_COUNT; ++i) {
        const enum support_picture_kind kind = legend_order[i];
        const uint64_t bytes = layout->totals[kind];
        if (bytes == 0 && kind != SUPPORT_PICTURE_PADDING && kind != SUPPORT_PICTURE_FREE) {
            continue;
        }
        char size[32];
        char text[96];
        snprintf(text, sizeof(text), "%s %s (%.1f %%)", styles[kind].name,
                 format_bytes(bytes, size, sizeof(size)), percent(bytes, layout->reserved));
        const double width = 16.0 + support_svg_text_width(text, 11.5, false);
        if (x + width > MARGIN + INNER_WIDTH) {
            x = MARGIN;
            y += LEGEND_HEIGHT;
        }
        if (svg != NULL) {
            support_svg_rectangle(svg, x, y, 11.0, 11.0, styles[kind].fill[0], NULL);
            support_svg_frame(svg, x, y, 11.0, 11.0, COLOUR_FRAME, 0.6);
            const struct support_svg_text style = {
                .x = x + 16.0, .y = y + 9.5, .size = 11.5, .fill = COLOUR_TEXT};
            support_svg_text(svg, &style, text);
        }
        x += width + 14.0;
    }
    return y - 90.0;
}

/* Draws the title, the subtitle, a bar of all bytes by kind, and the legend with the same
 * figures. */
static void draw_head(struct support_svg* svg, const struct support_picture* picture,
                      const struct picture_layout* layout)
{
    struct support_svg_text style = {.x = MARGIN,
                                     .y = 36.0,
                                     .size = 22.0,
                                     .fill = COLOUR_TEXT,
                                     .bold = true,
                                     .max_width = INNER_WIDTH};
    support_svg_text(svg, &style, picture->title);
    style = (struct support_svg_text){
        .x = MARGIN, .y = 57.0, .size = 13.0, .fill = COLOUR_DIM, .max_width = INNER_WIDTH};
    support_svg_text(svg, &style, picture->subtitle);
    double x = MARGIN;
    for (size_t i = 0; i < SUPPORT_PICTURE_KIND_COUNT; ++i) {
        const enum support_picture_kind kind = legend_order[i];
        const double width = layout->reserved == 0 ? 0.0
                                                   : INNER_WIDTH * (double)layout->totals[kind] /
                                                         (double)layout->reserved;
        if (width > 0.0) {
            support_svg_rectangle(svg, x, 68.0, width, 12.0, styles[kind].fill[0], NULL);
        }
        x += width;
    }
    support_svg_frame(svg, MARGIN, 68.0, INNER_WIDTH, 12.0, COLOUR_FRAME, 0.8);
    draw_legend(svg, layout);
}

/* Draws a bar or line that shows bytes [start, start + bytes) of a block. */
struct bar {
    const struct support_picture_block* block;
    uint64_t start, bytes;
    double x, y, width, height;
    bool labels;
};

/* Narrower ranges are drawn together, in the colour of most of their bytes. */
#define NARROW 1.2

static void draw_run(struct support_svg* svg, const struct bar* bar, const uint64_t* kinds,
                     double from, double to)
{
    size_t most = SUPPORT_PICTURE_FREE;
    for (size_t i = 0; i < SUPPORT_PICTURE_KIND_COUNT; ++i) {
        most = kinds[i] > kinds[most] ? i : most;
    }
    if (most != SUPPORT_PICTURE_FREE) {
        support_svg_rectangle(svg, bar->x + from, bar->y, to - from, bar->height,
                              styles[most].fill[0], NULL);
    }
}

static void draw_range(struct support_svg* svg, const struct bar* bar,
                       const struct support_picture_range* range, double from, double to,
                       size_t tint)
{
    if (range->kind == SUPPORT_PICTURE_FREE) {
        return; /* the background shows it */
    }
    char size[32];
    char title[128];
    snprintf(title, sizeof(title), "%s%s%s at %" PRIu64, range->label,
             range->label[0] == '\0' ? styles[range->kind].name : ", ",
             range->label[0] == '\0' ? "" : format_bytes(range->size, size, sizeof(size)),
             range->offset);
    const double gap = to - from > 4.0 ? 0.5 : 0.0;
    support_svg_rectangle(svg, bar->x + from, bar->y, to - from - gap, bar->height,
                          styles[range->kind].fill[tint], title);
    if (bar->labels) {
        draw_inside(svg, bar->x + from, bar->y, to - from, bar->height, styles[range->kind].text,
                    range->label);
    }
}

static void draw_bar(struct support_svg* svg, const struct bar* bar, size_t* first_range)
{
    const double scale = bar->width / (double)bar->bytes;
    const uint64_t end = bar->start + bar->bytes;
    support_svg_rectangle(svg, bar->x, bar->y, bar->width, bar->height,
                          styles[SUPPORT_PICTURE_FREE].fill[0], NULL);
    uint64_t run[SUPPORT_PICTURE_KIND_COUNT] = {0};
    double run_start = 0.0;
    double run_end = 0.0;
    size_t i = *first_range;
    for (; i < bar->block->range_count && bar->block->ranges[i].offset < end; ++i) {
        const struct support_picture_range* const range = &bar->block->ranges[i];
        const uint64_t range_end = range->offset + range->size;
        if (range_end <= bar->start) {
            continue;
        }
        const uint64_t from = range->offset > bar->start ? range->offset : bar->start;
        const uint64_t to = range_end < end ? range_end : end;
        const double x = (double)(from - bar->start) * scale;
        const double x_end = (double)(to - bar->start) * scale;
        const bool narrow = x_end - x < NARROW;
        if (run_end > run_start && (!narrow || run_end - run_start >= NARROW)) {
            draw_run(svg, bar, run, run_start, run_end);
            memset(run, 0, sizeof(run));
            run_start = run_end;
        }
        if (narrow) {
            run_start = run_end > run_start ? run_start : x;
            run_end = x_end;
            run[range->kind] += to - from;
        } else {
            run_start = x_end;
            run_end = x_end;
            draw_range(svg, bar, range, x, x_end, i & 1u);
        }
        if (range_end >= end) {
            break;
        }
    }
    if (run_end > run_start) {
        draw_run(svg, bar, run, run_start, run_end);
    }
    *first_range = i;
    support_svg_frame(svg, bar->x, bar->y, bar->width, bar->height, COLOUR_FRAME, 0.7);
}

/* Writes the exact offset of a line. */
static void draw_offset(struct support_svg* svg, uint64_t bytes, double y, double height)
{
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1024;
        ++unit;
    }
    char text[40];
    snprintf(text, sizeof(text), "%" PRIu64 " %s", bytes, units[unit]);
    const struct support_svg_text offset = {.x = MARGIN + GUTTER - 6.0,
                                            .y = y + height / 2 + 3.5,
                                            .size = 9.5,
                                            .fill = COLOUR_DIM,
                                            .anchor = "end",
                                            .max_width = GUTTER - 6.0};
    support_svg_text(svg, &offset, text);
}

/* Draws folded empty lines as one full line without a frame, with their number of bytes. */
static void draw_fold(struct support_svg* svg, uint64_t bytes, double y, double height)
{
    const double width = INNER_WIDTH - GUTTER;
    char size[32];
    char text[64];
    snprintf(text, sizeof(text), "%s free", format_bytes(bytes, size, sizeof(size)));
    support_svg_rectangle(svg, MARGIN + GUTTER, y, width, height,
                          styles[SUPPORT_PICTURE_FREE].fill[0], NULL);
    draw_inside(svg, MARGIN + GUTTER, y, width, height, styles[SUPPORT_PICTURE_FREE].text, text);
}

/* Draws a line above a section's heading. Returns the place of the heading. */
static double draw_heading(struct support_svg* svg, double y, const char* text)
{
    const struct support_svg_text style = {.x = MARGIN,
                                           .y = y + 12.0,
                                           .size = 12.0,
                                           .fill = COLOUR_TEXT,
                                           .bold = true,
                                           .max_width = INNER_WIDTH};
    support_svg_text(svg, &style, text);
    return y + LABEL_HEIGHT;
}

static double draw_map(struct support_svg* svg, const struct picture_layout* layout,
                       const struct support_picture_block* block, double y)
{
    char size[32];
    char text[200];
    snprintf(text, sizeof(text), "Block %" PRIu64 ": %s, %s, %.1f %% used", block->id, block->label,
             format_bytes(block->size, size, sizeof(size)), percent(block->live, block->size));
    y = draw_heading(svg, y, text);
    size_t range = 0;
    size_t first = 0;
    for (uint64_t start = 0; start < block->size;) {
        const uint64_t bytes = next_line(block, layout->line_bytes, start, &first);
        const double full = INNER_WIDTH - GUTTER;
        const struct bar bar = {
            .block = block,
            .start = start,
            .bytes = bytes,
            .x = MARGIN + GUTTER,
            .y = y,
            .width = full * (double)bytes / (double)layout->line_bytes,
            .height = layout->line_height,
            .labels = true,
        };
        draw_offset(svg, start, y, layout->line_height);
        if (bytes > layout->line_bytes) {
            draw_fold(svg, bytes, y, layout->line_height);
        } else {
            draw_bar(svg, &bar, &range);
        }
        start += bytes;
        y += layout->line_height + 2.0;
    }
    return y + 10.0;
}

static double draw_maps(struct support_svg* svg, const struct support_picture* picture,
                        const struct picture_layout* layout, double y)
{
    for (size_t i = 0; i < picture->block_count; ++i) {
        if (!picture->blocks[i].dedicated) {
            y = draw_map(svg, layout, &picture->blocks[i], y);
        }
    }
    return y;
}

static double draw_grid(struct support_svg* svg, const struct support_picture* picture,
                        const struct picture_layout* layout, double y)
{
    const double pitch = INNER_WIDTH / GRID_COLUMNS;
    const double full = pitch - 12.0;
    size_t number = 0;
    for (size_t i = 0; i < picture->block_count && number < GRID_MAX_BLOCKS; ++i) {
        const struct support_picture_block* const block = &picture->blocks[i];
        if (block->dedicated) {
            continue;
        }
        const double x = MARGIN + pitch * (double)(number % GRID_COLUMNS);
        const size_t row = number / GRID_COLUMNS;
        const double top = y + GRID_ROW_HEIGHT * (double)row;
        char size[32];
        char text[200];
        const char* const space = strchr(block->label, ' ');
        const char* const second = space == NULL ? NULL : strchr(space + 1, ' ');
        const int type_length =
            (int)(second == NULL ? (long)strlen(block->label) : (long)(second - block->label));
        snprintf(text, sizeof(text), "%" PRIu64 ": %s, %.0f %% used, %.*s", block->id,
                 format_bytes(block->size, size, sizeof(size)), percent(block->live, block->size),
                 type_length, block->label);
        const struct support_svg_text style = {
            .x = x, .y = top + 9.0, .size = 9.5, .fill = COLOUR_DIM, .max_width = full};
        support_svg_text(svg, &style, text);
        double width = full * (double)block->size / (double)layout->largest_shared;
        width = width < 4.0 ? 4.0 : width;
        const struct bar bar = {.block = block,
                                .bytes = block->size,
                                .x = x,
                                .y = top + 12.0,
                                .width = width,
                                .height = 13.0};
        size_t range = 0;
        draw_bar(svg, &bar, &range);
        ++number;
    }
    const size_t rows = (number + GRID_COLUMNS - 1) / GRID_COLUMNS;
    return y + GRID_ROW_HEIGHT * (double)rows + 8.0;
}

static double draw_shelves(struct support_svg* svg, const struct support_picture* picture,
                           const struct picture_layout* layout, double y)
{
    if (layout->dedicated_count == 0) {
        return y;
    }
    char size[32];
    char text[200];
    snprintf(text, sizeof(text), "%zu dedicated block%s, %s, %.1f %% used", layout->dedicated_count,
             layout->dedicated_count == 1 ? "" : "s",
             format_bytes(layout->dedicated_bytes, size, sizeof(size)),
             percent(layout->dedicated_live, layout->dedicated_bytes));
    y = draw_heading(svg, y, text);
    double x = 0.0;
    double shelf = 0.0;
    for (size_t i = 0; i < picture->block_count; ++i) {
        const struct support_picture_block* const block = &picture->blocks[i];
        if (!block->dedicated) {
            continue;
        }
        const double width = next_cell(layout, block->size, &x, &shelf);
        const struct bar bar = {.block = block,
                                .bytes = block->size,
                                .x = MARGIN + x,
                                .y = y + shelf,
                                .width = width,
                                .height = SHELF_HEIGHT,
                                .labels = true};
        size_t range = 0;
        draw_bar(svg, &bar, &range);
        x += width + 2.0;
    }
    return y + shelf + SHELF_HEIGHT + 12.0;
}

/* Writes the number of blocks that are not drawn. */
static void draw_rest(struct support_svg* svg, const struct support_picture* picture,
                      const struct picture_layout* layout, double y)
{
    if (!layout->grid || layout->shared_count <= GRID_MAX_BLOCKS) {
        return;
    }
    uint64_t bytes = 0;
    uint64_t live = 0;
    size_t number = 0;
    for (size_t i = 0; i < picture->block_count; ++i) {
        const struct support_picture_block* const block = &picture->blocks[i];
        if (!block->dedicated && number++ >= GRID_MAX_BLOCKS) {
            bytes += block->size;
            live += block->live;
        }
    }
    char size[32];
    char text[160];
    snprintf(text, sizeof(text), "%zu more blocks, not drawn: %s, %.1f %% used",
             layout->shared_count - GRID_MAX_BLOCKS, format_bytes(bytes, size, sizeof(size)),
             percent(live, bytes));
    const struct support_svg_text style = {
        .x = MARGIN, .y = y + 12.0, .size = 12.0, .fill = COLOUR_TEXT, .max_width = INNER_WIDTH};
    support_svg_text(svg, &style, text);
}

bool support_picture_write(const struct support_picture* picture, const char* path,
                           struct support_error* error)
{
    struct picture_layout layout = {.shelf_bytes = 1, .line_bytes = 1024};
    measure_blocks(picture, &layout);
    const double head = HEAD_HEIGHT + draw_legend(NULL, &layout);
    layout.height = head + measure_shared(picture, &layout);
    layout.height += measure_shelves(picture, &layout);
    layout.height += layout.shared_count > GRID_MAX_BLOCKS ? LABEL_HEIGHT : 0.0;
    struct support_svg svg;
    support_svg_begin(&svg, PICTURE_WIDTH, layout.height + MARGIN / 2, COLOUR_PAPER);
    draw_head(&svg, picture, &layout);
    double y = head;
    y = layout.grid ? draw_grid(&svg, picture, &layout, y) : draw_maps(&svg, picture, &layout, y);
    y = draw_shelves(&svg, picture, &layout, y);
    draw_rest(&svg, picture, &layout, y);
    return support_svg_finish(&svg, path, error);
}

void support_picture_release(struct support_picture* picture)
{
    for (size_t i = 0; i < picture->block_count; ++i) {
        free(picture->blocks[i].ranges);
    }
    free(picture->blocks);
    *picture = (struct support_picture){.blocks = NULL};
}
