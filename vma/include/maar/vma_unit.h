/** @file
 * maar/vma_unit.h: the functions of vk_mem_alloc.h, defined by those of maar/vma.h. vk_mem_alloc.h
 * includes this file where VMA_IMPLEMENTATION is defined, and nobody else does.
 *
 * Only such a unit knows which members the program's structures have and where the program's Vulkan
 * functions are, so it collects the functions into a table.
 */
#if !defined(MAAR_VMA_DEFINED)
#error "Include vk_mem_alloc.h with VMA_IMPLEMENTATION, not this file."
#endif

/* What programs expect this unit to include. */
#ifdef __cplusplus
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>
#else
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

#ifdef VMA_CONFIGURATION_USER_INCLUDES_H
#include VMA_CONFIGURATION_USER_INCLUDES_H
#endif

#include "maar/vma.h"

#if !defined(VMA_STATIC_VULKAN_FUNCTIONS) && !defined(VK_NO_PROTOTYPES)
#define VMA_STATIC_VULKAN_FUNCTIONS 1
#endif
#if !defined(VMA_STATIC_VULKAN_FUNCTIONS)
#define VMA_STATIC_VULKAN_FUNCTIONS 0
#endif
#if !defined(VMA_DYNAMIC_VULKAN_FUNCTIONS)
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#endif

#ifndef MAAR_VMA_CHECKS
#ifdef NDEBUG
#define MAAR_VMA_CHECKS 0
#else
#define MAAR_VMA_CHECKS 1
#endif
#endif

#ifndef VMA_ASSERT
#ifdef NDEBUG
#define VMA_ASSERT(expression)
#else
#define VMA_ASSERT(expression) assert(expression)
#endif
#endif
#ifndef VMA_ASSERT_LEAK
#define VMA_ASSERT_LEAK(expression) VMA_ASSERT(expression)
#endif
/* Where checks are on and the program has no log, messages go to stderr, each kind once. */
#if MAAR_VMA_CHECKS && !defined(VMA_DEBUG_LOG_FORMAT)
#define MAAR_VMA_PRINTS 1
#define VMA_DEBUG_LOG_FORMAT(format, ...) ((void)fprintf(stderr, "maar: " format "\n", __VA_ARGS__))
#else
#define MAAR_VMA_PRINTS 0
#endif
#ifndef VMA_DEBUG_LOG_FORMAT
#define VMA_DEBUG_LOG_FORMAT(format, ...)
#endif
#ifndef VMA_DEBUG_LOG
#define VMA_DEBUG_LOG(text) VMA_DEBUG_LOG_FORMAT("%s", (text))
#endif
#ifndef VMA_LEAK_LOG_FORMAT
#define VMA_LEAK_LOG_FORMAT(format, ...) VMA_DEBUG_LOG_FORMAT(format, __VA_ARGS__)
#endif

#include "maar/vma_functions.h"
#include "maar/vma_guard.h"

/* Hands messages to the program's macros. What was never freed fails an assertion after all of it
 * was named, by a message that is an error. */
static void VKAPI_PTR maarVmaUnitMessage(void* pUserData, MaarMessageSeverity severity,
                                         MaarMessageId id, const char* pText)
{
    (void)pUserData;
    (void)pText;
    if (id == MAAR_MESSAGE_ID_LEAK) {
        VMA_LEAK_LOG_FORMAT("%s", pText);
        if (severity == MAAR_MESSAGE_SEVERITY_ERROR) {
            VMA_ASSERT_LEAK(!"something was never freed: the messages before this one name it");
        }
    } else {
#if MAAR_VMA_PRINTS
        if (severity == MAAR_MESSAGE_SEVERITY_INFO) {
            return;
        }
#endif
        VMA_DEBUG_LOG_FORMAT("%s", pText);
        VMA_ASSERT(id != MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN);
    }
}

#ifdef VOLK_HEADER_VERSION
#define MAAR_VMA_LOAD(member, type, name)                                                          \
    pFunctions->member = (PFN_##type)vkGetDeviceProcAddr(device, name)
/* A function with an extension's name before it became part of a version. */
#define MAAR_VMA_LOAD_2(member, name, version)                                                     \
    MAAR_VMA_LOAD(member, name##KHR,                                                               \
                  pCreateInfo->vulkanApiVersion >= (version) ? #name : #name "KHR")

/* Fills a table by the functions that look others up, so that a unit may do with the table alone.
 */
static void maarVmaUnitLoad(const VmaAllocatorCreateInfo* pCreateInfo,
                            VmaVulkanFunctions* pFunctions)
{
    const VkDevice device = pCreateInfo->device;
    pFunctions->vkGetPhysicalDeviceProperties = vkGetPhysicalDeviceProperties;
    pFunctions->vkGetPhysicalDeviceMemoryProperties = vkGetPhysicalDeviceMemoryProperties;
    MAAR_VMA_LOAD(vkAllocateMemory, vkAllocateMemory, "vkAllocateMemory");
    MAAR_VMA_LOAD(vkFreeMemory, vkFreeMemory, "vkFreeMemory");
    MAAR_VMA_LOAD(vkMapMemory, vkMapMemory, "vkMapMemory");
    MAAR_VMA_LOAD(vkUnmapMemory, vkUnmapMemory, "vkUnmapMemory");
    MAAR_VMA_LOAD(vkFlushMappedMemoryRanges, vkFlushMappedMemoryRanges,
                  "vkFlushMappedMemoryRanges");
    MAAR_VMA_LOAD(vkInvalidateMappedMemoryRanges, vkInvalidateMappedMemoryRanges,
                  "vkInvalidateMappedMemoryRanges");
    MAAR_VMA_LOAD(vkBindBufferMemory, vkBindBufferMemory, "vkBindBufferMemory");
    MAAR_VMA_LOAD(vkBindImageMemory, vkBindImageMemory, "vkBindImageMemory");
    MAAR_VMA_LOAD(vkGetBufferMemoryRequirements, vkGetBufferMemoryRequirements,
                  "vkGetBufferMemoryRequirements");
    MAAR_VMA_LOAD(vkGetImageMemoryRequirements, vkGetImageMemoryRequirements,
                  "vkGetImageMemoryRequirements");
    MAAR_VMA_LOAD(vkCreateBuffer, vkCreateBuffer, "vkCreateBuffer");
    MAAR_VMA_LOAD(vkDestroyBuffer, vkDestroyBuffer, "vkDestroyBuffer");
    MAAR_VMA_LOAD(vkCreateImage, vkCreateImage, "vkCreateImage");
    MAAR_VMA_LOAD(vkDestroyImage, vkDestroyImage, "vkDestroyImage");
    MAAR_VMA_LOAD(vkCmdCopyBuffer, vkCmdCopyBuffer, "vkCmdCopyBuffer");
#if VMA_DEDICATED_ALLOCATION || VMA_VULKAN_VERSION >= 1001000
    MAAR_VMA_LOAD_2(vkGetBufferMemoryRequirements2KHR, vkGetBufferMemoryRequirements2,
                    VK_API_VERSION_1_1);
    MAAR_VMA_LOAD_2(vkGetImageMemoryRequirements2KHR, vkGetImageMemoryRequirements2,
                    VK_API_VERSION_1_1);
#endif
#if VMA_BIND_MEMORY2 || VMA_VULKAN_VERSION >= 1001000
    MAAR_VMA_LOAD_2(vkBindBufferMemory2KHR, vkBindBufferMemory2, VK_API_VERSION_1_1);
    MAAR_VMA_LOAD_2(vkBindImageMemory2KHR, vkBindImageMemory2, VK_API_VERSION_1_1);
#endif
#if VMA_GET_PHYSICAL_DEVICE_PROPERTIES2
    pFunctions->vkGetPhysicalDeviceMemoryProperties2KHR =
        vkGetPhysicalDeviceMemoryProperties2 != NULL ? vkGetPhysicalDeviceMemoryProperties2
                                                     : vkGetPhysicalDeviceMemoryProperties2KHR;
    pFunctions->vkGetPhysicalDeviceProperties2KHR = vkGetPhysicalDeviceProperties2 != NULL
                                                        ? vkGetPhysicalDeviceProperties2
                                                        : vkGetPhysicalDeviceProperties2KHR;
#endif
#if VMA_KHR_MAINTENANCE4 || VMA_VULKAN_VERSION >= 1003000
    MAAR_VMA_LOAD_2(vkGetDeviceBufferMemoryRequirements, vkGetDeviceBufferMemoryRequirements,
                    VK_API_VERSION_1_3);
    MAAR_VMA_LOAD_2(vkGetDeviceImageMemoryRequirements, vkGetDeviceImageMemoryRequirements,
                    VK_API_VERSION_1_3);
#endif
#if VMA_EXTERNAL_MEMORY_WIN32
    MAAR_VMA_LOAD(vkGetMemoryWin32HandleKHR, vkGetMemoryWin32HandleKHR,
                  "vkGetMemoryWin32HandleKHR");
#endif
}
#undef MAAR_VMA_LOAD
#undef MAAR_VMA_LOAD_2

VMA_CALL_PRE VkResult VMA_CALL_POST vmaImportVulkanFunctionsFromVolk(
    const VmaAllocatorCreateInfo* pCreateInfo, VmaVulkanFunctions* pFunctions)
{
    if (pCreateInfo == NULL || pCreateInfo->instance == VK_NULL_HANDLE ||
        pCreateInfo->device == VK_NULL_HANDLE || pFunctions == NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    memset(pFunctions, 0, sizeof *pFunctions);
    pFunctions->vkGetInstanceProcAddr = vkGetInstanceProcAddr;
    pFunctions->vkGetDeviceProcAddr = vkGetDeviceProcAddr;
    maarVmaUnitLoad(pCreateInfo, pFunctions);
    return VK_SUCCESS;
}
#endif

VMA_CALL_PRE VkResult VMA_CALL_POST
maarVmaCreateAllocatorWith(const VmaAllocatorCreateInfo* pCreateInfo,
                           const MaarAllocatorCreateInfo* pMaarInfo, VmaAllocator* pAllocator)
{
    VMA_ASSERT(pCreateInfo && pAllocator);
    const VmaVulkanFunctions* given = pCreateInfo->pVulkanFunctions;
    MaarVmaTable table;
    MaarVmaAllocatorCreateInfo info;
    memset(&table, 0, sizeof table);
    memset(&info, 0, sizeof info);
    info.structureSize = (uint32_t)sizeof info;
    info.headerVersion = VMA_VERSION;
    info.flags = pCreateInfo->flags;
    info.vulkanApiVersion = pCreateInfo->vulkanApiVersion;
    info.instance = pCreateInfo->instance;
    info.physicalDevice = pCreateInfo->physicalDevice;
    info.device = pCreateInfo->device;
    info.preferredLargeHeapBlockSize = pCreateInfo->preferredLargeHeapBlockSize;
    info.pAllocationCallbacks = pCreateInfo->pAllocationCallbacks;
    info.pDeviceMemoryCallbacks = pCreateInfo->pDeviceMemoryCallbacks;
    info.pHeapSizeLimit = pCreateInfo->pHeapSizeLimit;
#if VMA_EXTERNAL_MEMORY
    info.pTypeExternalMemoryHandleTypes = pCreateInfo->pTypeExternalMemoryHandleTypes;
#endif
#if VMA_STATIC_VULKAN_FUNCTIONS == 1
    info.pfnGetInstanceProcAddr = vkGetInstanceProcAddr;
    info.pfnGetDeviceProcAddr = vkGetDeviceProcAddr;
#endif
    /* The first function of a name wins. */
    if (given != NULL) {
        maarVmaUnitTakeGiven(given, &table);
    }
#if VMA_STATIC_VULKAN_FUNCTIONS == 1
    maarVmaUnitTakeStatic(pCreateInfo->vulkanApiVersion, &table);
#endif
#if VMA_DYNAMIC_VULKAN_FUNCTIONS == 1
    if (given != NULL && given->vkGetInstanceProcAddr != NULL) {
        info.pfnGetInstanceProcAddr = given->vkGetInstanceProcAddr;
    }
    if (given != NULL && given->vkGetDeviceProcAddr != NULL) {
        info.pfnGetDeviceProcAddr = given->vkGetDeviceProcAddr;
    }
#endif
    info.functionCount = table.count;
    info.pFunctions = table.functions;
    info.pfnMessage = maarVmaUnitMessage;
#if MAAR_VMA_CHECKS
    info.options |= MAAR_VMA_OPTION_CHECKS_BIT;
#endif
#if MAAR_VMA_PRINTS
    info.options |= MAAR_VMA_OPTION_ONCE_BIT;
#endif
#if defined(VMA_MIN_ALIGNMENT)
    info.minAlignment = VMA_MIN_ALIGNMENT;
#endif
#if defined(VMA_DEBUG_ALWAYS_DEDICATED_MEMORY) && VMA_DEBUG_ALWAYS_DEDICATED_MEMORY
    info.options |= MAAR_VMA_OPTION_ALWAYS_DEDICATED_BIT;
#endif
#if VMA_STATS_STRING_ENABLED
    info.options |= MAAR_VMA_OPTION_USAGES_BIT;
#endif
#if defined(MAAR_VMA_RANKING) && MAAR_VMA_RANKING
    info.options |= MAAR_VMA_OPTION_VMA_RANKING_BIT;
#endif
#if defined(VMA_DEBUG_MARGIN)
    info.marginSize = VMA_DEBUG_MARGIN;
#endif
#if defined(VMA_DEBUG_DETECT_CORRUPTION) && VMA_DEBUG_DETECT_CORRUPTION
    info.options |= MAAR_VMA_OPTION_CHECK_MARGINS_BIT;
#endif
#if defined(VMA_DEFAULT_LARGE_HEAP_BLOCK_SIZE)
    if (info.preferredLargeHeapBlockSize == 0) {
        info.preferredLargeHeapBlockSize = VMA_DEFAULT_LARGE_HEAP_BLOCK_SIZE;
    }
#endif
    info.pMaarInfo = pMaarInfo;
    return maarVmaCreateAllocator(&info, pAllocator);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAllocator(const VmaAllocatorCreateInfo* pCreateInfo,
                                                       VmaAllocator* pAllocator)
{
    return maarVmaCreateAllocatorWith(pCreateInfo, NULL, pAllocator);
}

#if VMA_EXTERNAL_MEMORY_WIN32
VMA_CALL_PRE VkResult VMA_CALL_POST vmaGetMemoryWin32Handle2(
    VmaAllocator allocator, VmaAllocation allocation, VkExternalMemoryHandleTypeFlagBits handleType,
    HANDLE target, HANDLE* pHandle)
{
    VMA_ASSERT(allocator && allocation && pHandle);
    void* handle = NULL;
    VkResult result = maarVmaGetMemoryWin32Handle(allocator, allocation, handleType, &handle);
    if (result == VK_SUCCESS && target != NULL && target != GetCurrentProcess()) {
        HANDLE own = (HANDLE)handle;
        HANDLE other = NULL;
        const BOOL done = DuplicateHandle(GetCurrentProcess(), own, target, &other, 0, FALSE,
                                          DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE);
        handle = done ? (void*)other : NULL;
        result = done ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED;
    }
    *pHandle = (HANDLE)handle;
    return result;
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaGetMemoryWin32Handle(VmaAllocator allocator,
                                                            VmaAllocation allocation, HANDLE target,
                                                            HANDLE* pHandle)
{
    return vmaGetMemoryWin32Handle2(
        allocator, allocation, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT, target, pHandle);
}
#endif

/* Two structures lack their last members in earlier versions. Such a unit passes copies that have
 * them, as zero. */
#if MAAR_VMA_VERSION < 3004000
typedef struct MaarVmaHow {
    VmaAllocationCreateInfo known;
    VkDeviceSize minAlignment;
} MaarVmaHow;

static MaarVmaHow maarVmaUnitWidenHow(const VmaAllocationCreateInfo* pKnown)
{
    MaarVmaHow how;
    memset(&how, 0, sizeof how);
    how.known = *pKnown;
    return how;
}

#define MAAR_VMA_WIDEN_HOW(pKnown) const MaarVmaHow how = maarVmaUnitWidenHow(pKnown)
#define MAAR_VMA_HOW(pKnown) (&how.known)
#else
#define MAAR_VMA_WIDEN_HOW(pKnown) (void)(pKnown)
#define MAAR_VMA_HOW(pKnown) (pKnown)
#endif
#if MAAR_VMA_VERSION < 3001000
typedef struct MaarVmaRun {
    VmaDefragmentationInfo known;
    PFN_vmaCheckDefragmentationBreakFunction pfnBreakCallback;
    void* pBreakCallbackUserData;
} MaarVmaRun;

static MaarVmaRun maarVmaUnitWidenRun(const VmaDefragmentationInfo* pKnown)
{
    MaarVmaRun run;
    memset(&run, 0, sizeof run);
    run.known = *pKnown;
    return run;
}

#define MAAR_VMA_WIDEN_RUN(pKnown) const MaarVmaRun run = maarVmaUnitWidenRun(pKnown)
#define MAAR_VMA_RUN(pKnown) (&run.known)
#else
#define MAAR_VMA_WIDEN_RUN(pKnown) (void)(pKnown)
#define MAAR_VMA_RUN(pKnown) (pKnown)
#endif

VMA_CALL_PRE void VMA_CALL_POST vmaDestroyAllocator(VmaAllocator allocator)
{
    maarVmaDestroyAllocator(allocator);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetAllocatorInfo(VmaAllocator allocator, VmaAllocatorInfo* pInfo)
{
    VMA_ASSERT(allocator && pInfo);
    maarVmaGetAllocatorInfo(allocator, pInfo);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetPhysicalDeviceProperties(
    VmaAllocator allocator, const VkPhysicalDeviceProperties** ppProperties)
{
    VMA_ASSERT(allocator && ppProperties);
    maarVmaGetPhysicalDeviceProperties(allocator, ppProperties);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetMemoryProperties(
    VmaAllocator allocator, const VkPhysicalDeviceMemoryProperties** ppProperties)
{
    VMA_ASSERT(allocator && ppProperties);
    maarVmaGetMemoryProperties(allocator, ppProperties);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetMemoryTypeProperties(VmaAllocator allocator,
                                                           uint32_t memoryTypeIndex,
                                                           VkMemoryPropertyFlags* pFlags)
{
    VMA_ASSERT(allocator && pFlags);
    maarVmaGetMemoryTypeProperties(allocator, memoryTypeIndex, pFlags);
}

VMA_CALL_PRE void VMA_CALL_POST vmaSetCurrentFrameIndex(VmaAllocator allocator, uint32_t frameIndex)
{
    VMA_ASSERT(allocator);
    maarVmaSetCurrentFrameIndex(allocator, frameIndex);
}

VMA_CALL_PRE void VMA_CALL_POST vmaCalculateStatistics(VmaAllocator allocator,
                                                       VmaTotalStatistics* pStatistics)
{
    VMA_ASSERT(allocator && pStatistics);
    maarVmaCalculateStatistics(allocator, pStatistics);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetHeapBudgets(VmaAllocator allocator, VmaBudget* pBudgets)
{
    VMA_ASSERT(allocator && pBudgets);
    maarVmaGetHeapBudgets(allocator, pBudgets);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaFindMemoryTypeIndex(VmaAllocator allocator, uint32_t memoryTypeBits,
                       const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex)
{
    VMA_ASSERT(allocator && pCreateInfo && pIndex);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    return maarVmaFindMemoryTypeIndex(allocator, memoryTypeBits, MAAR_VMA_HOW(pCreateInfo), pIndex);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaFindMemoryTypeIndexForBufferInfo(VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
                                    const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex)
{
    VMA_ASSERT(allocator && pBufferInfo && pCreateInfo && pIndex);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    return maarVmaFindMemoryTypeIndexForBufferInfo(allocator, pBufferInfo,
                                                   MAAR_VMA_HOW(pCreateInfo), pIndex);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaFindMemoryTypeIndexForImageInfo(VmaAllocator allocator, const VkImageCreateInfo* pImageInfo,
                                   const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex)
{
    VMA_ASSERT(allocator && pImageInfo && pCreateInfo && pIndex);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    return maarVmaFindMemoryTypeIndexForImageInfo(allocator, pImageInfo, MAAR_VMA_HOW(pCreateInfo),
                                                  pIndex);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreatePool(VmaAllocator allocator,
                                                  const VmaPoolCreateInfo* pCreateInfo,
                                                  VmaPool* pPool)
{
    VMA_ASSERT(allocator && pCreateInfo && pPool);
    return maarVmaCreatePool(allocator, pCreateInfo, pPool);
}

VMA_CALL_PRE void VMA_CALL_POST vmaDestroyPool(VmaAllocator allocator, VmaPool pool)
{
    VMA_ASSERT(allocator);
    maarVmaDestroyPool(allocator, pool);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetPoolStatistics(VmaAllocator allocator, VmaPool pool,
                                                     VmaStatistics* pStatistics)
{
    VMA_ASSERT(allocator && pool && pStatistics);
    maarVmaGetPoolStatistics(allocator, pool, pStatistics);
}

VMA_CALL_PRE void VMA_CALL_POST vmaCalculatePoolStatistics(VmaAllocator allocator, VmaPool pool,
                                                           VmaDetailedStatistics* pStatistics)
{
    VMA_ASSERT(allocator && pool && pStatistics);
    maarVmaCalculatePoolStatistics(allocator, pool, pStatistics);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCheckPoolCorruption(VmaAllocator allocator, VmaPool pool)
{
    VMA_ASSERT(allocator && pool);
    return maarVmaCheckPoolCorruption(allocator, pool);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetPoolName(VmaAllocator allocator, VmaPool pool,
                                               const char** ppName)
{
    VMA_ASSERT(allocator && pool && ppName);
    maarVmaGetPoolName(allocator, pool, ppName);
}

VMA_CALL_PRE void VMA_CALL_POST vmaSetPoolName(VmaAllocator allocator, VmaPool pool,
                                               const char* pName)
{
    VMA_ASSERT(allocator && pool);
    maarVmaSetPoolName(allocator, pool, pName);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaAllocateMemory(VmaAllocator allocator,
                                                      const VkMemoryRequirements* pRequirements,
                                                      const VmaAllocationCreateInfo* pCreateInfo,
                                                      VmaAllocation* pAllocation,
                                                      VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && pRequirements && pCreateInfo && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), NULL, NULL);
    return MAAR_VMA_MADE(maarVmaAllocateMemory(allocator, pRequirements, MAAR_VMA_HOW(pCreateInfo),
                                               pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaAllocateDedicatedMemory(VmaAllocator allocator, const VkMemoryRequirements* pRequirements,
                           const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                           VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && pRequirements && pCreateInfo && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), NULL, NULL);
    return MAAR_VMA_MADE(maarVmaAllocateDedicatedMemory(allocator, pRequirements,
                                                        MAAR_VMA_HOW(pCreateInfo), pAllocateNext,
                                                        pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaAllocateMemoryPages(VmaAllocator allocator, const VkMemoryRequirements* pRequirements,
                       const VmaAllocationCreateInfo* pCreateInfo, size_t allocationCount,
                       VmaAllocation* pAllocations, VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && pRequirements && pCreateInfo && pAllocations);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), NULL, NULL);
    return MAAR_VMA_MADE(maarVmaAllocateMemoryPages(allocator, pRequirements,
                                                    MAAR_VMA_HOW(pCreateInfo), allocationCount,
                                                    pAllocations, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), allocationCount, pAllocations);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaAllocateMemoryForBuffer(
    VmaAllocator allocator, VkBuffer buffer, const VmaAllocationCreateInfo* pCreateInfo,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && buffer != VK_NULL_HANDLE && pCreateInfo && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), NULL, NULL);
    return MAAR_VMA_MADE(maarVmaAllocateMemoryForBuffer(
                             allocator, buffer, MAAR_VMA_HOW(pCreateInfo), pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaAllocateMemoryForImage(
    VmaAllocator allocator, VkImage image, const VmaAllocationCreateInfo* pCreateInfo,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && image != VK_NULL_HANDLE && pCreateInfo && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), NULL, NULL);
    return MAAR_VMA_MADE(maarVmaAllocateMemoryForImage(allocator, image, MAAR_VMA_HOW(pCreateInfo),
                                                       pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE void VMA_CALL_POST vmaFreeMemory(VmaAllocator allocator, VmaAllocation allocation)
{
    VMA_ASSERT(allocator);
    MAAR_VMA_FREEING(allocator, 1, &allocation);
    maarVmaFreeMemory(allocator, allocation);
}

VMA_CALL_PRE void VMA_CALL_POST vmaFreeMemoryPages(VmaAllocator allocator, size_t allocationCount,
                                                   const VmaAllocation* pAllocations)
{
    VMA_ASSERT(allocator);
    MAAR_VMA_FREEING(allocator, allocationCount, pAllocations);
    maarVmaFreeMemoryPages(allocator, allocationCount, pAllocations);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetAllocationInfo(VmaAllocator allocator,
                                                     VmaAllocation allocation,
                                                     VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && allocation && pInfo);
    maarVmaGetAllocationInfo(allocator, allocation, pInfo);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetAllocationInfo2(VmaAllocator allocator,
                                                      VmaAllocation allocation,
                                                      VmaAllocationInfo2* pInfo)
{
    VMA_ASSERT(allocator && allocation && pInfo);
    maarVmaGetAllocationInfo2(allocator, allocation, pInfo);
}

VMA_CALL_PRE void VMA_CALL_POST vmaSetAllocationUserData(VmaAllocator allocator,
                                                         VmaAllocation allocation, void* pUserData)
{
    VMA_ASSERT(allocator && allocation);
    maarVmaSetAllocationUserData(allocator, allocation, pUserData);
}

VMA_CALL_PRE void VMA_CALL_POST vmaSetAllocationName(VmaAllocator allocator,
                                                     VmaAllocation allocation, const char* pName)
{
    VMA_ASSERT(allocator && allocation);
    maarVmaSetAllocationName(allocator, allocation, pName);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetAllocationMemoryProperties(VmaAllocator allocator,
                                                                 VmaAllocation allocation,
                                                                 VkMemoryPropertyFlags* pFlags)
{
    VMA_ASSERT(allocator && allocation && pFlags);
    maarVmaGetAllocationMemoryProperties(allocator, allocation, pFlags);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaMapMemory(VmaAllocator allocator, VmaAllocation allocation,
                                                 void** ppData)
{
    VMA_ASSERT(allocator && allocation && ppData);
    return MAAR_VMA_MAPPED(maarVmaMapMemory(allocator, allocation, ppData), allocator, allocation);
}

VMA_CALL_PRE void VMA_CALL_POST vmaUnmapMemory(VmaAllocator allocator, VmaAllocation allocation)
{
    VMA_ASSERT(allocator && allocation);
    MAAR_VMA_USED(allocator, allocation, MAAR_VMA_USE_UNMAP);
    maarVmaUnmapMemory(allocator, allocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaFlushAllocation(VmaAllocator allocator,
                                                       VmaAllocation allocation,
                                                       VkDeviceSize offset, VkDeviceSize size)
{
    VMA_ASSERT(allocator && allocation);
    return maarVmaFlushAllocation(allocator, allocation, offset, size);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaInvalidateAllocation(VmaAllocator allocator,
                                                            VmaAllocation allocation,
                                                            VkDeviceSize offset, VkDeviceSize size)
{
    VMA_ASSERT(allocator && allocation);
    return maarVmaInvalidateAllocation(allocator, allocation, offset, size);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaFlushAllocations(VmaAllocator allocator,
                                                        uint32_t allocationCount,
                                                        const VmaAllocation* pAllocations,
                                                        const VkDeviceSize* pOffsets,
                                                        const VkDeviceSize* pSizes)
{
    VMA_ASSERT(allocator && (pAllocations || allocationCount == 0));
    return maarVmaFlushAllocations(allocator, allocationCount, pAllocations, pOffsets, pSizes);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaInvalidateAllocations(VmaAllocator allocator,
                                                             uint32_t allocationCount,
                                                             const VmaAllocation* pAllocations,
                                                             const VkDeviceSize* pOffsets,
                                                             const VkDeviceSize* pSizes)
{
    VMA_ASSERT(allocator && (pAllocations || allocationCount == 0));
    return maarVmaInvalidateAllocations(allocator, allocationCount, pAllocations, pOffsets, pSizes);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCopyMemoryToAllocation(VmaAllocator allocator,
                                                              const void* pSource,
                                                              VmaAllocation allocation,
                                                              VkDeviceSize offset,
                                                              VkDeviceSize size)
{
    VMA_ASSERT(allocator && pSource && allocation);
    MAAR_VMA_USED(allocator, allocation, MAAR_VMA_USE_ACCESS);
    return maarVmaCopyMemoryToAllocation(allocator, pSource, allocation, offset, size);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCopyAllocationToMemory(VmaAllocator allocator,
                                                              VmaAllocation allocation,
                                                              VkDeviceSize offset,
                                                              void* pDestination, VkDeviceSize size)
{
    VMA_ASSERT(allocator && allocation && pDestination);
    MAAR_VMA_USED(allocator, allocation, MAAR_VMA_USE_ACCESS);
    return maarVmaCopyAllocationToMemory(allocator, allocation, offset, pDestination, size);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCheckCorruption(VmaAllocator allocator,
                                                       uint32_t memoryTypeBits)
{
    VMA_ASSERT(allocator);
    return maarVmaCheckCorruption(allocator, memoryTypeBits);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaBeginDefragmentation(VmaAllocator allocator,
                                                            const VmaDefragmentationInfo* pInfo,
                                                            VmaDefragmentationContext* pContext)
{
    VMA_ASSERT(allocator && pInfo && pContext);
    MAAR_VMA_WIDEN_RUN(pInfo);
    return maarVmaBeginDefragmentation(allocator, MAAR_VMA_RUN(pInfo), pContext);
}

VMA_CALL_PRE void VMA_CALL_POST vmaEndDefragmentation(VmaAllocator allocator,
                                                      VmaDefragmentationContext context,
                                                      VmaDefragmentationStats* pStatistics)
{
    VMA_ASSERT(allocator && context);
    maarVmaEndDefragmentation(allocator, context, pStatistics);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaBeginDefragmentationPass(VmaAllocator allocator, VmaDefragmentationContext context,
                            VmaDefragmentationPassMoveInfo* pPass)
{
    VMA_ASSERT(allocator && context && pPass);
    return maarVmaBeginDefragmentationPass(allocator, context, pPass);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaEndDefragmentationPass(VmaAllocator allocator,
                                                              VmaDefragmentationContext context,
                                                              VmaDefragmentationPassMoveInfo* pPass)
{
    VMA_ASSERT(allocator && context && pPass);
    return maarVmaEndDefragmentationPass(allocator, context, pPass);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaBindBufferMemory(VmaAllocator allocator,
                                                        VmaAllocation allocation, VkBuffer buffer)
{
    VMA_ASSERT(allocator && allocation && buffer != VK_NULL_HANDLE);
    return maarVmaBindBufferMemory(allocator, allocation, buffer);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaBindBufferMemory2(VmaAllocator allocator,
                                                         VmaAllocation allocation,
                                                         VkDeviceSize offset, VkBuffer buffer,
                                                         const void* pNext)
{
    VMA_ASSERT(allocator && allocation && buffer != VK_NULL_HANDLE);
    return maarVmaBindBufferMemory2(allocator, allocation, offset, buffer, pNext);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaBindImageMemory(VmaAllocator allocator,
                                                       VmaAllocation allocation, VkImage image)
{
    VMA_ASSERT(allocator && allocation && image != VK_NULL_HANDLE);
    return maarVmaBindImageMemory(allocator, allocation, image);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaBindImageMemory2(VmaAllocator allocator,
                                                        VmaAllocation allocation,
                                                        VkDeviceSize offset, VkImage image,
                                                        const void* pNext)
{
    VMA_ASSERT(allocator && allocation && image != VK_NULL_HANDLE);
    return maarVmaBindImageMemory2(allocator, allocation, offset, image, pNext);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateBuffer(VmaAllocator allocator,
                                                    const VkBufferCreateInfo* pBufferInfo,
                                                    const VmaAllocationCreateInfo* pCreateInfo,
                                                    VkBuffer* pBuffer, VmaAllocation* pAllocation,
                                                    VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && pBufferInfo && pCreateInfo && pBuffer && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), pBufferInfo, NULL);
    return MAAR_VMA_MADE(maarVmaCreateBuffer(allocator, pBufferInfo, MAAR_VMA_HOW(pCreateInfo),
                                             pBuffer, pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateBufferWithAlignment(
    VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const VmaAllocationCreateInfo* pCreateInfo, VkDeviceSize minAlignment, VkBuffer* pBuffer,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && pBufferInfo && pCreateInfo && pBuffer && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), pBufferInfo, NULL);
    return MAAR_VMA_MADE(maarVmaCreateBufferWithAlignment(allocator, pBufferInfo,
                                                          MAAR_VMA_HOW(pCreateInfo), minAlignment,
                                                          pBuffer, pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaCreateDedicatedBuffer(VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
                         const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                         VkBuffer* pBuffer, VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && pBufferInfo && pCreateInfo && pBuffer && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), pBufferInfo, NULL);
    return MAAR_VMA_MADE(maarVmaCreateDedicatedBuffer(allocator, pBufferInfo,
                                                      MAAR_VMA_HOW(pCreateInfo), pAllocateNext,
                                                      pBuffer, pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAliasingBuffer(VmaAllocator allocator,
                                                            VmaAllocation allocation,
                                                            const VkBufferCreateInfo* pBufferInfo,
                                                            VkBuffer* pBuffer)
{
    VMA_ASSERT(allocator && allocation && pBufferInfo && pBuffer);
    return maarVmaCreateAliasingBuffer(allocator, allocation, pBufferInfo, pBuffer);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAliasingBuffer2(VmaAllocator allocator,
                                                             VmaAllocation allocation,
                                                             VkDeviceSize offset,
                                                             const VkBufferCreateInfo* pBufferInfo,
                                                             VkBuffer* pBuffer)
{
    VMA_ASSERT(allocator && allocation && pBufferInfo && pBuffer);
    return maarVmaCreateAliasingBuffer2(allocator, allocation, offset, pBufferInfo, pBuffer);
}

VMA_CALL_PRE void VMA_CALL_POST vmaDestroyBuffer(VmaAllocator allocator, VkBuffer buffer,
                                                 VmaAllocation allocation)
{
    VMA_ASSERT(allocator);
    MAAR_VMA_FREEING(allocator, 1, &allocation);
    maarVmaDestroyBuffer(allocator, buffer, allocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateImage(VmaAllocator allocator,
                                                   const VkImageCreateInfo* pImageInfo,
                                                   const VmaAllocationCreateInfo* pCreateInfo,
                                                   VkImage* pImage, VmaAllocation* pAllocation,
                                                   VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && pImageInfo && pCreateInfo && pImage && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), NULL, pImageInfo);
    return MAAR_VMA_MADE(maarVmaCreateImage(allocator, pImageInfo, MAAR_VMA_HOW(pCreateInfo),
                                            pImage, pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaCreateDedicatedImage(VmaAllocator allocator, const VkImageCreateInfo* pImageInfo,
                        const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                        VkImage* pImage, VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VMA_ASSERT(allocator && pImageInfo && pCreateInfo && pImage && pAllocation);
    MAAR_VMA_WIDEN_HOW(pCreateInfo);
    MAAR_VMA_ASKED(allocator, MAAR_VMA_HOW(pCreateInfo), NULL, pImageInfo);
    return MAAR_VMA_MADE(maarVmaCreateDedicatedImage(allocator, pImageInfo,
                                                     MAAR_VMA_HOW(pCreateInfo), pAllocateNext,
                                                     pImage, pAllocation, pInfo),
                         allocator, MAAR_VMA_HOW(pCreateInfo), 1, pAllocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAliasingImage(VmaAllocator allocator,
                                                           VmaAllocation allocation,
                                                           const VkImageCreateInfo* pImageInfo,
                                                           VkImage* pImage)
{
    VMA_ASSERT(allocator && allocation && pImageInfo && pImage);
    return maarVmaCreateAliasingImage(allocator, allocation, pImageInfo, pImage);
}

VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAliasingImage2(VmaAllocator allocator,
                                                            VmaAllocation allocation,
                                                            VkDeviceSize offset,
                                                            const VkImageCreateInfo* pImageInfo,
                                                            VkImage* pImage)
{
    VMA_ASSERT(allocator && allocation && pImageInfo && pImage);
    return maarVmaCreateAliasingImage2(allocator, allocation, offset, pImageInfo, pImage);
}

VMA_CALL_PRE void VMA_CALL_POST vmaDestroyImage(VmaAllocator allocator, VkImage image,
                                                VmaAllocation allocation)
{
    VMA_ASSERT(allocator);
    MAAR_VMA_FREEING(allocator, 1, &allocation);
    maarVmaDestroyImage(allocator, image, allocation);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaCreateVirtualBlock(const VmaVirtualBlockCreateInfo* pCreateInfo, VmaVirtualBlock* pBlock)
{
    VMA_ASSERT(pCreateInfo && pBlock);
    return maarVmaCreateReportingVirtualBlock(
        pCreateInfo, maarVmaUnitMessage, NULL,
        MAAR_VMA_PRINTS ? (uint32_t)MAAR_VMA_OPTION_ONCE_BIT : 0, pBlock);
}

VMA_CALL_PRE void VMA_CALL_POST vmaDestroyVirtualBlock(VmaVirtualBlock block)
{
    maarVmaDestroyVirtualBlock(block);
}

VMA_CALL_PRE VkBool32 VMA_CALL_POST vmaIsVirtualBlockEmpty(VmaVirtualBlock block)
{
    VMA_ASSERT(block);
    return maarVmaIsVirtualBlockEmpty(block);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetVirtualAllocationInfo(VmaVirtualBlock block,
                                                            VmaVirtualAllocation allocation,
                                                            VmaVirtualAllocationInfo* pInfo)
{
    VMA_ASSERT(block && pInfo);
    maarVmaGetVirtualAllocationInfo(block, allocation, pInfo);
}

VMA_CALL_PRE VkResult VMA_CALL_POST
vmaVirtualAllocate(VmaVirtualBlock block, const VmaVirtualAllocationCreateInfo* pCreateInfo,
                   VmaVirtualAllocation* pAllocation, VkDeviceSize* pOffset)
{
    VMA_ASSERT(block && pCreateInfo && pAllocation);
    return maarVmaVirtualAllocate(block, pCreateInfo, pAllocation, pOffset);
}

VMA_CALL_PRE void VMA_CALL_POST vmaVirtualFree(VmaVirtualBlock block,
                                               VmaVirtualAllocation allocation)
{
    VMA_ASSERT(block || allocation == VK_NULL_HANDLE);
    maarVmaVirtualFree(block, allocation);
}

VMA_CALL_PRE void VMA_CALL_POST vmaClearVirtualBlock(VmaVirtualBlock block)
{
    VMA_ASSERT(block);
    maarVmaClearVirtualBlock(block);
}

VMA_CALL_PRE void VMA_CALL_POST vmaSetVirtualAllocationUserData(VmaVirtualBlock block,
                                                                VmaVirtualAllocation allocation,
                                                                void* pUserData)
{
    VMA_ASSERT(block);
    maarVmaSetVirtualAllocationUserData(block, allocation, pUserData);
}

VMA_CALL_PRE void VMA_CALL_POST vmaGetVirtualBlockStatistics(VmaVirtualBlock block,
                                                             VmaStatistics* pStatistics)
{
    VMA_ASSERT(block && pStatistics);
    maarVmaGetVirtualBlockStatistics(block, pStatistics);
}

VMA_CALL_PRE void VMA_CALL_POST
vmaCalculateVirtualBlockStatistics(VmaVirtualBlock block, VmaDetailedStatistics* pStatistics)
{
    VMA_ASSERT(block && pStatistics);
    maarVmaCalculateVirtualBlockStatistics(block, pStatistics);
}

#if VMA_STATS_STRING_ENABLED
VMA_CALL_PRE void VMA_CALL_POST vmaBuildVirtualBlockStatsString(VmaVirtualBlock block,
                                                                char** ppText, VkBool32 detailed)
{
    VMA_ASSERT(block && ppText);
    maarVmaBuildVirtualBlockStatsString(block, ppText, detailed);
}

VMA_CALL_PRE void VMA_CALL_POST vmaFreeVirtualBlockStatsString(VmaVirtualBlock block, char* pText)
{
    VMA_ASSERT(block || pText == NULL);
    maarVmaFreeVirtualBlockStatsString(block, pText);
}

VMA_CALL_PRE void VMA_CALL_POST vmaBuildStatsString(VmaAllocator allocator, char** ppText,
                                                    VkBool32 detailed)
{
    VMA_ASSERT(allocator && ppText);
    maarVmaBuildStatsString(allocator, ppText, detailed);
}

VMA_CALL_PRE void VMA_CALL_POST vmaFreeStatsString(VmaAllocator allocator, char* pText)
{
    VMA_ASSERT(allocator || pText == NULL);
    maarVmaFreeStatsString(allocator, pText);
}

#endif
