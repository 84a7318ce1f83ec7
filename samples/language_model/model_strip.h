/*
 * A picture of what was where over time.
 */
#ifndef MAAR_SAMPLE_MODEL_STRIP_H
#define MAAR_SAMPLE_MODEL_STRIP_H

#include "model_run.h"

/* Draws two runs, one above the other: a row for each resident, a column for each submission.
 * Prints an error and returns false on failure. */
bool model_strip_write(const struct model_shape* shape, const struct model_result* upper,
                       const struct model_result* lower, const char* path);

#endif
