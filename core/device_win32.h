/*
 * The Win32 half of external memory and semaphores, declared without the headers of Windows, which
 * Vulkan's own declarations need: a HANDLE is a void pointer, a string of wide characters never
 * read here. So what uses it is compiled, and tested, everywhere.
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

struct maar_win32_functions {
    VkResult(VKAPI_PTR* vkGetMemoryWin32HandleKHR)(VkDevice, const struct maar_win32_get_memory*,
                                                   void**);
    VkResult(VKAPI_PTR* vkGetMemoryWin32HandlePropertiesKHR)(VkDevice,
                                                             VkExternalMemoryHandleTypeFlagBits,
                                                             void*,
                                                             struct maar_win32_memory_properties*);
    VkResult(VKAPI_PTR* vkGetSemaphoreWin32HandleKHR)(VkDevice,
                                                      const struct maar_win32_get_semaphore*,
                                                      void**);
    VkResult(VKAPI_PTR* vkImportSemaphoreWin32HandleKHR)(VkDevice,
                                                         const struct maar_win32_import_semaphore*);
};

#endif
