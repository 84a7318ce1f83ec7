/*
 * Movable objects: buffers and images whose create infos Maar keeps, so that it can create them
 * anew elsewhere. Each has a record, which belongs to its allocation (core/memory/slot_record.h)
 * and, while a batch moves the object, to the batch too. The object lives until both have let go.
 *
 * The list lock of the allocator guards the object and the count of references of a record. The
 * rest of a record never changes. No lock may be held by the caller of these functions, except
 * where they say so.
 */
#ifndef MAAR_CORE_OBJECTS_MOVABLE_H
#define MAAR_CORE_OBJECTS_MOVABLE_H

#include "core/chain.h"
#include "core/objects/object.h"
#include "maar/move.h"

struct maar_movable {
    uint32_t reference_count;    /* under the list lock */
    struct maar_object object;   /* under the list lock */
    struct maar_object previous; /* what it replaced; only compared. Under the list lock */
    MaarMovableFlags flags;
    VkMemoryRequirements needs;
    VkBufferCreateInfo buffer; /* sType is 0 for an image */
    VkImageCreateInfo image;   /* sType is 0 for a buffer */
    VkImageFormatListCreateInfo formats;
    VkImageStencilUsageCreateInfo stencil;
    uint32_t numbers[]; /* queue families, and then formats */
};

/* Returns the structure that asks for a movable object, or NULL. */
static inline const MaarMovableInfo* maar_find_movable(const MaarAllocationCreateInfo* info)
{
    return info == NULL ? NULL : maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_MOVABLE_INFO);
}

/* ---- creation ---- */

/* Make a record of a create info, with the usages that copies need. Report an object that cannot be
 * created anew or copied, and return VK_ERROR_FEATURE_NOT_PRESENT, VK_ERROR_FORMAT_NOT_SUPPORTED or
 * VK_ERROR_VALIDATION_FAILED_EXT. Free the record with maar_host_free until it is published. */
VkResult maar_movable_prepare_buffer(MaarAllocator allocator, const char* call,
                                     const VkBufferCreateInfo* buffer_info,
                                     const MaarAllocationCreateInfo* info,
                                     struct maar_movable** movable);
VkResult maar_movable_prepare_image(MaarAllocator allocator, const char* call,
                                    const VkImageCreateInfo* image_info,
                                    const MaarAllocationCreateInfo* info,
                                    struct maar_movable** movable);
/* Gives an allocation, whose handle was not returned to the program yet, its record. On failure
 * destroys the object, undoes the allocation and frees the record. */
VkResult maar_movable_publish(MaarAllocator allocator, struct maar_movable* movable,
                              struct maar_object object, MaarAllocation* allocation);

/* ---- moves ---- */

/* Copies what the object of an allocation needs of its memory. Returns false if the allocation has
 * no record, or was freed. */
bool maar_movable_needs(MaarAllocator allocator, uint64_t handle, VkMemoryRequirements* needs);
/* Returns the record of a live allocation, and holds it; or NULL. *object receives its object. */
struct maar_movable* maar_movable_hold(MaarAllocator allocator, uint64_t handle,
                                       struct maar_object* object);
/* Creates an object like the one of a record. */
VkResult maar_movable_create(MaarAllocator allocator, const char* call,
                             const struct maar_movable* movable, struct maar_object* object);
/* Lets go of a record. The last holder's call destroys the object and frees the record. */
void maar_movable_release(MaarAllocator allocator, struct maar_movable* movable);

/* ---- destruction ---- */

/* Destroys the object of a movable allocation and frees the allocation, at once or when the points
 * have passed. object: what the caller holds for the object; may be null. */
VkResult maar_movable_destroy(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                              struct maar_object object, MaarAllocation allocation,
                              uint32_t point_count, const MaarPoint* points);

#endif
