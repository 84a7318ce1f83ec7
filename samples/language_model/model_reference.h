/*
 * The model on the host, slow and in double precision: what the shaders must compute.
 */
#ifndef MAAR_SAMPLE_MODEL_REFERENCE_H
#define MAAR_SAMPLE_MODEL_REFERENCE_H

#include "model_weights.h"

/* Computes the logits after some tokens of a text, MODEL_WORDS for each: `logits` receives those
 * after tokens `first` to `count - 1`. Prints an error and returns false without memory. */
bool model_reference_logits(const struct model_weights* weights, const uint32_t* tokens,
                            uint32_t first, uint32_t count, double* logits);

#endif
