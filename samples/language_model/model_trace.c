/*
 * Notes tiers; see model_trace.h.
 */
#include "model_trace.h"

#include <stdlib.h>
#include <string.h>

bool model_trace_create(struct model_trace* trace, const struct model_shape* shape)
{
    *trace = (struct model_trace){.rows = model_resident_count(shape),
                                  .columns = MODEL_TRACE_PASSES * model_stage_count(shape)};
    trace->tiers = calloc((size_t)trace->rows * trace->columns, sizeof(trace->tiers[0]));
    trace->uses = calloc((size_t)trace->rows * trace->columns, sizeof(trace->uses[0]));
    return sample_has_memory(trace->tiers) && sample_has_memory(trace->uses);
}

void model_trace_destroy(struct model_trace* trace)
{
    free(trace->tiers);
    free(trace->uses);
    memset(trace, 0, sizeof(*trace));
}

size_t model_trace_cell(const struct model_trace* trace, uint32_t row, uint32_t column)
{
    return (size_t)row * trace->columns + (trace->count + column) % trace->columns;
}

void model_trace_note(struct model_trace* trace, const struct model_memory* memory, uint32_t count,
                      const struct model_use* uses)
{
    for (uint32_t row = 0; row < trace->rows; ++row) {
        const size_t cell = model_trace_cell(trace, row, 0);
        trace->tiers[cell] = (uint8_t)model_memory_tier(memory, row);
        trace->uses[cell] = false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        trace->uses[model_trace_cell(trace, uses[i].number, 0)] = true;
    }
    ++trace->count;
}
