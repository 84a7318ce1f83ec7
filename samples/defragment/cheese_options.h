/*
 * The command line of the sample.
 */
#ifndef MAAR_SAMPLE_CHEESE_OPTIONS_H
#define MAAR_SAMPLE_CHEESE_OPTIONS_H

#include "cheese_moves.h"

struct cheese_options {
    const char* device;
    const char* picture; /* NULL for none */
    const char* out;     /* NULL for none */
    uint32_t width, height;
    uint32_t planets; /* created; a third of them remains */
    uint32_t frames;
    uint32_t moves;    /* most of a step */
    uint32_t step_kib; /* most bytes of a step */
    bool poison;
    bool validate;
    bool json;
    enum cheese_mistake mistake;
};

/* Returns false if the program must end with *exit_code. */
bool cheese_options_parse(struct cheese_options* options, int argc, char** argv, int* exit_code);

#endif
