/*
 * The command line of the deferred frame.
 */
#ifndef MAAR_SAMPLE_FRAME_OPTIONS_H
#define MAAR_SAMPLE_FRAME_OPTIONS_H

#include "sample_text.h"

struct frame_options {
    const char* device;  /* auto, vulkan:N, lavapipe, a part of a name, or simulated:PROFILE */
    const char* output;  /* PNG; NULL for none */
    const char* picture; /* SVG of the plan; NULL for none */
    uint32_t width, height, frames;
    bool aliasing; /* resources share bytes */
    bool compare;  /* render both ways */
    bool async;    /* some compute passes run on a second queue */
    bool poison;
    bool validate;
    bool check;
    bool memory_only;
    bool json;
};

/* Fills in the options. Returns false if the program must end with *exit_code; an error has then
 * been printed. */
bool frame_options_parse(struct frame_options* options, int argc, char** argv, int* exit_code);

#endif
