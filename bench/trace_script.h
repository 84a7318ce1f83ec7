/*
 * What a trace asks of an allocator, in order: a list of allocations and frees. Either as recorded,
 * or as many shifted copies of the recording that overlap in time.
 */
#ifndef MAAR_BENCH_TRACE_SCRIPT_H
#define MAAR_BENCH_TRACE_SCRIPT_H

#include "support/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates or frees one resource; the same slot is not alive twice at a time. */
struct trace_step {
    uint32_t slot;
    uint32_t resource; /* of the trace */
    bool is_free;
};

struct trace_script {
    struct trace_step* steps;
    size_t count;
    uint32_t slot_count;
    size_t peak;   /* the step after which most bytes live */
    size_t steady; /* the first step after which about as many live as at the last one */
    uint64_t peak_bytes;
    uint32_t peak_count; /* most alive at a time */
    uint32_t copies;
};

/* The trace as recorded; what is alive at the end is not freed. */
void trace_script_record(const struct support_trace* trace, struct trace_script* script);

/*
 * Copies of the trace, each shifted against the last by the same part of the trace's length, so
 * that about live_count resources are alive from step `steady` on, with step_count steps from there
 * to the end. Ends the program when the trace cannot be multiplied so.
 */
void trace_script_scale(const struct support_trace* trace, uint32_t live_count, size_t step_count,
                        struct trace_script* script);

void trace_script_release(struct trace_script* script);

/* A resource's alignment as all allocators take it: a power of two. */
uint64_t trace_alignment(const struct support_trace_resource* resource);

#endif
