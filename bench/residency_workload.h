/*
 * Workloads for bench_residency: which objects each submission of a program uses. All objects have
 * the same size.
 */
#ifndef MAAR_BENCH_RESIDENCY_WORKLOAD_H
#define MAAR_BENCH_RESIDENCY_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

/* The uses of all submissions, one after another. */
struct residency_workload {
    const char* name;
    uint32_t object_count;
    uint32_t used_count; /* of the objects that some submission uses */
    uint32_t submission_count;
    uint32_t* begins; /* submission_count + 1: where each begins */
    uint32_t* uses;
    uint32_t most_uses; /* of a submission */
    uint32_t submission_capacity;
    uint32_t use_capacity;
};

enum { RESIDENCY_WORKLOADS = 12, RESIDENCY_TUNED = 6 };

/* Makes a workload by its number. The rules were chosen by the first RESIDENCY_TUNED of them.
 * perturbed: that part of the uses, in percent, is of other objects. */
void residency_workload_make(struct residency_workload* workload, uint32_t number,
                             uint32_t perturbed);
void residency_workload_release(struct residency_workload* workload);

#endif
