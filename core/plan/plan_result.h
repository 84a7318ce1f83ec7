/*
 * A finished plan. It is immutable. Handles and caches share it by reference counts.
 */
#ifndef MAAR_CORE_PLAN_PLAN_RESULT_H
#define MAAR_CORE_PLAN_PLAN_RESULT_H

#include "core/port_atomic.h"
#include "maar/plan.h"

#include <stdbool.h>

/* The memory of a MaarPlan: the plan and its lists are one host allocation. */
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

/* Allocates a plan with the numbers of entries in its info. The lists are empty. Returns NULL
 * without memory. */
MaarPlan maar_plan_allocate(const VkAllocationCallbacks* callbacks, const MaarPlanInfo* info);
/* Returns the bytes of such an allocation. */
size_t maar_plan_allocation_size(const MaarPlanInfo* info);
/* Copies a plan into other memory. Returns NULL without memory. */
MaarPlan maar_plan_copy(MaarPlan plan, const VkAllocationCallbacks* callbacks);
/* Adds one reference. */
void maar_plan_retain(MaarPlan plan);
/* Removes one reference, and frees the plan with the last one. */
void maar_plan_release(MaarPlan plan);
/* Looks up the offset of a resource in the previous plan. Returns false if there was none or the
 * resource's alignment does not allow it. */
bool maar_plan_previous_offset(const MaarPlanCreateInfo* info, uint32_t resource, uint64_t* offset);

#endif
