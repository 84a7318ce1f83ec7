/*
 * What a capture records of buffers and images that Maar creates: the object, what the driver wants
 * for it, where it is bound, and its end. An object that existed before the capture is not known to
 * it: its allocation is a range there.
 *
 * No lock may be held. Each function returns at once if no capture goes on.
 */
#ifndef MAAR_CORE_OBJECTS_CAPTURED_OBJECT_H
#define MAAR_CORE_OBJECTS_CAPTURED_OBJECT_H

#include "core/memory/captured_slot.h"
#include "core/objects/object.h"

/* Record an object that was just created. Its create info is the one that the driver got. needs:
 * what the driver wants for it. */
void maar_capture_made_buffer(MaarAllocator allocator, VkBuffer buffer,
                              const VkBufferCreateInfo* info, const MaarMemoryRequest* needs);
void maar_capture_made_image(MaarAllocator allocator, VkImage image, const VkImageCreateInfo* info,
                             const MaarMemoryRequest* needs);
static inline void maar_capture_buffer(MaarAllocator allocator, VkBuffer buffer,
                                       const VkBufferCreateInfo* info,
                                       const MaarMemoryRequest* needs)
{
    if (maar_may_capture(allocator)) {
        maar_capture_made_buffer(allocator, buffer, info, needs);
    }
}
static inline void maar_capture_image(MaarAllocator allocator, VkImage image,
                                      const VkImageCreateInfo* info, const MaarMemoryRequest* needs)
{
    if (maar_may_capture(allocator)) {
        maar_capture_made_image(allocator, image, info, needs);
    }
}

/* Records the name of an object that has no allocation for itself. name may be NULL. */
void maar_capture_object_name(MaarAllocator allocator, struct maar_object object, const char* name);

/* Records that an object has an allocation for itself, bound or made of pages. Call it after the
 * bind. plane: of a disjoint image, else 0. If the capture does not know the object, the allocation
 * becomes a range. */
void maar_capture_held_memory(MaarAllocator allocator, struct maar_object object,
                              MaarAllocation allocation, uint32_t plane);
static inline void maar_capture_held(MaarAllocator allocator, struct maar_object object,
                                     MaarAllocation allocation, uint32_t plane)
{
    if (maar_may_capture(allocator)) {
        maar_capture_held_memory(allocator, object, allocation, plane);
    }
}

/* Records that an object was bound to a part of an allocation that others may share. */
void maar_capture_shared_memory(MaarAllocator allocator, struct maar_object object,
                                const struct maar_slot* slot, VkDeviceSize place);
static inline void maar_capture_sharing(MaarAllocator allocator, struct maar_object object,
                                        const struct maar_slot* slot, VkDeviceSize place)
{
    if (maar_may_capture(allocator)) {
        maar_capture_shared_memory(allocator, object, slot, place);
    }
}

/* Records the end of an object. Call it before the driver destroys the object. */
void maar_capture_ended_object(MaarAllocator allocator, struct maar_object object);
static inline void maar_capture_object_end(MaarAllocator allocator, struct maar_object object)
{
    if (maar_may_capture(allocator)) {
        maar_capture_ended_object(allocator, object);
    }
}

#endif
