/*
 * Checks the arguments of an allocation: see allocation_check.h.
 */
#include "core/memory/allocation_check.h"

#include <stdio.h>
#include <string.h>

#include "core/chain.h"
#include "core/memory/allocate.h"
#include "core/memory/allocator_state.h"
#include "core/memory/export_types.h"
#include "core/memory/ordered_use.h"

/* All of MaarAllocationCreateFlagBits. */
#define KNOWN_ALLOCATION_FLAGS                                                                     \
    ((MaarAllocationCreateFlags)(MAAR_ALLOCATION_CREATE_MAPPED_BIT |                               \
                                 MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT |                        \
                                 MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT |                            \
                                 MAAR_ALLOCATION_CREATE_UPPER_BIT |                                \
                                 MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT |                       \
                                 MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT |                          \
                                 MAAR_ALLOCATION_CREATE_UNTIED_BIT |                               \
                                 MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT |                    \
                                 MAAR_ALLOCATION_CREATE_TIGHTEST_BIT |                             \
                                 MAAR_ALLOCATION_CREATE_LOWEST_BIT |                               \
                                 MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT))
/* A new flag must take the next bit and must be added to the list. */
_Static_assert(((KNOWN_ALLOCATION_FLAGS + 1) & KNOWN_ALLOCATION_FLAGS) == 0, "a flag is missing");
_Static_assert((KNOWN_ALLOCATION_FLAGS & (MAAR_ALLOCATE_AS_TRIAL | MAAR_ALLOCATE_WITHOUT_REPORT)) ==
                   0,
               "a flag for Maar's own allocations has the bit of a public flag");

const MaarAllocationCreateInfo maar_default_create_info = {
    .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
};

/* Returns the bound that a create info breaks. There is one. */
MAAR_NOINLINE struct maar_fault find_create_info_bound(const MaarAllocationCreateInfo* info,
                                                       MaarAllocationCreateFlags known,
                                                       struct maar_bound_text* text)
{
    const MaarAllocationCreateFlags unknown = info->flags & ~known;
    const MaarMemoryTypeOrderInfo* order = maar_type_order(info);
    const struct maar_bound bounds[] = {
        {unknown != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "pCreateInfo->flags has bits that are no MaarAllocationCreateFlagBits",
         MAAR_SHOW_BITS(unknown)},
        {(uint32_t)info->usage > MAAR_MEMORY_USAGE_FLAGS_ONLY, MAAR_MESSAGE_ID_INVALID_ENUM,
         "pCreateInfo->usage is not a MaarMemoryUsage", MAAR_SHOW_NUMBER((uint32_t)info->usage)},
        {(uint32_t)info->dedicated > MAAR_DEDICATED_PREFERRED, MAAR_MESSAGE_ID_INVALID_ENUM,
         "pCreateInfo->dedicated is not a MaarDedicated",
         MAAR_SHOW_NUMBER((uint32_t)info->dedicated)},
        {!(info->priority >= 0.0F && info->priority <= 1.0F), MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->priority is not within 0 and 1", MAAR_SHOW_FRACTION(info->priority)},
        {true, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->pNext has a MaarMemoryTypeOrderInfo whose memoryTypeCount is 0 or above "
         "VK_MAX_MEMORY_TYPES",
         MAAR_SHOW_LIMIT(order != NULL ? order->memoryTypeCount : 0, VK_MAX_MEMORY_TYPES)},
        {0},
    };
    return maar_find_broken_bound(bounds, text);
}

/* Returns the first mistake in a create info, in a sentence that begins with "pCreateInfo". Checks
 * only what does not depend on the request. known: the flags that are allowed. text: may have the
 * sentence. */
static struct maar_fault find_create_info_fault(const MaarAllocationCreateInfo* info,
                                                MaarAllocationCreateFlags known,
                                                struct maar_bound_text* text)
{
    const MaarMemoryTypeOrderInfo* order = maar_type_order(info);
    if ((info->flags & ~known) != 0 || (uint32_t)info->usage > MAAR_MEMORY_USAGE_FLAGS_ONLY ||
        (uint32_t)info->dedicated > MAAR_DEDICATED_PREFERRED ||
        !(info->priority >= 0.0F && info->priority <= 1.0F) ||
        (order != NULL &&
         (order->memoryTypeCount == 0 || order->memoryTypeCount > VK_MAX_MEMORY_TYPES))) {
        return find_create_info_bound(info, known, text);
    }
    const struct maar_rule rules[] = {
        {maar_chain_has_untyped(info->pNext), MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
         "pCreateInfo->pNext has a structure whose sType is 0"},
        {info->dedicated != MAAR_DEDICATED_ALWAYS &&
             maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_MEMORY_ALLOCATE_NEXT_INFO) != NULL,
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "pCreateInfo->pNext has a MaarMemoryAllocateNextInfo, but pCreateInfo->dedicated is not "
         "MAAR_DEDICATED_ALWAYS"},
        {order != NULL && order->pMemoryTypeIndices == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pCreateInfo->pNext has a MaarMemoryTypeOrderInfo whose pMemoryTypeIndices is NULL"},
        {0},
    };
    return maar_find_fault(rules);
}

VkResult maar_check_create_info(MaarAllocator allocator, const char* call, const char* argument,
                                const MaarAllocationCreateInfo* info)
{
    char text[320];
    struct maar_bound_text bound;
    const struct maar_fault fault = find_create_info_fault(info, KNOWN_ALLOCATION_FLAGS, &bound);
    if (fault.sentence == NULL) {
        return VK_SUCCESS;
    }
    (void)snprintf(text, sizeof text, "%s%s", argument, fault.sentence + strlen("pCreateInfo"));
    return maar_misuse(allocator, fault.id, call, text);
}

static struct maar_fault find_request_fault(const MaarMemoryRequest* request,
                                            const MaarAllocationCreateInfo* info, bool internal,
                                            struct maar_bound_text* text)
{
    const MaarAllocationCreateFlags known =
        internal ? KNOWN_ALLOCATION_FLAGS | MAAR_ALLOCATE_AS_TRIAL | MAAR_ALLOCATE_WITHOUT_REPORT
                 : KNOWN_ALLOCATION_FLAGS;
    const struct maar_fault create = find_create_info_fault(info, known, text);
    const MaarExportInfo* export = maar_export_find(info->pNext);
    const struct maar_rule rules[] = {
        {request->requirements.size == 0, MAAR_MESSAGE_ID_ZERO_SIZE,
         "pRequest->requirements.size is 0"},
        {request->dedicatedBuffer != VK_NULL_HANDLE && request->dedicatedImage != VK_NULL_HANDLE,
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "pRequest names both a dedicatedBuffer and a dedicatedImage"},
        {export != NULL && export->handleTypes == 0, MAAR_MESSAGE_ID_EMPTY_FLAGS,
         "MaarExportInfo::handleTypes is 0"},
        {request->requiresDedicated == VK_TRUE && info->dedicated == MAAR_DEDICATED_NEVER,
         MAAR_MESSAGE_ID_DEDICATED_REQUIRED,
         "pCreateInfo->dedicated is NEVER, but the driver requires a dedicated allocation"},
        {0},
    };
    if (create.sentence != NULL) {
        return create;
    }
    if ((uint32_t)request->kind > MAAR_RESOURCE_KIND_OPTIMAL) {
        const struct maar_bound bounds[] = {
            {true, MAAR_MESSAGE_ID_INVALID_ENUM, "pRequest->kind is not a MaarResourceKind",
             MAAR_SHOW_NUMBER((uint32_t)request->kind)},
            {0},
        };
        return maar_find_broken_bound(bounds, text);
    }
    const struct maar_fault fault = maar_find_fault(rules);
    return fault.sentence != NULL || info->pNext == NULL
               ? fault
               : maar_ordered_use_fault(maar_ordered_use_find(info->pNext), text);
}

VkResult maar_check_allocation(MaarAllocator allocator, const char* call,
                               const MaarMemoryRequest* request,
                               const MaarAllocationCreateInfo* info, bool internal)
{
    VkResult result = maar_check_structure(allocator, call, "pRequest", request,
                                           MAAR_STRUCTURE_TYPE_MEMORY_REQUEST);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                      MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_bound_text text;
    const struct maar_fault fault = find_request_fault(request, info, internal, &text);
    return fault.sentence != NULL ? maar_misuse(allocator, fault.id, call, fault.sentence)
                                  : VK_SUCCESS;
}
