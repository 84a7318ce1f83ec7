/*
 * Parses the benchmarks' command lines, which tables describe.
 */
#ifndef MAAR_BENCH_OPTIONS_H
#define MAAR_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum bench_option_kind {
    BENCH_OPTION_TEXT = 0,  /* const char** */
    BENCH_OPTION_COUNT = 1, /* uint32_t*, 1 to 100,000,000 */
    BENCH_OPTION_SIZE = 2,  /* uint64_t*, bytes, with KiB, MiB, GiB or TiB */
    BENCH_OPTION_FLAG = 3,  /* bool* */
    BENCH_OPTION_HEAP = 4,  /* struct bench_heaps*, N=SIZE */
};

/* Heap sizes given on the command line. */
struct bench_heaps {
    uint64_t sizes[16]; /* 0: the profile's size */
};

struct bench_option {
    const char* name; /* including its dashes */
    const char* value;
    enum bench_option_kind kind;
    void* target;
    const char* help;
};

/* The description of a command line. */
struct bench_command {
    const char* name;
    const char* summary;
    const char* operands; /* their names in the usage line; NULL without operands */
    const struct bench_option* options;
    uint32_t option_count;
};

/*
 * Fills in the options' targets. --help prints the usage and ends the program with 0. A wrong
 * argument prints an error and ends the program with 2. Returns the index of the first operand;
 * operands follow all options.
 */
int bench_parse_options(const struct bench_command* command, int argc, char** argv);

#endif
