/*
 * A page of text cells with styles, which is printed as text or drawn in a terminal. Texts are
 * UTF-8; what a terminal could take for a command is left out. Cells outside are not drawn.
 * Single-threaded.
 */
#ifndef MAAR_TOOL_CANVAS_H
#define MAAR_TOOL_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tool_style {
    TOOL_STYLE_PLAIN,
    TOOL_STYLE_STRONG,
    TOOL_STYLE_DIM,
    TOOL_STYLE_HEAD, /* of a table */
    TOOL_STYLE_CHOSEN_HEAD,
    TOOL_STYLE_GOOD,
    TOOL_STYLE_WARNING,
    TOOL_STYLE_BAD,
    TOOL_STYLE_BOUND, /* parts of a bar */
    TOOL_STYLE_HELD,
    TOOL_STYLE_CHOSEN, /* a row */
    TOOL_STYLE_COUNT,
};

/* 0 is a blank cell, or the second half of a wide character. */
struct tool_cell {
    uint32_t code;
    uint8_t style;
    bool is_second;
};

struct tool_canvas {
    struct tool_cell* cells;
    size_t width, height, capacity;
    bool is_utf8; /* whether the terminal takes other characters than those of ASCII */
    bool failed;  /* no memory: the page is not whole */
};

/* Empties a page and gives it a width. Its height grows with what is drawn. */
void tool_canvas_begin(struct tool_canvas* canvas, size_t width);
void tool_canvas_release(struct tool_canvas* canvas);

/* Draws a text in at most `room` cells. Returns the column behind it. */
size_t tool_canvas_put(struct tool_canvas* canvas, size_t row, size_t column, size_t room,
                       enum tool_style style, const char* text);
/* Draws a text that ends before a column. */
void tool_canvas_put_right(struct tool_canvas* canvas, size_t row, size_t end, size_t room,
                           enum tool_style style, const char* text);
/* Draws a bar of `room` cells: a part for `bound`, one for the rest of `held`, and what remains of
 * `limit`. */
void tool_canvas_put_bar(struct tool_canvas* canvas, size_t row, size_t column, size_t room,
                         uint64_t bound, uint64_t held, uint64_t limit);
/* Gives a whole row a style. */
void tool_canvas_mark(struct tool_canvas* canvas, size_t row, enum tool_style style);

/* Writes the text of a cell, at most 5 bytes with the ending zero; nothing for a second half. */
void tool_canvas_text(const struct tool_cell* cell, char text[5]);
/* Prints the page without styles. */
void tool_canvas_print(const struct tool_canvas* canvas, FILE* file);

#endif
