/*
 * maar: what a device's memory looks like, and what becomes of a program's memory traffic on it.
 */
#include "maar/base.h"
#include "tool_commands.h"
#include "tool_text.h"

#include <string.h>

static void print_usage(FILE* file)
{
    fprintf(file,
            "Usage: maar COMMAND [OPTION...]\n"
            "\n"
            "  maar info      devices, heaps, memory types, budgets, limits, and what Maar\n"
            "                 uses for each purpose\n"
            "  maar replay    replay the memory traffic of a program from a trace\n"
            "\n"
            "  maar COMMAND --help explains the options; maar --version prints the version.\n"
            "\n"
            "Exit codes: 0 fine, 1 a failure, mismatch or message, 2 bad arguments or input.\n");
}

int main(int argc, char** argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return TOOL_EXIT_USAGE;
    }
    if (strcmp(argv[1], "info") == 0) {
        return tool_command_info(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "replay") == 0) {
        return tool_command_replay(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return TOOL_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        const uint32_t version = maarGetVersion();
        printf("maar %u.%u.%u\n", version >> 22, version >> 12 & 0x3FFu, version & 0xFFFu);
        return TOOL_EXIT_OK;
    }
    tool_complain("no such command: %s", argv[1]);
    print_usage(stderr);
    return TOOL_EXIT_USAGE;
}
