/*
 * The memory of a tier: pools for the memory types in use, whose VkDeviceMemory objects together
 * never exceed a budget. Blocks are an eighth of the budget, or so large that four of the largest
 * objects fit, so that freed bytes serve other objects. They hold a whole number of the largest
 * objects; what is left of the budget beside them is a block of another pool, the *rest*. So as
 * many of the largest objects are in memory at once as the budget has bytes for. An object that is
 * larger than a block has a VkDeviceMemory of its own.
 *
 * Not synchronized: the manager's caller synchronizes.
 */
#ifndef MAAR_CORE_RESIDENCY_TIER_MEMORY_H
#define MAAR_CORE_RESIDENCY_TIER_MEMORY_H

#include "core/memory/patience.h"
#include "core/objects/object.h"

struct maar_tier_pool {
    MaarPool pool;
    uint32_t type;
    bool is_rest;
    VkDeviceSize block_size;
    VkDeviceSize bytes; /* of its VkDeviceMemory objects */
};

struct maar_tier_memory {
    MaarAllocator allocator;
    const char* name;
    VkDeviceSize budget;
    VkDeviceSize largest; /* object that is expected */
    VkDeviceSize peak;
    bool is_refused;    /* the driver has refused a block within the budget; the caller clears it */
    VkDeviceSize live;  /* bytes of objects and pages, without those that are pending */
    VkDeviceSize paged; /* bytes of pages */
    uint32_t pool_count;
    struct maar_tier_pool pools[2 * VK_MAX_MEMORY_TYPES];
};

/* What an object is placed with. */
struct maar_tier_place {
    MaarMemoryRequest request; /* its object is set by the call */
    const char* name;          /* of the allocation; may be NULL */
    uint32_t type;
    bool is_mapped;
    bool is_alone; /* gets a VkDeviceMemory of its own */
    uint32_t wait_capacity;
    MaarPoint* waits;     /* what the first use of the memory waits for; the call adds to it */
    uint32_t* wait_count; /* NULL: the host uses the memory first, so it takes no pending memory */
};

/* Destroys the pools. All objects have been destroyed, and their points have passed. */
void maar_tier_memory_close(struct maar_tier_memory* memory);

/* Places an object, within the budget. On failure destroys the object. Returns
 * VK_ERROR_OUT_OF_POOL_MEMORY if there is no room now. */
VkResult maar_tier_memory_place(struct maar_tier_memory* memory, const char* call,
                                struct maar_object object, struct maar_tier_place* place,
                                MaarAllocation* allocation);
/* Destroys a placed object when the points have passed. On failure it stays. */
VkResult maar_tier_memory_remove(struct maar_tier_memory* memory, const char* call,
                                 struct maar_object object, MaarAllocation allocation,
                                 VkDeviceSize size, uint32_t point_count, const MaarPoint* points);
/* Counts pages that another room has committed, or has given back. */
void maar_tier_memory_count(struct maar_tier_memory* memory, VkDeviceSize size, bool comes);
/* Releases empty blocks, and returns the bytes that are still held. */
VkDeviceSize maar_tier_memory_trim(struct maar_tier_memory* memory);
/* Returns whether anything that was removed still waits for its points. */
bool maar_tier_memory_is_pending(const struct maar_tier_memory* memory);
/* Returns the bytes of all VkDeviceMemory objects, and of pages. */
VkDeviceSize maar_tier_memory_bytes(const struct maar_tier_memory* memory);
/* Returns the bytes of the blocks in use in one heap, and of pages. An empty block is not in use:
 * the heap's budget has room for it. */
VkDeviceSize maar_tier_memory_used(struct maar_tier_memory* memory, uint32_t heap);

#endif
