/*
 * maar convert: writes the history of a capture as a trace of the schema maar-trace/2.
 */
#include "support/history.h"
#include "support/trace_writer.h"
#include "tool_commands.h"
#include "tool_text.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char convert_help[] =
    "Usage: maar convert CAPTURE [--output FILE.csv[.gz]]\n"
    "\n"
    "Writes the history of a capture as a trace (maar-trace/2), a table in text: allocations and\n"
    "frees, memory, devices, names, queues, submissions with what they wait for and signal, uses,\n"
    "binds of pages, budgets. maar replay plays it, as it plays the capture itself.\n"
    "\n"
    "  --output FILE  the trace, compressed where the name ends in .gz; by default the capture's\n"
    "                 name with .csv, in this folder (-o)\n"
    "\n"
    "docs/replay.md describes the rows.\n";

enum convert_option {
    OPTION_HELP = 256,
};

static const struct option convert_options[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"output", required_argument, NULL, 'o'},
    {NULL, 0, NULL, 0},
};

static int write_trace(const struct support_history* history, const char* output)
{
    struct support_error error = {.text = ""};
    char* text = NULL;
    size_t size = 0;
    const bool good = support_trace_write(history, &text, &size, &error) &&
                      support_trace_save(output, text, size, &error);
    if (good) {
        size_t rows = 0;
        for (size_t i = 0; i < size; ++i) {
            rows += text[i] == '\n' ? 1 : 0;
        }
        char name[512];
        printf("%s: %zu rows\n", tool_printable(output, name, sizeof name), rows - 1);
    } else {
        tool_complain("%s", error.text);
    }
    free(text);
    return good ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

/* Reads the options. Returns false after an error. */
static bool read_options(int argc, char** argv, const char** output, bool* help)
{
    int result;
    opterr = 0;
    optind = 1;
    while ((result = getopt_long(argc, argv, ":o:", convert_options, NULL)) != -1) {
        if (result == OPTION_HELP) {
            *help = true;
            return true;
        }
        if (result != 'o') {
            tool_complain_option("convert", result, argv, convert_options);
            return false;
        }
        *output = optarg;
        if (!tool_check_named("--output", optarg)) {
            return false;
        }
    }
    if (optind + 1 != argc) {
        tool_complain("convert: name one capture; maar convert --help explains");
        return false;
    }
    return true;
}

int tool_command_convert(int argc, char** argv)
{
    struct support_history history;
    struct support_error error = {.text = ""};
    const char* output = NULL;
    bool help = false;
    if (!read_options(argc, argv, &output, &help)) {
        return TOOL_EXIT_USAGE;
    }
    if (help) {
        fputs(convert_help, stdout);
        return TOOL_EXIT_OK;
    }
    const char* const path = argv[optind];
    if (!support_history_load(path, &history, &error)) {
        tool_complain("%s", error.text);
        return TOOL_EXIT_USAGE;
    }
    char name[sizeof history.name + 8];
    (void)snprintf(name, sizeof name, "%s.csv", history.name);
    output = output != NULL ? output : name;
    const int code = tool_check_not_input("--output", output, path) && tool_check_path(output)
                         ? write_trace(&history, output)
                         : TOOL_EXIT_USAGE;
    support_history_release(&history);
    return code;
}
