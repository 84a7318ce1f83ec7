/*
 * Buffers: create, allocate, bind; undone in reverse when a step fails.
 */
#include "core/objects/requirements.h"
#include "core/objects/vulkan_bits.h"

static VkResult check_buffer_info(MaarAllocator allocator, const VkBufferCreateInfo* info)
{
    if (info == NULL || info->sType != VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO) {
        return maar_misuse(allocator, "pBufferInfo is NULL or has a wrong sType");
    }
    if (info->size == 0) {
        return maar_misuse(allocator, "pBufferInfo->size is 0");
    }
    if ((info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0 &&
        !allocator->device.facts.buffer_device_address) {
        return maar_misuse(allocator, "pBufferInfo->usage has SHADER_DEVICE_ADDRESS, but the "
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
        return maar_misuse(allocator, "pBuffer or pAllocation is NULL");
    }
    result = check_buffer_info(allocator, pBufferInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_create_buffer(allocator, pBufferInfo, pCreateInfo, false, pBuffer, pAllocation);
}

VkResult maar_create_buffer(MaarAllocator allocator, const VkBufferCreateInfo* buffer_info,
                            const MaarAllocationCreateInfo* info, bool internal, VkBuffer* buffer,
                            MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    maar_lock_rank_expect_none();
    VkResult result =
        device->vkCreateBuffer(device->handle, buffer_info, device->callbacks, buffer);
    if (result != VK_SUCCESS) {
        *buffer = VK_NULL_HANDLE;
        return result;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, *buffer, &request);
    result = maar_allocate(allocator, &request, info, internal, allocation);
    if (result != VK_SUCCESS) {
        goto destroy_buffer;
    }
    result = maarBindBuffer(allocator, *allocation, 0, *buffer, NULL);
    if (result != VK_SUCCESS) {
        goto free_memory;
    }
    return VK_SUCCESS;

free_memory:
    /* The bytes may be reused at once: nothing was ever bound to them. */
    maar_undo_allocation(allocator, *allocation);
    *allocation = VK_NULL_HANDLE;
destroy_buffer:
    device->vkDestroyBuffer(device->handle, *buffer, device->callbacks);
    *buffer = VK_NULL_HANDLE;
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyBuffer(MaarAllocator allocator, VkBuffer buffer,
                                             MaarAllocation allocation)
{
    if (maar_enter(allocator) != VK_SUCCESS) {
        return;
    }
    uint32_t index = 0;
    struct maar_slot* slot = NULL;
    if (allocation != VK_NULL_HANDLE) {
        slot = maar_resolve(allocator, allocation, &index);
        if (slot == NULL || !maar_slot_claim(slot, allocation)) {
            return;
        }
    }
    const struct maar_device* device = &allocator->device;
    if (buffer != VK_NULL_HANDLE) {
        device->vkDestroyBuffer(device->handle, buffer, device->callbacks);
    }
    if (slot != NULL) {
        maar_release_slot(allocator, index, false);
    }
}

static void destroy_pending_buffer(MaarAllocator allocator, const struct maar_retire_item* item)
{
    const struct maar_device* device = &allocator->device;
    device->vkDestroyBuffer(device->handle, MAAR_FROM_BITS(VkBuffer, item->object),
                            device->callbacks);
    if (item->aside != MAAR_SLOT_NONE) {
        maar_release_slot(allocator, (uint32_t)item->aside, true);
    }
}

VkResult maar_destroy_after(MaarAllocator allocator, uint64_t object, MaarAllocation allocation,
                            uint32_t point_count, const MaarPoint* points,
                            void (*action)(MaarAllocator allocator,
                                           const struct maar_retire_item* item))
{
    VkResult result = maar_retire_check_points(allocator, point_count, points);
    if (result != VK_SUCCESS) {
        return result;
    }
    uint32_t index = MAAR_SLOT_NONE;
    struct maar_slot* slot = NULL;
    if (allocation != VK_NULL_HANDLE) {
        slot = maar_resolve(allocator, allocation, &index);
        if (slot == NULL) {
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
    }
    struct maar_retire_item* item = maar_retire_prepare(allocator, point_count, points);
    if (item == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (slot != NULL && !maar_slot_claim(slot, allocation)) {
        maar_retire_discard(allocator, item);
        return maar_misuse(allocator, "allocation was freed by another thread meanwhile");
    }
    item->action = action;
    item->object = object;
    item->aside = index;
    if (slot != NULL) {
        maar_slot_make_pending(allocator, index);
    }
    maar_retire_queue(&allocator->retire, item);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroyBufferAfter(MaarAllocator allocator, VkBuffer buffer,
                                                      MaarAllocation allocation,
                                                      uint32_t pointCount, const MaarPoint* pPoints)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (buffer == VK_NULL_HANDLE) {
        return maarFreeMemoryAfter(allocator, allocation, pointCount, pPoints);
    }
    if (pointCount == 0) {
        maarDestroyBuffer(allocator, buffer, allocation);
        return VK_SUCCESS;
    }
    return maar_destroy_after(allocator, MAAR_TO_BITS(buffer), allocation, pointCount, pPoints,
                              destroy_pending_buffer);
}
