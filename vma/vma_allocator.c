/*
 * Creates and destroys allocators, and reads what they know of their device.
 */
#include "vma/vma_layer.h"

#include <stdlib.h>

#include "vma/vma_usages.h"

#define FLAG(name) ((VmaAllocatorCreateFlags)VMA_ALLOCATOR_CREATE_##name##_BIT)

enum { MOST_EXTENSIONS = 16 };

/* The create info of Maar's allocator, and what it points to. */
struct opening {
    MaarAllocatorCreateInfo info;
    MaarEntryPointsInfo entry_points;
    MaarDefaultExportInfo exports;
    MaarMarginInfo margins;
    VkDeviceSize limits[VK_MAX_MEMORY_HEAPS];
    const char** extensions; /* of the program, then up to MOST_EXTENSIONS of the layer */
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses;
    VkPhysicalDeviceMemoryPriorityFeaturesEXT priorities;
    VkPhysicalDeviceMaintenance4Features maintenance4;
    VkPhysicalDeviceCoherentMemoryFeaturesAMD coherent;
};

static PFN_vkVoidFunction find_function(const MaarVmaAllocatorCreateInfo* from, const char* name,
                                        bool of_device)
{
    for (uint32_t i = 0; i < from->functionCount; ++i) {
        if (strcmp(from->pFunctions[i].pName, name) == 0) {
            return from->pFunctions[i].pfnFunction;
        }
    }
    if (of_device && from->pfnGetDeviceProcAddr != NULL) {
        return from->pfnGetDeviceProcAddr(from->device, name);
    }
    return from->pfnGetInstanceProcAddr != NULL ? from->pfnGetInstanceProcAddr(from->instance, name)
                                                : NULL;
}

static void add_feature(struct opening* to, void* feature)
{
    VkBaseOutStructure* base = feature;
    base->pNext = (VkBaseOutStructure*)(uintptr_t)to->info.pEnabledFeatures;
    to->info.pEnabledFeatures = base;
}

static void add_features(VmaAllocatorCreateFlags flags, struct opening* to)
{
    if ((flags & FLAG(BUFFER_DEVICE_ADDRESS)) != 0) {
        to->addresses = (VkPhysicalDeviceBufferDeviceAddressFeatures){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
            .bufferDeviceAddress = VK_TRUE};
        add_feature(to, &to->addresses);
    }
    if ((flags & FLAG(EXT_MEMORY_PRIORITY)) != 0) {
        to->priorities = (VkPhysicalDeviceMemoryPriorityFeaturesEXT){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT,
            .memoryPriority = VK_TRUE};
        add_feature(to, &to->priorities);
    }
    if ((flags & FLAG(KHR_MAINTENANCE4)) != 0) {
        to->maintenance4 = (VkPhysicalDeviceMaintenance4Features){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
            .maintenance4 = VK_TRUE};
        add_feature(to, &to->maintenance4);
    }
    if ((flags & FLAG(AMD_DEVICE_COHERENT_MEMORY)) != 0) {
        to->coherent = (VkPhysicalDeviceCoherentMemoryFeaturesAMD){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COHERENT_MEMORY_FEATURES_AMD,
            .deviceCoherentMemory = VK_TRUE};
        add_feature(to, &to->coherent);
    }
}

static void add_extensions(VmaAllocatorCreateFlags flags, struct opening* to)
{
    static const struct {
        VmaAllocatorCreateFlags flag;
        const char* names[2];
    } rows[] = {
        {FLAG(KHR_DEDICATED_ALLOCATION),
         {VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME,
          VK_KHR_DEDICATED_ALLOCATION_EXTENSION_NAME}},
        {FLAG(KHR_BIND_MEMORY2), {VK_KHR_BIND_MEMORY_2_EXTENSION_NAME, NULL}},
        {FLAG(EXT_MEMORY_BUDGET), {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, NULL}},
        {FLAG(BUFFER_DEVICE_ADDRESS), {VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, NULL}},
        {FLAG(EXT_MEMORY_PRIORITY), {VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME, NULL}},
        {FLAG(KHR_MAINTENANCE4), {VK_KHR_MAINTENANCE_4_EXTENSION_NAME, NULL}},
        {FLAG(KHR_EXTERNAL_MEMORY_WIN32), {"VK_KHR_external_memory_win32", NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        for (uint32_t j = 0; j < 2 && (flags & rows[i].flag) != 0; ++j) {
            if (rows[i].names[j] != NULL) {
                to->extensions[to->info.enabledExtensionCount++] = rows[i].names[j];
            }
        }
    }
}

/* Takes what memory of each type can be exported as, and the extensions that the program must have
 * enabled for that. Returns the handle types that Maar cannot export. */
static VkExternalMemoryHandleTypeFlags add_exports(const VkExternalMemoryHandleTypeFlags* wanted,
                                                   VmaAllocator allocator, struct opening* to)
{
    static const struct {
        VkExternalMemoryHandleTypeFlags type;
        const char* extension;
    } rows[] = {
        {VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, "VK_KHR_external_memory_fd"},
        {VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, "VK_EXT_external_memory_dma_buf"},
        {VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT, "VK_KHR_external_memory_win32"},
    };
    VkExternalMemoryHandleTypeFlags all = 0;
    VkExternalMemoryHandleTypeFlags known = 0;
    for (uint32_t i = 0; i < allocator->memory.memoryTypeCount; ++i) {
        all |= wanted[i];
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if ((all & rows[i].type) != 0) {
            known |= rows[i].type;
            to->extensions[to->info.enabledExtensionCount++] = rows[i].extension;
        }
    }
    /* Descriptors of dma-bufs are taken by the functions of this extension. */
    if ((known & VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT) != 0) {
        to->extensions[to->info.enabledExtensionCount++] = "VK_KHR_external_memory_fd";
    }
    for (uint32_t i = 0; i < allocator->memory.memoryTypeCount; ++i) {
        allocator->exports[i] = wanted[i] & known;
    }
    to->exports = (MaarDefaultExportInfo){
        .sType = MAAR_STRUCTURE_TYPE_DEFAULT_EXPORT_INFO,
        .pNext = to->info.pNext,
        .memoryTypeCount = allocator->memory.memoryTypeCount,
        .pHandleTypes = allocator->exports,
    };
    to->info.pNext = &to->exports;
    return all & ~known;
}

static void VKAPI_PTR forward_message(void* user, const MaarMessage* message)
{
    const VmaAllocator allocator = user;
    if (allocator->message != NULL) {
        allocator->message(allocator->message_user_data, message);
    }
    maar_vma_forward(&allocator->listener, message);
}

static void VKAPI_PTR forward_allocate(void* user, uint32_t type, VkDeviceMemory memory,
                                       VkDeviceSize size)
{
    const VmaAllocator allocator = user;
    allocator->device_memory.pfnAllocate(allocator, type, memory, size,
                                         allocator->device_memory.pUserData);
}

static void VKAPI_PTR forward_free(void* user, uint32_t type, VkDeviceMemory memory,
                                   VkDeviceSize size)
{
    const VmaAllocator allocator = user;
    allocator->device_memory.pfnFree(allocator, type, memory, size,
                                     allocator->device_memory.pUserData);
}

/* VK_WHOLE_SIZE stands for no limit here, 0 in Maar. */
static void set_limits(const struct VmaAllocator_T* allocator, const VkDeviceSize* limits,
                       struct opening* to)
{
    const uint32_t count = allocator->memory.memoryHeapCount;
    for (uint32_t i = 0; i < count; ++i) {
        to->limits[i] = limits[i] != VK_WHOLE_SIZE ? limits[i] : 0;
    }
    to->info.heapSizeLimitCount = count;
    to->info.pHeapSizeLimits = to->limits;
}

/* The interface shows a limit as the size of its heap. */
static void show_limits(VmaAllocator allocator, const MaarAllocatorCreateInfo* info)
{
    const uint32_t count = allocator->memory.memoryHeapCount;
    for (uint32_t i = 0; i < count && i < info->heapSizeLimitCount; ++i) {
        const VkDeviceSize limit = info->pHeapSizeLimits != NULL ? info->pHeapSizeLimits[i] : 0;
        VkDeviceSize* size = &allocator->memory.memoryHeaps[i].size;
        *size = limit != 0 && limit < *size ? limit : *size;
    }
}

/* Finds a function that the layer calls itself. Reports one that is missing. */
static PFN_vkVoidFunction need_function(const MaarVmaAllocatorCreateInfo* from,
                                        VmaAllocator allocator, const char* name, bool of_device)
{
    const PFN_vkVoidFunction found = find_function(from, name, of_device);
    if (found == NULL) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_MISSING_ENTRY_POINT,
                        "vmaCreateAllocator: pVulkanFunctions has no %s, and no function that "
                        "finds it",
                        name);
    }
    return found;
}

/* Whether the create info names the device, and Maar's is one. Reports what is wrong. */
static bool names_device(const MaarVmaAllocatorCreateInfo* from, VmaAllocator allocator)
{
    if (from->pMaarInfo != NULL &&
        from->pMaarInfo->sType != MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
                        "maarVmaCreateAllocatorWith: pMaarInfo->sType is %u, not "
                        "MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO",
                        (unsigned)from->pMaarInfo->sType);
        return false;
    }
    const char* missing = from->instance == VK_NULL_HANDLE         ? "instance"
                          : from->physicalDevice == VK_NULL_HANDLE ? "physicalDevice"
                          : from->device == VK_NULL_HANDLE         ? "device"
                                                                   : NULL;
    if (missing != NULL) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_NULL_HANDLE,
                        "vmaCreateAllocator: pCreateInfo->%s is VK_NULL_HANDLE", missing);
    }
    return missing == NULL;
}

/* Reads the device with the program's own functions. Returns false if one is missing. */
static bool read_device(const MaarVmaAllocatorCreateInfo* from, VmaAllocator allocator)
{
    const PFN_vkGetPhysicalDeviceProperties get_properties =
        (PFN_vkGetPhysicalDeviceProperties)need_function(from, allocator,
                                                         "vkGetPhysicalDeviceProperties", false);
    const PFN_vkGetPhysicalDeviceMemoryProperties get_memory =
        (PFN_vkGetPhysicalDeviceMemoryProperties)need_function(
            from, allocator, "vkGetPhysicalDeviceMemoryProperties", false);
    allocator->create_buffer =
        (PFN_vkCreateBuffer)need_function(from, allocator, "vkCreateBuffer", true);
    allocator->destroy_buffer =
        (PFN_vkDestroyBuffer)need_function(from, allocator, "vkDestroyBuffer", true);
    allocator->create_image =
        (PFN_vkCreateImage)need_function(from, allocator, "vkCreateImage", true);
    allocator->destroy_image =
        (PFN_vkDestroyImage)need_function(from, allocator, "vkDestroyImage", true);
    if (get_properties == NULL || get_memory == NULL || allocator->create_buffer == NULL ||
        allocator->destroy_buffer == NULL || allocator->create_image == NULL ||
        allocator->destroy_image == NULL) {
        return false;
    }
    get_properties(from->physicalDevice, &allocator->properties);
    get_memory(from->physicalDevice, &allocator->memory);
    return true;
}

static void copy_settings(const MaarVmaAllocatorCreateInfo* from, VmaAllocator allocator)
{
    allocator->info = (VmaAllocatorInfo){
        .instance = from->instance, .physicalDevice = from->physicalDevice, .device = from->device};
    if (from->pAllocationCallbacks != NULL) {
        allocator->callback_storage = *from->pAllocationCallbacks;
        allocator->callbacks = &allocator->callback_storage;
    }
    if (from->pDeviceMemoryCallbacks != NULL) {
        allocator->device_memory = *from->pDeviceMemoryCallbacks;
    }
    maar_vma_listen(&allocator->listener, from->pfnMessage, from->pMessageUserData, from->options);
    if (from->pMaarInfo != NULL) {
        allocator->message = from->pMaarInfo->pfnMessage;
        allocator->message_user_data = from->pMaarInfo->pMessageUserData;
    }
    allocator->min_alignment = from->minAlignment;
    allocator->always_dedicated = (from->options & MAAR_VMA_OPTION_ALWAYS_DEDICATED_BIT) != 0;
    allocator->has_addresses = (from->flags & FLAG(BUFFER_DEVICE_ADDRESS)) != 0;
    allocator->has_priorities = (from->flags & FLAG(EXT_MEMORY_PRIORITY)) != 0;
    allocator->maintenance5 = (from->flags & FLAG(KHR_MAINTENANCE5)) != 0;
    allocator->ranks = (from->options & MAAR_VMA_OPTION_VMA_RANKING_BIT) != 0;
    maar_vma_fill_simple(allocator, !allocator->always_dedicated && !allocator->has_priorities &&
                                        !allocator->ranks && allocator->min_alignment == 0);
}

/* Takes the callbacks for device memory: those of the interface, or else those of Maar. */
static void take_memory_callbacks(VmaAllocator allocator, struct opening* to)
{
    const VmaDeviceMemoryCallbacks* callbacks = &allocator->device_memory;
    if (callbacks->pfnAllocate != NULL || callbacks->pfnFree != NULL) {
        to->info.pfnDeviceAllocate = callbacks->pfnAllocate != NULL ? forward_allocate : NULL;
        to->info.pfnDeviceFree = callbacks->pfnFree != NULL ? forward_free : NULL;
        to->info.pDeviceMemoryUserData = allocator;
    }
}

/* Makes room for the names of extensions, and takes those of the program. */
static VkResult take_extensions(const MaarVmaAllocatorCreateInfo* from, struct opening* to)
{
    const MaarAllocatorCreateInfo* more = from->pMaarInfo;
    const uint32_t count =
        more != NULL && more->ppEnabledExtensionNames != NULL ? more->enabledExtensionCount : 0;
    to->extensions = maar_vma_host_allocate(
        from->pAllocationCallbacks, ((size_t)count + MOST_EXTENSIONS) * sizeof *to->extensions);
    if (to->extensions == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        to->extensions[i] = more->ppEnabledExtensionNames[i];
    }
    to->info.enabledExtensionCount = count;
    to->info.ppEnabledExtensionNames = to->extensions;
    return VK_SUCCESS;
}

/* Sets what VmaAllocatorCreateInfo says, in the place of what Maar's create info says. */
static void describe_device(const MaarVmaAllocatorCreateInfo* from, VmaAllocator allocator,
                            struct opening* to)
{
    MaarAllocatorCreateInfo* info = &to->info;
    info->sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO;
    info->flags |= (from->flags & FLAG(EXTERNALLY_SYNCHRONIZED)) != 0
                       ? (MaarAllocatorCreateFlags)MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT
                       : 0;
    info->apiVersion = from->vulkanApiVersion != 0 ? from->vulkanApiVersion : VK_API_VERSION_1_0;
    info->instance = from->instance;
    info->physicalDevice = from->physicalDevice;
    info->device = from->device;
    info->pfnGetInstanceProcAddr = from->pfnGetInstanceProcAddr;
    info->pfnGetDeviceProcAddr = from->pfnGetDeviceProcAddr;
    info->pAllocationCallbacks = allocator->callbacks;
    info->pfnMessage = forward_message;
    info->pMessageUserData = allocator;
    if (from->preferredLargeHeapBlockSize != 0) {
        info->preferredBlockSize = from->preferredLargeHeapBlockSize;
    }
    take_memory_callbacks(allocator, to);
    if (from->pHeapSizeLimit != NULL) {
        set_limits(allocator, from->pHeapSizeLimit, to);
    }
    show_limits(allocator, info);
}

static VkResult describe(const MaarVmaAllocatorCreateInfo* from, VmaAllocator allocator,
                         struct opening* to)
{
    static const char* const of_instance[] = {
        VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME};
    memset(to, 0, sizeof *to);
    if (from->pMaarInfo != NULL) {
        to->info = *from->pMaarInfo;
    }
    const VkResult result = take_extensions(from, to);
    if (result != VK_SUCCESS) {
        return result;
    }
    to->entry_points = (MaarEntryPointsInfo){
        .sType = MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO,
        .pNext = to->info.pNext,
        .functionCount = from->functionCount,
        .pFunctions = from->pFunctions,
        /* A program with budgets has enabled it, since the extension depends on it. */
        .instanceExtensionCount = (from->flags & FLAG(EXT_MEMORY_BUDGET)) != 0 ? 1 : 0,
        .ppInstanceExtensionNames = of_instance,
    };
    to->info.pNext = &to->entry_points;
    describe_device(from, allocator, to);
    if (from->marginSize != 0) {
        to->margins = (MaarMarginInfo){
            .sType = MAAR_STRUCTURE_TYPE_MARGIN_INFO,
            .pNext = to->info.pNext,
            .marginSize = from->marginSize,
            .checksMargins = (from->options & MAAR_VMA_OPTION_CHECK_MARGINS_BIT) != 0,
        };
        to->info.pNext = &to->margins;
    }
    add_extensions(from->flags, to);
    add_features(from->flags, to);
    return VK_SUCCESS;
}

/* Says which handle types memory is not exported as. */
static void warn_of_exports(VmaAllocator allocator, VkExternalMemoryHandleTypeFlags types)
{
    if (types != 0) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_WARNING,
                        MAAR_MESSAGE_ID_NOT_EXPORTABLE,
                        "vmaCreateAllocator: pTypeExternalMemoryHandleTypes names handle types "
                        "that Maar does not export; they have no effect");
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateAllocator(const MaarVmaAllocatorCreateInfo* pCreateInfo,
                                                      VmaAllocator* pAllocator)
{
    MaarVmaAllocatorCreateInfo from = {0};
    struct opening opening;
    VkExternalMemoryHandleTypeFlags unserved = 0;
    const size_t known = sizeof from;
    *pAllocator = VK_NULL_HANDLE;
    memcpy(&from, pCreateInfo,
           pCreateInfo->structureSize < known ? pCreateInfo->structureSize : known);
    VmaAllocator made = maar_vma_host_allocate(from.pAllocationCallbacks, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    copy_settings(&from, made);
    VkResult result = names_device(&from, made) && read_device(&from, made)
                          ? VK_SUCCESS
                          : VK_ERROR_INITIALIZATION_FAILED;
    if (result == VK_SUCCESS && (from.options & MAAR_VMA_OPTION_USAGES_BIT) != 0) {
        result = maar_vma_usages_create(from.pAllocationCallbacks, &made->usages);
    }
    if (result == VK_SUCCESS && (from.options & MAAR_VMA_OPTION_CHECKS_BIT) != 0) {
        result = maar_vma_usages_create(from.pAllocationCallbacks, &made->marks);
    }
    if (result == VK_SUCCESS) {
        result = describe(&from, made, &opening);
    }
    if (result == VK_SUCCESS) {
        if (from.pTypeExternalMemoryHandleTypes != NULL) {
            unserved = add_exports(from.pTypeExternalMemoryHandleTypes, made, &opening);
        }
        result = maarCreateAllocator(&opening.info, &made->maar);
        maar_vma_host_free(from.pAllocationCallbacks, opening.extensions);
    }
    if (result != VK_SUCCESS) {
        maar_vma_usages_destroy(from.pAllocationCallbacks, made->usages);
        maar_vma_usages_destroy(from.pAllocationCallbacks, made->marks);
        maar_vma_host_free(from.pAllocationCallbacks, made);
        return maar_vma_result(result);
    }
    warn_of_exports(made, unserved);
    *pAllocator = made;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarVmaDestroyAllocator(VmaAllocator allocator)
{
    if (allocator != NULL) {
        const VkAllocationCallbacks storage = allocator->callback_storage;
        const bool has_callbacks = allocator->callbacks != NULL;
        const uint32_t leaks = atomic_load(&allocator->listener.leak_count);
        maarDestroyAllocator(allocator->maar);
        maar_vma_report_leaks(&allocator->listener, "vmaDestroyAllocator", leaks);
        maar_vma_usages_destroy(has_callbacks ? &storage : NULL, allocator->usages);
        maar_vma_usages_destroy(has_callbacks ? &storage : NULL, allocator->marks);
        maar_vma_host_free(has_callbacks ? &storage : NULL, allocator);
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetAllocatorInfo(VmaAllocator allocator, VmaAllocatorInfo* pInfo)
{
    *pInfo = allocator->info;
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetPhysicalDeviceProperties(
    VmaAllocator allocator, const VkPhysicalDeviceProperties** ppProperties)
{
    *ppProperties = &allocator->properties;
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetMemoryProperties(
    VmaAllocator allocator, const VkPhysicalDeviceMemoryProperties** ppProperties)
{
    *ppProperties = &allocator->memory;
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetMemoryTypeProperties(VmaAllocator allocator,
                                                          uint32_t memoryTypeIndex,
                                                          VkMemoryPropertyFlags* pFlags)
{
    *pFlags = 0;
    if (memoryTypeIndex < allocator->memory.memoryTypeCount) {
        *pFlags = allocator->memory.memoryTypes[memoryTypeIndex].propertyFlags;
    } else {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_OUT_OF_RANGE,
                        "vmaGetMemoryTypeProperties: memoryTypeIndex %u is not below %u",
                        memoryTypeIndex, allocator->memory.memoryTypeCount);
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaSetCurrentFrameIndex(VmaAllocator allocator, uint32_t frameIndex)
{
    (void)allocator;
    (void)frameIndex;
}

VKAPI_ATTR MaarAllocator VKAPI_CALL maarVmaGetMaarAllocator(VmaAllocator allocator)
{
    return allocator != NULL ? allocator->maar : NULL;
}

VKAPI_ATTR MaarAllocation VKAPI_CALL maarVmaGetMaarAllocation(VmaAllocator allocator,
                                                              VmaAllocation allocation)
{
    (void)allocator;
    return maar_vma_place_of(allocation) == NULL ? maar_vma_own(allocator, allocation)
                                                 : VK_NULL_HANDLE;
}

VKAPI_ATTR VmaAllocation VKAPI_CALL maarVmaFromMaarAllocation(VmaAllocator allocator,
                                                              MaarAllocation allocation)
{
    (void)allocator;
    return maar_vma_handle(allocation);
}

VKAPI_ATTR MaarPool VKAPI_CALL maarVmaGetMaarPool(VmaAllocator allocator, VmaPool pool)
{
    (void)allocator;
    return pool != NULL ? pool->maar : VK_NULL_HANDLE;
}
