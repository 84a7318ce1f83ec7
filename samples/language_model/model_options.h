/*
 * The command line of the sample.
 */
#ifndef MAAR_SAMPLE_MODEL_OPTIONS_H
#define MAAR_SAMPLE_MODEL_OPTIONS_H

#include "model_shape.h"
#include "sample_text.h"

/* Mistakes that the program makes on request. */
enum model_mistake {
    MODEL_MISTAKE_NONE,
    MODEL_MISTAKE_ACCESS,  /* the KV cache is written, and declared as only read */
    MODEL_MISTAKE_RESTORE, /* weights are read, and declared as overwritten: nothing restores them
                            */
    MODEL_MISTAKE_WAIT     /* submissions do not wait until their residents are there */
};

struct model_options {
    const char* device;
    const char* picture; /* NULL for none */
    struct model_shape shape;
    uint32_t times; /* the bytes of the model are the budget times this */
    bool is_simulated;
    bool validate;
    bool json;
    enum model_mistake mistake;
};

/* Returns false if the program must end with *exit_code. */
bool model_options_parse(struct model_options* options, int argc, char** argv, int* exit_code);

#endif
