/*
 * What must hold after the runs on a device.
 */
#ifndef MAAR_SAMPLE_MODEL_CHECKS_H
#define MAAR_SAMPLE_MODEL_CHECKS_H

#include "model_reference.h"
#include "model_run.h"

/* Returns how many tokens, with all their logits, are not bit for bit those of another text. */
uint32_t model_checks_differences(const struct model_shape* shape, const struct model_text* text,
                                  const struct model_text* other);

/* Compares the first logits with those of the host. Returns false without memory, or fills in the
 * greatest distance over the greatest logit. */
bool model_checks_reference(const struct model_weights* weights, const struct model_text* text,
                            double* distance);
#define MODEL_CHECKS_MOST_DISTANCE 1e-3

/* Checks the manager of a run: it kept its budget, and nothing is left or lost. Prints an error and
 * returns false if not. */
bool model_checks_manager(const struct model_result* result, const char* name);

#endif
