/*
 * The MaarOrderedUseInfo of a request: see ordered_use.h.
 */
#include "core/memory/ordered_use.h"

#include "core/chain.h"

const MaarOrderedUseInfo* maar_ordered_use_find(const void* chain)
{
    return maar_chain_find(chain, MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO);
}

struct maar_fault maar_ordered_use_fault(const MaarOrderedUseInfo* use)
{
    static const MaarOrderedUseInfo none = {.flags = 0};
    use = use != NULL ? use : &none;
    const MaarOrderedUseFlags known =
        MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT | MAAR_ORDERED_USE_PREFER_WAITS_BIT;
    const bool adds = (use->flags & MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT) != 0;
    const struct maar_rule rules[] = {
        {(use->flags & ~known) != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "MaarOrderedUseInfo::flags has bits that are no MaarOrderedUseFlagBits"},
        {!adds && use->flags != 0, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "MaarOrderedUseInfo::flags has MAAR_ORDERED_USE_PREFER_WAITS_BIT without "
         "MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT"},
        {use->pointCount > MAAR_MAX_POINTS, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "MaarOrderedUseInfo::pointCount is above MAAR_MAX_POINTS"},
        {use->pointCount > 0 && use->pPoints == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "MaarOrderedUseInfo::pPoints is NULL"},
        {adds && use->waitCapacity == 0, MAAR_MESSAGE_ID_ZERO_SIZE,
         "MaarOrderedUseInfo::waitCapacity is 0"},
        {adds && use->pWaits == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "MaarOrderedUseInfo::pWaits is NULL"},
        {adds && use->pWaitCount == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "MaarOrderedUseInfo::pWaitCount is NULL"},
        {adds && use->pWaitCount != NULL && *use->pWaitCount > use->waitCapacity,
         MAAR_MESSAGE_ID_OUT_OF_RANGE, "*MaarOrderedUseInfo::pWaitCount is above waitCapacity"},
        {0},
    };
    return maar_find_fault(rules);
}

static bool may_add_waits(const MaarOrderedUseInfo* use)
{
    return (use->flags & MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT) != 0;
}

uint32_t maar_ordered_wait_count(const MaarOrderedUseInfo* use)
{
    return may_add_waits(use) ? *use->pWaitCount : 0;
}

void maar_ordered_set_wait_count(const MaarOrderedUseInfo* use, uint32_t count)
{
    if (may_add_waits(use)) {
        *use->pWaitCount = count;
    }
}

uint32_t maar_ordered_waits_in_chain(const void* chain)
{
    const MaarOrderedUseInfo* use = maar_ordered_use_find(chain);
    return use != NULL && maar_ordered_use_fault(use).sentence == NULL
               ? maar_ordered_wait_count(use)
               : 0;
}

void maar_ordered_restore_waits(const MaarAllocationCreateInfo* info, uint32_t count)
{
    if (maar_ordered_count_waits(info) > count) {
        maar_ordered_set_wait_count(maar_ordered_use_find(info->pNext), count);
    }
}
