/*
 * The hard instances of google/minimalloc: their files, variants of them that keep what is hard but
 * not how it is written down, and the published solver as a program of its own.
 */
#ifndef MAAR_BENCH_PLAN_HARD_H
#define MAAR_BENCH_PLAN_HARD_H

#include "support/frame_graph.h"

/* What is done to an instance before it is planned. */
enum plan_variant {
    PLAN_VARIANT_PLAIN = 0,
    PLAN_VARIANT_SHUFFLED = 1, /* the rows in another order */
    PLAN_VARIANT_MIRRORED = 2, /* the last time first */
    PLAN_VARIANT_COUNT = 3,
};

extern const char* const plan_variant_names[PLAN_VARIANT_COUNT];

/* Changes the resources and rows, of one queue and without uses, in place. */
void plan_hard_vary(struct support_frame_graph* graph, enum plan_variant variant, uint64_t seed);

/* What the published solver did. */
struct plan_hard_outcome {
    double cpu_ms;
    bool fits;
};

/* Runs that program on the resources; ends this one when it cannot be run. */
struct plan_hard_outcome plan_hard_run(const char* program, const struct support_frame_graph* graph,
                                       uint64_t capacity, uint32_t seconds);

#endif
