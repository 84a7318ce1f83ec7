/*
 * maar export: captures for other programs: a trace of Perfetto, a file of metrics, or a web server
 * that Prometheus scrapes.
 */
#include "support/perfetto_file.h"
#include "support/readfile.h"
#include "tool_commands.h"
#include "tool_metrics.h"
#include "tool_text.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char export_help[] =
    "Usage: maar export CAPTURE... --perfetto FILE.pftrace\n"
    "       maar export [CAPTURE...] --prometheus FILE.prom [--interval S]\n"
    "       maar export [CAPTURE...] --serve [ADDRESS:]PORT\n"
    "\n"
    "Writes captures for other programs. Without a capture or a folder, the metrics are of what "
    "any\n"
    "process writes just now.\n"
    "\n"
    "  --perfetto FILE        a trace for ui.perfetto.dev: counters of each heap, the lives of\n"
    "                         device memory, frames and marks\n"
    "  --prometheus FILE      metrics for the textfile collector of Prometheus' node exporter; "
    "the\n"
    "                         file is written beside and renamed\n"
    "  --interval S           write the file again every S seconds, 0.1 to 3600, while a program\n"
    "                         runs\n"
    "  --serve [ADDRESS:]PORT serve the metrics at /metrics, on 127.0.0.1 by default, until a\n"
    "                         signal ends it; port 0 takes a free one and prints it\n"
    "  --folder DIR           also the captures in a folder, and those that appear there later\n"
    "  --all                  also what any process writes\n"
    "  --proc DIR             where processes are found; /proc by default\n"
    "\n"
    "docs/watching.md lists the metrics and shows the dashboard for Grafana.\n";

enum export_option {
    OPTION_HELP = 256,
    OPTION_PERFETTO,
    OPTION_PROMETHEUS,
    OPTION_INTERVAL,
    OPTION_SERVE,
    OPTION_FOLDER,
    OPTION_ALL,
    OPTION_PROC,
};

static const struct option export_options[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"perfetto", required_argument, NULL, OPTION_PERFETTO},
    {"prometheus", required_argument, NULL, OPTION_PROMETHEUS},
    {"interval", required_argument, NULL, OPTION_INTERVAL},
    {"serve", required_argument, NULL, OPTION_SERVE},
    {"folder", required_argument, NULL, OPTION_FOLDER},
    {"all", no_argument, NULL, OPTION_ALL},
    {"proc", required_argument, NULL, OPTION_PROC},
    {NULL, 0, NULL, 0},
};

struct export_settings {
    struct tool_follow_choice choice;
    const char* perfetto;
    const char* prometheus;
    char address[64];
    uint64_t interval_ns; /* 0: once */
    uint16_t port;
    bool serve, help;
};

static bool read_option(int result, char** argv, struct export_settings* settings)
{
    switch (result) {
    case OPTION_HELP:
        settings->help = true;
        return true;
    case OPTION_PERFETTO:
        settings->perfetto = optarg;
        return tool_check_named("--perfetto", optarg);
    case OPTION_PROMETHEUS:
        settings->prometheus = optarg;
        return tool_check_named("--prometheus", optarg);
    case OPTION_INTERVAL:
        return tool_follow_read_interval(optarg, &settings->interval_ns);
    case OPTION_SERVE:
        settings->serve = true;
        return tool_serve_read(optarg, settings->address, &settings->port);
    case OPTION_FOLDER:
        return tool_follow_choose_folder(&settings->choice, optarg);
    case OPTION_ALL:
        settings->choice.is_all = true;
        return true;
    case OPTION_PROC:
        settings->choice.proc = optarg;
        return tool_follow_check_folder("--proc", optarg);
    default:
        tool_complain_option("export", result, argv, export_options);
        return false;
    }
}

/* Checks what the options mean together. */
static bool check_settings(const struct export_settings* settings)
{
    const int outputs = (settings->perfetto != NULL ? 1 : 0) +
                        (settings->prometheus != NULL ? 1 : 0) + (settings->serve ? 1 : 0);
    if (outputs != 1) {
        tool_complain("export: give one of --perfetto, --prometheus and --serve; maar export "
                      "--help explains");
        return false;
    }
    if (settings->interval_ns != 0 && settings->prometheus == NULL) {
        tool_complain("export: --interval belongs to --prometheus");
        return false;
    }
    if (settings->serve && !tool_serve_is_built()) {
        tool_complain("export: this build has no libmicrohttpd; --prometheus writes a file "
                      "without it");
        return false;
    }
    if (settings->perfetto != NULL &&
        (settings->choice.path_count == 0 || settings->choice.is_all ||
         settings->choice.folder != NULL)) {
        tool_complain("export: name the captures for --perfetto, without --folder and --all");
        return false;
    }
    const char* const output =
        settings->perfetto != NULL ? settings->perfetto : settings->prometheus;
    const char* const option = settings->perfetto != NULL ? "--perfetto" : "--prometheus";
    for (int i = 0; i < settings->choice.path_count; ++i) {
        if (!tool_check_not_input(option, output, settings->choice.paths[i])) {
            return false;
        }
    }
    return output == NULL || tool_check_path(output);
}

static bool read_options(int argc, char** argv, struct export_settings* settings)
{
    int result;
    opterr = 0;
    optind = 1;
    while ((result = getopt_long(argc, argv, ":", export_options, NULL)) != -1) {
        if (!read_option(result, argv, settings)) {
            return false;
        }
        if (settings->help) {
            return true;
        }
    }
    settings->choice.paths = argv + optind;
    settings->choice.path_count = argc - optind;
    return check_settings(settings);
}

static int write_perfetto(const struct export_settings* settings)
{
    struct support_perfetto perfetto = {.sequence = 0};
    struct support_error error = {.text = ""};
    char name[512];
    int code = TOOL_EXIT_OK;
    for (int i = 0; i < settings->choice.path_count && code == TOOL_EXIT_OK; ++i) {
        struct support_history history;
        if (!support_history_load(settings->choice.paths[i], &history, &error)) {
            code = TOOL_EXIT_USAGE;
            break;
        }
        code = support_perfetto_add(&perfetto, &history, &error) ? code : TOOL_EXIT_FAILED;
        support_history_release(&history);
    }
    if (code == TOOL_EXIT_OK && !support_perfetto_write(&perfetto, settings->perfetto, &error)) {
        code = TOOL_EXIT_FAILED;
    }
    if (code == TOOL_EXIT_OK) {
        printf("%s: %" PRIu64 " packets, %zu bytes\n",
               tool_printable(settings->perfetto, name, sizeof name), perfetto.packet_count,
               perfetto.trace.size);
    } else {
        tool_complain("%s", error.text);
    }
    support_perfetto_release(&perfetto);
    return code;
}

static int write_prometheus(struct tool_follow_set* set, const struct export_settings* settings)
{
    for (;;) {
        struct support_error error = {.text = "out of memory"};
        size_t size = 0;
        tool_follow_set_update(set);
        char* const text = tool_metrics_write(set, TOOL_METRICS_TEXT, &size);
        const bool good =
            text != NULL && support_write_file(settings->prometheus, text, size, &error);
        free(text);
        if (!good) {
            tool_complain("%s", error.text);
            return TOOL_EXIT_FAILED;
        }
        if (settings->interval_ns == 0 || !tool_follow_set_runs(set)) {
            return TOOL_EXIT_OK;
        }
        const struct timespec pause = {.tv_sec = (time_t)(settings->interval_ns / 1000000000),
                                       .tv_nsec = (long)(settings->interval_ns % 1000000000)};
        (void)nanosleep(&pause, NULL);
    }
}

int tool_command_export(int argc, char** argv)
{
    struct export_settings settings = {.choice = {.proc = "/proc"}};
    if (!read_options(argc, argv, &settings)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.help) {
        fputs(export_help, stdout);
        return TOOL_EXIT_OK;
    }
    if (settings.perfetto != NULL) {
        return write_perfetto(&settings);
    }
    struct tool_follow_set set = {.count = 0};
    int code = TOOL_EXIT_USAGE;
    if (tool_follow_set_begin(&set, &settings.choice)) {
        code = settings.serve ? tool_serve(&set, settings.address, settings.port)
                              : write_prometheus(&set, &settings);
        code = tool_follow_set_complain(&set) ? TOOL_EXIT_USAGE : code;
    }
    tool_follow_set_release(&set);
    return code;
}
