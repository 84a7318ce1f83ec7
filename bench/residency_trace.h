/*
 * Workloads that were recorded: traces with uses (maar-trace/2), and logs of allocations in which
 * the uses follow from when something was allocated and freed.
 *
 * The first use of an object gives it its contents: it restores nothing.
 */
#ifndef MAAR_BENCH_RESIDENCY_TRACE_H
#define MAAR_BENCH_RESIDENCY_TRACE_H

#include "residency_workload.h"

/* Makes a workload of a trace with uses: of the device with the most resources, all that a manager
 * would keep (support/trace_uses.h). Ends the program if the file is malformed or has no uses. */
void residency_load_trace(struct residency_workload* workload, const char* path,
                          uint32_t perturbed);

/* Logs, and what their uses are. */
enum residency_log {
    /* Serving of requests: once in a second of the log a step uses all weights, and after them the
     * key-value cache of each running request. Rows of one time that are freed together belong to
     * one request. Pages become objects of up to 16 pages. */
    RESIDENCY_LOG_SERVING,
    /* The same for a cache of prefixes. Rows of one time are allocated by one request, and used
     * until it ends. Its blocks stay behind until the cache of the log dropped them; that requests
     * came back to them is not in the log. */
    RESIDENCY_LOG_PREFIXES,
    /* A step of training: a tensor is used first when it is allocated and last when it is freed. A
     * submission for each time. The step is repeated four times; each one makes its own
     * tensors. */
    RESIDENCY_LOG_TRAINING,
};

/* Makes a workload of a log. Ends the program if it is malformed. */
void residency_load_log(struct residency_workload* workload, const char* path,
                        enum residency_log kind, uint32_t perturbed);

#endif
