/*
 * The uses of a trace of version 2, submission by submission: what a manager that keeps the
 * resources in memory is asked for. Single-threaded.
 */
#ifndef MAAR_SUPPORT_TRACE_USES_H
#define MAAR_SUPPORT_TRACE_USES_H

#include "trace.h"

/* A submission uses each resource once, with the flags of all its rows. Reserved
 * resources are left out, and those that support_trace_is_kept leaves out. */
struct support_use_lists {
    struct support_trace_use* uses; /* by submission, in the order of the file */
    size_t* begins;                 /* submit_count + 1: where those of each submission begin */
    uint32_t* steps; /* the first use row of each submission, where all of these live; or none */
    size_t submission_count; /* with uses */
    /* The most bytes of one submission, and of all resources at a time that were used before and
     * are not freed yet: the sizes of the file. */
    uint64_t most_bytes, peak_bytes;
};

/* Returns whether a manager would keep a resource: its memory is of the given device and was not
 * imported, and it is no staging buffer, which only copies use. */
bool support_trace_is_kept(const struct support_trace* trace, uint32_t resource, uint32_t device);

/* Collects the uses of a device. Returns false when out of memory; then the lists are empty. */
bool support_use_lists_make(const struct support_trace* trace, uint32_t device,
                            struct support_use_lists* lists);
void support_use_lists_release(struct support_use_lists* lists);

#endif
