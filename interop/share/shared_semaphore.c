/*
 * Shared semaphores: creates semaphores for export, exports them, and creates semaphores from
 * exported handles.
 */
#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "interop/share/share_internal.h"

#if defined(_WIN32)
#define SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_win32"
#else
#define SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_fd"
#endif

/* Returns the reason why semaphores of this type cannot be shared. */
static const char* why_not(MaarAllocator allocator, VkSemaphoreType type)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    if (!facts->semaphore_fd && !facts->semaphore_win32) {
        return SEMAPHORE_EXTENSION " was not among the allocator's ppEnabledExtensionNames";
    }
    if (type == VK_SEMAPHORE_TYPE_TIMELINE && !facts->timeline_semaphore) {
        return "timelineSemaphore was not among the allocator's pEnabledFeatures";
    }
    return "the driver does not offer it";
}

static VkResult check_semaphore(MaarAllocator allocator, const char* call, VkSemaphoreType type,
                                VkExternalSemaphoreHandleTypeFlagBits handle,
                                VkExternalSemaphoreFeatureFlags need)
{
    if (type != VK_SEMAPHORE_TYPE_TIMELINE && type != VK_SEMAPHORE_TYPE_BINARY) {
        return maar_refuse_enum(allocator, call, "type", "VkSemaphoreType", (int)type);
    }
    if (!maar_is_power_of_two(handle)) {
        return maar_refuse_bits(allocator, call, "handleType", (uint32_t)handle);
    }
    if ((maar_semaphore_sharing(allocator, type, handle) & need) != need) {
        const bool imports = need == VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    imports ? MAAR_MESSAGE_ID_NOT_IMPORTABLE : MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                    "a %s semaphore cannot be %s as handle type 0x%x here: %s",
                    type == VK_SEMAPHORE_TYPE_TIMELINE ? "timeline" : "binary",
                    imports ? "imported" : "exported", (unsigned)handle, why_not(allocator, type));
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return VK_SUCCESS;
}

static VkResult make_semaphore(MaarAllocator allocator, VkSemaphoreType type, uint64_t value,
                               const void* next, VkSemaphore* semaphore)
{
    const struct maar_device* device = &allocator->device;
    const VkSemaphoreTypeCreateInfo kind = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .pNext = next,
        .semaphoreType = type,
        .initialValue = type == VK_SEMAPHORE_TYPE_TIMELINE ? value : 0,
    };
    const VkSemaphoreCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = type == VK_SEMAPHORE_TYPE_TIMELINE ? &kind : next,
    };
    maar_lock_rank_expect_none();
    return device->vkCreateSemaphore(device->handle, &create, device->callbacks, semaphore);
}

VkResult maar_create_shared_semaphore(MaarAllocator allocator, const char* call,
                                      const MaarSharedSemaphoreCreateInfo* info,
                                      VkSemaphore* semaphore)
{
    VkResult result = check_semaphore(allocator, call, info->type, info->handleType,
                                      VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = (VkExternalSemaphoreHandleTypeFlags)info->handleType,
    };
    VkSemaphore made = VK_NULL_HANDLE;
    result = make_semaphore(allocator, info->type, info->initialValue, &export, &made);
    *semaphore = result == VK_SUCCESS ? made : VK_NULL_HANDLE;
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
maarCreateSharedSemaphore(MaarAllocator allocator, const MaarSharedSemaphoreCreateInfo* pCreateInfo,
                          VkSemaphore* pSemaphore)
{
    if (pSemaphore != NULL) {
        *pSemaphore = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pCreateInfo", pCreateInfo,
                                  MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pSemaphore == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "pSemaphore is NULL");
    }
    return maar_create_shared_semaphore(allocator, __func__, pCreateInfo, pSemaphore);
}

static VkResult call_semaphore_export(MaarAllocator allocator, VkSemaphore semaphore,
                                      VkExternalSemaphoreHandleTypeFlagBits type,
                                      maar_port_handle* value)
{
    const struct maar_device* device = &allocator->device;
    maar_lock_rank_expect_none();
    if (type == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT) {
        const struct maar_win32_get_semaphore info = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_WIN32_HANDLE_INFO_KHR,
            .semaphore = semaphore,
            .handleType = type,
        };
        void* handle = NULL;
        VkResult result =
            device->win32.vkGetSemaphoreWin32HandleKHR(device->handle, &info, &handle);
        result = result == VK_SUCCESS && handle == NULL ? VK_ERROR_UNKNOWN : result;
        *value = result == VK_SUCCESS ? (maar_port_handle)(intptr_t)handle : MAAR_PORT_NO_HANDLE;
        return result;
    }
    const VkSemaphoreGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
        .semaphore = semaphore,
        .handleType = type,
    };
    int fd = -1;
    VkResult result = device->vkGetSemaphoreFdKHR(device->handle, &info, &fd);
    *value = result == VK_SUCCESS ? fd : MAAR_PORT_NO_HANDLE;
    if (result == VK_SUCCESS) {
        maar_port_handle_keep_private(fd);
    }
    return result == VK_SUCCESS && fd < 0 ? VK_ERROR_UNKNOWN : result;
}

VkResult maar_export_semaphore(MaarAllocator allocator, const char* call, VkSemaphore semaphore,
                               VkExternalSemaphoreHandleTypeFlagBits type,
                               MaarExternalHandle* handle)
{
    if (semaphore == VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, call,
                           "semaphore is VK_NULL_HANDLE");
    }
    const bool known = (type == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT &&
                        allocator->device.facts.semaphore_win32) ||
                       (type == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT &&
                        allocator->device.facts.semaphore_fd);
    if (!known) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                    "semaphores cannot be exported as handle type 0x%x here: Maar does not know "
                    "the type, or its extension was not among the allocator's "
                    "ppEnabledExtensionNames",
                    (unsigned)type);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    maar_port_handle value = MAAR_PORT_NO_HANDLE;
    VkResult result = call_semaphore_export(allocator, semaphore, type, &value);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_external_handle_create(allocator, value, handle);
    if (result != VK_SUCCESS) {
        maar_port_handle_close(value);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarExportSemaphore(MaarAllocator allocator, VkSemaphore semaphore,
                                                   VkExternalSemaphoreHandleTypeFlagBits handleType,
                                                   MaarExternalHandle* pHandle)
{
    if (pHandle != NULL) {
        *pHandle = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS && pHandle == NULL) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pHandle is NULL");
    }
    return result == VK_SUCCESS
               ? maar_export_semaphore(allocator, __func__, semaphore, handleType, pHandle)
               : result;
}

static VkResult call_semaphore_import(MaarAllocator allocator, const char* call,
                                      VkSemaphore semaphore,
                                      VkExternalSemaphoreHandleTypeFlagBits type,
                                      MaarExternalHandle handle)
{
    const struct maar_device* device = &allocator->device;
    const bool is_win32 = type == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT;
    struct maar_handle_import import;
    VkResult result = maar_handle_import_begin(allocator, call, handle, !is_win32, &import);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_lock_rank_expect_none();
    if (is_win32) {
        const struct maar_win32_import_semaphore info = {
            .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_WIN32_HANDLE_INFO_KHR,
            .semaphore = semaphore,
            .handleType = type,
            .handle = maar_port_win32_handle(import.duplicate),
        };
        result = device->win32.vkImportSemaphoreWin32HandleKHR(device->handle, &info);
    } else {
        const VkImportSemaphoreFdInfoKHR info = {
            .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
            .semaphore = semaphore,
            .handleType = type,
            .fd = (int)import.duplicate,
        };
        result = device->vkImportSemaphoreFdKHR(device->handle, &info);
    }
    maar_handle_import_end(&import, result == VK_SUCCESS);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarImportSemaphore(MaarAllocator allocator,
                                                   MaarExternalHandle handle,
                                                   VkExternalSemaphoreHandleTypeFlagBits handleType,
                                                   VkSemaphoreType type, VkSemaphore* pSemaphore)
{
    if (pSemaphore != NULL) {
        *pSemaphore = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (handle == VK_NULL_HANDLE || pSemaphore == NULL) {
        return maar_misuse(
            allocator,
            pSemaphore == NULL ? MAAR_MESSAGE_ID_NULL_ARGUMENT : MAAR_MESSAGE_ID_NULL_HANDLE,
            __func__, pSemaphore == NULL ? "pSemaphore is NULL" : "handle is VK_NULL_HANDLE");
    }
    result = check_semaphore(allocator, __func__, type, handleType,
                             VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT);
    if (result == VK_SUCCESS && handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_IMPORTABLE, __func__,
                           "handleType is SYNC_FD, which can only be imported temporarily");
    }
    if (result == VK_SUCCESS) {
        result = maar_external_handle_check(allocator, __func__, "handle", handle);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    VkSemaphore semaphore = VK_NULL_HANDLE;
    result = make_semaphore(allocator, type, 0, NULL, &semaphore);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = call_semaphore_import(allocator, __func__, semaphore, handleType, handle);
    if (result != VK_SUCCESS) {
        const struct maar_device* device = &allocator->device;
        device->vkDestroySemaphore(device->handle, semaphore, device->callbacks);
        return result;
    }
    *pSemaphore = semaphore;
    return VK_SUCCESS;
}
