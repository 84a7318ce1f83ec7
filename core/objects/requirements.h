/*
 * What objects demand of their memory, asked of the driver with and without creating them.
 */
#ifndef MAAR_CORE_OBJECTS_REQUIREMENTS_H
#define MAAR_CORE_OBJECTS_REQUIREMENTS_H

#include "core/memory/memory_internal.h"
#include "maar/objects.h"

/* Whether a buffer or an image that is not disjoint can be made so; tells if not. disjoint: what to
 * do with one that is. */
VkResult maar_check_buffer_info(MaarAllocator allocator, const char* call,
                                const VkBufferCreateInfo* info);
VkResult maar_check_image_info(MaarAllocator allocator, const char* call,
                               const VkImageCreateInfo* info, const char* disjoint);

/* The same for objects that do not exist yet, made for the question where VK_KHR_maintenance4 is
 * not enabled. */
VkResult maar_buffer_info_request(MaarAllocator allocator, const VkBufferCreateInfo* info,
                                  MaarMemoryRequest* request);
VkResult maar_image_info_request(MaarAllocator allocator, const VkImageCreateInfo* info,
                                 MaarMemoryRequest* request);

/* The aspect of a plane of a disjoint image; 0 for the whole image. */
void maar_buffer_request(MaarAllocator allocator, VkBuffer buffer, MaarMemoryRequest* request);
void maar_image_request(MaarAllocator allocator, VkImage image, MaarResourceKind kind,
                        VkImageAspectFlagBits plane, MaarMemoryRequest* request);

/* Vulkan does not say to which of the two a tiling by DRM format modifier belongs. */
static inline MaarResourceKind maar_tiling_kind(VkImageTiling tiling)
{
    switch (tiling) {
    case VK_IMAGE_TILING_LINEAR:
        return MAAR_RESOURCE_KIND_LINEAR;
    case VK_IMAGE_TILING_OPTIMAL:
        return MAAR_RESOURCE_KIND_OPTIMAL;
    default:
        return MAAR_RESOURCE_KIND_UNKNOWN;
    }
}

/* The slot of an allocation that an object may be bound to at that offset; NULL, having told why.
 */
struct maar_slot* maar_bind_target(MaarAllocator allocator, const char* call,
                                   MaarAllocation allocation, VkDeviceSize offset);

#endif
