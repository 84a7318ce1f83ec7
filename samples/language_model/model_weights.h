/*
 * A file with the random weights of the model.
 */
#ifndef MAAR_SAMPLE_MODEL_WEIGHTS_H
#define MAAR_SAMPLE_MODEL_WEIGHTS_H

#include "model_shape.h"
#include "sample_device.h"

struct model_weights {
    struct model_shape shape;
    MaarFileSource source; /* the vocabulary and the layers, one after another */
};

/* Writes a file with weights that depend on the shape alone, and opens it for reading. Prints an
 * error and returns false on failure. The caller closes it in every case. */
bool model_weights_open(struct model_weights* weights, const struct model_shape* shape);
void model_weights_close(struct model_weights* weights);

/* Returns where the weights of a resident begin in the file, in bytes. */
uint64_t model_weights_offset(const struct model_shape* shape, uint32_t resident);
/* Returns the weights of a resident, mapped for reading. */
const float* model_weights_of(const struct model_weights* weights, uint32_t resident);

#endif
