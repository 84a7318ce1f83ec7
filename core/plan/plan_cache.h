/*
 * The cache of plans: for an unchanged input the plan is looked up. One lock guards the cache; no
 * lock may be held by the caller.
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

/* Writes down the whole input that determines the result. */
VkResult maar_plan_write_key(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                             struct maar_plan_key_bytes* key);
/* Returns a plan of that key, retained for the caller, or NULL. The plan is in the cache's
 * memory. */
MaarPlan maar_plan_cache_find(MaarPlanCache cache, const struct maar_plan_key_bytes* key);
/* Keeps a copy of a plan if memory allows. Never fails. */
void maar_plan_cache_keep(MaarPlanCache cache, const struct maar_plan_key_bytes* key,
                          MaarPlan plan);

#endif
