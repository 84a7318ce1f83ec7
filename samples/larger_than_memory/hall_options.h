/*
 * The command line of the sample.
 */
#ifndef MAAR_SAMPLE_HALL_OPTIONS_H
#define MAAR_SAMPLE_HALL_OPTIONS_H

#include "sample_text.h"

/* Mistakes that the program makes on request. */
enum hall_mistake {
    HALL_MISTAKE_NONE,
    HALL_MISTAKE_ACCESS,  /* what is written is declared as read only */
    HALL_MISTAKE_RESTORE, /* what is read is declared as overwritten, so that nothing restores it */
    HALL_MISTAKE_EPOCH,   /* views are kept although their textures have other objects */
    HALL_MISTAKE_COUNT
};

struct hall_options {
    const char* device;
    const char* strip; /* NULL for none */
    const char* out;   /* NULL for none */
    uint32_t width, height;
    uint32_t frames;
    uint32_t bays;
    uint32_t side;  /* texels of a texture in x and in y */
    uint32_t times; /* the textures' bytes are the budget times this */
    bool no_thread; /* the host's work is done by the thread that draws */
    bool validate;
    bool json;
    enum hall_mistake mistake;
};

/* Returns false if the program must end with *exit_code. */
bool hall_options_parse(struct hall_options* options, int argc, char** argv, int* exit_code);

#endif
