/*
 * A finished plan. A plan is immutable and has a count of references.
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

/* Allocates a plan with lists of the sizes in `info`. The entries of the lists are not initialized.
 * Returns NULL when host memory is short. */
MaarPlan maar_plan_allocate(const VkAllocationCallbacks* callbacks, const MaarPlanInfo* info);
/* Returns the number of bytes that maar_plan_allocate takes for a plan. */
size_t maar_plan_allocation_size(const MaarPlanInfo* info);
/* Copies a plan into other memory. Returns NULL when host memory is short. */
MaarPlan maar_plan_copy(MaarPlan plan, const VkAllocationCallbacks* callbacks);
/* Adds one reference. */
void maar_plan_retain(MaarPlan plan);
/* Removes one reference. Frees the plan when no reference is left. */
void maar_plan_release(MaarPlan plan);
/* Looks up the offset of a resource in the previous plan. Returns false if the resource was not in
 * that plan, or its alignment does not allow the offset. */
bool maar_plan_previous_offset(const MaarPlanCreateInfo* info, uint32_t resource, uint64_t* offset);

#endif
