/*
 * Checks the input of the planner. Each report names the argument and its index.
 */
#include "core/plan/plan_input.h"

#include "core/bits.h"
#include "core/bound_check.h"
#include "core/host_memory.h"
#include "core/message_delivery.h"
#include "core/plan/plan_result.h"

#include <stdarg.h>
#include <stdio.h>

enum { SENTENCE_SIZE = 256 };

static const uint64_t max_alignment = (uint64_t)1 << 48;

VkResult maar_plan_reject(const MaarPlanCreateInfo* info, const char* format, ...)
{
    if (info->pfnMessage != NULL) {
        char text[SENTENCE_SIZE];
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        const struct maar_reporter reporter = {.message = info->pfnMessage,
                                               .user_data = info->pMessageUserData};
        maar_message_deliver(&reporter, MAAR_MESSAGE_SEVERITY_ERROR,
                             MAAR_MESSAGE_ID_INVALID_PLAN_INPUT, "maarCreatePlan", text);
    }
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

/* A rule for a part of the input, and whether the input breaks it. */
struct rule {
    bool broken;
    const char* sentence;
};

/* Returns the sentence of the first broken one of `count` rules, or NULL. */
static const char* find_broken(const struct rule* rules, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (rules[i].broken) {
            return rules[i].sentence;
        }
    }
    return NULL;
}

/* Reports the first broken bound of a part of the input. Returns VK_SUCCESS if none is broken. */
static VkResult check_bounds(const MaarPlanCreateInfo* info, const char* part,
                             const struct maar_bound* bounds)
{
    struct maar_bound_text text;
    const struct maar_fault fault = maar_find_broken_bound(bounds, &text);
    return fault.sentence == NULL
               ? VK_SUCCESS
               : maar_plan_reject(info, "maarCreatePlan: %s%s", part, fault.sentence);
}

static uint64_t alignment_of(const MaarPlanResource* resource)
{
    return resource->alignment > 1 ? resource->alignment : 1;
}

/* If passCount is 0, every number below UINT32_MAX is a pass: on one queue only the order of passes
 * matters. */
static bool pass_is_known(const MaarPlanCreateInfo* info, uint32_t pass)
{
    return pass < (info->passCount != 0 ? info->passCount : UINT32_MAX);
}

static VkResult check_lifetime(const MaarPlanCreateInfo* info, uint32_t index)
{
    const MaarPlanResource* resource = &info->pResources[index];
    if ((resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0) {
        return VK_SUCCESS;
    }
    if (resource->useCount == 0) {
        if (info->pPassQueues != NULL) {
            return maar_plan_reject(info,
                                    "maarCreatePlan: pResources[%u].useCount is 0; with "
                                    "pPassQueues, the resource needs uses",
                                    index);
        }
        if (resource->lastPass < resource->firstPass) {
            return maar_plan_reject(
                info, "maarCreatePlan: pResources[%u].lastPass (%u) is before firstPass (%u)",
                index, resource->lastPass, resource->firstPass);
        }
        if (!pass_is_known(info, resource->lastPass)) {
            return maar_plan_reject(info,
                                    "maarCreatePlan: pResources[%u].lastPass (%u) is not a pass, "
                                    "and passCount is %u",
                                    index, resource->lastPass, info->passCount);
        }
        return VK_SUCCESS;
    }
    if (resource->pUses == NULL) {
        return maar_plan_reject(info, "maarCreatePlan: pResources[%u].pUses is NULL", index);
    }
    for (uint32_t i = 0; i < resource->useCount; ++i) {
        if (!pass_is_known(info, resource->pUses[i])) {
            return maar_plan_reject(info,
                                    "maarCreatePlan: pResources[%u].pUses[%u] (%u) is not a pass, "
                                    "and passCount is %u",
                                    index, i, resource->pUses[i], info->passCount);
        }
    }
    return VK_SUCCESS;
}

/* Returns the granularity if resources of several kinds keep it, or else 1. */
static uint64_t granule_of(const MaarPlanCreateInfo* info)
{
    for (uint32_t i = 1; i < info->resourceCount && info->granularity > 1; ++i) {
        if (info->pResources[i].kind != info->pResources[0].kind) {
            return info->granularity;
        }
    }
    return 1;
}

/* Adds to *sum the bytes that the resource takes at most, with the granules around it. */
static VkResult check_resource(const MaarPlanCreateInfo* info, uint32_t index, uint64_t granule,
                               uint64_t* sum)
{
    const MaarPlanResource* resource = &info->pResources[index];
    const uint64_t alignment = alignment_of(resource);
    const MaarPlanResourceFlags known =
        MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT | MAAR_PLAN_RESOURCE_NO_ALIASING_BIT;
    const bool fixed = (resource->flags & MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT) != 0;
    const MaarMessageId id = MAAR_MESSAGE_ID_INVALID_PLAN_INPUT;
    const struct maar_bound bounds[] = {
        {alignment > max_alignment, id, ".alignment is above 2^48",
         MAAR_SHOW_LIMIT(alignment, max_alignment)},
        {resource->size > MAAR_PLAN_MAX_SIZE, id, ".size is above 2^60",
         MAAR_SHOW_LIMIT(resource->size, MAAR_PLAN_MAX_SIZE)},
        {(unsigned)resource->kind > (unsigned)MAAR_RESOURCE_KIND_OPTIMAL, id,
         ".kind is not a MaarResourceKind", MAAR_SHOW_NUMBER((unsigned)resource->kind)},
        {(resource->flags & ~known) != 0, id, ".flags has unknown bits",
         MAAR_SHOW_BITS(resource->flags & ~known)},
        {fixed && resource->fixedOffset % alignment != 0, id,
         ".fixedOffset is not a multiple of the alignment",
         MAAR_SHOW_MULTIPLE(resource->fixedOffset, alignment)},
        {fixed && resource->fixedOffset > MAAR_PLAN_MAX_SIZE, id, ".fixedOffset is above 2^60",
         MAAR_SHOW_LIMIT(resource->fixedOffset, MAAR_PLAN_MAX_SIZE)},
        {0},
    };
    char part[32];
    (void)snprintf(part, sizeof part, "pResources[%u]", index);
    if (resource->size == 0) {
        return maar_plan_reject(info, "maarCreatePlan: %s.size is 0", part);
    }
    VkResult result = check_bounds(info, part, bounds);
    if (result != VK_SUCCESS) {
        return result;
    }
    *sum += maar_align_up(maar_align_up(resource->size, alignment), granule);
    const struct maar_bound bound[] = {
        {*sum > MAAR_PLAN_MAX_SIZE, id,
         " with the sizes before it is too large: their sum is above 2^60",
         MAAR_SHOW_LIMIT(*sum, MAAR_PLAN_MAX_SIZE)},
        {0},
    };
    result = check_bounds(info, part, bound);
    return result == VK_SUCCESS ? check_lifetime(info, index) : result;
}

static VkResult check_dependencies(const MaarPlanCreateInfo* info)
{
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        const MaarPlanDependency* edge = &info->pDependencies[i];
        if (!pass_is_known(info, edge->before) || !pass_is_known(info, edge->after)) {
            return maar_plan_reject(
                info,
                "maarCreatePlan: pDependencies[%u] (%u before %u) names a pass that does not "
                "exist; passCount is %u",
                i, edge->before, edge->after, info->passCount);
        }
        if (edge->before == edge->after) {
            return maar_plan_reject(info,
                                    "maarCreatePlan: pDependencies[%u] puts pass %u before itself",
                                    i, edge->before);
        }
    }
    return VK_SUCCESS;
}

VkResult maar_plan_check_input(const MaarPlanCreateInfo* info)
{
    if (info->resourceCount > MAAR_PLAN_MAX_RESOURCES) {
        return maar_plan_reject(info,
                                "maarCreatePlan: resourceCount is above MAAR_PLAN_MAX_RESOURCES "
                                "(it is %u, the limit %u)",
                                info->resourceCount, MAAR_PLAN_MAX_RESOURCES);
    }
    if (info->resourceCount != 0 && info->pResources == NULL) {
        return maar_plan_reject(info, "maarCreatePlan: pResources is NULL");
    }
    const MaarPlanCreateFlags known = MAAR_PLAN_CREATE_KEEP_EDGES_BIT | MAAR_PLAN_CREATE_GREEDY_BIT;
    const uint64_t granularity = info->granularity;
    const uint32_t index_count = info->previousIndexCount;
    const MaarMessageId id = MAAR_MESSAGE_ID_INVALID_PLAN_INPUT;
    const struct maar_bound bounds[] = {
        {(info->flags & ~known) != 0, id, "flags has unknown bits",
         MAAR_SHOW_BITS(info->flags & ~known)},
        {!maar_is_power_of_two_or_zero(granularity), id, "granularity is not a power of two",
         MAAR_SHOW_NUMBER(granularity)},
        {granularity > max_alignment, id, "granularity is above 2^48",
         MAAR_SHOW_LIMIT(granularity, max_alignment)},
        {info->passCount > MAAR_PLAN_MAX_PASSES, id, "passCount is above MAAR_PLAN_MAX_PASSES",
         MAAR_SHOW_LIMIT(info->passCount, MAAR_PLAN_MAX_PASSES)},
        {0},
    };
    const struct rule rules[] = {
        {!maar_host_callbacks_serve(info->pAllocationCallbacks),
         "pAllocationCallbacks lacks pfnAllocation or pfnFree"},
        {index_count != 0 && info->pPreviousIndices == NULL, "pPreviousIndices is NULL"},
        {info->pPassQueues != NULL && info->passCount == 0,
         "pPassQueues is set, but passCount is 0"},
        {info->dependencyCount != 0 && info->pDependencies == NULL, "pDependencies is NULL"},
    };
    VkResult result = check_bounds(info, "", bounds);
    const char* broken = find_broken(rules, sizeof rules / sizeof rules[0]);
    if (result == VK_SUCCESS && index_count != 0 && index_count != info->resourceCount) {
        result = maar_plan_reject(info,
                                  "maarCreatePlan: pPreviousIndices does not have one index for "
                                  "each resource: previousIndexCount differs (it is %u, and "
                                  "resourceCount %u)",
                                  index_count, info->resourceCount);
    }
    if (result == VK_SUCCESS && broken != NULL) {
        result = maar_plan_reject(info, "maarCreatePlan: %s", broken);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint32_t previous_count =
        info->previous != VK_NULL_HANDLE ? info->previous->info.resourceCount : UINT32_MAX;
    for (uint32_t i = 0; i < info->previousIndexCount; ++i) {
        if (info->pPreviousIndices[i] >= previous_count &&
            info->pPreviousIndices[i] != UINT32_MAX) {
            return maar_plan_reject(
                info,
                "maarCreatePlan: pPreviousIndices[%u] (%u) is not a resource of "
                "`previous`",
                i, info->pPreviousIndices[i]);
        }
    }
    result = check_dependencies(info);
    uint64_t sum = 0;
    const uint64_t granule = granule_of(info);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->resourceCount; ++i) {
        result = check_resource(info, i, granule, &sum);
    }
    return result;
}
