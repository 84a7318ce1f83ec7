/*
 * The cache of plans: unchanged inputs cost a look-up.
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

/* Writes down all input that determines the result. */
VkResult maar_plan_write_key(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                             struct maar_plan_key_bytes* key);
/* Returns a plan of that key, retained for the caller, or NULL. The plan lies in the cache's
 * memory. */
MaarPlan maar_plan_cache_find(MaarPlanCache cache, const struct maar_plan_key_bytes* key);
/* Keeps a copy of a plan if memory allows. Never fails. */
void maar_plan_cache_keep(MaarPlanCache cache, const struct maar_plan_key_bytes* key,
                          MaarPlan plan);

#endif
