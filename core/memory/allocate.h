/*
 * Allocation: public functions that allocate call maar_allocate, except for imports
 * (foreign_memory.h) and stitched allocations (stitched_block.h). A fast path serves nearly all
 * requests (allocate_fast.c). A slow path tries all ways to get memory (allocate_slow.c). No lock
 * may be held.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATE_H
#define MAAR_CORE_MEMORY_ALLOCATE_H

#include "core/memory/arena_place.h"
#include "core/memory/patience.h"
#include "core/memory/slot_home.h"

/* Only Maar's own allocations set this flag. A failure is neither counted nor reported, and the
 * observer (pfnOutOfMemory) is not called, because the caller then tries something else. */
#define MAAR_ALLOCATE_AS_TRIAL ((MaarAllocationCreateFlags)0x40000000)
/* Only Maar's own allocations set this flag. A failure is neither counted nor reported, because the
 * caller does that or tries something else. */
#define MAAR_ALLOCATE_WITHOUT_REPORT ((MaarAllocationCreateFlags)0x20000000)
/* Returns whether an allocation is a trial of Maar's own: see MAAR_ALLOCATE_AS_TRIAL. */
static inline bool maar_is_trial(const MaarAllocationCreateInfo* info)
{
    return (info->flags & MAAR_ALLOCATE_AS_TRIAL) != 0;
}
/* Returns whether a failure counts as a failed request of the program. */
static inline bool maar_counts_failure(const MaarAllocationCreateInfo* info)
{
    return (info->flags & (MAAR_ALLOCATE_AS_TRIAL | MAAR_ALLOCATE_WITHOUT_REPORT)) == 0;
}
/* Returns whether a failure is not reported, because the caller expects it: the caller asked for
 * existing blocks only, or it tries something else afterwards. */
static inline bool maar_is_without_report(const MaarAllocationCreateInfo* info)
{
    return (info->flags & (MAAR_ALLOCATE_AS_TRIAL | MAAR_ALLOCATE_WITHOUT_REPORT |
                           (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT)) !=
           0;
}

/* Allocates memory for a request and returns the allocation, or VK_NULL_HANDLE and the error. */
VkResult maar_allocate(MaarAllocator allocator, const char* call, const MaarMemoryRequest* request,
                       const MaarAllocationCreateInfo* info, MaarAllocation* allocation);
/* Does the same, and returns where the caller binds an object. A capture records no range: the
 * caller records the object. spot may be NULL. */
VkResult maar_allocate_for_object(MaarAllocator allocator, const char* call,
                                  const MaarMemoryRequest* request,
                                  const MaarAllocationCreateInfo* info, MaarAllocation* allocation,
                                  struct maar_spot* spot);
/* Allocates memory of Maar's own. If a public call tries several, all of them wait for other
 * threads with the same patience. */
VkResult maar_allocate_own(MaarAllocator allocator, const char* call,
                           const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                           struct maar_patience* patience, MaarAllocation* allocation);

/* How a successful allocation differs from what the caller asked for. */
struct maar_deviation {
    bool fallback;      /* its memory type is not the preferred type */
    bool exceeded;      /* it exceeded a budget */
    uint32_t best_type; /* the preferred type */
};

/* Chooses a memory type and places the allocation. Tries every way to get memory before it fails.
 * general: the request as the caller made it, before it is adapted to a pool. On success fills made
 * and deviation. */
VkResult maar_allocate_slowly(MaarAllocator allocator, const char* call,
                              const MaarMemoryRequest* request,
                              const MaarAllocationCreateInfo* info,
                              const struct maar_place_request* general,
                              struct maar_patience* patience, struct maar_made* made,
                              struct maar_deviation* deviation);

/* Adapts a request to a pool: to its minimum alignment, its granularity and, in non-coherent
 * memory, to whole atoms. place has the request's kind. Returns false when the size or the
 * alignment is out of bounds. */
bool maar_shape_for_pool(const struct maar_place_request* general, const struct maar_pool* pool,
                         struct maar_place_request* place);

/* After a shortage: frees what has passed, waits for what other threads are freeing, and releases
 * the empty blocks of some heaps (bits). Returns whether anything came free. No lock may be held.
 */
bool maar_make_room(MaarAllocator allocator, uint32_t heaps, struct maar_patience* patience);

#endif
