/*
 * Made-up inputs for the planner, from whatever numbers the caller draws: sizes that are no
 * multiples of alignments, mixed kinds and memory types, fixed offsets, resources that share
 * nothing, several queues. Single-threaded.
 */
#ifndef MAAR_TESTS_PLAN_PLAN_MADE_H
#define MAAR_TESTS_PLAN_PLAN_MADE_H

#include "maar/plan.h"

#include <stdbool.h>

enum {
    PLAN_MADE_MAX_RESOURCES = 64,
    PLAN_MADE_MAX_PASSES = 16,
    PLAN_MADE_MAX_USES = 4,
    PLAN_MADE_MAX_DEPENDENCIES = 24,
};

/* Where numbers come from: 0 .. limit - 1, limit at least 1. */
struct plan_source {
    uint64_t (*draw)(void* context, uint64_t limit);
    void* context;
};

/* An input; its arrays live in it, so that it must not be copied. */
struct plan_made {
    MaarPlanCreateInfo info;
    MaarPlanResource resources[PLAN_MADE_MAX_RESOURCES];
    uint32_t uses[PLAN_MADE_MAX_RESOURCES][PLAN_MADE_MAX_USES];
    uint32_t queues[PLAN_MADE_MAX_PASSES];
    MaarPlanDependency dependencies[PLAN_MADE_MAX_DEPENDENCIES];
};

/* Makes an input that maarCreatePlan must take. */
void plan_made_fill(struct plan_made* made, const struct plan_source* source,
                    uint32_t max_resources);

/* Numbers from a seed, xorshift64. */
struct plan_source plan_source_seeded(uint64_t* state);

#endif
