/*
 * A finished plan: its memory, its references, and the public functions that read it. A plan is
 * immutable, so no lock guards it.
 */
#include "core/plan/plan_result.h"

#include "core/host_memory.h"

#include <string.h>

/* Returns where the lists begin, after the plan itself. */
static size_t head_size(void)
{
    return (sizeof(struct MaarPlan_T) + 15) & ~(size_t)15;
}

size_t maar_plan_allocation_size(const MaarPlanInfo* info)
{
    return head_size() + info->resourceCount * sizeof(MaarPlanPlacement) +
           info->classCount * sizeof(MaarPlanClass) +
           ((size_t)info->edgeCount + info->wrapEdgeCount) * sizeof(MaarPlanEdge);
}

MaarPlan maar_plan_allocate(const VkAllocationCallbacks* callbacks, const MaarPlanInfo* info)
{
    const size_t size = maar_plan_allocation_size(info);
    unsigned char* memory = maar_host_alloc(callbacks, size);
    if (memory == NULL) {
        return VK_NULL_HANDLE;
    }
    MaarPlan plan = (MaarPlan)(void*)memory;
    memset(plan, 0, sizeof *plan);
    maar_atomic32_store(&plan->references, 1);
    plan->has_callbacks = callbacks != NULL;
    if (callbacks != NULL) {
        plan->callbacks = *callbacks;
    }
    plan->size = size;
    plan->info = *info;
    /* Lists of structures with 64-bit members come first, so that each list is aligned. */
    plan->classes = (MaarPlanClass*)(void*)(memory + head_size());
    plan->placements = (MaarPlanPlacement*)(void*)(plan->classes + info->classCount);
    plan->edges = (MaarPlanEdge*)(void*)(plan->placements + info->resourceCount);
    plan->wrap_edges = plan->edges + info->edgeCount;
    return plan;
}

MaarPlan maar_plan_copy(MaarPlan plan, const VkAllocationCallbacks* callbacks)
{
    MaarPlan copy = maar_plan_allocate(callbacks, &plan->info);
    if (copy != VK_NULL_HANDLE) {
        memcpy(copy->classes, plan->classes, plan->size - head_size());
    }
    return copy;
}

void maar_plan_retain(MaarPlan plan)
{
    (void)maar_atomic32_add(&plan->references, 1);
}

void maar_plan_release(MaarPlan plan)
{
    if (maar_atomic32_drop(&plan->references) == 0) {
        const VkAllocationCallbacks callbacks = plan->callbacks;
        maar_host_free(plan->has_callbacks ? &callbacks : NULL, plan);
    }
}

bool maar_plan_previous_offset(const MaarPlanCreateInfo* info, uint32_t resource, uint64_t* offset)
{
    if (info->previous == VK_NULL_HANDLE) {
        return false;
    }
    const struct MaarPlan_T* previous = info->previous;
    const uint32_t index =
        info->previousIndexCount != 0 ? info->pPreviousIndices[resource] : resource;
    if (index >= previous->info.resourceCount) {
        return false;
    }
    const uint64_t alignment = info->pResources[resource].alignment;
    *offset = previous->placements[index].offset;
    return alignment <= 1 || *offset % alignment == 0;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyPlan(MaarPlan plan)
{
    if (plan != VK_NULL_HANDLE) {
        maar_plan_release(plan);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanInfo(MaarPlan plan, MaarPlanInfo* pInfo)
{
    if (plan == VK_NULL_HANDLE || pInfo == NULL || pInfo->sType != MAAR_STRUCTURE_TYPE_PLAN_INFO) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    void* next = pInfo->pNext;
    *pInfo = plan->info;
    pInfo->sType = MAAR_STRUCTURE_TYPE_PLAN_INFO;
    pInfo->pNext = next;
    return VK_SUCCESS;
}

/* Returns a list by the two-call idiom: the number of entries, or as many entries as fit. */
static VkResult copy_list(const void* list, uint32_t count, size_t size, uint32_t* pCount,
                          void* pList)
{
    if (pCount == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (pList == NULL) {
        *pCount = count;
        return VK_SUCCESS;
    }
    const uint32_t copied = *pCount < count ? *pCount : count;
    if (copied > 0) {
        memcpy(pList, list, copied * size);
    }
    *pCount = copied;
    return copied < count ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanClasses(MaarPlan plan, uint32_t* pClassCount,
                                                  MaarPlanClass* pClasses)
{
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return copy_list(plan->classes, plan->info.classCount, sizeof *pClasses, pClassCount, pClasses);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanPlacements(MaarPlan plan, uint32_t* pPlacementCount,
                                                     MaarPlanPlacement* pPlacements)
{
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return copy_list(plan->placements, plan->info.resourceCount, sizeof *pPlacements,
                     pPlacementCount, pPlacements);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanEdges(MaarPlan plan, uint32_t* pEdgeCount,
                                                MaarPlanEdge* pEdges)
{
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return copy_list(plan->edges, plan->info.edgeCount, sizeof *pEdges, pEdgeCount, pEdges);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanWrapEdges(MaarPlan plan, uint32_t* pEdgeCount,
                                                    MaarPlanEdge* pEdges)
{
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return copy_list(plan->wrap_edges, plan->info.wrapEdgeCount, sizeof *pEdges, pEdgeCount,
                     pEdges);
}
