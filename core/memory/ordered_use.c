/*
 * The MaarOrderedUseInfo of a request: see ordered_use.h.
 */
#include "core/memory/ordered_use.h"

#include "core/chain.h"

const MaarOrderedUseInfo* maar_ordered_use_find(const void* chain)
{
    return maar_chain_find(chain, MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO);
}

#define KNOWN_ORDERED_USE_FLAGS                                                                    \
    ((MaarOrderedUseFlags)MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT |                                     \
     (MaarOrderedUseFlags)MAAR_ORDERED_USE_PREFER_WAITS_BIT)

/* Returns the bound that a structure breaks. There is one. */
MAAR_NOINLINE struct maar_fault find_ordered_bound(const MaarOrderedUseInfo* use,
                                                   struct maar_bound_text* text)
{
    const MaarOrderedUseFlags unknown = use->flags & ~KNOWN_ORDERED_USE_FLAGS;
    const uint32_t waits = use->pWaitCount != NULL ? *use->pWaitCount : 0;
    const struct maar_bound bounds[] = {
        {unknown != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "MaarOrderedUseInfo::flags has bits that are no MaarOrderedUseFlagBits",
         MAAR_SHOW_BITS(unknown)},
        {use->pointCount > MAAR_MAX_POINTS, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "MaarOrderedUseInfo::pointCount is above MAAR_MAX_POINTS",
         MAAR_SHOW_LIMIT(use->pointCount, MAAR_MAX_POINTS)},
        {true, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "*MaarOrderedUseInfo::pWaitCount is above waitCapacity",
         MAAR_SHOW_LIMIT(waits, use->waitCapacity)},
        {0},
    };
    return maar_find_broken_bound(bounds, text);
}

struct maar_fault maar_ordered_use_fault(const MaarOrderedUseInfo* use,
                                         struct maar_bound_text* text)
{
    static const MaarOrderedUseInfo none = {.flags = 0};
    use = use != NULL ? use : &none;
    const bool adds = (use->flags & MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT) != 0;
    if ((use->flags & ~KNOWN_ORDERED_USE_FLAGS) != 0 || use->pointCount > MAAR_MAX_POINTS) {
        return find_ordered_bound(use, text);
    }
    const struct maar_rule rules[] = {
        {!adds && use->flags != 0, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "MaarOrderedUseInfo::flags has MAAR_ORDERED_USE_PREFER_WAITS_BIT without "
         "MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT"},
        {use->pointCount > 0 && use->pPoints == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "MaarOrderedUseInfo::pPoints is NULL"},
        {adds && use->waitCapacity == 0, MAAR_MESSAGE_ID_ZERO_SIZE,
         "MaarOrderedUseInfo::waitCapacity is 0"},
        {adds && use->pWaits == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "MaarOrderedUseInfo::pWaits is NULL"},
        {adds && use->pWaitCount == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "MaarOrderedUseInfo::pWaitCount is NULL"},
        {0},
    };
    const struct maar_fault fault = maar_find_fault(rules);
    return fault.sentence == NULL && adds && *use->pWaitCount > use->waitCapacity
               ? find_ordered_bound(use, text)
               : fault;
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
    struct maar_bound_text text;
    const MaarOrderedUseInfo* use = maar_ordered_use_find(chain);
    return use != NULL && maar_ordered_use_fault(use, &text).sentence == NULL
               ? maar_ordered_wait_count(use)
               : 0;
}

void maar_ordered_restore_waits(const MaarAllocationCreateInfo* info, uint32_t count)
{
    if (maar_ordered_count_waits(info) > count) {
        maar_ordered_set_wait_count(maar_ordered_use_find(info->pNext), count);
    }
}
