/*
 * What the planner's input means, worked out from the words of maar/plan.h and nothing else: which
 * pass is before which, which resource before which, and which must not share bytes. Slow and
 * simple; shares no code with the planner. Single-threaded.
 */
#ifndef MAAR_TESTS_PLAN_PLAN_WORLD_H
#define MAAR_TESTS_PLAN_PLAN_WORLD_H

#include "maar/plan.h"

#include <stdbool.h>

struct plan_world {
    const MaarPlanCreateInfo* info;
    uint32_t resource_count, pass_count;
    bool several_queues;
    bool* pass_before; /* pass_count squared; NULL with one queue */
    bool* before;      /* resource_count squared: all uses of one before all uses of the other */
};

/* A range of bytes, its end excluded. */
struct plan_range {
    uint64_t begin, end;
};

/* Works it out. The input must be one that maarCreatePlan takes. */
void plan_world_open(struct plan_world* world, const MaarPlanCreateInfo* info);
void plan_world_close(struct plan_world* world);

/* Whether one pass is over before another begins. */
bool plan_world_pass_before(const struct plan_world* world, uint32_t pass, uint32_t other);

/* Whether all uses of one resource are before all uses of the other. */
bool plan_world_before(const struct plan_world* world, uint32_t resource, uint32_t other);

/* Whether two resources must not share bytes. */
bool plan_world_meet(const struct plan_world* world, uint32_t resource, uint32_t other);

/* How many uses a resource has, and which. */
uint32_t plan_world_use_count(const struct plan_world* world, uint32_t resource);
uint32_t plan_world_use(const struct plan_world* world, uint32_t resource, uint32_t index);

/* The queue of a pass. */
uint32_t plan_world_queue(const struct plan_world* world, uint32_t pass);

/* The bytes that one resource keeps from another one that must not share any with it: its own, or
 * where the kinds differ the granules that they touch. */
struct plan_range plan_world_reach(const struct plan_world* world, uint32_t resource,
                                   uint32_t other, uint64_t offset);

/* A range widened to whole granules. */
struct plan_range plan_world_granules(const struct plan_world* world, struct plan_range range);

/*
 * The heaviest set of these resources of which no two may share bytes, bytes. With several queues
 * all sets are tried, for which there may be 16 resources at most; else false.
 */
bool plan_world_heaviest(const struct plan_world* world, const uint32_t* members, uint32_t count,
                         uint64_t* bytes);

#endif
