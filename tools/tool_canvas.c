/*
 * Pages of text cells; see tool_canvas.h.
 */
#include "tool_canvas.h"

#include "support/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

void tool_canvas_begin(struct tool_canvas* canvas, size_t width)
{
    canvas->width = width;
    canvas->height = 0;
    canvas->failed = false;
}

void tool_canvas_release(struct tool_canvas* canvas)
{
    free(canvas->cells);
    memset(canvas, 0, sizeof *canvas);
}

/* Makes a row exist. */
static bool reach_row(struct tool_canvas* canvas, size_t row)
{
    const size_t wanted = (row + 1) * canvas->width;
    if (wanted > canvas->capacity) {
        struct tool_cell* const grown = realloc(canvas->cells, wanted * 2 * sizeof *grown);
        if (grown == NULL) {
            canvas->failed = true;
            return false;
        }
        canvas->cells = grown;
        canvas->capacity = wanted * 2;
    }
    if (row >= canvas->height) {
        memset(canvas->cells + canvas->height * canvas->width, 0,
               (row + 1 - canvas->height) * canvas->width * sizeof *canvas->cells);
        canvas->height = row + 1;
    }
    return true;
}

static uint32_t decode(const char* text, size_t length)
{
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (unsigned char)text[0] & masks[length];
    for (size_t i = 1; i < length; ++i) {
        code = code << 6 | ((unsigned char)text[i] & 0x3Fu);
    }
    return code;
}

/* Reads a character. Sets *cells to the cells that it takes: 0 for one that is not drawn. */
static uint32_t next_character(const struct tool_canvas* canvas, const char** text, size_t* cells)
{
    const size_t length = support_utf8_length(*text);
    uint32_t code = length > 0 ? decode(*text, length) : (uint32_t)'?';
    *text += length > 0 ? length : 1;
    const int width = wcwidth((wchar_t)code);
    *cells = width > 0 ? (size_t)width : 0;
    const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    if (is_control || (code >= 0x80 && !canvas->is_utf8) || (width < 0 && code >= 0x20)) {
        code = '?';
        *cells = 1;
    }
    return code;
}

size_t tool_canvas_put(struct tool_canvas* canvas, size_t row, size_t column, size_t room,
                       enum tool_style style, const char* text)
{
    if (!reach_row(canvas, row)) {
        return column;
    }
    size_t end = column + room;
    end = end < canvas->width ? end : canvas->width;
    while (*text != '\0' && column < end) {
        size_t cells = 0;
        const uint32_t code = next_character(canvas, &text, &cells);
        if (cells == 0) {
            continue;
        }
        if (column + cells > end) {
            break;
        }
        struct tool_cell* const cell = &canvas->cells[row * canvas->width + column];
        cell[0] = (struct tool_cell){.code = code, .style = (uint8_t)style};
        if (cells == 2) {
            cell[1] = (struct tool_cell){.style = (uint8_t)style, .is_second = true};
        }
        column += cells;
    }
    if (*text != '\0' && column > 0 && room > 4 && column + 1 >= end) {
        /* The text is longer. */
        canvas->cells[row * canvas->width + end - 1] =
            (struct tool_cell){.code = canvas->is_utf8 ? 0x2026 : '~', .style = (uint8_t)style};
    }
    return column;
}

void tool_canvas_put_right(struct tool_canvas* canvas, size_t row, size_t end, size_t room,
                           enum tool_style style, const char* text)
{
    size_t width = 0;
    for (const char* at = text; *at != '\0';) {
        size_t cells = 0;
        (void)next_character(canvas, &at, &cells);
        width += cells;
    }
    width = width < room ? width : room;
    width = width < end ? width : end;
    (void)tool_canvas_put(canvas, row, end - width, width, style, text);
}

/* The part of a bar's cells that bytes take, rounded up, so that one byte is seen. */
static size_t part_of(uint64_t bytes, uint64_t limit, size_t room)
{
    if (limit == 0 || bytes == 0) {
        return 0;
    }
    const double part = (double)bytes / (double)limit * (double)room;
    const size_t cells = part >= (double)room ? room : (size_t)part;
    return cells == 0 ? 1 : cells;
}

void tool_canvas_put_bar(struct tool_canvas* canvas, size_t row, size_t column, size_t room,
                         uint64_t bound, uint64_t held, uint64_t limit)
{
    static const char* const drawn[2][3] = {{"#", "=", "."},
                                            {"\xE2\x96\x88", "\xE2\x96\x92", "\xC2\xB7"}};
    const char* const* const parts = drawn[canvas->is_utf8 ? 1 : 0];
    const size_t all = part_of(held, limit, room);
    size_t solid = part_of(bound < held ? bound : held, limit, room);
    /* What is held and not bound is seen too. */
    solid = solid == all && bound < held && solid > 1 && held - bound > limit / room / 2 ? solid - 1
                                                                                         : solid;
    const enum tool_style held_style = held > limit ? TOOL_STYLE_BAD : TOOL_STYLE_HELD;
    const enum tool_style bound_style = held > limit ? TOOL_STYLE_BAD : TOOL_STYLE_BOUND;
    for (size_t i = 0; i < room; ++i) {
        const size_t part = i < solid ? 0 : i < all ? 1 : 2;
        (void)tool_canvas_put(canvas, row, column + i, 1,
                              part == 0   ? bound_style
                              : part == 1 ? held_style
                                          : TOOL_STYLE_DIM,
                              parts[part]);
    }
}

void tool_canvas_mark(struct tool_canvas* canvas, size_t row, enum tool_style style)
{
    if (reach_row(canvas, row)) {
        for (size_t i = 0; i < canvas->width; ++i) {
            canvas->cells[row * canvas->width + i].style = (uint8_t)style;
        }
    }
}

void tool_canvas_text(const struct tool_cell* cell, char text[5])
{
    const uint32_t code = cell->code != 0 ? cell->code : ' ';
    size_t size = 0;
    if (cell->is_second) {
        text[0] = '\0';
        return;
    }
    if (code < 0x80) {
        text[size++] = (char)code;
    } else if (code < 0x800) {
        text[size++] = (char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        text[size++] = (char)(0xE0 | code >> 12);
        text[size++] = (char)(0x80 | (code >> 6 & 0x3F));
    } else {
        text[size++] = (char)(0xF0 | code >> 18);
        text[size++] = (char)(0x80 | (code >> 12 & 0x3F));
        text[size++] = (char)(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80) {
        text[size++] = (char)(0x80 | (code & 0x3F));
    }
    text[size] = '\0';
}

void tool_canvas_print(const struct tool_canvas* canvas, FILE* file)
{
    for (size_t row = 0; row < canvas->height; ++row) {
        const struct tool_cell* const cells = canvas->cells + row * canvas->width;
        size_t end = canvas->width;
        while (end > 0 && (cells[end - 1].code == 0 || cells[end - 1].code == ' ')) {
            --end;
        }
        for (size_t i = 0; i < end; ++i) {
            char text[5];
            tool_canvas_text(&cells[i], text);
            fputs(text, file);
        }
        fputc('\n', file);
    }
}
