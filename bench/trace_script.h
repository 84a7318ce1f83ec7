/*
 * A trace as a list of allocations and frees in order. The list is either the recording itself or
 * many shifted copies of the recording that overlap in time.
 */
#ifndef MAAR_BENCH_TRACE_SCRIPT_H
#define MAAR_BENCH_TRACE_SCRIPT_H

#include "support/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A step allocates or frees one resource. A slot holds at most one live resource. */
struct trace_step {
    uint32_t slot;
    uint32_t resource; /* of the trace */
    bool is_free;
};

struct trace_script {
    struct trace_step* steps;
    size_t count;
    uint32_t slot_count;
    size_t peak;   /* the step after which the most bytes are alive */
    size_t steady; /* the first step of the steady state, with about as many live resources as at
                      the end */
    uint64_t peak_bytes;
    uint32_t peak_count; /* the most resources that are alive at one time */
    uint32_t copies;
};

/* Makes a script of the trace as recorded. Resources that are alive at the end are not freed. */
void trace_script_record(const struct support_trace* trace, struct trace_script* script);

/*
 * Makes a script of copies of the trace. Each copy is shifted against the previous one by the same
 * part of the trace's length. About `live_count` resources are alive from step `steady` on, and
 * `step_count` steps follow from there. Ends the program when the trace cannot be multiplied in
 * this way.
 */
void trace_script_scale(const struct support_trace* trace, uint32_t live_count, size_t step_count,
                        struct trace_script* script);

void trace_script_release(struct trace_script* script);

/* Returns a resource's alignment as a power of two, which all allocators accept. */
uint64_t trace_alignment(const struct support_trace_resource* resource);

#endif
