/*
 * maar top: what captured programs hold, live in the terminal, once, or as JSON.
 */
#include "tool_top.h"
#include "tool_commands.h"
#include "tool_text.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char top_help[] =
    "Usage: maar top [CAPTURE...] [--folder DIR] [--all] [--interval S] [--once] [--json]\n"
    "\n"
    "Shows what captured programs hold of each heap, live in the terminal: held, bound, used, the\n"
    "budget, frames and allocations a second, and the largest resources. Below stand other\n"
    "processes with device memory, as the kernel counts it (DRM fdinfo).\n"
    "\n"
    "Without a capture or a folder, maar top follows what any process writes just now.\n"
    "\n"
    "  --folder DIR  follow the captures in a folder, also those that appear later\n"
    "  --all         follow what any process writes, besides what is named\n"
    "  --interval S  look again every S seconds, 0.1 to 3600; 1 by default\n"
    "  --once        print one page with the details of all captures, and end\n"
    "  --json        print JSON objects of the schema maar-top/1, one a line: every S seconds\n"
    "                while a program runs, or one with --once\n"
    "  --proc DIR    where processes are found; /proc by default\n"
    "\n"
    "Keys: q leaves, up and down choose a program, left and right sort, ? explains.\n"
    "docs/watching.md explains the figures.\n";

enum top_option {
    OPTION_HELP = 256,
    OPTION_FOLDER,
    OPTION_ALL,
    OPTION_INTERVAL,
    OPTION_ONCE,
    OPTION_JSON,
    OPTION_PROC,
};

static const struct option top_options[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"folder", required_argument, NULL, OPTION_FOLDER},
    {"all", no_argument, NULL, OPTION_ALL},
    {"interval", required_argument, NULL, OPTION_INTERVAL},
    {"once", no_argument, NULL, OPTION_ONCE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"proc", required_argument, NULL, OPTION_PROC},
    {NULL, 0, NULL, 0},
};

struct top_settings {
    struct tool_follow_choice choice;
    uint64_t interval_ns;
    bool once, json, help;
};

static bool read_option(int result, char** argv, struct top_settings* settings)
{
    switch (result) {
    case OPTION_HELP:
        settings->help = true;
        return true;
    case OPTION_FOLDER:
        return tool_follow_choose_folder(&settings->choice, optarg);
    case OPTION_ALL:
        settings->choice.is_all = true;
        return true;
    case OPTION_INTERVAL:
        return tool_follow_read_interval(optarg, &settings->interval_ns);
    case OPTION_ONCE:
        settings->once = true;
        return true;
    case OPTION_JSON:
        settings->json = true;
        return true;
    case OPTION_PROC:
        settings->choice.proc = optarg;
        return tool_follow_check_folder("--proc", optarg);
    default:
        tool_complain_option("top", result, argv, top_options);
        return false;
    }
}

static bool read_options(int argc, char** argv, struct top_settings* settings)
{
    int result;
    opterr = 0;
    optind = 1;
    while ((result = getopt_long(argc, argv, ":", top_options, NULL)) != -1) {
        if (!read_option(result, argv, settings)) {
            return false;
        }
        if (settings->help) {
            return true;
        }
    }
    settings->choice.paths = argv + optind;
    settings->choice.path_count = argc - optind;
    if (settings->once || settings->json) {
        return true;
    }
    if (!tool_top_has_terminal()) {
        tool_complain("top: this build has no ncurses; --once or --json print without it");
        return false;
    }
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
        tool_complain("top: this is no terminal; --once or --json print without one");
        return false;
    }
    return true;
}

/* ---- the list ---- */

static double sort_value(const struct tool_follow* follow, enum tool_top_sort sort)
{
    switch (sort) {
    case TOOL_TOP_BY_BOUND:
        return (double)tool_follow_bound(follow);
    case TOOL_TOP_BY_FRAMES:
        return tool_follow_rates(follow).frames;
    case TOOL_TOP_BY_ALLOCATIONS:
        return tool_follow_rates(follow).allocations;
    case TOOL_TOP_BY_RESOURCES:
        return (double)tool_follow_resources(follow);
    default:
        return (double)tool_follow_held(follow);
    }
}

/* Whether one capture is listed before another; equal ones keep their order. */
static bool is_before(const struct tool_follow* a, const struct tool_follow* b,
                      enum tool_top_sort sort)
{
    if (sort == TOOL_TOP_BY_NAME) {
        return strcmp(tool_follow_name(a), tool_follow_name(b)) < 0;
    }
    return sort_value(a, sort) > sort_value(b, sort);
}

bool tool_top_update(struct tool_top* top)
{
    tool_follow_set_update(&top->set);
    if (top->set.count > top->order_capacity) {
        struct tool_follow** const grown =
            (struct tool_follow**)realloc((void*)top->order, top->set.capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        top->order = grown;
        top->order_capacity = top->set.capacity;
    }
    top->order_count = top->set.count;
    for (size_t i = 0; i < top->set.count; ++i) {
        size_t at = i;
        for (; at > 0 && is_before(top->set.items[i], top->order[at - 1], top->sort); --at) {
            top->order[at] = top->order[at - 1];
        }
        top->order[at] = top->set.items[i];
    }
    return tool_kernel_read(&top->kernel, top->set.proc);
}

size_t tool_top_chosen(const struct tool_top* top)
{
    for (size_t i = 0; i < top->order_count; ++i) {
        if (top->order[i] == top->chosen) {
            return i;
        }
    }
    return 0;
}

/* ---- output ---- */

static size_t find_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 80) {
        return size.ws_col;
    }
    return 100;
}

static int print_once(const struct tool_top* top)
{
    struct tool_canvas canvas = {.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    tool_canvas_begin(&canvas, find_width());
    tool_top_draw_all(top, &canvas);
    tool_canvas_print(&canvas, stdout);
    const bool failed = canvas.failed;
    tool_canvas_release(&canvas);
    if (failed) {
        tool_complain("out of memory");
    }
    return failed ? TOOL_EXIT_FAILED : TOOL_EXIT_OK;
}

static int print_json(struct tool_top* top, bool once)
{
    for (;;) {
        if (!tool_top_print_json(top)) {
            return TOOL_EXIT_FAILED;
        }
        if (once || (!tool_follow_set_runs(&top->set) && top->set.folder == NULL)) {
            return TOOL_EXIT_OK;
        }
        const struct timespec pause = {.tv_sec = (time_t)(top->interval_ns / 1000000000),
                                       .tv_nsec = (long)(top->interval_ns % 1000000000)};
        (void)nanosleep(&pause, NULL);
        if (!tool_top_update(top)) {
            tool_complain("out of memory");
            return TOOL_EXIT_FAILED;
        }
    }
}

static int run(struct tool_top* top, const struct top_settings* settings)
{
    int code = TOOL_EXIT_FAILED;
    if (!tool_top_update(top)) {
        tool_complain("out of memory");
        return code;
    }
    if (settings->json) {
        code = print_json(top, settings->once);
    } else if (settings->once) {
        code = print_once(top);
    } else {
        code = tool_top_show(top);
    }
    return tool_follow_set_complain(&top->set) ? TOOL_EXIT_USAGE : code;
}

int tool_command_top(int argc, char** argv)
{
    struct top_settings settings = {.interval_ns = 1000000000, .choice = {.proc = "/proc"}};
    if (!read_options(argc, argv, &settings)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.help) {
        fputs(top_help, stdout);
        return TOOL_EXIT_OK;
    }
    (void)setlocale(LC_CTYPE, "");
    struct tool_top top = {.interval_ns = settings.interval_ns};
    int code = TOOL_EXIT_USAGE;
    if (tool_follow_set_begin(&top.set, &settings.choice)) {
        code = run(&top, &settings);
    }
    tool_follow_set_release(&top.set);
    tool_kernel_release(&top.kernel);
    free((void*)top.order);
    return code;
}
