/*
 * Checks the input of the planner. Each report names the argument and its index.
 */
#include "core/plan/plan_input.h"

#include "core/bits.h"
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
                                    "maarCreatePlan: pResources[%u].lastPass (%u) is not a pass",
                                    index, resource->lastPass);
        }
        return VK_SUCCESS;
    }
    if (resource->pUses == NULL) {
        return maar_plan_reject(info, "maarCreatePlan: pResources[%u].pUses is NULL", index);
    }
    for (uint32_t i = 0; i < resource->useCount; ++i) {
        if (!pass_is_known(info, resource->pUses[i])) {
            return maar_plan_reject(info,
                                    "maarCreatePlan: pResources[%u].pUses[%u] (%u) is not a pass",
                                    index, i, resource->pUses[i]);
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
    const struct rule rules[] = {
        {resource->size == 0, ".size is 0"},
        {alignment > max_alignment, ".alignment is above 2^48"},
        {resource->size > MAAR_PLAN_MAX_SIZE, ".size is above 2^60"},
        {(unsigned)resource->kind > (unsigned)MAAR_RESOURCE_KIND_OPTIMAL,
         ".kind is not a MaarResourceKind"},
        {(resource->flags & ~known) != 0, ".flags has unknown bits"},
        {fixed && resource->fixedOffset % alignment != 0,
         ".fixedOffset is not a multiple of the alignment"},
        {fixed && resource->fixedOffset > MAAR_PLAN_MAX_SIZE, ".fixedOffset is above 2^60"},
    };
    const char* broken = find_broken(rules, sizeof rules / sizeof rules[0]);
    if (broken != NULL) {
        return maar_plan_reject(info, "maarCreatePlan: pResources[%u]%s", index, broken);
    }
    *sum += maar_align_up(maar_align_up(resource->size, alignment), granule);
    if (*sum > MAAR_PLAN_MAX_SIZE) {
        return maar_plan_reject(
            info, "maarCreatePlan: the sizes up to pResources[%u] add up to more than 2^60", index);
    }
    return check_lifetime(info, index);
}

static VkResult check_dependencies(const MaarPlanCreateInfo* info)
{
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        const MaarPlanDependency* edge = &info->pDependencies[i];
        if (!pass_is_known(info, edge->before) || !pass_is_known(info, edge->after)) {
            return maar_plan_reject(
                info,
                "maarCreatePlan: pDependencies[%u] (%u before %u) names a pass that does not exist",
                i, edge->before, edge->after);
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
                                "maarCreatePlan: resourceCount is above MAAR_PLAN_MAX_RESOURCES");
    }
    if (info->resourceCount != 0 && info->pResources == NULL) {
        return maar_plan_reject(info, "maarCreatePlan: pResources is NULL");
    }
    const MaarPlanCreateFlags known = MAAR_PLAN_CREATE_KEEP_EDGES_BIT | MAAR_PLAN_CREATE_GREEDY_BIT;
    const uint64_t granularity = info->granularity;
    const uint32_t index_count = info->previousIndexCount;
    const struct rule rules[] = {
        {(info->flags & ~known) != 0, "flags has unknown bits"},
        {!maar_host_callbacks_serve(info->pAllocationCallbacks),
         "pAllocationCallbacks lacks pfnAllocation or pfnFree"},
        {!maar_is_power_of_two_or_zero(granularity), "granularity is not a power of two"},
        {granularity > max_alignment, "granularity is above 2^48"},
        {index_count != 0 && (index_count != info->resourceCount || info->pPreviousIndices == NULL),
         "pPreviousIndices does not have one index for each resource"},
        {info->passCount > MAAR_PLAN_MAX_PASSES, "passCount is above MAAR_PLAN_MAX_PASSES"},
        {info->pPassQueues != NULL && info->passCount == 0,
         "pPassQueues is set, but passCount is 0"},
        {info->dependencyCount != 0 && info->pDependencies == NULL, "pDependencies is NULL"},
    };
    const char* broken = find_broken(rules, sizeof rules / sizeof rules[0]);
    if (broken != NULL) {
        return maar_plan_reject(info, "maarCreatePlan: %s", broken);
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
    VkResult result = check_dependencies(info);
    uint64_t sum = 0;
    const uint64_t granule = granule_of(info);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->resourceCount; ++i) {
        result = check_resource(info, i, granule, &sum);
    }
    return result;
}
