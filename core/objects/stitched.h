/*
 * Creates buffers and images made of pages, in pools that stitch. The public calls that create
 * buffers and images try these functions first. No lock may be held.
 */
#ifndef MAAR_CORE_OBJECTS_STITCHED_H
#define MAAR_CORE_OBJECTS_STITCHED_H

#include <stdbool.h>

#include "core/memory/object_handle.h"
#include "core/memory/pool.h"

/* Returns whether an object with this create info may be made of pages, if it is large enough. The
 * pool must stitch, and the create info must not ask for properties that pages cannot have. The
 * create info may be NULL. */
static inline bool maar_may_stitch(MaarAllocator allocator, const MaarAllocationCreateInfo* info)
{
    const MaarAllocationCreateFlags apart =
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT |
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT |
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    if (info == NULL || info->sType != MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO ||
        info->pool == VK_NULL_HANDLE) {
        return false;
    }
    const struct maar_pool* pool = maar_pool_of(allocator, info->pool);
    return pool != NULL && pool->stitches && info->dedicated != MAAR_DEDICATED_ALWAYS &&
           (info->flags & apart) == 0;
}

/* How an attempt to make an object of pages ends. */
enum maar_stitch_end {
    MAAR_STITCH_ENDED,     /* the object was made, or the call fails; *result says which */
    MAAR_STITCH_OTHERWISE, /* make the object as in any other pool */
    /* make the object as in any other pool, then call maar_note_fallback; the address space is
     * used up, which was reported */
    MAAR_STITCH_NO_SPACE
};

/* Make an object of pages, in a pool that stitches. */
enum maar_stitch_end maar_create_stitched_buffer(MaarAllocator allocator, const char* call,
                                                 const VkBufferCreateInfo* buffer_info,
                                                 const MaarAllocationCreateInfo* info,
                                                 VkResult* result, VkBuffer* buffer,
                                                 MaarAllocation* allocation);
enum maar_stitch_end maar_create_stitched_image(MaarAllocator allocator, const char* call,
                                                const VkImageCreateInfo* image_info,
                                                const MaarAllocationCreateInfo* info,
                                                VkResult* result, VkImage* image,
                                                MaarAllocation* allocation);

#endif
