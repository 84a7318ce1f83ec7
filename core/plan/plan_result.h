/*
 * A finished plan: immutable, shared by reference counts between handles and caches.
 */
#ifndef MAAR_CORE_PLAN_PLAN_RESULT_H
#define MAAR_CORE_PLAN_PLAN_RESULT_H

#include "core/port_atomic.h"
#include "maar/plan.h"

#include <stdbool.h>

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

/* Allocates a plan with as many entries as its info says. The lists are empty. Returns NULL without
 * memory. */
MaarPlan maar_plan_allocate(const VkAllocationCallbacks* callbacks, const MaarPlanInfo* info);
size_t maar_plan_allocation_size(const MaarPlanInfo* info);
/* Copies a plan into other memory. Returns NULL without memory. */
MaarPlan maar_plan_copy(MaarPlan plan, const VkAllocationCallbacks* callbacks);
void maar_plan_retain(MaarPlan plan);
/* Drops one reference, and frees the plan with the last one. */
void maar_plan_release(MaarPlan plan);
/* Looks up where a resource was in the previous plan. Returns false if it was not there or its
 * alignment does not allow that offset. */
bool maar_plan_previous_offset(const MaarPlanCreateInfo* info, uint32_t resource, uint64_t* offset);

#endif
