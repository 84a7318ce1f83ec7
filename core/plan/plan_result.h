/*
 * A finished plan: immutable, shared by reference counts between handles and caches.
 */
#ifndef MAAR_CORE_PLAN_PLAN_RESULT_H
#define MAAR_CORE_PLAN_PLAN_RESULT_H

#include "core/plan/plan_internal.h"
#include "core/port_atomic.h"

/* One allocation of host memory holds it and its lists. */
struct maar_plan_result {
    maar_atomic32 references;
    bool has_callbacks;
    VkAllocationCallbacks callbacks;
    MaarPlanInfo info;
    MaarPlanPlacement* placements;
    MaarPlanClass* classes;
    MaarPlanEdge* edges;
    MaarPlanEdge* wrap_edges;
};

struct MaarPlan_T {
    struct maar_plan_result* result;
    bool cached;
    bool has_callbacks;
    VkAllocationCallbacks callbacks;
};

void maar_plan_result_retain(struct maar_plan_result* result);
void maar_plan_result_release(struct maar_plan_result* result);

/* What decides a plan, as bytes. */
struct maar_plan_key_bytes {
    const void* bytes;
    size_t size;
    uint64_t hash;
};

/* Writes down everything that decides the result. */
VkResult maar_plan_write_key(const MaarPlanCreateInfo* info, struct maar_plan_arena* arena,
                             struct maar_plan_key_bytes* key);
/* A plan of that key, retained for the caller, or NULL. */
struct maar_plan_result* maar_plan_cache_find(MaarPlanCache cache,
                                              const struct maar_plan_key_bytes* key);
/* Keeps a plan, where memory allows; never fails. */
void maar_plan_cache_keep(MaarPlanCache cache, const struct maar_plan_key_bytes* key,
                          struct maar_plan_result* result);

/*
 * Moves what can be moved back to its offset in the previous plan, within `peak`. Sets the bits of
 * the items that stayed.
 */
VkResult maar_plan_keep(struct maar_plan_problem* problem, const MaarPlanCreateInfo* info,
                        uint64_t peak, struct maar_plan_budget* budget,
                        struct maar_plan_arena* arena, int64_t* offsets, uint64_t* held);

#endif
