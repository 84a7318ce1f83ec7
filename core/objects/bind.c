/*
 * Binding, allocating for objects that exist, and objects on memory that exists.
 */
#include "core/objects/requirements.h"
#include "core/objects/shared_object.h"

struct maar_slot* maar_bind_target(MaarAllocator allocator, const char* call,
                                   MaarAllocation allocation, VkDeviceSize offset)
{
    struct maar_slot* slot = maar_resolve(allocator, call, allocation, NULL);
    if (slot != NULL && slot->stitched) {
        (void)maar_misuse(allocator, call,
                          "allocation is made of pages for one object; nothing else can be bound "
                          "to it");
        return NULL;
    }
    if (slot != NULL && offset >= maar_slot_size(slot)) {
        (void)maar_misuse(allocator, call, "offset is not within the allocation");
        return NULL;
    }
    return slot;
}

VKAPI_ATTR VkResult VKAPI_CALL maarBindBuffer(MaarAllocator allocator, MaarAllocation allocation,
                                              VkDeviceSize offset, VkBuffer buffer,
                                              const void* pNext)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (buffer == VK_NULL_HANDLE) {
        return maar_misuse(allocator, __func__, "buffer is VK_NULL_HANDLE");
    }
    struct maar_slot* slot = maar_bind_target(allocator, __func__, allocation, offset);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_device* device = &allocator->device;
    const VkBindBufferMemoryInfo bind = {
        .sType = VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO,
        .pNext = pNext,
        .buffer = buffer,
        .memory = slot->block->memory,
        .memoryOffset = maar_slot_offset(slot) + offset,
    };
    maar_lock_rank_expect_none();
    return device->vkBindBufferMemory2(device->handle, 1, &bind);
}

VKAPI_ATTR VkResult VKAPI_CALL maarBindImage(MaarAllocator allocator, MaarAllocation allocation,
                                             VkDeviceSize offset, VkImage image, const void* pNext)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (image == VK_NULL_HANDLE) {
        return maar_misuse(allocator, __func__, "image is VK_NULL_HANDLE");
    }
    struct maar_slot* slot = maar_bind_target(allocator, __func__, allocation, offset);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_device* device = &allocator->device;
    const VkBindImageMemoryInfo bind = {
        .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO,
        .pNext = pNext,
        .image = image,
        .memory = slot->block->memory,
        .memoryOffset = maar_slot_offset(slot) + offset,
    };
    maar_lock_rank_expect_none();
    return device->vkBindImageMemory2(device->handle, 1, &bind);
}

VKAPI_ATTR VkResult VKAPI_CALL maarAllocateMemoryForBuffer(
    MaarAllocator allocator, VkBuffer buffer, const MaarAllocationCreateInfo* pCreateInfo,
    MaarAllocation* pAllocation)
{
    if (pAllocation != NULL) {
        *pAllocation = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (buffer == VK_NULL_HANDLE || pAllocation == NULL) {
        return maar_misuse(allocator, __func__,
                           pAllocation == NULL ? "pAllocation is NULL"
                                               : "buffer is VK_NULL_HANDLE");
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, buffer, &request);
    return maar_allocate(allocator, __func__, &request, pCreateInfo, false, pAllocation);
}

VKAPI_ATTR VkResult VKAPI_CALL
maarAllocateMemoryForImage(MaarAllocator allocator, VkImage image, VkImageTiling tiling,
                           const MaarAllocationCreateInfo* pCreateInfo, MaarAllocation* pAllocation)
{
    if (pAllocation != NULL) {
        *pAllocation = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (image == VK_NULL_HANDLE || pAllocation == NULL) {
        return maar_misuse(allocator, __func__,
                           pAllocation == NULL ? "pAllocation is NULL" : "image is VK_NULL_HANDLE");
    }
    MaarMemoryRequest request;
    maar_image_request(allocator, image, maar_tiling_kind(tiling), 0, &request);
    return maar_allocate(allocator, __func__, &request, pCreateInfo, false, pAllocation);
}

/* Whether an object with these requirements may live at an offset of the allocation. */
static VkResult check_fit(MaarAllocator allocator, const char* call, const struct maar_slot* slot,
                          VkDeviceSize offset, const MaarMemoryRequest* request)
{
    const VkMemoryRequirements* needs = &request->requirements;
    if (request->requiresDedicated == VK_TRUE) {
        return maar_misuse(allocator, call,
                           "the driver requires memory of its own for the object, which can share "
                           "none");
    }
    if (needs->size > maar_slot_size(slot) - offset) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    "%s: the object needs %llu bytes; the allocation has %llu from offset %llu on",
                    call, (unsigned long long)needs->size,
                    (unsigned long long)(maar_slot_size(slot) - offset),
                    (unsigned long long)offset);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (needs->alignment > 1 && (maar_slot_offset(slot) + offset) % needs->alignment != 0) {
        return maar_misuse(allocator, call,
                           "the allocation's offset does not have the object's alignment");
    }
    if ((needs->memoryTypeBits & (1u << slot->block->pool->type_index)) == 0) {
        return maar_misuse(allocator, call,
                           "the object may not live in the allocation's memory type");
    }
    if (slot->block->named) {
        return maar_misuse(allocator, call,
                           "the allocation is dedicated to another object; make it with "
                           "MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT");
    }
    /* A pool of one kind leaves no room between kinds, whatever the flag says. */
    const struct maar_pool* pool = slot->block->pool;
    bool kept_apart = slot->can_alias && !pool->single_kind;
    if (!kept_apart && slot->block->placement != NULL && allocator->device.facts.granularity > 1 &&
        request->kind != (MaarResourceKind)slot->kind) {
        return maar_misuse(allocator, call,
                           "the object is of another kind than the allocation, whose "
                           "neighbours may share its page; make the allocation with "
                           "MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT in a pool of any kind");
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateAliasingBuffer(MaarAllocator allocator,
                                                        MaarAllocation allocation,
                                                        VkDeviceSize offset,
                                                        const VkBufferCreateInfo* pBufferInfo,
                                                        VkBuffer* pBuffer)
{
    if (pBuffer != NULL) {
        *pBuffer = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pBuffer == NULL) {
        return maar_misuse(allocator, __func__, "pBuffer is NULL");
    }
    result = maar_check_buffer_info(allocator, __func__, pBufferInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_slot* slot = maar_bind_target(allocator, __func__, allocation, offset);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_device* device = &allocator->device;
    VkBuffer buffer = VK_NULL_HANDLE;
    struct maar_shared_buffer shared;
    result = maar_share_buffer(allocator, __func__, pBufferInfo, slot->block->shared_types,
                               maar_block_sharing(slot->block), &shared);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = device->vkCreateBuffer(device->handle, shared.use, device->callbacks, &buffer);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, buffer, &request);
    request.requiresDedicated |= shared.dedicated ? VK_TRUE : VK_FALSE;
    result = check_fit(allocator, __func__, slot, offset, &request);
    if (result == VK_SUCCESS) {
        result = maarBindBuffer(allocator, allocation, offset, buffer, NULL);
    }
    if (result != VK_SUCCESS) {
        device->vkDestroyBuffer(device->handle, buffer, device->callbacks);
        return result;
    }
    *pBuffer = buffer;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateAliasingImage(MaarAllocator allocator,
                                                       MaarAllocation allocation,
                                                       VkDeviceSize offset,
                                                       const VkImageCreateInfo* pImageInfo,
                                                       VkImage* pImage)
{
    if (pImage != NULL) {
        *pImage = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pImage == NULL) {
        return maar_misuse(allocator, __func__, "pImage is NULL");
    }
    result = maar_check_image_info(allocator, __func__, pImageInfo,
                                   "pImageInfo is disjoint; bind its planes with maarBindImage");
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_slot* slot = maar_bind_target(allocator, __func__, allocation, offset);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_device* device = &allocator->device;
    VkImage image = VK_NULL_HANDLE;
    struct maar_shared_image shared;
    result = maar_share_image(allocator, __func__, pImageInfo, slot->block->shared_types,
                              maar_block_sharing(slot->block), &shared);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = device->vkCreateImage(device->handle, shared.use, device->callbacks, &image);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    maar_image_request(allocator, image, maar_tiling_kind(pImageInfo->tiling), 0, &request);
    request.requiresDedicated |= shared.dedicated ? VK_TRUE : VK_FALSE;
    result = check_fit(allocator, __func__, slot, offset, &request);
    if (result == VK_SUCCESS) {
        result = maarBindImage(allocator, allocation, offset, image, NULL);
    }
    if (result != VK_SUCCESS) {
        device->vkDestroyImage(device->handle, image, device->callbacks);
        return result;
    }
    *pImage = image;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetBufferAddress(MaarAllocator allocator, VkBuffer buffer,
                                                    VkDeviceAddress* pAddress)
{
    if (pAddress != NULL) {
        *pAddress = 0;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (buffer == VK_NULL_HANDLE || pAddress == NULL) {
        return maar_misuse(allocator, __func__,
                           pAddress == NULL ? "pAddress is NULL" : "buffer is VK_NULL_HANDLE");
    }
    const struct maar_device* device = &allocator->device;
    if (!device->facts.buffer_device_address) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    const VkBufferDeviceAddressInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = buffer,
    };
    *pAddress = device->vkGetBufferDeviceAddress(device->handle, &info);
    return VK_SUCCESS;
}
