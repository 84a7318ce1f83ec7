/*
 * The public calls that create, bind and destroy buffers, and allocate memory for them. object.h
 * has the steps of these calls.
 */
#include "core/objects/buffer.h"

#include "core/memory/allocate.h"
#include "core/memory/allocation_check.h"
#include "core/memory/allocation_free.h"
#include "core/memory/export_types.h"
#include "core/objects/captured_object.h"
#include "core/objects/movable.h"
#include "core/objects/object_steps.h"
#include "core/objects/shared_object.h"
#include "core/objects/stitched.h"

/* Creates a buffer whose create info is checked, and places it. dedicated: it requires dedicated
 * memory, whatever the driver says. */
MAAR_INLINE VkResult make_buffer(MaarAllocator allocator, const char* call,
                                 const VkBufferCreateInfo* buffer_info, bool dedicated,
                                 const MaarAllocationCreateInfo* info, struct maar_patience* own,
                                 VkBuffer* buffer, MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    struct maar_object object = {0};
    maar_lock_rank_expect_none();
    VkResult result =
        device->vkCreateBuffer(device->handle, buffer_info, device->callbacks, &object.buffer);
    if (result != VK_SUCCESS) {
        maar_report_no_object(allocator, call, "buffer", result);
        return result;
    }
    MaarMemoryRequest request;
    maar_ask_for_buffer(allocator, object.buffer, &request);
    maar_capture_buffer(allocator, object.buffer, buffer_info, &request);
    request.requiresDedicated |= dedicated ? VK_TRUE : VK_FALSE;
    result = own != NULL
                 ? maar_place_object(allocator, call, object, &request, info, own, allocation)
                 : maar_place_and_bind(allocator, call, object, &request, info, allocation);
    if (result == VK_SUCCESS) {
        *buffer = object.buffer;
    }
    return result;
}

/* Creates a buffer whose memory may be exported. */
static VkResult create_shared_buffer(MaarAllocator allocator, const char* call,
                                     const VkBufferCreateInfo* buffer_info,
                                     const MaarAllocationCreateInfo* info, VkBuffer* buffer,
                                     MaarAllocation* allocation)
{
    struct maar_shared_buffer shared;
    const VkResult result = maar_share_buffer(
        allocator, call, buffer_info, maar_export_types(allocator, info),
        (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT, &shared);
    return result != VK_SUCCESS ? result
                                : make_buffer(allocator, call, shared.use, shared.dedicated, info,
                                              NULL, buffer, allocation);
}

/* Creates a buffer that Maar can create anew. */
static VkResult create_movable_buffer(MaarAllocator allocator, const char* call,
                                      const VkBufferCreateInfo* buffer_info,
                                      const MaarAllocationCreateInfo* info, VkBuffer* buffer,
                                      MaarAllocation* allocation)
{
    struct maar_movable* movable = NULL;
    struct maar_object object = {0};
    VkResult result = maar_movable_prepare_buffer(allocator, call, buffer_info, info, &movable);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = make_buffer(allocator, call, &movable->buffer, false, info, NULL, &object.buffer,
                         allocation);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, movable);
        return result;
    }
    result = maar_movable_publish(allocator, movable, object, allocation);
    *buffer = result == VK_SUCCESS ? object.buffer : VK_NULL_HANDLE;
    return result;
}

/* Creates a buffer that may be made of pages, or whose memory may be exported, or that is movable.
 */
MAAR_NOINLINE VkResult create_special_buffer(MaarAllocator allocator, const char* call,
                                             const VkBufferCreateInfo* buffer_info,
                                             const MaarAllocationCreateInfo* info, VkBuffer* buffer,
                                             MaarAllocation* allocation)
{
    enum maar_stitch_end stitched = MAAR_STITCH_OTHERWISE;
    VkResult result = VK_SUCCESS;
    if (maar_may_stitch(allocator, info)) {
        stitched = maar_create_stitched_buffer(allocator, call, buffer_info, info, &result, buffer,
                                               allocation);
        if (stitched == MAAR_STITCH_ENDED) {
            return result;
        }
    }
    if (maar_find_movable(info) != NULL) {
        result = create_movable_buffer(allocator, call, buffer_info, info, buffer, allocation);
    } else {
        result = create_shared_buffer(allocator, call, buffer_info, info, buffer, allocation);
    }
    if (result == VK_SUCCESS && stitched == MAAR_STITCH_NO_SPACE) {
        maar_note_fallback(allocator, *allocation);
    }
    return result;
}

/* Does the work of maar_create_buffer. */
MAAR_INLINE VkResult create_any_buffer(MaarAllocator allocator, const char* call,
                                       const VkBufferCreateInfo* buffer_info,
                                       const MaarAllocationCreateInfo* info,
                                       struct maar_patience* own, VkBuffer* buffer,
                                       MaarAllocation* allocation)
{
    const VkResult result = maar_check_buffer_info(allocator, call, buffer_info);
    if (result != VK_SUCCESS) {
        return result;
    }
    /* Only a pool or a chained structure makes memory of pages or for export, or a movable buffer.
     */
    if (own == NULL && info != NULL && (info->pool != VK_NULL_HANDLE || info->pNext != NULL)) {
        return create_special_buffer(allocator, call, buffer_info, info, buffer, allocation);
    }
    return make_buffer(allocator, call, buffer_info, false, info, own, buffer, allocation);
}

VkResult maar_create_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* buffer_info,
                            const MaarAllocationCreateInfo* info, struct maar_patience* own,
                            VkBuffer* buffer, MaarAllocation* allocation)
{
    return create_any_buffer(allocator, call, buffer_info, info, own, buffer, allocation);
}

VkDeviceAddress maar_buffer_address(MaarAllocator allocator, VkBuffer buffer,
                                    VkBufferUsageFlags usage)
{
    const struct maar_device* device = &allocator->device;
    if ((usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) == 0) {
        return 0;
    }
    const VkBufferDeviceAddressInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = buffer,
    };
    maar_lock_rank_expect_none();
    return device->vkGetBufferDeviceAddress(device->handle, &info);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateBuffer(MaarAllocator allocator,
                                                const VkBufferCreateInfo* pBufferInfo,
                                                const MaarAllocationCreateInfo* pCreateInfo,
                                                VkBuffer* pBuffer, MaarAllocation* pAllocation)
{
    /* This is the most frequent creation, so its steps are in line, without a table of outputs. */
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
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           pBuffer == NULL ? "pBuffer is NULL" : "pAllocation is NULL");
    }
    return create_any_buffer(allocator, __func__, pBufferInfo, pCreateInfo, NULL, pBuffer,
                             pAllocation);
}

VKAPI_ATTR VkResult VKAPI_CALL maarAllocateMemoryForBuffer(
    MaarAllocator allocator, VkBuffer buffer, const MaarAllocationCreateInfo* pCreateInfo,
    MaarAllocation* pAllocation)
{
    const struct maar_object object = {.buffer = buffer};
    const struct maar_output outputs[] = {
        {"pAllocation", pAllocation, sizeof *pAllocation},
        {0},
    };
    VkResult result = maar_enter_with_object(allocator, __func__, "buffer", object, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, buffer, &request);
    return maar_allocate(allocator, __func__, &request, pCreateInfo, pAllocation);
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
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                           "buffer is VK_NULL_HANDLE");
    }
    struct maar_span span;
    struct maar_slot* slot = maar_bind_target(allocator, __func__, allocation, offset, &span);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    /* Only Maar knows where the allocation ends in its block: no layer sees such a mistake. */
    MaarMemoryRequest request;
    maar_buffer_request(allocator, buffer, &request);
    result = maar_check_place(allocator, __func__, slot, span, offset, &request.requirements);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_object object = {.buffer = buffer};
    return maar_bind_object(allocator, slot, span.offset + offset, object, pNext);
}

VKAPI_ATTR void VKAPI_CALL maarDestroyBuffer(MaarAllocator allocator, VkBuffer buffer,
                                             MaarAllocation allocation)
{
    const struct maar_object object = {.buffer = buffer};
    if (maar_enter(allocator) == VK_SUCCESS) {
        (void)maar_destroy_object(allocator, __func__, object, allocation, false);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroyBufferAfter(MaarAllocator allocator, VkBuffer buffer,
                                                      MaarAllocation allocation,
                                                      uint32_t pointCount, const MaarPoint* pPoints)
{
    const struct maar_object object = {.buffer = buffer};
    VkResult result = maar_enter(allocator);
    return result != VK_SUCCESS ? result
                                : maar_destroy_object_after(allocator, __func__, object, allocation,
                                                            pointCount, pPoints, false);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetBufferAddress(MaarAllocator allocator, VkBuffer buffer,
                                                    VkDeviceAddress* pAddress)
{
    const struct maar_object object = {.buffer = buffer};
    const struct maar_output outputs[] = {
        {"pAddress", pAddress, sizeof *pAddress},
        {0},
    };
    VkResult result = maar_enter_with_object(allocator, __func__, "buffer", object, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (!allocator->device.facts.buffer_device_address) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    *pAddress = maar_buffer_address(allocator, buffer, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarChooseMemoryTypeForBuffer(
    MaarAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const MaarAllocationCreateInfo* pCreateInfo, MaarMemoryTypeChoice* pChoice)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pBufferInfo", pBufferInfo,
                                  VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pBufferInfo->size == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_ZERO_SIZE, __func__,
                           "pBufferInfo->size is 0");
    }
    if (!maar_buffer_has_usage(pBufferInfo)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_EMPTY_FLAGS, __func__,
                           "pBufferInfo->usage is 0");
    }
    MaarMemoryRequest request;
    result = maar_buffer_info_request(allocator, pBufferInfo, &request);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_choose_memory_type(allocator, __func__, request.requirements.memoryTypeBits,
                                   pCreateInfo, pChoice);
}
