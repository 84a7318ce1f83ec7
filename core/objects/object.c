/*
 * The steps of the public calls on buffers and images. A creation checks the create info, creates
 * the object, asks the driver for its requirements, allocates and binds. When a step fails, the
 * steps before it are undone. No lock is held across a call of the driver.
 */
#include "core/objects/object.h"

#include <stdio.h>

#include "core/memory/allocate.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/ordered_use.h"
#include "core/memory/stitched_block.h"
#include "core/objects/captured_object.h"
#include "core/objects/movable.h"
#include "core/objects/object_steps.h"

/* ---- create infos ---- */

VkResult maar_check_buffer_info(MaarAllocator allocator, const char* call,
                                const VkBufferCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pBufferInfo", info,
                                           VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    /* These checks run for each buffer, so they are in line, without a table of rules. */
    if (info->size == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_ZERO_SIZE, call, "pBufferInfo->size is 0");
    }
    if (!maar_buffer_has_usage(info)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_EMPTY_FLAGS, call, "pBufferInfo->usage is 0");
    }
    if ((info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED, call,
                           "pBufferInfo is sparse; use maarCreateReservation");
    }
    const bool has_address = (info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    if (has_address && !allocator->device.facts.buffer_device_address) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                           "pBufferInfo->usage has SHADER_DEVICE_ADDRESS, but the "
                           "bufferDeviceAddress feature was not among pEnabledFeatures");
    }
    return VK_SUCCESS;
}

/* The number of levels down to one texel. */
static uint32_t most_levels(const VkExtent3D* extent)
{
    const uint32_t longest = extent->width > extent->height ? extent->width : extent->height;
    return 1 + maar_top_bit(longest > extent->depth ? longest : extent->depth);
}

struct maar_fault maar_find_image_fault(const VkImageCreateInfo* info, struct maar_bound_text* text)
{
    const VkExtent3D* extent = &info->extent;
    const bool has_extent = extent->width != 0 && extent->height != 0 && extent->depth != 0;
    const uint32_t most = has_extent ? most_levels(extent) : 0;
    const struct maar_rule rules[] = {
        {extent->width == 0, MAAR_MESSAGE_ID_ZERO_SIZE, ".pImageInfo->extent.width is 0"},
        {extent->height == 0, MAAR_MESSAGE_ID_ZERO_SIZE, ".pImageInfo->extent.height is 0"},
        {extent->depth == 0, MAAR_MESSAGE_ID_ZERO_SIZE, ".pImageInfo->extent.depth is 0"},
        {info->mipLevels == 0, MAAR_MESSAGE_ID_ZERO_SIZE, ".pImageInfo->mipLevels is 0"},
        {info->arrayLayers == 0, MAAR_MESSAGE_ID_ZERO_SIZE, ".pImageInfo->arrayLayers is 0"},
        {info->samples == 0, MAAR_MESSAGE_ID_ZERO_SIZE, ".pImageInfo->samples is 0"},
        {info->usage == 0, MAAR_MESSAGE_ID_EMPTY_FLAGS, ".pImageInfo->usage is 0"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {has_extent && info->mipLevels > most, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         ".pImageInfo->mipLevels is more than such an extent has, down to one texel",
         MAAR_SHOW_LIMIT(info->mipLevels, most)},
        {info->imageType == VK_IMAGE_TYPE_1D && extent->height > 1, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         ".pImageInfo->extent.height is not 1, but imageType is 1D",
         MAAR_SHOW_NUMBER(extent->height)},
        {info->imageType != VK_IMAGE_TYPE_3D && extent->depth > 1, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         ".pImageInfo->extent.depth is not 1, but imageType is not 3D",
         MAAR_SHOW_NUMBER(extent->depth)},
        {info->imageType == VK_IMAGE_TYPE_3D && info->arrayLayers > 1, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         ".pImageInfo->arrayLayers is not 1, but imageType is 3D",
         MAAR_SHOW_NUMBER(info->arrayLayers)},
        {0},
    };
    const struct maar_fault fault = maar_find_fault(rules);
    return fault.sentence != NULL ? fault : maar_find_broken_bound(bounds, text);
}

VkResult maar_refuse_impossible_image(MaarAllocator allocator, const char* call,
                                      const VkImageCreateInfo* info)
{
    struct maar_bound_text text;
    const struct maar_fault fault = maar_find_image_fault(info, &text);
    return fault.sentence == NULL ? VK_SUCCESS
                                  : maar_misuse(allocator, fault.id, call, fault.sentence + 1);
}

VkResult maar_check_image_info(MaarAllocator allocator, const char* call,
                               const VkImageCreateInfo* info, const char* disjoint)
{
    VkResult result = maar_check_structure(allocator, call, "pImageInfo", info,
                                           VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_rule rules[] = {
        {(info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0, MAAR_MESSAGE_ID_DISJOINT_IMAGE,
         disjoint},
        {(info->flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) != 0,
         MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED, "pImageInfo is sparse; use maarCreateSparseImage"},
        {0},
    };
    result = maar_check_rules(allocator, call, rules);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_refuse_impossible_image(allocator, call, info);
}

VkResult maar_enter_with_object(MaarAllocator allocator, const char* call, const char* what,
                                struct maar_object object, const struct maar_output* outputs)
{
    const VkResult result = maar_enter_outputs(allocator, call, outputs);
    const bool is_there = object.buffer != VK_NULL_HANDLE || object.image != VK_NULL_HANDLE;
    return result != VK_SUCCESS || is_there
               ? result
               : maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NULL_HANDLE,
                           call, "%s is VK_NULL_HANDLE", what);
}

/* ---- requirements ---- */

void maar_buffer_request(MaarAllocator allocator, VkBuffer buffer, MaarMemoryRequest* request)
{
    maar_ask_for_buffer(allocator, buffer, request);
}

void maar_image_request(MaarAllocator allocator, VkImage image, MaarResourceKind kind,
                        VkImageAspectFlagBits plane, MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    const VkImagePlaneMemoryRequirementsInfo plane_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO,
        .planeAspect = plane,
    };
    const VkImageMemoryRequirementsInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2,
        .pNext = plane != 0 ? &plane_info : NULL,
        .image = image,
    };
    struct maar_requirement_answer answer;
    maar_lock_rank_expect_none();
    maar_device_image_needs(device, &info, maar_answer_open(device, &answer));
    maar_answer_read(&answer, kind, request);
    /* Vulkan does not allow an allocation that is dedicated to a disjoint image. */
    request->dedicatedImage = plane != 0 ? VK_NULL_HANDLE : image;
}

VkResult maar_buffer_info_request(MaarAllocator allocator, const VkBufferCreateInfo* info,
                                  MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    maar_lock_rank_expect_none();
    if (device->facts.maintenance4) {
        const VkDeviceBufferMemoryRequirements question = {
            .sType = VK_STRUCTURE_TYPE_DEVICE_BUFFER_MEMORY_REQUIREMENTS,
            .pCreateInfo = info,
        };
        struct maar_requirement_answer answer;
        device->vkGetDeviceBufferMemoryRequirements(device->handle, &question,
                                                    maar_answer_open(device, &answer));
        maar_answer_read(&answer, MAAR_RESOURCE_KIND_LINEAR, request);
        return VK_SUCCESS;
    }
    VkBuffer buffer = VK_NULL_HANDLE;
    VkResult result = device->vkCreateBuffer(device->handle, info, device->callbacks, &buffer);
    if (result == VK_SUCCESS) {
        maar_buffer_request(allocator, buffer, request);
        request->dedicatedBuffer = VK_NULL_HANDLE;
        device->vkDestroyBuffer(device->handle, buffer, device->callbacks);
    }
    return result;
}

VkResult maar_image_info_request(MaarAllocator allocator, const VkImageCreateInfo* info,
                                 MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    const MaarResourceKind kind = maar_tiling_kind(info->tiling);
    maar_lock_rank_expect_none();
    if (device->facts.maintenance4) {
        const VkDeviceImageMemoryRequirements question = {
            .sType = VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS,
            .pCreateInfo = info,
        };
        struct maar_requirement_answer answer;
        device->vkGetDeviceImageMemoryRequirements(device->handle, &question,
                                                   maar_answer_open(device, &answer));
        maar_answer_read(&answer, kind, request);
        return VK_SUCCESS;
    }
    VkImage image = VK_NULL_HANDLE;
    VkResult result = device->vkCreateImage(device->handle, info, device->callbacks, &image);
    if (result == VK_SUCCESS) {
        maar_image_request(allocator, image, kind, 0, request);
        request->dedicatedImage = VK_NULL_HANDLE;
        device->vkDestroyImage(device->handle, image, device->callbacks);
    }
    return result;
}

/* ---- binding ---- */

struct maar_slot* maar_bind_target(MaarAllocator allocator, const char* call,
                                   MaarAllocation allocation, VkDeviceSize offset,
                                   struct maar_span* span)
{
    struct maar_slot* slot = maar_resolve(allocator, call, allocation, NULL);
    *span = (struct maar_span){0};
    if (slot != NULL && slot->stitched) {
        (void)maar_misuse(
            allocator, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, call,
            "allocation is made of pages for one object; no other object can be bound to it");
        return NULL;
    }
    if (slot != NULL && maar_slot_is_movable(allocator, slot)) {
        (void)maar_misuse(
            allocator, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, call,
            "allocation belongs to a movable object; no other object can be bound to it");
        return NULL;
    }
    if (slot != NULL) {
        *span = maar_slot_find_bytes(allocator, slot);
    }
    if (slot != NULL && offset >= span->size) {
        (void)maar_refuse_offset(allocator, call, offset, "the allocation", span->size);
        return NULL;
    }
    return slot;
}

VkResult maar_check_place(MaarAllocator allocator, const char* call, const struct maar_slot* slot,
                          struct maar_span span, VkDeviceSize offset,
                          const VkMemoryRequirements* needs)
{
    if (needs->size > span.size - offset) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT,
                    call, "the object needs %s, but the allocation has only %s from offset %llu on",
                    maar_show_bytes(needs->size).text, maar_show_bytes(span.size - offset).text,
                    (unsigned long long)offset);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (needs->alignment > 1 && (span.offset + offset) % needs->alignment != 0) {
        return maar_fail(
            allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, call,
            "the allocation's offset plus the given offset, %llu, does not have the object's "
            "alignment, %llu",
            (unsigned long long)(span.offset + offset), (unsigned long long)needs->alignment);
    }
    const uint32_t type = maar_slot_block(allocator, slot)->pool->type_index;
    if ((needs->memoryTypeBits & (1u << type)) == 0) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, call,
                         "the object does not support the allocation's memory type, %u (its "
                         "memoryTypeBits are 0x%X)",
                         type, needs->memoryTypeBits);
    }
    return VK_SUCCESS;
}

VkResult maar_bind_object(MaarAllocator allocator, const struct maar_slot* slot, VkDeviceSize place,
                          struct maar_object object, const void* next)
{
    const struct maar_block* block = maar_slot_block(allocator, slot);
    MAAR_DEBUG_ASSERT(place < block->size && !slot->stitched);
    return maar_bind_at(allocator, (struct maar_spot){block->memory, place}, object, next);
}

VkResult maar_settle_own_object(MaarAllocator allocator, struct maar_object object,
                                MaarAllocation* allocation)
{
    const struct maar_spot spot =
        maar_slot_spot(allocator, maar_slot_of_own(allocator, *allocation));
    const VkResult result = maar_bind_at(allocator, spot, object, NULL);
    if (result != VK_SUCCESS) {
        return maar_fail_to_place(allocator, result, object, NULL, 0, allocation);
    }
    maar_capture_held(allocator, object, *allocation, 0);
    return VK_SUCCESS;
}

VkResult maar_place_object(MaarAllocator allocator, const char* call, struct maar_object object,
                           const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                           struct maar_patience* own, MaarAllocation* allocation)
{
    if (own == NULL) {
        return maar_place_and_bind(allocator, call, object, request, info, allocation);
    }
    const uint32_t wait_count = maar_ordered_count_waits(info);
    VkResult result = maar_allocate_own(allocator, call, request, info, own, allocation);
    if (result != VK_SUCCESS) {
        return maar_fail_to_place(allocator, result, object, info, wait_count, allocation);
    }
    result = maar_settle_own_object(allocator, object, allocation);
    if (result != VK_SUCCESS) {
        maar_ordered_restore_waits(info, wait_count);
    }
    return result;
}

/* ---- destruction ---- */

/* The usual size of a cache line, bytes. A buffer that is created and destroyed takes 10 % less
 * time with the first two lines, beside 10,000 others on lavapipe; 4 % less with the second one
 * alone; a third line gains nothing. */
enum { PREFETCH_STEP = 64 };

void maar_discard_object(MaarAllocator allocator, struct maar_object object)
{
    maar_discard_at_once(allocator, object);
}

static void destroy_pending_buffer(MaarAllocator allocator, const struct maar_retire_item* item)
{
    const struct maar_object object = {.buffer = MAAR_FROM_BITS(VkBuffer, item->object)};
    maar_discard_object(allocator, object);
}

static void destroy_pending_image(MaarAllocator allocator, const struct maar_retire_item* item)
{
    const struct maar_object object = {.image = MAAR_FROM_BITS(VkImage, item->object)};
    maar_discard_object(allocator, object);
}

static maar_retire_action action_of(struct maar_object object)
{
    return object.image != VK_NULL_HANDLE ? destroy_pending_image : destroy_pending_buffer;
}

static uint64_t bits_of(struct maar_object object)
{
    return object.image != VK_NULL_HANDLE ? MAAR_TO_BITS(object.image)
                                          : MAAR_TO_BITS(object.buffer);
}

/* Reports a handle that names no allocation, or whose allocation another thread has freed during
 * this call, and that the object of the call stays. */
MAAR_NOINLINE VkResult refuse_destruction(MaarAllocator allocator, const char* call,
                                          struct maar_object object, MaarAllocation allocation,
                                          bool is_late)
{
    char stays[64] = "";
    if (bits_of(object) != 0) {
        (void)snprintf(stays, sizeof stays, "; Vk%s 0x%llX was not destroyed",
                       object.image != VK_NULL_HANDLE ? "Image" : "Buffer",
                       (unsigned long long)bits_of(object));
    }
    if (is_late) {
        maar_report_late_free(allocator, call, stays);
    } else {
        maar_report_unresolved(allocator, call, allocation, stays);
    }
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

/* Prefetches the begin of the driver's object: on many drivers a handle is its object's address. A
 * prefetch of any other number does nothing. Called before the slot is read, so that neither of the
 * two cache misses waits for the other. */
MAAR_INLINE void prefetch_object(struct maar_object object)
{
    const uintptr_t address = (uintptr_t)bits_of(object);
    MAAR_PREFETCH((const void*)address);
    MAAR_PREFETCH((const void*)(address + PREFETCH_STEP));
}

VkResult maar_destroy_object(MaarAllocator allocator, const char* call, struct maar_object object,
                             MaarAllocation allocation, bool own)
{
    uint32_t index = 0;
    struct maar_slot* slot = NULL;
    enum maar_claim claim = MAAR_CLAIMED;
    prefetch_object(object);
    if (allocation != VK_NULL_HANDLE) {
        slot = maar_slot_resolve(&allocator->slots, MAAR_TO_BITS(allocation), &index);
        if (slot == NULL) {
            return refuse_destruction(allocator, call, object, allocation, false);
        }
        if (slot->owned && maar_slot_is_movable(allocator, slot)) {
            return maar_movable_destroy(allocator, call, slot, object, allocation, 0, NULL);
        }
        if (!own && slot->owned) {
            return maar_refuse_owned(allocator, call, slot);
        }
        if (!maar_slot_claim(slot, MAAR_TO_BITS(allocation))) {
            claim = maar_slot_claim_moving(slot, MAAR_TO_BITS(allocation));
        }
        if (claim == MAAR_CLAIM_LOST) {
            return refuse_destruction(allocator, call, object, allocation, true);
        }
        if (slot->stitched) {
            maar_stitched_end(allocator, slot, index, bits_of(object), 0, NULL, action_of(object));
            return VK_SUCCESS;
        }
        if (claim == MAAR_CLAIMED) {
            maar_slot_prefetch(allocator, slot);
        }
    }
    maar_discard_at_once(allocator, object);
    if (slot != NULL) {
        maar_release_claimed(allocator, slot, index, claim);
    }
    return VK_SUCCESS;
}

VkResult maar_destroy_object_after(MaarAllocator allocator, const char* call,
                                   struct maar_object object, MaarAllocation allocation,
                                   uint32_t point_count, const MaarPoint* points, bool own)
{
    if (bits_of(object) == 0 && allocation == VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    if (point_count == 0) {
        return maar_destroy_object(allocator, call, object, allocation, own);
    }
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_resolve(&allocator->slots, MAAR_TO_BITS(allocation), &index);
    if (slot == NULL && allocation != VK_NULL_HANDLE) {
        return refuse_destruction(allocator, call, object, allocation, false);
    }
    if (slot == NULL || !maar_slot_is_movable(allocator, slot)) {
        return maar_free_after(allocator, call, bits_of(object), allocation, point_count, points,
                               action_of(object), own);
    }
    const VkResult result = maar_retire_check_points(&allocator->retire, call, point_count, points);
    return result != VK_SUCCESS ? result
                                : maar_movable_destroy(allocator, call, slot, object, allocation,
                                                       point_count, points);
}
