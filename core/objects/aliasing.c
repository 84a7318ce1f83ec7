/*
 * Aliasing objects: buffers and images that are bound to existing memory. Other objects may occupy
 * the same memory.
 */
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"
#include "core/objects/captured_object.h"
#include "core/objects/object.h"
#include "core/objects/shared_object.h"

/* Returns whether an object of a kind may lie in an allocation beside its neighbours. A pool for
 * one kind does not keep kinds apart, even if the allocation can alias. */
static bool is_kind_kept_apart(MaarAllocator allocator, const struct maar_slot* slot,
                               MaarResourceKind kind)
{
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    const bool can_be_any = slot->can_alias && !block->pool->single_kind;
    const bool is_apart = can_be_any || block->placement == NULL ||
                          allocator->device.facts.granularity <= 1 ||
                          kind == (MaarResourceKind)maar_slot_kind(slot);
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return is_apart;
}

/* Returns VK_SUCCESS when an object with these requirements may lie at an offset of the allocation.
 * Otherwise reports what does not fit. */
static VkResult check_fit(MaarAllocator allocator, const char* call, const struct maar_slot* slot,
                          struct maar_span span, VkDeviceSize offset,
                          const MaarMemoryRequest* request)
{
    if (request->requiresDedicated == VK_TRUE) {
        return maar_misuse(
            allocator, MAAR_MESSAGE_ID_DEDICATED_REQUIRED, call,
            "the driver requires a dedicated allocation for the object, so the object "
            "cannot share an allocation");
    }
    const VkResult placed =
        maar_check_place(allocator, call, slot, span, offset, &request->requirements);
    if (placed != VK_SUCCESS) {
        return placed;
    }
    if (maar_slot_block(allocator, slot)->named) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_DEDICATED_REQUIRED, call,
                           "the allocation is dedicated to another object; allocate with "
                           "MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT");
    }
    if (!is_kind_kept_apart(allocator, slot, request->kind)) {
        return maar_misuse(
            allocator, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, call,
            "the object is of another kind than the allocation, and neighbours of the "
            "allocation may share a granule with it; allocate with "
            "MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT in a pool without singleKind");
    }
    return VK_SUCCESS;
}

/* Binds an object that was just created, or destroys it. dedicated: the driver shares the object
 * only if it has a dedicated allocation. */
static VkResult fit_and_bind(MaarAllocator allocator, const char* call,
                             const struct maar_slot* slot, struct maar_span span,
                             VkDeviceSize offset, struct maar_object object, bool dedicated,
                             MaarMemoryRequest* request)
{
    request->requiresDedicated |= dedicated ? VK_TRUE : VK_FALSE;
    VkResult result = check_fit(allocator, call, slot, span, offset, request);
    if (result == VK_SUCCESS) {
        result = maar_bind_object(allocator, slot, span.offset + offset, object, NULL);
    }
    if (result != VK_SUCCESS) {
        maar_discard_object(allocator, object);
        return result;
    }
    maar_capture_sharing(allocator, object, slot, span.offset + offset);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateAliasingBuffer(MaarAllocator allocator,
                                                        MaarAllocation allocation,
                                                        VkDeviceSize offset,
                                                        const VkBufferCreateInfo* pBufferInfo,
                                                        VkBuffer* pBuffer)
{
    const struct maar_output outputs[] = {{"pBuffer", pBuffer, sizeof *pBuffer}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = maar_check_buffer_info(allocator, __func__, pBufferInfo);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_span span;
    const struct maar_slot* slot = maar_bind_target(allocator, __func__, allocation, offset, &span);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_device* device = &allocator->device;
    const struct maar_block* block = maar_slot_block(allocator, slot);
    struct maar_object object = {0};
    struct maar_shared_buffer shared;
    result = maar_share_buffer(allocator, __func__, pBufferInfo, block->shared_types,
                               maar_block_sharing(block), &shared);
    if (result == VK_SUCCESS) {
        result =
            device->vkCreateBuffer(device->handle, shared.use, device->callbacks, &object.buffer);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, object.buffer, &request);
    maar_capture_buffer(allocator, object.buffer, shared.use, &request);
    result =
        fit_and_bind(allocator, __func__, slot, span, offset, object, shared.dedicated, &request);
    *pBuffer = result == VK_SUCCESS ? object.buffer : VK_NULL_HANDLE;
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateAliasingImage(MaarAllocator allocator,
                                                       MaarAllocation allocation,
                                                       VkDeviceSize offset,
                                                       const VkImageCreateInfo* pImageInfo,
                                                       VkImage* pImage)
{
    const struct maar_output outputs[] = {{"pImage", pImage, sizeof *pImage}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result =
            maar_check_image_info(allocator, __func__, pImageInfo,
                                  "pImageInfo is disjoint; bind its planes with maarBindImage");
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_span span;
    const struct maar_slot* slot = maar_bind_target(allocator, __func__, allocation, offset, &span);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_device* device = &allocator->device;
    const struct maar_block* block = maar_slot_block(allocator, slot);
    struct maar_object object = {0};
    struct maar_shared_image shared;
    result = maar_share_image(allocator, __func__, pImageInfo, block->shared_types,
                              maar_block_sharing(block), &shared);
    if (result == VK_SUCCESS) {
        result =
            device->vkCreateImage(device->handle, shared.use, device->callbacks, &object.image);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    maar_image_request(allocator, object.image, maar_tiling_kind(pImageInfo->tiling), 0, &request);
    maar_capture_image(allocator, object.image, shared.use, &request);
    result =
        fit_and_bind(allocator, __func__, slot, span, offset, object, shared.dedicated, &request);
    *pImage = result == VK_SUCCESS ? object.image : VK_NULL_HANDLE;
    return result;
}
