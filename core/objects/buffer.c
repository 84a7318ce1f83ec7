/*
 * Buffers: create, allocate, bind; undone in reverse when a step fails.
 */
#include "core/objects/requirements.h"
#include "core/objects/shared_object.h"
#include "core/objects/stitched.h"
#include "core/objects/vulkan_bits.h"

VkResult maar_check_buffer_info(MaarAllocator allocator, const char* call,
                                const VkBufferCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pBufferInfo", info,
                                           VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->size == 0) {
        return maar_misuse(allocator, call, "pBufferInfo->size is 0");
    }
    if ((info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0) {
        return maar_misuse(allocator, call,
                           "pBufferInfo is sparse; sparse buffers are not bound so");
    }
    if ((info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0 &&
        !allocator->device.facts.buffer_device_address) {
        return maar_misuse(allocator, call,
                           "pBufferInfo->usage has SHADER_DEVICE_ADDRESS, but the "
                           "bufferDeviceAddress feature was not among pEnabledFeatures");
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateBuffer(MaarAllocator allocator,
                                                const VkBufferCreateInfo* pBufferInfo,
                                                const MaarAllocationCreateInfo* pCreateInfo,
                                                VkBuffer* pBuffer, MaarAllocation* pAllocation)
{
    if (pBuffer != NULL) {
        *pBuffer = VK_NULL_HANDLE;
    }
    if (pAllocation != NULL) {
        *pAllocation = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pBuffer == NULL || pAllocation == NULL) {
        return maar_misuse(allocator, __func__,
                           pBuffer == NULL ? "pBuffer is NULL" : "pAllocation is NULL");
    }
    result = maar_check_buffer_info(allocator, __func__, pBufferInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_create_buffer(allocator, __func__, pBufferInfo, pCreateInfo, false, pBuffer,
                              pAllocation);
}

VkResult maar_create_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* buffer_info,
                            const MaarAllocationCreateInfo* info, bool internal, VkBuffer* buffer,
                            MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    VkResult stitched = VK_INCOMPLETE;
    if (!internal && maar_may_stitch(info)) {
        stitched =
            maar_create_stitched_buffer(allocator, call, buffer_info, info, buffer, allocation);
        if (stitched != VK_INCOMPLETE && stitched != VK_NOT_READY) {
            return stitched;
        }
    }
    struct maar_shared_buffer shared;
    VkResult result = maar_share_buffer(
        allocator, call, buffer_info, internal ? 0 : maar_export_types(info),
        (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT, &shared);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_lock_rank_expect_none();
    result = device->vkCreateBuffer(device->handle, shared.use, device->callbacks, buffer);
    if (result != VK_SUCCESS) {
        *buffer = VK_NULL_HANDLE;
        maar_report_no_object(allocator, call, "buffer", result);
        return result;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, *buffer, &request);
    request.requiresDedicated |= shared.dedicated ? VK_TRUE : VK_FALSE;
    result = maar_allocate(allocator, call, &request, info, internal, allocation);
    if (result == VK_SUCCESS) {
        result = maarBindBuffer(allocator, *allocation, 0, *buffer, NULL);
    }
    if (result != VK_SUCCESS) {
        /* The object first: a failed bind may have left it bound. */
        device->vkDestroyBuffer(device->handle, *buffer, device->callbacks);
        maar_undo_allocation(allocator, *allocation);
        *buffer = VK_NULL_HANDLE;
        *allocation = VK_NULL_HANDLE;
    } else if (stitched == VK_NOT_READY) {
        maar_note_fallback(allocator, *allocation);
    }
    return result;
}

/* ---- what buffers and images share ---- */

static void destroy_buffer_bits(const struct maar_device* device, uint64_t buffer)
{
    device->vkDestroyBuffer(device->handle, MAAR_FROM_BITS(VkBuffer, buffer), device->callbacks);
}

VkResult maar_destroy_object(MaarAllocator allocator, const char* call, uint64_t object,
                             MaarAllocation allocation, maar_object_destroyer destroy,
                             maar_retire_action later)
{
    uint32_t index = 0;
    struct maar_slot* slot = NULL;
    if (allocation != VK_NULL_HANDLE) {
        slot = maar_resolve(allocator, call, allocation, &index);
        if (slot == NULL) {
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
        if (!maar_slot_claim(slot, allocation)) {
            return maar_refuse_late_free(allocator, call);
        }
        if (slot->stitched) {
            maar_stitched_end(allocator, slot, index, object, 0, NULL, later);
            return VK_SUCCESS;
        }
    }
    if (object != 0) {
        maar_lock_rank_expect_none();
        destroy(&allocator->device, object);
    }
    if (slot != NULL) {
        maar_release_slot(allocator, slot, index);
    }
    return VK_SUCCESS;
}

static void destroy_pending_buffer(MaarAllocator allocator, const struct maar_retire_item* item)
{
    if (item->object != 0) {
        destroy_buffer_bits(&allocator->device, item->object);
    }
    if (item->slot_index != MAAR_SLOT_NONE) {
        maar_release_pending(allocator, (uint32_t)item->slot_index);
    }
}

VkResult maar_destroy_buffer(MaarAllocator allocator, const char* call, VkBuffer buffer,
                             MaarAllocation allocation)
{
    return maar_destroy_object(allocator, call, MAAR_TO_BITS(buffer), allocation,
                               destroy_buffer_bits, destroy_pending_buffer);
}

VKAPI_ATTR void VKAPI_CALL maarDestroyBuffer(MaarAllocator allocator, VkBuffer buffer,
                                             MaarAllocation allocation)
{
    if (maar_enter(allocator) == VK_SUCCESS) {
        (void)maar_destroy_buffer(allocator, __func__, buffer, allocation);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroyBufferAfter(MaarAllocator allocator, VkBuffer buffer,
                                                      MaarAllocation allocation,
                                                      uint32_t pointCount, const MaarPoint* pPoints)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (buffer == VK_NULL_HANDLE && allocation == VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    if (pointCount == 0) {
        return maar_destroy_buffer(allocator, __func__, buffer, allocation);
    }
    return maar_free_after(allocator, __func__, MAAR_TO_BITS(buffer), allocation, pointCount,
                           pPoints, destroy_pending_buffer);
}
