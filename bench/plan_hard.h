/*
 * The hard instances of google/minimalloc: their files, variants that are equally hard in another
 * notation, and the published solver as a separate program.
 */
#ifndef MAAR_BENCH_PLAN_HARD_H
#define MAAR_BENCH_PLAN_HARD_H

#include "support/frame_graph.h"

/* The changes to an instance before planning. */
enum plan_variant {
    PLAN_VARIANT_PLAIN = 0,
    PLAN_VARIANT_SHUFFLED = 1, /* the rows in another order */
    PLAN_VARIANT_MIRRORED = 2, /* the direction of time reversed */
    PLAN_VARIANT_COUNT = 3,
};

extern const char* const plan_variant_names[PLAN_VARIANT_COUNT];

/* Changes the resources and rows in place. The graph has one queue and no uses. */
void plan_hard_vary(struct support_frame_graph* graph, enum plan_variant variant, uint64_t seed);

/* The result of the published solver. */
struct plan_hard_outcome {
    double cpu_ms;
    bool fits;
};

/* Runs the solver on the resources. Ends this program when the solver cannot be run. */
struct plan_hard_outcome plan_hard_run(const char* program, const struct support_frame_graph* graph,
                                       uint64_t capacity, uint32_t seconds);

#endif
