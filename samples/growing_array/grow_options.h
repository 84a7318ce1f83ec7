/*
 * The command line of the growing array.
 */
#ifndef MAAR_SAMPLE_GROW_OPTIONS_H
#define MAAR_SAMPLE_GROW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct grow_options {
    const char* device;
    const char* picture; /* NULL: none */
    uint64_t size;       /* bytes that the array is to reach */
    uint64_t batch;      /* bytes appended at a time */
    bool copying;        /* grow by copies even where pages can be bound */
    bool compare;        /* both, one after the other */
    bool windows;        /* no device addresses, even where there are some */
    bool validate;
    bool memory_only; /* the device writes and reads nothing */
    bool json;
};

/* False when the program is to end now with *exit_code. */
bool grow_options_parse(struct grow_options* options, int argc, char** argv, int* exit_code);

#endif
