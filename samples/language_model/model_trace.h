/*
 * Where each resident was in the last passes of a run.
 */
#ifndef MAAR_SAMPLE_MODEL_TRACE_H
#define MAAR_SAMPLE_MODEL_TRACE_H

#include "model_memory.h"

#define MODEL_TRACE_PASSES 5u

struct model_trace {
    uint32_t rows, columns; /* residents, submissions */
    uint32_t count;         /* submissions so far; the last ones are kept */
    uint8_t* tiers;         /* a MaarTier each */
    bool* uses;             /* whether the submission uses the resident */
};

bool model_trace_create(struct model_trace* trace, const struct model_shape* shape);
void model_trace_destroy(struct model_trace* trace);

/* Notes where everything is when a submission begins. */
void model_trace_note(struct model_trace* trace, const struct model_memory* memory, uint32_t count,
                      const struct model_use* uses);
/* Returns the place of a row and a column in the arrays. Column 0 is the oldest. */
size_t model_trace_cell(const struct model_trace* trace, uint32_t row, uint32_t column);

#endif
