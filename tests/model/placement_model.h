/*
 * A naive reference of placement: a plain list of live ranges, compared with the real thing after
 * each step. Driven by a source of numbers, so that random tests and fuzzers share it.
 */
#ifndef MAAR_TESTS_MODEL_PLACEMENT_MODEL_H
#define MAAR_TESTS_MODEL_PLACEMENT_MODEL_H

#include "core/placement/placement.h"

/* Gives the next number below limit (limit >= 1); false when there are no more. */
typedef bool (*placement_model_draw)(void* context, uint64_t limit, uint64_t* number);

struct placement_model_options {
    struct maar_placement_info info;
    VkDeviceSize max_size;        /* of a request */
    VkDeviceSize fixed_alignment; /* 0: drawn anew each time */
    bool pool_alignments;         /* drawn as buffers and images have them: 16 to 65536 */
    uint32_t max_kind;            /* 0: no kinds */
    uint32_t max_live;
    uint32_t steps;
    /* Order of frees: 0 random, 1 oldest first mostly, 2 newest first mostly. */
    uint32_t free_order;
    bool upper;  /* half of the requests come from the upper end */
    bool lowest; /* a quarter of the requests take the lowest place */
    bool last;   /* half of the requests may go to the end of a free range */
};

struct placement_model_outcome {
    char problem[192]; /* empty: none */
    uint32_t step;     /* where it was found, or how many were made */
    uint32_t allocated;
    uint32_t refused;
};

/* Runs until the options' steps are done or the source is dry. */
void placement_model_run(const struct placement_model_options* options, placement_model_draw draw,
                         void* context, struct placement_model_outcome* outcome);

#endif
