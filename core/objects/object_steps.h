/*
 * The steps of creations and destructions in line, for object.c and for the creation of a buffer,
 * which is the most frequent one (buffer.c). Other files call the functions of object.h. No lock
 * may be held.
 */
#ifndef MAAR_CORE_OBJECTS_OBJECT_STEPS_H
#define MAAR_CORE_OBJECTS_OBJECT_STEPS_H

#include "core/device_calls.h"
#include "core/memory/allocate.h"
#include "core/memory/ordered_use.h"
#include "core/memory/slot_home.h"
#include "core/objects/captured_object.h"

/* The structures in which the driver returns requirements. */
struct maar_requirement_answer {
    VkMemoryRequirements2 requirements;
    VkMemoryDedicatedRequirements dedicated;
};

/* Links the structures that the driver knows, and returns the first one for it to fill in. Writes
 * only what the driver reads or may leave as it is: a store that overlaps what the driver writes,
 * and Maar reads at once, would delay the read. */
MAAR_INLINE VkMemoryRequirements2* maar_answer_open(const struct maar_device* device,
                                                    struct maar_requirement_answer* answer)
{
    answer->requirements.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2;
    answer->requirements.pNext = device->facts.dedicated_allocation ? &answer->dedicated : NULL;
    answer->dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS;
    answer->dedicated.pNext = NULL;
    answer->dedicated.prefersDedicatedAllocation = VK_FALSE;
    answer->dedicated.requiresDedicatedAllocation = VK_FALSE;
    return &answer->requirements;
}

/* Copies each member by itself: a processor cannot read two members at once that the driver has
 * just written one by one, before they are in its cache. For the same reason sets each member of
 * the request once, and does not clear the request before. */
MAAR_INLINE void maar_answer_read(const struct maar_requirement_answer* answer,
                                  MaarResourceKind kind, MaarMemoryRequest* request)
{
    const VkMemoryRequirements* needs = &answer->requirements.memoryRequirements;
    request->sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST;
    request->pNext = NULL;
    request->requirements.size = needs->size;
    request->requirements.alignment = needs->alignment;
    request->requirements.memoryTypeBits = needs->memoryTypeBits;
    request->kind = kind;
    request->prefersDedicated = answer->dedicated.prefersDedicatedAllocation;
    request->requiresDedicated = answer->dedicated.requiresDedicatedAllocation;
    request->dedicatedBuffer = VK_NULL_HANDLE;
    request->dedicatedImage = VK_NULL_HANDLE;
}

/* Does the work of maar_buffer_request. */
MAAR_INLINE void maar_ask_for_buffer(MaarAllocator allocator, VkBuffer buffer,
                                     MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    const VkBufferMemoryRequirementsInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
        .buffer = buffer,
    };
    struct maar_requirement_answer answer;
    maar_lock_rank_expect_none();
    maar_device_buffer_needs(device, &info, maar_answer_open(device, &answer));
    maar_answer_read(&answer, MAAR_RESOURCE_KIND_LINEAR, request);
    request->dedicatedBuffer = buffer;
}

/* Binds an object where nothing else is bound, or where the program wants it. */
MAAR_INLINE VkResult maar_bind_at(MaarAllocator allocator, struct maar_spot spot,
                                  struct maar_object object, const void* next)
{
    const struct maar_device* device = &allocator->device;
    MAAR_DEBUG_ASSERT((object.buffer == VK_NULL_HANDLE) != (object.image == VK_NULL_HANDLE));
    maar_lock_rank_expect_none();
    if (object.buffer != VK_NULL_HANDLE) {
        const VkBindBufferMemoryInfo bind = {
            .sType = VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO,
            .pNext = next,
            .buffer = object.buffer,
            .memory = spot.memory,
            .memoryOffset = spot.offset,
        };
        return maar_device_bind_buffer(device, &bind);
    }
    const VkBindImageMemoryInfo bind = {
        .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO,
        .pNext = next,
        .image = object.image,
        .memory = spot.memory,
        .memoryOffset = spot.offset,
    };
    return maar_device_bind_image(device, &bind);
}

/* Does the work of maar_discard_object. */
MAAR_INLINE void maar_discard_at_once(MaarAllocator allocator, struct maar_object object)
{
    const struct maar_device* device = &allocator->device;
    maar_lock_rank_expect_none();
    maar_capture_object_end(allocator, object);
    if (object.buffer != VK_NULL_HANDLE) {
        device->vkDestroyBuffer(device->handle, object.buffer, device->callbacks);
    }
    if (object.image != VK_NULL_HANDLE) {
        device->vkDestroyImage(device->handle, object.image, device->callbacks);
    }
}

/* Ends a call that could not allocate for an object, or not bind it: destroys both. Sets the number
 * of waits in the info's chain to the one that the call began with. Returns the result. */
VkResult maar_fail_to_place(MaarAllocator allocator, VkResult result, struct maar_object object,
                            const MaarAllocationCreateInfo* info, uint32_t wait_count,
                            MaarAllocation* allocation);

/* Allocates for an object and binds it. On failure destroys both. */
MAAR_INLINE VkResult maar_place_and_bind(MaarAllocator allocator, const char* call,
                                         struct maar_object object,
                                         const MaarMemoryRequest* request,
                                         const MaarAllocationCreateInfo* info,
                                         MaarAllocation* allocation)
{
    struct maar_spot spot = {VK_NULL_HANDLE, 0};
    const uint32_t wait_count = maar_ordered_count_waits(info);
    VkResult result = maar_allocate_for_object(allocator, call, request, info, allocation, &spot);
    if (result == VK_SUCCESS) {
        result = maar_bind_at(allocator, spot, object, NULL);
    }
    if (result != VK_SUCCESS) {
        return maar_fail_to_place(allocator, result, object, info, wait_count, allocation);
    }
    maar_capture_held(allocator, object, *allocation, 0);
    return VK_SUCCESS;
}

#endif
