/*
 * The Win32 structures of external memory and semaphores. Vulkan's own declarations need the
 * headers of Windows. These declarations do not: a HANDLE is a void pointer, and Maar never reads
 * the wide strings. So the code that uses them is compiled and tested on every system.
 */
#ifndef MAAR_CORE_DEVICE_WIN32_H
#define MAAR_CORE_DEVICE_WIN32_H

#include <vulkan/vulkan_core.h>

#define MAAR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME "VK_KHR_external_memory_win32"
#define MAAR_EXTERNAL_SEMAPHORE_WIN32_EXTENSION_NAME "VK_KHR_external_semaphore_win32"

/* VkImportMemoryWin32HandleInfoKHR */
struct maar_win32_import_memory {
    VkStructureType sType;
    const void* pNext;
    VkExternalMemoryHandleTypeFlagBits handleType;
    void* handle;
    const void* name;
};

/* VkMemoryGetWin32HandleInfoKHR */
struct maar_win32_get_memory {
    VkStructureType sType;
    const void* pNext;
    VkDeviceMemory memory;
    VkExternalMemoryHandleTypeFlagBits handleType;
};

/* VkMemoryWin32HandlePropertiesKHR */
struct maar_win32_memory_properties {
    VkStructureType sType;
    void* pNext;
    uint32_t memoryTypeBits;
};

/* VkImportSemaphoreWin32HandleInfoKHR */
struct maar_win32_import_semaphore {
    VkStructureType sType;
    const void* pNext;
    VkSemaphore semaphore;
    VkSemaphoreImportFlags flags;
    VkExternalSemaphoreHandleTypeFlagBits handleType;
    void* handle;
    const void* name;
};

/* VkSemaphoreGetWin32HandleInfoKHR */
struct maar_win32_get_semaphore {
    VkStructureType sType;
    const void* pNext;
    VkSemaphore semaphore;
    VkExternalSemaphoreHandleTypeFlagBits handleType;
};

typedef VkResult(VKAPI_PTR* PFN_maar_vkGetMemoryWin32HandleKHR)(
    VkDevice device, const struct maar_win32_get_memory* info, void** handle);
typedef VkResult(VKAPI_PTR* PFN_maar_vkGetMemoryWin32HandlePropertiesKHR)(
    VkDevice device, VkExternalMemoryHandleTypeFlagBits type, void* handle,
    struct maar_win32_memory_properties* properties);
typedef VkResult(VKAPI_PTR* PFN_maar_vkGetSemaphoreWin32HandleKHR)(
    VkDevice device, const struct maar_win32_get_semaphore* info, void** handle);
typedef VkResult(VKAPI_PTR* PFN_maar_vkImportSemaphoreWin32HandleKHR)(
    VkDevice device, const struct maar_win32_import_semaphore* info);

struct maar_win32_functions {
    PFN_maar_vkGetMemoryWin32HandleKHR vkGetMemoryWin32HandleKHR;
    PFN_maar_vkGetMemoryWin32HandlePropertiesKHR vkGetMemoryWin32HandlePropertiesKHR;
    PFN_maar_vkGetSemaphoreWin32HandleKHR vkGetSemaphoreWin32HandleKHR;
    PFN_maar_vkImportSemaphoreWin32HandleKHR vkImportSemaphoreWin32HandleKHR;
};

#endif
