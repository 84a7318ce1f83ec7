/*
 * What the files of maar top share. Single-threaded.
 */
#ifndef MAAR_TOOL_TOP_H
#define MAAR_TOOL_TOP_H

#include "tool_canvas.h"
#include "tool_follow.h"
#include "tool_kernel.h"

/* What the list of captures is sorted by. */
enum tool_top_sort {
    TOOL_TOP_BY_HELD,
    TOOL_TOP_BY_BOUND,
    TOOL_TOP_BY_FRAMES,
    TOOL_TOP_BY_ALLOCATIONS,
    TOOL_TOP_BY_RESOURCES,
    TOOL_TOP_BY_NAME,
    TOOL_TOP_SORT_COUNT,
};

struct tool_top {
    struct tool_follow_set set;
    struct tool_kernel kernel;
    struct tool_follow** order; /* the captures as they are listed */
    size_t order_count, order_capacity;
    const struct tool_follow* chosen; /* whose details are shown, or NULL: the first */
    enum tool_top_sort sort;
    uint64_t interval_ns;
    bool shows_help;
};

/* Reads everything again, and sorts. Returns false without memory. */
bool tool_top_update(struct tool_top* top);
/* The place of the chosen capture in the list. */
size_t tool_top_chosen(const struct tool_top* top);

/* Draws a page that fits a terminal. */
void tool_top_draw(const struct tool_top* top, struct tool_canvas* canvas, size_t height);
/* Draws a page with the details of all captures. */
void tool_top_draw_all(const struct tool_top* top, struct tool_canvas* canvas);
/* Prints one JSON object of the schema maar-top/1. Returns false on failure. */
bool tool_top_print_json(const struct tool_top* top);

/* Whether this build can draw in a terminal. */
bool tool_top_has_terminal(void);
/* Shows the page in the terminal until the user leaves. Returns the exit code. */
int tool_top_show(struct tool_top* top);

#endif
