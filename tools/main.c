/*
 * The maar command: shows the memory of devices, replays the memory traffic of programs, plans the
 * transient resources of frames, and finds the devices on which something fits.
 */
#include "maar/base.h"
#include "tool_commands.h"
#include "tool_data.h"
#include "tool_guess.h"
#include "tool_text.h"

#include <string.h>

static void print_usage(FILE* file)
{
    fprintf(file,
            "Usage: maar COMMAND [OPTION...]\n"
            "\n"
            "  maar info      show devices, heaps, memory types, budgets, limits, and the memory\n"
            "                 type that Maar uses for each purpose\n"
            "  maar replay    replay the memory traffic of a program from a trace\n"
            "  maar capture   run a program and record what it does with device memory\n"
            "  maar report    show a captured program's memory over time, as one HTML page\n"
            "  maar advise    say what a captured program wastes, and how to mend it\n"
            "  maar convert   write a capture as a trace\n"
            "  maar top       show what captured programs hold, live in the terminal\n"
            "  maar export    write captures for Perfetto and Prometheus\n"
            "  maar plan      place the transient resources of a frame, and prove a lower bound\n"
            "  maar fit       find out on which devices a program, a frame or a model fits\n"
            "\n"
            "  maar COMMAND --help or maar help COMMAND explains the options; maar --version\n"
            "  prints the version.\n"
            "\n"
            "Exit codes: 0 success, 1 a failure, mismatch or message, 2 bad arguments or input.\n");
}

static const struct {
    const char* name;
    int (*run)(int argc, char** argv);
} commands[] = {
    {"info", tool_command_info},       {"replay", tool_command_replay},
    {"capture", tool_command_capture}, {"report", tool_command_report},
    {"advise", tool_command_advise},   {"plan", tool_command_plan},
    {"convert", tool_command_convert}, {"fit", tool_command_fit},
    {"top", tool_command_top},         {"export", tool_command_export},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* Runs a command. Returns -1 when no command has the name. */
static int run_command(const char* name, int argc, char** argv)
{
    for (size_t i = 0; i < COMMAND_COUNT; ++i) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(argc, argv);
        }
    }
    return -1;
}

/* Prints that there is no such command, and the nearest one. */
static void complain_of_command(const char* name)
{
    struct tool_guess guess = {.typed = name};
    char meant[160];
    tool_guess_offer(&guess, "help");
    for (size_t i = 0; i < COMMAND_COUNT; ++i) {
        tool_guess_offer(&guess, commands[i].name);
    }
    tool_complain("no such command: %s%s; see maar --help", name,
                  tool_guess_text(&guess, "", meant, sizeof(meant)));
}

/* maar help, or maar help COMMAND. */
static int help(int argc, char** argv)
{
    if (argc > 2 && strcmp(argv[2], "help") != 0) {
        static char option[] = "--help";
        char* arguments[] = {argv[2], option, NULL};
        return run_command(argv[2], 2, arguments);
    }
    print_usage(stdout);
    return TOOL_EXIT_OK;
}

/* Closes standard output. Only this reports some write failures, for example a full disk. */
static int close_output(int code)
{
    const bool flushed = fflush(stdout) == 0;
    if (flushed && ferror(stdout) == 0) {
        return code;
    }
    tool_complain("standard output cannot be written");
    return code == TOOL_EXIT_OK ? TOOL_EXIT_FAILED : code;
}

static int run(int argc, char** argv)
{
    tool_data_set_program(argc > 0 ? argv[0] : "");
    if (argc < 2) {
        print_usage(stderr);
        return TOOL_EXIT_USAGE;
    }
    const char* name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_usage(stdout);
        return TOOL_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        const uint32_t version = maarGetVersion();
        printf("maar %u.%u.%u\n", version >> 22, version >> 12 & 0x3FFu, version & 0xFFFu);
        return TOOL_EXIT_OK;
    }
    int code = -1;
    if (strcmp(name, "help") == 0) {
        code = help(argc, argv);
        name = argc > 2 ? argv[2] : name;
    } else {
        code = run_command(name, argc - 1, argv + 1);
    }
    if (code >= 0) {
        return code;
    }
    complain_of_command(name);
    return TOOL_EXIT_USAGE;
}

int main(int argc, char** argv)
{
    return close_output(run(argc, argv));
}
