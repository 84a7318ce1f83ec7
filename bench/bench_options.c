/*
 * Parses the benchmarks' command lines; see bench_options.h.
 */
#include "bench_options.h"

#include "bench_common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COUNT = 100000000 };

static bool parse_size(const char* text, uint64_t* out)
{
    static const struct {
        const char* suffix;
        unsigned shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    char* end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    for (size_t i = 0; errno == 0 && i < sizeof(units) / sizeof(units[0]); ++i) {
        if (strcmp(end, units[i].suffix) == 0) {
            *out = (uint64_t)number << units[i].shift;
            return number != 0 && number <= UINT64_MAX >> units[i].shift;
        }
    }
    return false;
}

static bool parse_heap(const char* text, struct bench_heaps* heaps)
{
    char* end = NULL;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    const unsigned long heap = strtoul(text, &end, 10);
    return *end == '=' && heap < sizeof(heaps->sizes) / sizeof(heaps->sizes[0]) &&
           parse_size(end + 1, &heaps->sizes[heap]);
}

static const char* store(const struct bench_option* option, const char* text)
{
    uint64_t number = 0;
    switch (option->kind) {
    case BENCH_OPTION_TEXT:
        *(const char**)option->target = text;
        return *text != '\0' ? NULL : "some text";
    case BENCH_OPTION_COUNT:
        if (!parse_size(text, &number) || number > MAX_COUNT) {
            return "a number from 1 to 100000000";
        }
        *(uint32_t*)option->target = (uint32_t)number;
        return NULL;
    case BENCH_OPTION_SIZE:
        return parse_size(text, option->target) ? NULL
                                                : "1 to 18446744073709551615 bytes, as in 64MiB";
    case BENCH_OPTION_HEAP:
        return parse_heap(text, option->target) ? NULL : "N=SIZE, as in 0=64GiB";
    case BENCH_OPTION_FLAG:
    default:
        *(bool*)option->target = true;
        return NULL;
    }
}

static void print_usage(const struct bench_command* command)
{
    printf("Usage: %s [OPTION...]%s%s\n%s\n\n", command->name, command->operands != NULL ? " " : "",
           command->operands != NULL ? command->operands : "", command->summary);
    for (uint32_t i = 0; i < command->option_count; ++i) {
        const struct bench_option* const option = &command->options[i];
        char left[64];
        snprintf(left, sizeof(left), "%s%s%s", option->name, option->value != NULL ? " " : "",
                 option->value != NULL ? option->value : "");
        printf("  %-24s %s\n", left, option->help);
    }
    printf("  %-24s %s\n", "--help", "print this text and exit");
    printf("\nPrints one line of JSON for each result, and a table on standard error.\n");
}

static const struct bench_option* find_option(const struct bench_command* command, const char* name)
{
    for (uint32_t i = 0; i < command->option_count; ++i) {
        if (strcmp(command->options[i].name, name) == 0) {
            return &command->options[i];
        }
    }
    return NULL;
}

int bench_parse_options(const struct bench_command* command, int argc, char** argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; ++i) {
        if (strcmp(argv[i], "--help") == 0) {
            print_usage(command);
            exit(0);
        }
        const struct bench_option* const option = find_option(command, argv[i]);
        if (option == NULL) {
            bench_die(BENCH_EXIT_USAGE, "%s: no such option; see %s --help", argv[i],
                      command->name);
        }
        const char* text = NULL;
        if (option->kind != BENCH_OPTION_FLAG) {
            if (i + 1 == argc) {
                bench_die(BENCH_EXIT_USAGE, "%s needs %s", option->name, option->value);
            }
            text = argv[++i];
        }
        const char* const expected = store(option, text);
        if (expected != NULL) {
            bench_die(BENCH_EXIT_USAGE, "%s %s: expected %s", option->name, text, expected);
        }
    }
    if (i < argc && command->operands == NULL) {
        bench_die(BENCH_EXIT_USAGE, "%s: unexpected argument; see %s --help", argv[i],
                  command->name);
    }
    return i;
}
