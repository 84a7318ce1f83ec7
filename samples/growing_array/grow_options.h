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
    uint64_t size;       /* final bytes of the array */
    uint64_t batch;      /* bytes appended at a time */
    bool copying;        /* grow by copies even if pages can be bound */
    bool compare;        /* grow in both ways, one after the other */
    bool windows;        /* do not use device addresses even if they are available */
    bool validate;
    bool memory_only; /* the device writes and reads nothing */
    bool json;
};

/* Parses the command line. Returns false if the program must end with *exit_code. */
bool grow_options_parse(struct grow_options* options, int argc, char** argv, int* exit_code);

#endif
