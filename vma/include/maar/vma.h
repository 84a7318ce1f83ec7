/** @file
 * maar/vma.h: what the library maar::vma exports. vk_mem_alloc.h defines the functions of its
 * interface by these, in the one unit of a program that defines VMA_IMPLEMENTATION. The library
 * itself exports no function of that interface, so a process may hold several such units.
 *
 * The layouts of the structures are those of version 3.4, which do not depend on macros; the two
 * that do (VmaAllocatorCreateInfo, VmaVulkanFunctions) are copied into MaarVmaAllocatorCreateInfo.
 */
#ifndef MAAR_VMA_H
#define MAAR_VMA_H

#include "maar/maar.h"

/* The types of the interface; its functions are defined at the end, where they are asked for. */
#define MAAR_VMA_DECLARING
#include "vma/vk_mem_alloc.h"
#undef MAAR_VMA_DECLARING
/* A VmaAllocator of another header is none of Maar's: what is below would read it as one. */
#ifndef VMA_SERVED_BY_MAAR
#error                                                                                             \
    "Another vk_mem_alloc.h than Maar's was included before maar/vma.h. Remove the copy beside the source or first in the include path: see docs/vma.md."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Receives the messages of Maar about an allocator. */
typedef void(VKAPI_PTR* PFN_maarVmaMessage)(void* pUserData, MaarMessageSeverity severity,
                                            MaarMessageId id, const char* pText);

/** Bits of MaarVmaAllocatorCreateInfo::options. */
typedef enum MaarVmaOptionFlagBits {
    /** Each allocation has a VkDeviceMemory of its own. */
    MAAR_VMA_OPTION_ALWAYS_DEDICATED_BIT = 0x1,
    /** MAAR_VMA_RANKING: memory types are ranked as VulkanMemoryAllocator ranks them. */
    MAAR_VMA_OPTION_VMA_RANKING_BIT = 0x2,
    /** VMA_STATS_STRING_ENABLED: the usages of objects are kept for the JSON. */
    MAAR_VMA_OPTION_USAGES_BIT = 0x4,
    /** VMA_DEBUG_DETECT_CORRUPTION: margins are filled and compared, see MaarMarginInfo. */
    MAAR_VMA_OPTION_CHECK_MARGINS_BIT = 0x8,
    /** MAAR_VMA_CHECKS: the unit calls maarVmaCheckRequest and the functions beside it. */
    MAAR_VMA_OPTION_CHECKS_BIT = 0x10,
    /** Of messages that differ in figures and names alone, pfnMessage receives the first one. Of
     * objects that were never freed it receives the first 16, and then their number. */
    MAAR_VMA_OPTION_ONCE_BIT = 0x20,
    /** Reserves the enumeration's size. */
    MAAR_VMA_OPTION_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarVmaOptionFlagBits;

/** What a program does with an allocation, for maarVmaCheckUse. */
typedef enum MaarVmaUse {
    /** The host copies to it or from it, or has tried to map it. */
    MAAR_VMA_USE_ACCESS = 0,
    /** vmaMapMemory has mapped it. */
    MAAR_VMA_USE_MAP = 1,
    /** vmaUnmapMemory is about to unmap it. */
    MAAR_VMA_USE_UNMAP = 2,
    /** It is about to be freed. */
    MAAR_VMA_USE_FREE = 3,
    /** Reserves the enumeration's size. */
    MAAR_VMA_USE_MAX_ENUM = 0x7FFFFFFF
} MaarVmaUse;

/** VmaAllocatorCreateInfo and the macros of the unit, in one layout. */
typedef struct MaarVmaAllocatorCreateInfo {
    /** sizeof(MaarVmaAllocatorCreateInfo) of the unit; later fields count as 0. */
    uint32_t structureSize;
    /** VMA_VERSION of the unit's header. */
    uint32_t headerVersion;
    /** VmaAllocatorCreateInfo::flags */
    VmaAllocatorCreateFlags flags;
    /** VmaAllocatorCreateInfo::vulkanApiVersion */
    uint32_t vulkanApiVersion;
    /** Not null. */
    VkInstance instance;
    /** Not null. */
    VkPhysicalDevice physicalDevice;
    /** Not null. */
    VkDevice device;
    /** VmaAllocatorCreateInfo::preferredLargeHeapBlockSize */
    VkDeviceSize preferredLargeHeapBlockSize;
    /** May be null. */
    const VkAllocationCallbacks* pAllocationCallbacks;
    /** May be null. */
    const VmaDeviceMemoryCallbacks* pDeviceMemoryCallbacks;
    /** May be null. */
    const VkDeviceSize* pHeapSizeLimit;
    /** May be null. */
    const VkExternalMemoryHandleTypeFlags* pTypeExternalMemoryHandleTypes;
    /** Null without VMA_DYNAMIC_VULKAN_FUNCTIONS. */
    PFN_vkGetInstanceProcAddr pfnGetInstanceProcAddr;
    /** Null without VMA_DYNAMIC_VULKAN_FUNCTIONS. */
    PFN_vkGetDeviceProcAddr pfnGetDeviceProcAddr;
    /** How many pFunctions. */
    uint32_t functionCount;
    /** See MaarVmaOptionFlagBits. */
    uint32_t options;
    /** Functions that win over the entry points. */
    const MaarNamedFunction* pFunctions;
    /** Null, or what receives messages. */
    PFN_maarVmaMessage pfnMessage;
    /** Given to pfnMessage. */
    void* pMessageUserData;
    /** VMA_MIN_ALIGNMENT: least alignment of each allocation, bytes; 0 for none. */
    VkDeviceSize minAlignment;
    /** VMA_DEBUG_MARGIN: MaarMarginInfo::marginSize */
    VkDeviceSize marginSize;
    /** Null, or what maarVmaCreateAllocatorWith was given. */
    const MaarAllocatorCreateInfo* pMaarInfo;
} MaarVmaAllocatorCreateInfo;

/** vmaCreateAllocator, with what its create info cannot say: queues, features, extensions,
 * callbacks, sizes, flags and a chain for Maar's allocator. The unit with VMA_IMPLEMENTATION
 * defines this function.
 *
 * Everything is taken from pMaarInfo but what pCreateInfo says: device, instance, version and entry
 * points, host memory callbacks, and, where they are set there, device memory callbacks, the limits
 * of heaps and the size of blocks. Flags, extensions and features of both count. pfnMessage
 * receives Maar's messages before the unit's macros do. pMaarInfo has its sType set; it may be
 * NULL. Returns what vmaCreateAllocator returns, and VK_ERROR_INITIALIZATION_FAILED for what
 * maarCreateAllocator refuses. */
VMA_CALL_PRE VkResult VMA_CALL_POST
maarVmaCreateAllocatorWith(const VmaAllocatorCreateInfo* pCreateInfo,
                           const MaarAllocatorCreateInfo* pMaarInfo, VmaAllocator* pAllocator);

/** Returns Maar's allocator behind an allocator: what is made through it may be used through both
 * interfaces. It lives as long as the VmaAllocator. */
MAAR_API MaarAllocator VKAPI_CALL maarVmaGetMaarAllocator(VmaAllocator allocator);
/** Returns Maar's handle of an allocation, VK_NULL_HANDLE for null and for the new places of a pass
 * of defragmentation. */
MAAR_API MaarAllocation VKAPI_CALL maarVmaGetMaarAllocation(VmaAllocator allocator,
                                                            VmaAllocation allocation);
/** Returns the handle of this interface for an allocation that Maar has made. */
MAAR_API VmaAllocation VKAPI_CALL maarVmaFromMaarAllocation(VmaAllocator allocator,
                                                            MaarAllocation allocation);
/** Returns Maar's pool behind a pool. */
MAAR_API MaarPool VKAPI_CALL maarVmaGetMaarPool(VmaAllocator allocator, VmaPool pool);

/** vmaCreateAllocator, with the unit's functions and macros. */
MAAR_API VkResult VKAPI_CALL maarVmaCreateAllocator(const MaarVmaAllocatorCreateInfo* pCreateInfo,
                                                    VmaAllocator* pAllocator);
/** vmaGetMemoryWin32Handle2, with a void* for the HANDLE; the caller owns the handle. */
MAAR_API VkResult VKAPI_CALL
maarVmaGetMemoryWin32Handle(VmaAllocator allocator, VmaAllocation allocation,
                            VkExternalMemoryHandleTypeFlagBits handleType, void** pHandle);

/** Looks for what contradicts itself in a request, and reports it. The allocator has
 * MAAR_VMA_OPTION_CHECKS_BIT; without that, this does nothing. pFunction is the caller's name;
 * pBufferInfo and pImageInfo may be null. */
MAAR_API void VKAPI_CALL maarVmaCheckRequest(VmaAllocator allocator, const char* pFunction,
                                             const VmaAllocationCreateInfo* pCreateInfo,
                                             const VkBufferCreateInfo* pBufferInfo,
                                             const VkImageCreateInfo* pImageInfo);
/** Notes whether the host may access a new allocation. */
MAAR_API void VKAPI_CALL maarVmaCheckMade(VmaAllocator allocator, VmaAllocation allocation,
                                          const VmaAllocationCreateInfo* pCreateInfo);
/** Counts mappings, and reports access to what was made without a flag of access, and a free of
 * what is mapped. */
MAAR_API void VKAPI_CALL maarVmaCheckUse(VmaAllocator allocator, VmaAllocation allocation,
                                         MaarVmaUse use);
/** vmaCreateVirtualBlock, with a receiver of messages, which may be null. options may have
 * MAAR_VMA_OPTION_ONCE_BIT. */
MAAR_API VkResult VKAPI_CALL maarVmaCreateReportingVirtualBlock(
    const VmaVirtualBlockCreateInfo* pCreateInfo, PFN_maarVmaMessage pfnMessage,
    void* pMessageUserData, uint32_t options, VmaVirtualBlock* pBlock);

/* Each of these is the function of vk_mem_alloc.h whose name follows "maar". */

MAAR_API void VKAPI_CALL maarVmaDestroyAllocator(VmaAllocator allocator);
MAAR_API void VKAPI_CALL maarVmaGetAllocatorInfo(VmaAllocator allocator, VmaAllocatorInfo* pInfo);
MAAR_API void VKAPI_CALL maarVmaGetPhysicalDeviceProperties(
    VmaAllocator allocator, const VkPhysicalDeviceProperties** ppProperties);
MAAR_API void VKAPI_CALL maarVmaGetMemoryProperties(
    VmaAllocator allocator, const VkPhysicalDeviceMemoryProperties** ppProperties);
MAAR_API void VKAPI_CALL maarVmaGetMemoryTypeProperties(VmaAllocator allocator,
                                                        uint32_t memoryTypeIndex,
                                                        VkMemoryPropertyFlags* pFlags);
MAAR_API void VKAPI_CALL maarVmaSetCurrentFrameIndex(VmaAllocator allocator, uint32_t frameIndex);
MAAR_API void VKAPI_CALL maarVmaCalculateStatistics(VmaAllocator allocator,
                                                    VmaTotalStatistics* pStatistics);
MAAR_API void VKAPI_CALL maarVmaGetHeapBudgets(VmaAllocator allocator, VmaBudget* pBudgets);
MAAR_API VkResult VKAPI_CALL maarVmaFindMemoryTypeIndex(VmaAllocator allocator,
                                                        uint32_t memoryTypeBits,
                                                        const VmaAllocationCreateInfo* pCreateInfo,
                                                        uint32_t* pIndex);
MAAR_API VkResult VKAPI_CALL maarVmaFindMemoryTypeIndexForBufferInfo(
    VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex);
MAAR_API VkResult VKAPI_CALL maarVmaFindMemoryTypeIndexForImageInfo(
    VmaAllocator allocator, const VkImageCreateInfo* pImageInfo,
    const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex);
MAAR_API VkResult VKAPI_CALL maarVmaCreatePool(VmaAllocator allocator,
                                               const VmaPoolCreateInfo* pCreateInfo,
                                               VmaPool* pPool);
MAAR_API void VKAPI_CALL maarVmaDestroyPool(VmaAllocator allocator, VmaPool pool);
MAAR_API void VKAPI_CALL maarVmaGetPoolStatistics(VmaAllocator allocator, VmaPool pool,
                                                  VmaStatistics* pStatistics);
MAAR_API void VKAPI_CALL maarVmaCalculatePoolStatistics(VmaAllocator allocator, VmaPool pool,
                                                        VmaDetailedStatistics* pStatistics);
MAAR_API VkResult VKAPI_CALL maarVmaCheckPoolCorruption(VmaAllocator allocator, VmaPool pool);
MAAR_API void VKAPI_CALL maarVmaGetPoolName(VmaAllocator allocator, VmaPool pool,
                                            const char** ppName);
MAAR_API void VKAPI_CALL maarVmaSetPoolName(VmaAllocator allocator, VmaPool pool,
                                            const char* pName);
MAAR_API VkResult VKAPI_CALL maarVmaAllocateMemory(VmaAllocator allocator,
                                                   const VkMemoryRequirements* pRequirements,
                                                   const VmaAllocationCreateInfo* pCreateInfo,
                                                   VmaAllocation* pAllocation,
                                                   VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL
maarVmaAllocateDedicatedMemory(VmaAllocator allocator, const VkMemoryRequirements* pRequirements,
                               const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                               VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL maarVmaAllocateMemoryPages(VmaAllocator allocator,
                                                        const VkMemoryRequirements* pRequirements,
                                                        const VmaAllocationCreateInfo* pCreateInfo,
                                                        size_t allocationCount,
                                                        VmaAllocation* pAllocations,
                                                        VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL maarVmaAllocateMemoryForBuffer(
    VmaAllocator allocator, VkBuffer buffer, const VmaAllocationCreateInfo* pCreateInfo,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL maarVmaAllocateMemoryForImage(
    VmaAllocator allocator, VkImage image, const VmaAllocationCreateInfo* pCreateInfo,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
MAAR_API void VKAPI_CALL maarVmaFreeMemory(VmaAllocator allocator, VmaAllocation allocation);
MAAR_API void VKAPI_CALL maarVmaFreeMemoryPages(VmaAllocator allocator, size_t allocationCount,
                                                const VmaAllocation* pAllocations);
MAAR_API void VKAPI_CALL maarVmaGetAllocationInfo(VmaAllocator allocator, VmaAllocation allocation,
                                                  VmaAllocationInfo* pInfo);
MAAR_API void VKAPI_CALL maarVmaGetAllocationInfo2(VmaAllocator allocator, VmaAllocation allocation,
                                                   VmaAllocationInfo2* pInfo);
MAAR_API void VKAPI_CALL maarVmaSetAllocationUserData(VmaAllocator allocator,
                                                      VmaAllocation allocation, void* pUserData);
MAAR_API void VKAPI_CALL maarVmaSetAllocationName(VmaAllocator allocator, VmaAllocation allocation,
                                                  const char* pName);
MAAR_API void VKAPI_CALL maarVmaGetAllocationMemoryProperties(VmaAllocator allocator,
                                                              VmaAllocation allocation,
                                                              VkMemoryPropertyFlags* pFlags);
MAAR_API VkResult VKAPI_CALL maarVmaMapMemory(VmaAllocator allocator, VmaAllocation allocation,
                                              void** ppData);
MAAR_API void VKAPI_CALL maarVmaUnmapMemory(VmaAllocator allocator, VmaAllocation allocation);
MAAR_API VkResult VKAPI_CALL maarVmaFlushAllocation(VmaAllocator allocator,
                                                    VmaAllocation allocation, VkDeviceSize offset,
                                                    VkDeviceSize size);
MAAR_API VkResult VKAPI_CALL maarVmaInvalidateAllocation(VmaAllocator allocator,
                                                         VmaAllocation allocation,
                                                         VkDeviceSize offset, VkDeviceSize size);
MAAR_API VkResult VKAPI_CALL maarVmaFlushAllocations(VmaAllocator allocator,
                                                     uint32_t allocationCount,
                                                     const VmaAllocation* pAllocations,
                                                     const VkDeviceSize* pOffsets,
                                                     const VkDeviceSize* pSizes);
MAAR_API VkResult VKAPI_CALL maarVmaInvalidateAllocations(VmaAllocator allocator,
                                                          uint32_t allocationCount,
                                                          const VmaAllocation* pAllocations,
                                                          const VkDeviceSize* pOffsets,
                                                          const VkDeviceSize* pSizes);
MAAR_API VkResult VKAPI_CALL maarVmaCopyMemoryToAllocation(VmaAllocator allocator,
                                                           const void* pSource,
                                                           VmaAllocation allocation,
                                                           VkDeviceSize offset, VkDeviceSize size);
MAAR_API VkResult VKAPI_CALL maarVmaCopyAllocationToMemory(VmaAllocator allocator,
                                                           VmaAllocation allocation,
                                                           VkDeviceSize offset, void* pDestination,
                                                           VkDeviceSize size);
MAAR_API VkResult VKAPI_CALL maarVmaCheckCorruption(VmaAllocator allocator,
                                                    uint32_t memoryTypeBits);
MAAR_API VkResult VKAPI_CALL maarVmaBeginDefragmentation(VmaAllocator allocator,
                                                         const VmaDefragmentationInfo* pInfo,
                                                         VmaDefragmentationContext* pContext);
MAAR_API void VKAPI_CALL maarVmaEndDefragmentation(VmaAllocator allocator,
                                                   VmaDefragmentationContext context,
                                                   VmaDefragmentationStats* pStatistics);
MAAR_API VkResult VKAPI_CALL maarVmaBeginDefragmentationPass(VmaAllocator allocator,
                                                             VmaDefragmentationContext context,
                                                             VmaDefragmentationPassMoveInfo* pPass);
MAAR_API VkResult VKAPI_CALL maarVmaEndDefragmentationPass(VmaAllocator allocator,
                                                           VmaDefragmentationContext context,
                                                           VmaDefragmentationPassMoveInfo* pPass);
MAAR_API VkResult VKAPI_CALL maarVmaBindBufferMemory(VmaAllocator allocator,
                                                     VmaAllocation allocation, VkBuffer buffer);
MAAR_API VkResult VKAPI_CALL maarVmaBindBufferMemory2(VmaAllocator allocator,
                                                      VmaAllocation allocation, VkDeviceSize offset,
                                                      VkBuffer buffer, const void* pNext);
MAAR_API VkResult VKAPI_CALL maarVmaBindImageMemory(VmaAllocator allocator,
                                                    VmaAllocation allocation, VkImage image);
MAAR_API VkResult VKAPI_CALL maarVmaBindImageMemory2(VmaAllocator allocator,
                                                     VmaAllocation allocation, VkDeviceSize offset,
                                                     VkImage image, const void* pNext);
MAAR_API VkResult VKAPI_CALL maarVmaCreateBuffer(VmaAllocator allocator,
                                                 const VkBufferCreateInfo* pBufferInfo,
                                                 const VmaAllocationCreateInfo* pCreateInfo,
                                                 VkBuffer* pBuffer, VmaAllocation* pAllocation,
                                                 VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL maarVmaCreateBufferWithAlignment(
    VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const VmaAllocationCreateInfo* pCreateInfo, VkDeviceSize minAlignment, VkBuffer* pBuffer,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL maarVmaCreateDedicatedBuffer(
    VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext, VkBuffer* pBuffer,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL maarVmaCreateAliasingBuffer(VmaAllocator allocator,
                                                         VmaAllocation allocation,
                                                         const VkBufferCreateInfo* pBufferInfo,
                                                         VkBuffer* pBuffer);
MAAR_API VkResult VKAPI_CALL maarVmaCreateAliasingBuffer2(VmaAllocator allocator,
                                                          VmaAllocation allocation,
                                                          VkDeviceSize offset,
                                                          const VkBufferCreateInfo* pBufferInfo,
                                                          VkBuffer* pBuffer);
MAAR_API void VKAPI_CALL maarVmaDestroyBuffer(VmaAllocator allocator, VkBuffer buffer,
                                              VmaAllocation allocation);
MAAR_API VkResult VKAPI_CALL maarVmaCreateImage(VmaAllocator allocator,
                                                const VkImageCreateInfo* pImageInfo,
                                                const VmaAllocationCreateInfo* pCreateInfo,
                                                VkImage* pImage, VmaAllocation* pAllocation,
                                                VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL maarVmaCreateDedicatedImage(VmaAllocator allocator,
                                                         const VkImageCreateInfo* pImageInfo,
                                                         const VmaAllocationCreateInfo* pCreateInfo,
                                                         void* pAllocateNext, VkImage* pImage,
                                                         VmaAllocation* pAllocation,
                                                         VmaAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL maarVmaCreateAliasingImage(VmaAllocator allocator,
                                                        VmaAllocation allocation,
                                                        const VkImageCreateInfo* pImageInfo,
                                                        VkImage* pImage);
MAAR_API VkResult VKAPI_CALL maarVmaCreateAliasingImage2(VmaAllocator allocator,
                                                         VmaAllocation allocation,
                                                         VkDeviceSize offset,
                                                         const VkImageCreateInfo* pImageInfo,
                                                         VkImage* pImage);
MAAR_API void VKAPI_CALL maarVmaDestroyImage(VmaAllocator allocator, VkImage image,
                                             VmaAllocation allocation);
MAAR_API VkResult VKAPI_CALL maarVmaCreateVirtualBlock(const VmaVirtualBlockCreateInfo* pCreateInfo,
                                                       VmaVirtualBlock* pBlock);
MAAR_API void VKAPI_CALL maarVmaDestroyVirtualBlock(VmaVirtualBlock block);
MAAR_API VkBool32 VKAPI_CALL maarVmaIsVirtualBlockEmpty(VmaVirtualBlock block);
MAAR_API void VKAPI_CALL maarVmaGetVirtualAllocationInfo(VmaVirtualBlock block,
                                                         VmaVirtualAllocation allocation,
                                                         VmaVirtualAllocationInfo* pInfo);
MAAR_API VkResult VKAPI_CALL
maarVmaVirtualAllocate(VmaVirtualBlock block, const VmaVirtualAllocationCreateInfo* pCreateInfo,
                       VmaVirtualAllocation* pAllocation, VkDeviceSize* pOffset);
MAAR_API void VKAPI_CALL maarVmaVirtualFree(VmaVirtualBlock block, VmaVirtualAllocation allocation);
MAAR_API void VKAPI_CALL maarVmaClearVirtualBlock(VmaVirtualBlock block);
MAAR_API void VKAPI_CALL maarVmaSetVirtualAllocationUserData(VmaVirtualBlock block,
                                                             VmaVirtualAllocation allocation,
                                                             void* pUserData);
MAAR_API void VKAPI_CALL maarVmaGetVirtualBlockStatistics(VmaVirtualBlock block,
                                                          VmaStatistics* pStatistics);
MAAR_API void VKAPI_CALL maarVmaCalculateVirtualBlockStatistics(VmaVirtualBlock block,
                                                                VmaDetailedStatistics* pStatistics);
MAAR_API void VKAPI_CALL maarVmaBuildVirtualBlockStatsString(VmaVirtualBlock block, char** ppText,
                                                             VkBool32 detailed);
MAAR_API void VKAPI_CALL maarVmaFreeVirtualBlockStatsString(VmaVirtualBlock block, char* pText);
MAAR_API void VKAPI_CALL maarVmaBuildStatsString(VmaAllocator allocator, char** ppText,
                                                 VkBool32 detailed);
MAAR_API void VKAPI_CALL maarVmaFreeStatsString(VmaAllocator allocator, char* pText);

#ifdef __cplusplus
}
#endif

#if defined(VMA_IMPLEMENTATION) && !defined(MAAR_VMA_DEFINED)
#define MAAR_VMA_DEFINED
#include "maar/vma_unit.h"
#endif

#endif
