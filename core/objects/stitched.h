/*
 * Buffers and images made of pages, in pools that stitch.
 */
#ifndef MAAR_CORE_OBJECTS_STITCHED_H
#define MAAR_CORE_OBJECTS_STITCHED_H

#include "core/memory/memory_internal.h"

/* Whether an object with this create info, which may be NULL, may be made of pages if it is large
 * enough: its pool stitches, and it asks for nothing that pages cannot give. */
static inline bool maar_may_stitch(const MaarAllocationCreateInfo* info)
{
    const MaarAllocationCreateFlags apart =
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT |
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    return info != NULL && info->sType == MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO &&
           info->pool != VK_NULL_HANDLE && maar_pool_of(info->pool)->stitches &&
           info->dedicated != MAAR_DEDICATED_ALWAYS && (info->flags & apart) == 0;
}

/* maarCreateBuffer and maarCreateImage, in a pool that stitches. VK_INCOMPLETE: it is to be made as
 * in any other pool. VK_NOT_READY: likewise, for want of address space, told; a fallback to be
 * noted with maar_note_fallback. */
VkResult maar_create_stitched_buffer(MaarAllocator allocator, const char* call,
                                     const VkBufferCreateInfo* buffer_info,
                                     const MaarAllocationCreateInfo* info, VkBuffer* buffer,
                                     MaarAllocation* allocation);
VkResult maar_create_stitched_image(MaarAllocator allocator, const char* call,
                                    const VkImageCreateInfo* image_info,
                                    const MaarAllocationCreateInfo* info, VkImage* image,
                                    MaarAllocation* allocation);

#endif
