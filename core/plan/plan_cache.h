/*
 * The cache of plans, in which the planner looks up the plan of an unchanged input. One lock guards
 * the cache. The caller may not hold a lock.
 */
#ifndef MAAR_CORE_PLAN_PLAN_CACHE_H
#define MAAR_CORE_PLAN_PLAN_CACHE_H

#include "core/host_stack.h"
#include "maar/plan.h"

/* All input that determines a plan, as bytes. */
struct maar_plan_key_bytes {
    const void* bytes;
    size_t size;
    uint64_t hash;
};

/* Writes the key: all input that determines the plan. */
VkResult maar_plan_write_key(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                             struct maar_plan_key_bytes* key);
/* Returns the plan of a key, or NULL. The caller has to release the plan. Its memory comes from the
 * cache's allocation callbacks. */
MaarPlan maar_plan_cache_find(MaarPlanCache cache, const struct maar_plan_key_bytes* key);
/* Keeps a copy of a plan. Does nothing if host memory is short. */
void maar_plan_cache_keep(MaarPlanCache cache, const struct maar_plan_key_bytes* key,
                          MaarPlan plan);

#endif
