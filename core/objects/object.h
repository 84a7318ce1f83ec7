/*
 * The steps of the public calls on buffers and images: checking a create info, finding what an
 * object requires of its memory, binding an object, and destroying it. Only maar_enter_with_object
 * enters the allocator. No step resolves a handle that its caller has resolved. No lock may be
 * held.
 */
#ifndef MAAR_CORE_OBJECTS_OBJECT_H
#define MAAR_CORE_OBJECTS_OBJECT_H

#include <stdbool.h>

#include "core/bound_check.h"
#include "core/chain.h"
#include "core/handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/patience.h"
#include "maar/objects.h"

/* A buffer or an image; the other one is VK_NULL_HANDLE. */
struct maar_object {
    VkBuffer buffer;
    VkImage image;
};

/* Returns the kind of an image with this tiling. The kind is unknown for a tiling by DRM format
 * modifier, since Vulkan does not define it. */
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

/* ---- create infos ---- */

/* The type of VkBufferUsageFlags2CreateInfo, which older headers lack. */
enum { MAAR_TYPE_BUFFER_USAGE_FLAGS_2 = 1000470006 };

/* Whether a create info has a usage: of its own, or in its chain. */
static inline bool maar_buffer_has_usage(const VkBufferCreateInfo* info)
{
    return info->usage != 0 || maar_chain_find(info->pNext, MAAR_TYPE_BUFFER_USAGE_FLAGS_2) != NULL;
}

/* Check the create info of a buffer, or of an image that is not disjoint. Return VK_SUCCESS if Maar
 * can bind the object to an allocation. Otherwise report what is wrong and return an error.
 * disjoint: the message for a disjoint image. */
VkResult maar_check_buffer_info(MaarAllocator allocator, const char* call,
                                const VkBufferCreateInfo* info);
VkResult maar_check_image_info(MaarAllocator allocator, const char* call,
                               const VkImageCreateInfo* info, const char* disjoint);
/* Returns why no device could have such an image, in a sentence that begins with ".pImageInfo", or
 * a fault without a sentence. The limits of the device are left to the driver. text: may have the
 * sentence, as long as the fault is used. */
struct maar_fault maar_find_image_fault(const VkImageCreateInfo* info,
                                        struct maar_bound_text* text);
/* Reports an image that no device could have, and returns the error of misuse. Returns VK_SUCCESS
 * for others. */
VkResult maar_refuse_impossible_image(MaarAllocator allocator, const char* call,
                                      const VkImageCreateInfo* info);

/* ---- requirements ---- */

/* Ask the driver what an object requires of its memory. plane: the aspect of a plane of a disjoint
 * image; 0 for the whole image. */
void maar_buffer_request(MaarAllocator allocator, VkBuffer buffer, MaarMemoryRequest* request);
void maar_image_request(MaarAllocator allocator, VkImage image, MaarResourceKind kind,
                        VkImageAspectFlagBits plane, MaarMemoryRequest* request);

/* Ask the driver what an object that does not exist yet would require. Where VK_KHR_maintenance4 is
 * not enabled, create the object, ask, and destroy the object. */
VkResult maar_buffer_info_request(MaarAllocator allocator, const VkBufferCreateInfo* info,
                                  MaarMemoryRequest* request);
VkResult maar_image_info_request(MaarAllocator allocator, const VkImageCreateInfo* info,
                                 MaarMemoryRequest* request);

/* ---- binding ---- */

/* Returns the slot of an allocation, if an object may be bound at this offset, and sets *span to
 * the bytes of the allocation. Otherwise reports the reason and returns NULL. */
struct maar_slot* maar_bind_target(MaarAllocator allocator, const char* call,
                                   MaarAllocation allocation, VkDeviceSize offset,
                                   struct maar_span* span);

/* Returns VK_SUCCESS if an object with these requirements fits at an offset inside the slot, whose
 * bytes are `span`: its size, alignment and memory type. Otherwise reports what does not fit. */
VkResult maar_check_place(MaarAllocator allocator, const char* call, const struct maar_slot* slot,
                          struct maar_span span, VkDeviceSize offset,
                          const VkMemoryRequirements* needs);

/* Binds an object to a live slot. place: an offset inside the slot, counted from the begin of its
 * block. */
VkResult maar_bind_object(MaarAllocator allocator, const struct maar_slot* slot, VkDeviceSize place,
                          struct maar_object object, const void* next);

/* Allocates memory for an object that was just created, and binds the object to it. On failure
 * destroys the object, and *allocation is VK_NULL_HANDLE. own: not NULL if the memory is Maar's own
 * and not reported as a leak; see maar_allocate_own. */
VkResult maar_place_object(MaarAllocator allocator, const char* call, struct maar_object object,
                           const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                           struct maar_patience* own, MaarAllocation* allocation);

/* Does the second part: binds an object to memory of Maar's own that was just allocated for it. On
 * failure destroys both, and *allocation is VK_NULL_HANDLE. */
VkResult maar_settle_own_object(MaarAllocator allocator, struct maar_object object,
                                MaarAllocation* allocation);

/* Enters a call that takes an object and writes outputs. Does what maar_enter_outputs does, and
 * also reports an object that is VK_NULL_HANDLE. what: the argument's name. */
VkResult maar_enter_with_object(MaarAllocator allocator, const char* call, const char* what,
                                struct maar_object object, const struct maar_output* outputs);

/* ---- destruction ---- */

/* Destroys an object, if there is one. Does not free an allocation. */
void maar_discard_object(MaarAllocator allocator, struct maar_object object);

/* Destroys an object and frees its allocation. Either of them may be null. Works for a poisoned
 * allocator too. If the allocation is stale, reports this and does not destroy the object. own: an
 * object of Maar's, which owns both, destroys them. */
VkResult maar_destroy_object(MaarAllocator allocator, const char* call, struct maar_object object,
                             MaarAllocation allocation, bool own);
/* Does the same when the points have passed, or at once if there are no points. On failure both
 * stay. */
VkResult maar_destroy_object_after(MaarAllocator allocator, const char* call,
                                   struct maar_object object, MaarAllocation allocation,
                                   uint32_t point_count, const MaarPoint* points, bool own);

#endif
