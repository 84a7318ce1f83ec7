/*
 * Draws blocks of memory as SVG; see picture.h.
 *
 * A picture uses three layouts. A small number of shared blocks are drawn as maps: lines of equal
 * numbers of bytes, one below the other, like lines of text. Consecutive empty lines are folded
 * into one. A large number of shared blocks are drawn as one bar each in a grid. Dedicated blocks,
 * which hold one allocation each, lie side by side on shelves.
 */
#include "support/picture_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_HEIGHT 18.0
#define SCALE_HEIGHT 15.0

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

/* Counts the lines of all maps, and finds out whether one of them is folded. */
static uint64_t count_lines(const struct support_picture* picture, uint64_t line_bytes,
                            bool* folded)
{
    uint64_t lines = 0;
    *folded = false;
    for (size_t i = 0; i < picture->block_count; ++i) {
        const struct support_picture_block* const block = &picture->blocks[i];
        size_t range = 0;
        for (uint64_t start = 0; start < block->size && !block->dedicated; ++lines) {
            const uint64_t bytes = next_line(block, line_bytes, start, &range);
            *folded = *folded || bytes > line_bytes;
            start += bytes;
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
        return SCALE_HEIGHT + (double)rows * GRID_ROW_HEIGHT + 8.0;
    }
    layout->line_bytes = 1024;
    while (layout->line_bytes * MAP_LINES * MAP_FINEST < layout->shared_bytes) {
        layout->line_bytes *= 2;
    }
    uint64_t lines = count_lines(picture, layout->line_bytes, &layout->folded);
    while (lines > MAP_LINES + layout->shared_count) {
        layout->line_bytes *= 2;
        lines = count_lines(picture, layout->line_bytes, &layout->folded);
    }
    layout->line_height = lines <= 8 ? 30.0 : lines <= 20 ? 22.0 : 16.0;
    const double scale = layout->shared_count != 0 ? SCALE_HEIGHT : 0.0;
    return scale + (double)lines * (layout->line_height + 2.0) +
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
    return LABEL_HEIGHT + SCALE_HEIGHT + y + SHELF_HEIGHT + 12.0;
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
                              picture_styles[most].fill[0], NULL);
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
    snprintf(title, sizeof(title), "%s, %s at byte %" PRIu64,
             range->label[0] == '\0' ? picture_styles[range->kind].name : range->label,
             picture_format_bytes(range->size, size, sizeof(size)), range->offset);
    const double gap = to - from > 4.0 ? 0.5 : 0.0;
    support_svg_rectangle(svg, bar->x + from, bar->y, to - from - gap, bar->height,
                          picture_styles[range->kind].fill[tint], title);
    if (bar->labels) {
        draw_inside(svg, bar->x + from, bar->y, to - from, bar->height,
                    picture_styles[range->kind].text, range->label);
    }
}

static void draw_bar(struct support_svg* svg, const struct bar* bar, size_t* first_range)
{
    const double scale = bar->width / (double)bar->bytes;
    const uint64_t end = bar->start + bar->bytes;
    support_svg_rectangle(svg, bar->x, bar->y, bar->width, bar->height,
                          picture_styles[SUPPORT_PICTURE_FREE].fill[0], NULL);
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

/* Draws folded empty lines as one line in a dashed frame, with their number and bytes. */
static void draw_fold(struct support_svg* svg, uint64_t bytes, uint64_t line_bytes, double y,
                      double height)
{
    const double width = INNER_WIDTH - GUTTER;
    char size[32];
    char text[96];
    snprintf(text, sizeof(text), "%s free: %" PRIu64 " empty lines",
             picture_format_bytes(bytes, size, sizeof(size)),
             (bytes + line_bytes - 1) / line_bytes);
    support_svg_raw(svg,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" "
                    "stroke=\"%s\" stroke-width=\"0.70\" stroke-dasharray=\"4 4\"/>\n",
                    MARGIN + GUTTER, y, width, height, COLOUR_FRAME);
    draw_inside(svg, MARGIN + GUTTER, y, width, height, COLOUR_DIM, text);
}

/* Draws a scale of bytes with at most `most` steps above bars. Returns the place of the bars. */
static double draw_scale(struct support_svg* svg, double x, double y, double width, uint64_t bytes,
                         uint64_t most)
{
    uint64_t step = 1;
    while (bytes / step > most) {
        step *= 2;
    }
    for (uint64_t at = 0; at <= bytes; at += step) {
        char text[32];
        const double place = x + width * (double)at / (double)(bytes != 0 ? bytes : 1);
        const bool first = at == 0;
        const bool last = place > x + width - 24.0;
        support_svg_raw(svg, "<path d=\"M%.2f %.2fv4\" stroke=\"%s\" stroke-width=\"0.70\"/>\n",
                        place, y + SCALE_HEIGHT - 6.0, COLOUR_FRAME);
        const struct support_svg_text style = {.x = place,
                                               .y = y + SCALE_HEIGHT - 7.5,
                                               .size = 9.0,
                                               .fill = COLOUR_DIM,
                                               .anchor = first  ? "start"
                                                         : last ? "end"
                                                                : "middle"};
        support_svg_text(svg, &style, picture_format_bytes(at, text, sizeof(text)));
    }
    return y + SCALE_HEIGHT;
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
                       const struct support_picture_block* block, bool scale, double y)
{
    char size[32];
    char text[200];
    snprintf(text, sizeof(text), "Block %" PRIu64 ": %s, %s, %.1f %% used", block->id, block->label,
             picture_format_bytes(block->size, size, sizeof(size)),
             picture_percent(block->live, block->size));
    y = draw_heading(svg, y, text);
    if (scale) {
        y = draw_scale(svg, MARGIN + GUTTER, y, INNER_WIDTH - GUTTER, layout->line_bytes, 4);
    }
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
            draw_fold(svg, bytes, layout->line_bytes, y, layout->line_height);
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
    bool first = true;
    for (size_t i = 0; i < picture->block_count; ++i) {
        if (!picture->blocks[i].dedicated) {
            y = draw_map(svg, layout, &picture->blocks[i], first, y);
            first = false;
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
    for (uint32_t column = 0; column < GRID_COLUMNS; ++column) {
        draw_scale(svg, MARGIN + pitch * column, y, full, layout->largest_shared, 3);
    }
    y += SCALE_HEIGHT;
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
                 picture_format_bytes(block->size, size, sizeof(size)),
                 picture_percent(block->live, block->size), type_length, block->label);
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
             picture_format_bytes(layout->dedicated_bytes, size, sizeof(size)),
             picture_percent(layout->dedicated_live, layout->dedicated_bytes));
    y = draw_heading(svg, y, text);
    y = draw_scale(svg, MARGIN, y, INNER_WIDTH, layout->shelf_bytes, 6);
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
             layout->shared_count - GRID_MAX_BLOCKS,
             picture_format_bytes(bytes, size, sizeof(size)), picture_percent(live, bytes));
    const struct support_svg_text style = {
        .x = MARGIN, .y = y + 12.0, .size = 12.0, .fill = COLOUR_TEXT, .max_width = INNER_WIDTH};
    support_svg_text(svg, &style, text);
}

bool support_picture_write(const struct support_picture* picture, const char* path,
                           struct support_error* error)
{
    struct picture_layout layout = {.shelf_bytes = 1, .line_bytes = 1024};
    measure_blocks(picture, &layout);
    layout.height = measure_shared(picture, &layout);
    layout.height += measure_shelves(picture, &layout);
    const double head = picture_draw_head(NULL, picture, &layout);
    layout.height += head;
    layout.height += layout.shared_count > GRID_MAX_BLOCKS ? LABEL_HEIGHT : 0.0;
    struct support_svg svg;
    support_svg_begin(&svg, PICTURE_WIDTH, layout.height + MARGIN / 2, COLOUR_PAPER);
    svg.theme = picture->theme;
    picture_darken(&svg);
    picture_draw_head(&svg, picture, &layout);
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
