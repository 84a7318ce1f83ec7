/*
 * maar top in a terminal, by ncurses; see tool_top.h. A build without ncurses says so.
 */
#if defined(MAAR_TOOL_NCURSES)
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <ncurses.h>
#endif

#include "tool_text.h"
#include "tool_top.h"

#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#if !defined(MAAR_TOOL_NCURSES)

bool tool_top_has_terminal(void)
{
    return false;
}

int tool_top_show(struct tool_top* top)
{
    (void)top;
    return TOOL_EXIT_FAILED;
}

#else

enum { LEAST_WIDTH = 80 };

static volatile sig_atomic_t is_over;

static void end_by_signal(int number)
{
    (void)number;
    is_over = 1;
}

bool tool_top_has_terminal(void)
{
    return true;
}

/* Colours, where the terminal has them and the user wants them (NO_COLOR). */
static bool begin_colours(void)
{
    static const short colours[TOOL_STYLE_COUNT] = {
        [TOOL_STYLE_GOOD] = COLOR_GREEN, [TOOL_STYLE_WARNING] = COLOR_YELLOW,
        [TOOL_STYLE_BAD] = COLOR_RED,    [TOOL_STYLE_BOUND] = COLOR_CYAN,
        [TOOL_STYLE_HELD] = COLOR_BLUE,
    };
    const char* const refused = getenv("NO_COLOR");
    if ((refused != NULL && refused[0] != '\0') || !has_colors() || start_color() == ERR) {
        return false;
    }
    (void)use_default_colors();
    for (int style = 0; style < TOOL_STYLE_COUNT; ++style) {
        if (colours[style] != 0) {
            (void)init_pair((short)(style + 1), colours[style], -1);
        }
    }
    return true;
}

/* What a style looks like. Without colours, the characters of bars and the words are enough. */
static attr_t find_attributes(uint8_t style)
{
    switch (style) {
    case TOOL_STYLE_STRONG:
        return A_BOLD;
    case TOOL_STYLE_DIM:
    case TOOL_STYLE_HEAD:
        return A_DIM;
    case TOOL_STYLE_CHOSEN_HEAD:
        return A_UNDERLINE;
    case TOOL_STYLE_BAD:
        return A_BOLD;
    case TOOL_STYLE_CHOSEN:
        return A_REVERSE;
    default:
        return A_NORMAL;
    }
}

static void use_style(uint8_t style, bool has_colours)
{
    const bool is_coloured = has_colours && style >= TOOL_STYLE_GOOD && style <= TOOL_STYLE_HELD;
    (void)attr_set(find_attributes(style), is_coloured ? (short)(style + 1) : (short)0, NULL);
}

static void draw_cells(const struct tool_canvas* canvas, int width, int height, bool has_colours)
{
    (void)erase();
    for (size_t row = 0; row < canvas->height && row < (size_t)height; ++row) {
        (void)move((int)row, 0);
        for (size_t i = 0; i < canvas->width && i < (size_t)width; ++i) {
            const struct tool_cell* const cell = &canvas->cells[row * canvas->width + i];
            char text[5];
            tool_canvas_text(cell, text);
            use_style(cell->style, has_colours);
            if (text[0] != '\0') {
                (void)addstr(text);
            }
        }
    }
    (void)refresh();
}

static void draw(const struct tool_top* top, struct tool_canvas* canvas, bool has_colours)
{
    int width = 0;
    int height = 0;
    getmaxyx(stdscr, height, width);
    tool_canvas_begin(canvas, width > LEAST_WIDTH ? (size_t)width : LEAST_WIDTH);
    tool_top_draw(top, canvas, height > 0 ? (size_t)height : 0);
    draw_cells(canvas, width, height, has_colours);
}

static void sort_by(struct tool_top* top, int step)
{
    const int count = TOOL_TOP_SORT_COUNT;
    top->sort = (enum tool_top_sort)(((int)top->sort + count + step) % count);
}

static void choose(struct tool_top* top, bool is_next)
{
    const size_t chosen = tool_top_chosen(top);
    if (top->order_count > 0) {
        const size_t last = top->order_count - 1;
        const size_t next = is_next      ? (chosen < last ? chosen + 1 : last)
                            : chosen > 0 ? chosen - 1
                                         : 0;
        top->chosen = top->order[next];
    }
}

/* Returns whether the user stays. */
static bool take_key(struct tool_top* top, int key)
{
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case KEY_UP:
    case 'k':
        choose(top, false);
        break;
    case KEY_DOWN:
    case 'j':
        choose(top, true);
        break;
    case KEY_LEFT:
        sort_by(top, -1);
        break;
    case KEY_RIGHT:
    case 's':
        sort_by(top, 1);
        break;
    case 'h':
    case '?':
        top->shows_help = !top->shows_help;
        break;
    default:
        break;
    }
    return true;
}

static int watch(struct tool_top* top, struct tool_canvas* canvas, bool has_colours)
{
    uint64_t next = tool_now_ns() + top->interval_ns;
    while (is_over == 0) {
        draw(top, canvas, has_colours);
        if (canvas->failed) {
            return TOOL_EXIT_FAILED;
        }
        const uint64_t now = tool_now_ns();
        timeout(now < next ? (int)((next - now) / 1000000 + 1) : 0);
        const int key = getch();
        if (key != ERR) {
            const enum tool_top_sort sort = top->sort;
            if (!take_key(top, key)) {
                return TOOL_EXIT_OK;
            }
            if (sort == top->sort) {
                continue;
            }
        } else if (tool_now_ns() < next) {
            continue;
        }
        if (!tool_top_update(top)) {
            return TOOL_EXIT_FAILED;
        }
        next = tool_now_ns() + top->interval_ns;
    }
    return TOOL_EXIT_OK;
}

int tool_top_show(struct tool_top* top)
{
    struct sigaction action = {.sa_handler = end_by_signal};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    SCREEN* const screen = newterm(NULL, stdout, stdin);
    if (screen == NULL) {
        const char* const name = getenv("TERM");
        tool_complain("top: the terminal \"%s\" is not known; --once and --json print without it",
                      name != NULL ? name : "");
        return TOOL_EXIT_USAGE;
    }
    struct tool_canvas canvas = {.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    const bool has_colours = begin_colours();
    (void)cbreak();
    (void)noecho();
    (void)keypad(stdscr, true);
    (void)curs_set(0);
    const int code = watch(top, &canvas, has_colours);
    (void)endwin();
    delscreen(screen);
    tool_canvas_release(&canvas);
    if (code == TOOL_EXIT_FAILED) {
        tool_complain("out of memory");
    }
    return code;
}

#endif
