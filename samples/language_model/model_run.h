/*
 * Generates a text, with a budget.
 */
#ifndef MAAR_SAMPLE_MODEL_RUN_H
#define MAAR_SAMPLE_MODEL_RUN_H

#include "model_compute.h"
#include "model_options.h"
#include "model_trace.h"

struct model_run_info {
    const struct sample_device* device;
    const struct model_weights* weights;
    struct model_compute* compute; /* NULL on a simulated device */
    enum model_way way;
    uint64_t budget;
    enum model_mistake mistake;
};

struct model_result {
    MaarResidencyInfo info;  /* at the end */
    uint64_t restored;       /* bytes, while tokens were generated */
    uint64_t nanoseconds;    /* of virtual time, while tokens were generated */
    struct model_text* text; /* NULL on a simulated device */
    struct model_trace trace;
};

/* The caller releases the result in every case. */
bool model_run(const struct model_run_info* info, struct model_result* result);
void model_result_destroy(struct model_result* result);

#endif
