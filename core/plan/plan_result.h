/*
 * A finished plan: immutable, shared by reference counts between handles and caches.
 */
#ifndef MAAR_CORE_PLAN_PLAN_RESULT_H
#define MAAR_CORE_PLAN_PLAN_RESULT_H

#include "core/plan/plan_internal.h"
#include "core/port_atomic.h"

/* What a MaarPlan points to. One allocation of host memory holds it and its lists. */
struct MaarPlan_T {
    maar_atomic32 references;
    bool has_callbacks;
    VkAllocationCallbacks callbacks;
    size_t size; /* of the whole allocation */
    MaarPlanInfo info;
    MaarPlanPlacement* placements;
    MaarPlanClass* classes;
    MaarPlanEdge* edges;
    MaarPlanEdge* wrap_edges;
};

/* Memory for a plan with as many entries as its info says, the lists empty; NULL without memory. */
MaarPlan maar_plan_allocate(const VkAllocationCallbacks* callbacks, const MaarPlanInfo* info);
size_t maar_plan_allocation_size(const MaarPlanInfo* info);
/* The same plan in other memory; NULL without. */
MaarPlan maar_plan_copy(MaarPlan plan, const VkAllocationCallbacks* callbacks);
void maar_plan_retain(MaarPlan plan);
/* Frees it when nobody else holds it. */
void maar_plan_release(MaarPlan plan);

/* What decides a plan, as bytes. */
struct maar_plan_key_bytes {
    const void* bytes;
    size_t size;
    uint64_t hash;
};

/* Writes down everything that decides the result. */
VkResult maar_plan_write_key(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                             struct maar_plan_key_bytes* key);
/* A plan of that key, retained for the caller, or NULL. It lies in the cache's memory. */
MaarPlan maar_plan_cache_find(MaarPlanCache cache, const struct maar_plan_key_bytes* key);
/* Keeps a copy of a plan, where memory allows; never fails. */
void maar_plan_cache_keep(MaarPlanCache cache, const struct maar_plan_key_bytes* key,
                          MaarPlan plan);

/*
 * Moves what can be moved back to its offset in the previous plan, within the problem's peak. Sets
 * the bits of the items that lie there then. False when time, cancellation or memory cut it short.
 */
bool maar_plan_keep(struct maar_plan_problem* problem, const MaarPlanCreateInfo* info,
                    struct maar_plan_budget* budget, struct maar_host_stack* stack,
                    int64_t* offsets, uint64_t* held);

#endif
