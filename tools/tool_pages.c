/*
 * maar report: writes the history of captures as HTML pages.
 */
#include "support/findings.h"
#include "support/history.h"
#include "support/report_file.h"
#include "tool_commands.h"
#include "tool_peer.h"
#include "tool_text.h"

#include <getopt.h>
#include <inttypes.h>
#include <string.h>

static const char pages_help[] =
    "Usage: maar report CAPTURE [--output FILE.html] [--from S] [--to S] [--title TEXT]\n"
    "                   [--no-replay]\n"
    "\n"
    "Writes one HTML page that shows where the memory of a captured program went: bytes of each\n"
    "heap over time, the blocks and resources at any moment, what differs between two moments,\n"
    "and what is wasted. A browser shows the page without a network.\n"
    "\n"
    "  --output FILE  the page (-o); by default the capture's name with .html, in this folder\n"
    "  --from S       leave out what ended before this second of the capture\n"
    "  --to S         leave out what began after this second\n"
    "  --title TEXT   heading of the page; the program's name by default\n"
    "  --no-replay    leave out what Maar would hold for the same traffic. The replay takes a\n"
    "                 second at most; the page says where it had to stop\n"
    "\n"
    "docs/reports.md explains the page and its keys.\n";

enum pages_option {
    OPTION_HELP = 256,
    OPTION_OUTPUT,
    OPTION_FROM,
    OPTION_TO,
    OPTION_TITLE,
    OPTION_NO_REPLAY,
};

/* The most time that the replay may take: a report of a million events takes three seconds. */
static const uint64_t replay_budget_ns = 1000000000;

static const struct option pages_options[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"from", required_argument, NULL, OPTION_FROM},
    {"to", required_argument, NULL, OPTION_TO},
    {"title", required_argument, NULL, OPTION_TITLE},
    {"no-replay", no_argument, NULL, OPTION_NO_REPLAY},
    {NULL, 0, NULL, 0},
};

struct pages_settings {
    const char* output;
    const char* title;
    uint64_t from_ns, to_ns;
    bool help, no_replay;
};

/* Reads seconds with up to nine decimals. */
static bool read_seconds(const char* option, const char* text, uint64_t* ns)
{
    uint64_t whole = 0;
    uint64_t part = 0;
    uint64_t scale = 1000000000;
    const char* at = text;
    bool good = *at >= '0' && *at <= '9';
    for (; *at >= '0' && *at <= '9'; ++at) {
        good = good && whole < 1000000000;
        whole = good ? whole * 10 + (uint64_t)(*at - '0') : whole;
    }
    if (*at == '.') {
        for (++at; *at >= '0' && *at <= '9'; ++at) {
            scale /= 10;
            part += scale * (uint64_t)(*at - '0');
        }
    }
    if (!good || *at != 0) {
        tool_complain("%s %s: expected seconds, such as 12.5", option, text);
        return false;
    }
    *ns = whole * 1000000000 + part;
    return true;
}

static bool read_option(int result, char** argv, struct pages_settings* settings)
{
    switch (result) {
    case OPTION_HELP:
        settings->help = true;
        return true;
    case OPTION_OUTPUT:
    case 'o':
        settings->output = optarg;
        return tool_check_named("--output", optarg);
    case OPTION_FROM:
        return read_seconds("--from", optarg, &settings->from_ns);
    case OPTION_TO:
        return read_seconds("--to", optarg, &settings->to_ns);
    case OPTION_TITLE:
        settings->title = optarg;
        return true;
    case OPTION_NO_REPLAY:
        settings->no_replay = true;
        return true;
    default:
        tool_complain_option("report", result, argv, pages_options);
        return false;
    }
}

static bool read_options(int argc, char** argv, struct pages_settings* settings)
{
    int result;
    opterr = 0;
    optind = 1;
    while ((result = getopt_long(argc, argv, ":o:", pages_options, NULL)) != -1) {
        if (!read_option(result, argv, settings)) {
            return false;
        }
        if (settings->help) {
            return true;
        }
    }
    if (optind + 1 != argc) {
        tool_complain("report: name one capture; maar report --help explains");
        return false;
    }
    if (settings->from_ns >= settings->to_ns) {
        tool_complain("--to must be after --from");
        return false;
    }
    return true;
}

static int write_report(const char* output, const struct support_history* history,
                        const struct pages_settings* settings)
{
    struct support_error error = {.text = ""};
    struct support_findings findings;
    struct tool_peers peers = {.rows = NULL};
    if (!settings->no_replay && !tool_peers_find(history, replay_budget_ns, &peers)) {
        peers.count = 0; /* the page says that it has no replay */
    }
    if (!support_findings_find(history, &findings, &error)) {
        tool_complain("%s", error.text);
        tool_peers_release(&peers);
        return TOOL_EXIT_FAILED;
    }
    const struct support_report_info info = {
        .history = history,
        .findings = &findings,
        .peers = peers.rows,
        .peer_count = peers.count,
        .from_ns = settings->from_ns,
        .to_ns = settings->to_ns,
        .title = settings->title,
    };
    const bool good = support_report_write(&info, output, &error);
    if (good) {
        char name[512];
        printf("%s: %zu memories, %zu resources, %zu finding%s\n",
               tool_printable(output, name, sizeof name), history->memories.count,
               history->resources.count, findings.count, findings.count == 1 ? "" : "s");
    } else {
        tool_complain("%s", error.text);
    }
    support_findings_release(&findings);
    tool_peers_release(&peers);
    return good ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

int tool_command_report(int argc, char** argv)
{
    struct pages_settings settings = {.to_ns = UINT64_MAX};
    struct support_history history;
    struct support_error error = {.text = ""};
    if (!read_options(argc, argv, &settings)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.help) {
        fputs(pages_help, stdout);
        return TOOL_EXIT_OK;
    }
    const char* const path = argv[optind];
    if (!support_history_load(path, &history, &error)) {
        tool_complain("%s", error.text);
        return TOOL_EXIT_USAGE;
    }
    char name[sizeof history.name + 8];
    (void)snprintf(name, sizeof name, "%s.html", history.name);
    const char* const output = settings.output != NULL ? settings.output : name;
    const int code = tool_check_not_input("--output", output, path) && tool_check_path(output)
                         ? write_report(output, &history, &settings)
                         : TOOL_EXIT_USAGE;
    support_history_release(&history);
    return code;
}
