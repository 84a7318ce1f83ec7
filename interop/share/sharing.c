/*
 * What a device can share: its identity, the enabled extensions, and the driver's answers about
 * resources and semaphores.
 */
#include <string.h>

#include "core/objects/object.h"
#include "core/objects/shared_object.h"
#include "interop/share/share_internal.h"

static VkExternalSemaphoreFeatureFlags ask_semaphore(const struct maar_device* device,
                                                     VkSemaphoreType type,
                                                     VkExternalSemaphoreHandleTypeFlagBits handle)
{
    const VkSemaphoreTypeCreateInfo kind = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = type,
    };
    /* The structure came with timeline semaphores. A device without them may not know it. */
    const VkPhysicalDeviceExternalSemaphoreInfo question = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = device->facts.timeline_semaphore ? &kind : NULL,
        .handleType = handle,
    };
    VkExternalSemaphoreProperties properties = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES,
    };
    if (device->vkGetPhysicalDeviceExternalSemaphoreProperties != NULL) {
        device->vkGetPhysicalDeviceExternalSemaphoreProperties(device->physical, &question,
                                                               &properties);
    }
    return properties.externalSemaphoreFeatures;
}

VkExternalSemaphoreFeatureFlags maar_semaphore_sharing(MaarAllocator allocator,
                                                       VkSemaphoreType type,
                                                       VkExternalSemaphoreHandleTypeFlagBits handle)
{
    const struct maar_device* device = &allocator->device;
    const bool has_fd = handle == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT ||
                        (handle == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT &&
                         type == VK_SEMAPHORE_TYPE_BINARY);
    const bool known = (has_fd && device->facts.semaphore_fd) ||
                       (handle == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT &&
                        device->facts.semaphore_win32);
    if (!known || (type == VK_SEMAPHORE_TYPE_TIMELINE && !device->facts.timeline_semaphore)) {
        return 0;
    }
    maar_lock_rank_expect_none();
    return ask_semaphore(device, type, handle);
}

static void collect_semaphores(MaarAllocator allocator, VkSemaphoreType type,
                               VkExternalSemaphoreHandleTypeFlags* exportable,
                               VkExternalSemaphoreHandleTypeFlags* importable)
{
    static const VkExternalSemaphoreHandleTypeFlagBits handles[] = {
        VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
        VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
        VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT,
    };
    *exportable = 0;
    *importable = 0;
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; ++i) {
        const VkExternalSemaphoreFeatureFlags features =
            maar_semaphore_sharing(allocator, type, handles[i]);
        if ((features & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0) {
            *exportable |= handles[i];
        }
        if ((features & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT) != 0) {
            *importable |= handles[i];
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetSharingInfo(MaarAllocator allocator, MaarSharingInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result =
        maar_check_structure(allocator, __func__, "pInfo", pInfo, MAAR_STRUCTURE_TYPE_SHARING_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_device_facts* facts = &allocator->device.facts;
    memcpy(pInfo->deviceUUID, facts->device_uuid, sizeof pInfo->deviceUUID);
    memcpy(pInfo->driverUUID, facts->driver_uuid, sizeof pInfo->driverUUID);
    memcpy(pInfo->deviceLUID, facts->device_luid, sizeof pInfo->deviceLUID);
    pInfo->deviceNodeMask = facts->device_node_mask;
    pInfo->deviceLUIDValid = facts->device_luid_valid ? VK_TRUE : VK_FALSE;
    pInfo->memoryFd = facts->memory_fd ? VK_TRUE : VK_FALSE;
    pInfo->dmaBuf = facts->memory_dma_buf ? VK_TRUE : VK_FALSE;
    pInfo->memoryWin32 = facts->memory_win32 ? VK_TRUE : VK_FALSE;
    pInfo->hostPointers = facts->memory_host ? VK_TRUE : VK_FALSE;
    pInfo->imageModifiers = facts->image_modifiers ? VK_TRUE : VK_FALSE;
    pInfo->foreignQueueFamily = facts->foreign_family ? VK_TRUE : VK_FALSE;
    pInfo->minImportedHostPointerAlignment = facts->host_pointer_alignment;
    collect_semaphores(allocator, VK_SEMAPHORE_TYPE_TIMELINE, &pInfo->exportableTimelineTypes,
                       &pInfo->importableTimelineTypes);
    collect_semaphores(allocator, VK_SEMAPHORE_TYPE_BINARY, &pInfo->exportableBinaryTypes,
                       &pInfo->importableBinaryTypes);
    return VK_SUCCESS;
}

/* Returns whether the extension for such handles is enabled. */
static bool is_enabled(MaarAllocator allocator, VkExternalMemoryHandleTypeFlagBits type)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    switch (type) {
    case VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT:
        return facts->memory_fd;
    case VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT:
        return facts->memory_dma_buf;
    case VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT:
        return facts->memory_win32;
    case VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT:
        return facts->memory_host;
    default:
        return false;
    }
}

/* Finds the memory types of a buffer or an image that is created with the external structure. */
static VkResult ask_types(MaarAllocator allocator, const MaarSharingQuery* query,
                          VkExternalMemoryFeatureFlags feature, bool* dedicated, uint32_t* types)
{
    MaarMemoryRequest request;
    VkResult result = VK_SUCCESS;
    if (query->pBufferInfo != NULL) {
        struct maar_shared_buffer shared;
        result = maar_share_buffer(allocator, "maarGetSharingSupport", query->pBufferInfo,
                                   query->handleType, feature, &shared);
        if (result == VK_SUCCESS) {
            result = maar_buffer_info_request(allocator, shared.use, &request);
        }
        *dedicated = shared.dedicated;
    } else {
        struct maar_shared_image shared;
        result = maar_share_image(allocator, "maarGetSharingSupport", query->pImageInfo,
                                  query->handleType, feature, &shared);
        if (result == VK_SUCCESS) {
            result = maar_image_info_request(allocator, shared.use, &request);
        }
        *dedicated = shared.dedicated;
    }
    if (result == VK_SUCCESS) {
        *types = request.requirements.memoryTypeBits;
        *dedicated |= request.requiresDedicated == VK_TRUE;
    }
    return result;
}

static VkResult check_query(MaarAllocator allocator, const char* call,
                            const MaarSharingQuery* query, const MaarSharingSupport* support)
{
    VkResult result =
        maar_check_structure(allocator, call, "pQuery", query, MAAR_STRUCTURE_TYPE_SHARING_QUERY);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, call, "pSupport", support,
                                      MAAR_STRUCTURE_TYPE_SHARING_SUPPORT);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((query->pBufferInfo != NULL) == (query->pImageInfo != NULL)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                           "pQuery needs exactly one of pBufferInfo and pImageInfo");
    }
    if (!maar_is_power_of_two(query->handleType)) {
        return maar_refuse_bits(allocator, call, "pQuery->handleType", (uint32_t)query->handleType);
    }
    if (query->pBufferInfo != NULL) {
        return maar_check_structure(allocator, call, "pQuery->pBufferInfo", query->pBufferInfo,
                                    VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    }
    result = maar_check_structure(allocator, call, "pQuery->pImageInfo", query->pImageInfo,
                                  VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (result == VK_SUCCESS && (query->pImageInfo->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                             "pQuery->pImageInfo is disjoint; the planes of a disjoint image are "
                             "not shared");
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetSharingSupport(MaarAllocator allocator,
                                                     const MaarSharingQuery* pQuery,
                                                     MaarSharingSupport* pSupport)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = check_query(allocator, __func__, pQuery, pSupport);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    VkExternalMemoryProperties properties;
    if (pQuery->pBufferInfo != NULL) {
        properties = maar_buffer_sharing(allocator, pQuery->pBufferInfo, pQuery->handleType);
    } else {
        result = maar_image_sharing(allocator, pQuery->pImageInfo, pQuery->handleType, &properties);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if (!is_enabled(allocator, pQuery->handleType)) {
        properties = (VkExternalMemoryProperties){0};
    }
    const VkExternalMemoryFeatureFlags exportable = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
    const VkExternalMemoryFeatureFlags importable = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    const VkExternalMemoryFeatureFlags has = properties.externalMemoryFeatures;
    bool dedicated = false;
    uint32_t types = 0;
    if ((has & (exportable | importable)) != 0) {
        result = ask_types(allocator, pQuery, has & (exportable | importable), &dedicated, &types);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    pSupport->exportable = (has & exportable) != 0 ? VK_TRUE : VK_FALSE;
    pSupport->importable = (has & importable) != 0 ? VK_TRUE : VK_FALSE;
    pSupport->dedicatedOnly = dedicated ? VK_TRUE : VK_FALSE;
    pSupport->compatibleTypes = properties.compatibleHandleTypes;
    pSupport->exportFromImportedTypes = properties.exportFromImportedHandleTypes;
    pSupport->memoryTypeBits = types;
    return VK_SUCCESS;
}
