/*
 * The engine behind every public way to allocate: a fast path for nearly all requests
 * (allocate_fast.c), and a slow path that tries whatever may help (allocate_slow.c).
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATE_H
#define MAAR_CORE_MEMORY_ALLOCATE_H

#include "core/memory/arena_place.h"

/* For Maar's own allocations alone: a failure is neither counted nor passed to the observer, since
 * something else will be tried. */
#define MAAR_ALLOCATE_AS_TRIAL ((MaarAllocationCreateFlags)0x40000000)
/* Likewise: a failure is not reported, since the caller does so, or tries something else. */
#define MAAR_ALLOCATE_WITHOUT_REPORT ((MaarAllocationCreateFlags)0x20000000)
static inline bool maar_is_trial(const MaarAllocationCreateInfo* info)
{
    return (info->flags & MAAR_ALLOCATE_AS_TRIAL) != 0;
}
/* Whether a failure is not to be reported: a caller that asks for existing blocks alone, or that
 * tries something else afterwards, expects it. */
static inline bool maar_is_without_report(const MaarAllocationCreateInfo* info)
{
    return (info->flags & (MAAR_ALLOCATE_AS_TRIAL | MAAR_ALLOCATE_WITHOUT_REPORT |
                           (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT)) !=
           0;
}

/* internal: the allocation is Maar's own. */
VkResult maar_allocate(MaarAllocator allocator, const char* call, const MaarMemoryRequest* request,
                       const MaarAllocationCreateInfo* info, bool internal,
                       MaarAllocation* allocation);

/* What the caller may not have expected of an allocation that succeeded. */
struct maar_deviation {
    bool fallback; /* another type than the preferred one */
    bool exceeded; /* a budget */
    uint32_t best_type;
};

/* Chooses a type and places, whatever it takes. general: the request, not yet shaped for any memory
 * type. made and deviation: of a success. */
VkResult maar_allocate_slowly(MaarAllocator allocator, const char* call,
                              const MaarMemoryRequest* request,
                              const MaarAllocationCreateInfo* info,
                              const struct maar_place_request* general, struct maar_made* made,
                              struct maar_deviation* deviation);

#endif
