/** @file
 * vk_mem_alloc.h: the interface of VulkanMemoryAllocator 3.4, served by Maar.
 *
 * A program that was written for that library includes this header in the place of the library's
 * own, defines VMA_IMPLEMENTATION in one of its units as before, and links maar::vma. The names,
 * the order of members and the values of enumerators are those of the interface. docs/vma.md has
 * the table of what is served, how, and what differs.
 *
 * One allocation may be used through both interfaces: maarVmaGetMaarAllocator and
 * maarVmaGetMaarAllocation in maar/vma.h return Maar's handles.
 */
#ifndef AMD_VULKAN_MEMORY_ALLOCATOR_H
#define AMD_VULKAN_MEMORY_ALLOCATOR_H

#ifndef VMA_VULKAN_HEADERS_ALREADY_INCLUDED
#if !defined(VULKAN_H_)
#include <vulkan/vulkan.h>
#endif
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version that the program was written for, as major * 1000000 + minor * 1000, 3000000 at
 * least. Structures have the members of that version, for programs that know their sizes, as
 * generated bindings do. All units of a program define the same. */
#if !defined(MAAR_VMA_VERSION)
#define MAAR_VMA_VERSION 3004000
#elif MAAR_VMA_VERSION < 3000000 || MAAR_VMA_VERSION >= 4000000
#error                                                                                             \
    "Maar serves versions 3.0 to 3.4 of VulkanMemoryAllocator: see MAAR_VMA_VERSION in docs/vma.md."
#endif

/** The version of the interface, and a macro by which a program can see that Maar serves it. */
#define VMA_VERSION (VK_MAKE_VERSION(3, 4, 0))
#define VMA_SERVED_BY_MAAR 1

/* ---- configuration: each macro may be defined before the header is included ---- */

/* The Vulkan version that the program may use, as major * 1000000 + minor * 1000. */
#if !defined(VMA_VULKAN_VERSION)
#if defined(VK_VERSION_1_4)
#define VMA_VULKAN_VERSION 1004000
#elif defined(VK_VERSION_1_3)
#define VMA_VULKAN_VERSION 1003000
#elif defined(VK_VERSION_1_2)
#define VMA_VULKAN_VERSION 1002000
#elif defined(VK_VERSION_1_1)
#define VMA_VULKAN_VERSION 1001000
#else
#define VMA_VULKAN_VERSION 1000000
#endif
#endif

/* Which extensions the program's Vulkan headers know. They decide which members two structures
 * have, and which extensions a flag of the allocator may name. */
#if !defined(VMA_DEDICATED_ALLOCATION)
#if defined(VK_KHR_get_memory_requirements2) && defined(VK_KHR_dedicated_allocation)
#define VMA_DEDICATED_ALLOCATION 1
#else
#define VMA_DEDICATED_ALLOCATION 0
#endif
#endif
#if !defined(VMA_BIND_MEMORY2)
#if defined(VK_KHR_bind_memory2)
#define VMA_BIND_MEMORY2 1
#else
#define VMA_BIND_MEMORY2 0
#endif
#endif
#if !defined(VMA_GET_PHYSICAL_DEVICE_PROPERTIES2)
#if defined(VK_KHR_get_physical_device_properties2) || VMA_VULKAN_VERSION >= 1001000
#define VMA_GET_PHYSICAL_DEVICE_PROPERTIES2 1
#else
#define VMA_GET_PHYSICAL_DEVICE_PROPERTIES2 0
#endif
#endif
#if !defined(VMA_MEMORY_BUDGET)
#if defined(VK_EXT_memory_budget) && VMA_GET_PHYSICAL_DEVICE_PROPERTIES2
#define VMA_MEMORY_BUDGET 1
#else
#define VMA_MEMORY_BUDGET 0
#endif
#endif
#if !defined(VMA_BUFFER_DEVICE_ADDRESS)
#if defined(VK_KHR_buffer_device_address) || VMA_VULKAN_VERSION >= 1002000
#define VMA_BUFFER_DEVICE_ADDRESS 1
#else
#define VMA_BUFFER_DEVICE_ADDRESS 0
#endif
#endif
#if !defined(VMA_MEMORY_PRIORITY)
#if defined(VK_EXT_memory_priority)
#define VMA_MEMORY_PRIORITY 1
#else
#define VMA_MEMORY_PRIORITY 0
#endif
#endif
#if !defined(VMA_KHR_MAINTENANCE4)
#if defined(VK_KHR_maintenance4)
#define VMA_KHR_MAINTENANCE4 1
#else
#define VMA_KHR_MAINTENANCE4 0
#endif
#endif
#if !defined(VMA_KHR_MAINTENANCE5)
#if defined(VK_KHR_maintenance5)
#define VMA_KHR_MAINTENANCE5 1
#else
#define VMA_KHR_MAINTENANCE5 0
#endif
#endif
#if !defined(VMA_EXTERNAL_MEMORY)
#if defined(VK_KHR_external_memory)
#define VMA_EXTERNAL_MEMORY 1
#else
#define VMA_EXTERNAL_MEMORY 0
#endif
#endif
#if !defined(VMA_EXTERNAL_MEMORY_WIN32)
#if defined(VK_KHR_external_memory_win32)
#define VMA_EXTERNAL_MEMORY_WIN32 1
#else
#define VMA_EXTERNAL_MEMORY_WIN32 0
#endif
#endif
#if !defined(VMA_STATS_STRING_ENABLED)
#define VMA_STATS_STRING_ENABLED 1
#endif

/* Decoration of declarations. */
#ifndef VMA_CALL_PRE
#define VMA_CALL_PRE
#endif
#ifndef VMA_CALL_POST
#define VMA_CALL_POST
#endif
#ifndef VMA_EXTENDS_VK_STRUCT
#define VMA_EXTENDS_VK_STRUCT(vkStruct)
#endif
#ifndef VMA_LEN_IF_NOT_NULL
#define VMA_LEN_IF_NOT_NULL(len)
#endif
#ifndef VMA_NULLABLE
#define VMA_NULLABLE
#endif
#ifndef VMA_NOT_NULL
#define VMA_NOT_NULL
#endif
#ifndef VMA_NULLABLE_NON_DISPATCHABLE
#define VMA_NULLABLE_NON_DISPATCHABLE
#endif
#ifndef VMA_NOT_NULL_NON_DISPATCHABLE
#define VMA_NOT_NULL_NON_DISPATCHABLE
#endif

/* ---- handles ---- */

/** Everything for one VkDevice. */
VK_DEFINE_HANDLE(VmaAllocator)
/** Blocks of one memory type. */
VK_DEFINE_HANDLE(VmaPool)
/** A range of a block, or a whole one. Compare it with null alone: it is not an address. */
VK_DEFINE_HANDLE(VmaAllocation)
/** A run of defragmentation. */
VK_DEFINE_HANDLE(VmaDefragmentationContext)
/** A range of a virtual block. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(VmaVirtualAllocation)
/** A space of numbers without memory. */
VK_DEFINE_HANDLE(VmaVirtualBlock)

/* ---- enumerations ---- */

/** What was enabled on the device, and who synchronizes. */
typedef enum VmaAllocatorCreateFlagBits {
    VMA_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT = 0x00000001,
    VMA_ALLOCATOR_CREATE_KHR_DEDICATED_ALLOCATION_BIT = 0x00000002,
    VMA_ALLOCATOR_CREATE_KHR_BIND_MEMORY2_BIT = 0x00000004,
    VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT = 0x00000008,
    VMA_ALLOCATOR_CREATE_AMD_DEVICE_COHERENT_MEMORY_BIT = 0x00000010,
    VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT = 0x00000020,
    VMA_ALLOCATOR_CREATE_EXT_MEMORY_PRIORITY_BIT = 0x00000040,
    VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE4_BIT = 0x00000080,
    VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE5_BIT = 0x00000100,
    VMA_ALLOCATOR_CREATE_KHR_EXTERNAL_MEMORY_WIN32_BIT = 0x00000200,
    VMA_ALLOCATOR_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} VmaAllocatorCreateFlagBits;
typedef VkFlags VmaAllocatorCreateFlags;

/** What memory is for. AUTO and its two variants look at the buffer or image, and at the flags of
 * host access. */
typedef enum VmaMemoryUsage {
    VMA_MEMORY_USAGE_UNKNOWN = 0,
    VMA_MEMORY_USAGE_GPU_ONLY = 1,
    VMA_MEMORY_USAGE_CPU_ONLY = 2,
    VMA_MEMORY_USAGE_CPU_TO_GPU = 3,
    VMA_MEMORY_USAGE_GPU_TO_CPU = 4,
    VMA_MEMORY_USAGE_CPU_COPY = 5,
    VMA_MEMORY_USAGE_GPU_LAZILY_ALLOCATED = 6,
    VMA_MEMORY_USAGE_AUTO = 7,
    VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE = 8,
    VMA_MEMORY_USAGE_AUTO_PREFER_HOST = 9,
    VMA_MEMORY_USAGE_MAX_ENUM = 0x7FFFFFFF
} VmaMemoryUsage;

/** How an allocation is made. */
typedef enum VmaAllocationCreateFlagBits {
    VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT = 0x00000001,
    VMA_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT = 0x00000002,
    VMA_ALLOCATION_CREATE_MAPPED_BIT = 0x00000004,
    VMA_ALLOCATION_CREATE_USER_DATA_COPY_STRING_BIT = 0x00000020,
    VMA_ALLOCATION_CREATE_UPPER_ADDRESS_BIT = 0x00000040,
    VMA_ALLOCATION_CREATE_DONT_BIND_BIT = 0x00000080,
    VMA_ALLOCATION_CREATE_WITHIN_BUDGET_BIT = 0x00000100,
    VMA_ALLOCATION_CREATE_CAN_ALIAS_BIT = 0x00000200,
    VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT = 0x00000400,
    VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT = 0x00000800,
    VMA_ALLOCATION_CREATE_HOST_ACCESS_ALLOW_TRANSFER_INSTEAD_BIT = 0x00001000,
    VMA_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT = 0x00010000,
    VMA_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT = 0x00020000,
    VMA_ALLOCATION_CREATE_STRATEGY_MIN_OFFSET_BIT = 0x00040000,
    VMA_ALLOCATION_CREATE_STRATEGY_BEST_FIT_BIT = VMA_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT,
    VMA_ALLOCATION_CREATE_STRATEGY_FIRST_FIT_BIT = VMA_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT,
    VMA_ALLOCATION_CREATE_STRATEGY_MASK = VMA_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT |
                                          VMA_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT |
                                          VMA_ALLOCATION_CREATE_STRATEGY_MIN_OFFSET_BIT,
    VMA_ALLOCATION_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} VmaAllocationCreateFlagBits;
typedef VkFlags VmaAllocationCreateFlags;

/** How a pool works. */
typedef enum VmaPoolCreateFlagBits {
    VMA_POOL_CREATE_IGNORE_BUFFER_IMAGE_GRANULARITY_BIT = 0x00000002,
    VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT = 0x00000004,
    VMA_POOL_CREATE_ALGORITHM_MASK = VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT,
    VMA_POOL_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} VmaPoolCreateFlagBits;
typedef VkFlags VmaPoolCreateFlags;

/** How thorough a run of defragmentation is. */
typedef enum VmaDefragmentationFlagBits {
    VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FAST_BIT = 0x1,
    VMA_DEFRAGMENTATION_FLAG_ALGORITHM_BALANCED_BIT = 0x2,
    VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FULL_BIT = 0x4,
    VMA_DEFRAGMENTATION_FLAG_ALGORITHM_EXTENSIVE_BIT = 0x8,
    VMA_DEFRAGMENTATION_FLAG_ALGORITHM_MASK = VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FAST_BIT |
                                              VMA_DEFRAGMENTATION_FLAG_ALGORITHM_BALANCED_BIT |
                                              VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FULL_BIT |
                                              VMA_DEFRAGMENTATION_FLAG_ALGORITHM_EXTENSIVE_BIT,
    VMA_DEFRAGMENTATION_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} VmaDefragmentationFlagBits;
typedef VkFlags VmaDefragmentationFlags;

/** What the program did with a move of a pass. */
typedef enum VmaDefragmentationMoveOperation {
    VMA_DEFRAGMENTATION_MOVE_OPERATION_COPY = 0,
    VMA_DEFRAGMENTATION_MOVE_OPERATION_IGNORE = 1,
    VMA_DEFRAGMENTATION_MOVE_OPERATION_DESTROY = 2
} VmaDefragmentationMoveOperation;

/** How a virtual block places. */
typedef enum VmaVirtualBlockCreateFlagBits {
    VMA_VIRTUAL_BLOCK_CREATE_LINEAR_ALGORITHM_BIT = 0x00000001,
    VMA_VIRTUAL_BLOCK_CREATE_ALGORITHM_MASK = VMA_VIRTUAL_BLOCK_CREATE_LINEAR_ALGORITHM_BIT,
    VMA_VIRTUAL_BLOCK_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} VmaVirtualBlockCreateFlagBits;
typedef VkFlags VmaVirtualBlockCreateFlags;

/** How a range of a virtual block is placed; the values of the flags of allocations. */
typedef enum VmaVirtualAllocationCreateFlagBits {
    VMA_VIRTUAL_ALLOCATION_CREATE_UPPER_ADDRESS_BIT = VMA_ALLOCATION_CREATE_UPPER_ADDRESS_BIT,
    VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT =
        VMA_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT,
    VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT =
        VMA_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT,
    VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_OFFSET_BIT =
        VMA_ALLOCATION_CREATE_STRATEGY_MIN_OFFSET_BIT,
    VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MASK = VMA_ALLOCATION_CREATE_STRATEGY_MASK,
    VMA_VIRTUAL_ALLOCATION_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} VmaVirtualAllocationCreateFlagBits;
typedef VkFlags VmaVirtualAllocationCreateFlags;

/* ---- structures ---- */

/** Receives each VkDeviceMemory after it was made. */
typedef void(VKAPI_PTR* PFN_vmaAllocateDeviceMemoryFunction)(VmaAllocator allocator,
                                                             uint32_t memoryType,
                                                             VkDeviceMemory memory,
                                                             VkDeviceSize size, void* pUserData);
/** Receives each VkDeviceMemory before it is freed. */
typedef void(VKAPI_PTR* PFN_vmaFreeDeviceMemoryFunction)(VmaAllocator allocator,
                                                         uint32_t memoryType, VkDeviceMemory memory,
                                                         VkDeviceSize size, void* pUserData);

typedef struct VmaDeviceMemoryCallbacks {
    PFN_vmaAllocateDeviceMemoryFunction pfnAllocate;
    PFN_vmaFreeDeviceMemoryFunction pfnFree;
    void* pUserData;
} VmaDeviceMemoryCallbacks;

/** Functions of Vulkan. The first two are read where VMA_DYNAMIC_VULKAN_FUNCTIONS is 1 alone. */
typedef struct VmaVulkanFunctions {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr vkGetDeviceProcAddr;
    PFN_vkGetPhysicalDeviceProperties vkGetPhysicalDeviceProperties;
    PFN_vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceMemoryProperties;
    PFN_vkAllocateMemory vkAllocateMemory;
    PFN_vkFreeMemory vkFreeMemory;
    PFN_vkMapMemory vkMapMemory;
    PFN_vkUnmapMemory vkUnmapMemory;
    PFN_vkFlushMappedMemoryRanges vkFlushMappedMemoryRanges;
    PFN_vkInvalidateMappedMemoryRanges vkInvalidateMappedMemoryRanges;
    PFN_vkBindBufferMemory vkBindBufferMemory;
    PFN_vkBindImageMemory vkBindImageMemory;
    PFN_vkGetBufferMemoryRequirements vkGetBufferMemoryRequirements;
    PFN_vkGetImageMemoryRequirements vkGetImageMemoryRequirements;
    PFN_vkCreateBuffer vkCreateBuffer;
    PFN_vkDestroyBuffer vkDestroyBuffer;
    PFN_vkCreateImage vkCreateImage;
    PFN_vkDestroyImage vkDestroyImage;
    PFN_vkCmdCopyBuffer vkCmdCopyBuffer;
#if VMA_DEDICATED_ALLOCATION || VMA_VULKAN_VERSION >= 1001000
    PFN_vkGetBufferMemoryRequirements2KHR vkGetBufferMemoryRequirements2KHR;
    PFN_vkGetImageMemoryRequirements2KHR vkGetImageMemoryRequirements2KHR;
#endif
#if VMA_BIND_MEMORY2 || VMA_VULKAN_VERSION >= 1001000
    PFN_vkBindBufferMemory2KHR vkBindBufferMemory2KHR;
    PFN_vkBindImageMemory2KHR vkBindImageMemory2KHR;
#endif
#if VMA_GET_PHYSICAL_DEVICE_PROPERTIES2
    PFN_vkGetPhysicalDeviceMemoryProperties2KHR vkGetPhysicalDeviceMemoryProperties2KHR;
#endif
#if VMA_KHR_MAINTENANCE4 || VMA_VULKAN_VERSION >= 1003000
    PFN_vkGetDeviceBufferMemoryRequirementsKHR vkGetDeviceBufferMemoryRequirements;
    PFN_vkGetDeviceImageMemoryRequirementsKHR vkGetDeviceImageMemoryRequirements;
#endif
#if MAAR_VMA_VERSION >= 3002000
#if VMA_EXTERNAL_MEMORY_WIN32
    PFN_vkGetMemoryWin32HandleKHR vkGetMemoryWin32HandleKHR;
#else
    void* vkGetMemoryWin32HandleKHR;
#endif
#endif
#if VMA_GET_PHYSICAL_DEVICE_PROPERTIES2 && MAAR_VMA_VERSION >= 3004000
    PFN_vkGetPhysicalDeviceProperties2KHR vkGetPhysicalDeviceProperties2KHR;
#endif
} VmaVulkanFunctions;

typedef struct VmaAllocatorCreateInfo {
    VmaAllocatorCreateFlags flags;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    VkDeviceSize preferredLargeHeapBlockSize;
    const VkAllocationCallbacks* pAllocationCallbacks;
    const VmaDeviceMemoryCallbacks* pDeviceMemoryCallbacks;
    /** Null, or bytes for each heap; VK_WHOLE_SIZE stands for no limit. */
    const VkDeviceSize* pHeapSizeLimit;
    const VmaVulkanFunctions* pVulkanFunctions;
    VkInstance instance;
    /** 0 stands for Vulkan 1.0. */
    uint32_t vulkanApiVersion;
#if VMA_EXTERNAL_MEMORY
    /** Null, or handle types for each memory type. */
    const VkExternalMemoryHandleTypeFlagsKHR* pTypeExternalMemoryHandleTypes;
#endif
} VmaAllocatorCreateInfo;

typedef struct VmaAllocatorInfo {
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
} VmaAllocatorInfo;

/** Totals. Bytes of allocations are those that were asked for. */
typedef struct VmaStatistics {
    uint32_t blockCount;
    uint32_t allocationCount;
    VkDeviceSize blockBytes;
    VkDeviceSize allocationBytes;
} VmaStatistics;

/** Totals that take a walk. Where there is none, the least size is VK_WHOLE_SIZE and the greatest
 * is 0. */
typedef struct VmaDetailedStatistics {
    VmaStatistics statistics;
    uint32_t unusedRangeCount;
    VkDeviceSize allocationSizeMin;
    VkDeviceSize allocationSizeMax;
    VkDeviceSize unusedRangeSizeMin;
    VkDeviceSize unusedRangeSizeMax;
} VmaDetailedStatistics;

typedef struct VmaTotalStatistics {
    VmaDetailedStatistics memoryType[VK_MAX_MEMORY_TYPES];
    VmaDetailedStatistics memoryHeap[VK_MAX_MEMORY_HEAPS];
    VmaDetailedStatistics total;
} VmaTotalStatistics;

typedef struct VmaBudget {
    VmaStatistics statistics;
    VkDeviceSize usage;
    VkDeviceSize budget;
} VmaBudget;

typedef struct VmaAllocationCreateInfo {
    VmaAllocationCreateFlags flags;
    VmaMemoryUsage usage;
    VkMemoryPropertyFlags requiredFlags;
    VkMemoryPropertyFlags preferredFlags;
    /** 0 stands for any type. */
    uint32_t memoryTypeBits;
    /** With a pool, usage, required and preferred flags and types have no effect. */
    VmaPool pool;
    void* pUserData;
    float priority;
#if MAAR_VMA_VERSION >= 3004000
    /** 0, or a power of two. */
    VkDeviceSize minAlignment;
#endif
} VmaAllocationCreateInfo;

typedef struct VmaPoolCreateInfo {
    uint32_t memoryTypeIndex;
    VmaPoolCreateFlags flags;
    /** 0: blocks of the allocator's sizes. */
    VkDeviceSize blockSize;
    size_t minBlockCount;
    /** 0: no limit. */
    size_t maxBlockCount;
    float priority;
    VkDeviceSize minAllocationAlignment;
    void* pMemoryAllocateNext;
} VmaPoolCreateInfo;

typedef struct VmaAllocationInfo {
    uint32_t memoryType;
    VkDeviceMemory deviceMemory;
    VkDeviceSize offset;
    VkDeviceSize size;
    void* pMappedData;
    void* pUserData;
    const char* pName;
} VmaAllocationInfo;

typedef struct VmaAllocationInfo2 {
    VmaAllocationInfo allocationInfo;
    VkDeviceSize blockSize;
    VkBool32 dedicatedMemory;
} VmaAllocationInfo2;

/** Asked during the planning of a pass; VK_TRUE ends it. */
typedef VkBool32(VKAPI_PTR* PFN_vmaCheckDefragmentationBreakFunction)(void* pUserData);

typedef struct VmaDefragmentationInfo {
    VmaDefragmentationFlags flags;
    /** Null: all default pools. */
    VmaPool pool;
    /** 0: no limit. */
    VkDeviceSize maxBytesPerPass;
    /** 0: no limit. */
    uint32_t maxAllocationsPerPass;
#if MAAR_VMA_VERSION >= 3001000
    PFN_vmaCheckDefragmentationBreakFunction pfnBreakCallback;
    void* pBreakCallbackUserData;
#endif
} VmaDefragmentationInfo;

typedef struct VmaDefragmentationMove {
    VmaDefragmentationMoveOperation operation;
    VmaAllocation srcAllocation;
    /** The new place: new objects are bound to it. It lives until the pass ends. */
    VmaAllocation dstTmpAllocation;
} VmaDefragmentationMove;

typedef struct VmaDefragmentationPassMoveInfo {
    uint32_t moveCount;
    VmaDefragmentationMove* pMoves;
} VmaDefragmentationPassMoveInfo;

typedef struct VmaDefragmentationStats {
    VkDeviceSize bytesMoved;
    VkDeviceSize bytesFreed;
    uint32_t allocationsMoved;
    uint32_t deviceMemoryBlocksFreed;
} VmaDefragmentationStats;

typedef struct VmaVirtualBlockCreateInfo {
    VkDeviceSize size;
    VmaVirtualBlockCreateFlags flags;
    const VkAllocationCallbacks* pAllocationCallbacks;
} VmaVirtualBlockCreateInfo;

typedef struct VmaVirtualAllocationCreateInfo {
    VkDeviceSize size;
    VkDeviceSize alignment;
    VmaVirtualAllocationCreateFlags flags;
    void* pUserData;
} VmaVirtualAllocationCreateInfo;

typedef struct VmaVirtualAllocationInfo {
    VkDeviceSize offset;
    VkDeviceSize size;
    void* pUserData;
} VmaVirtualAllocationInfo;

/* ---- the allocator ---- */

#ifdef VOLK_HEADER_VERSION
/** Fills a table with the functions that volk has loaded. Declared where volk.h was included
 * before. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaImportVulkanFunctionsFromVolk(
    const VmaAllocatorCreateInfo* pCreateInfo, VmaVulkanFunctions* pFunctions);
#endif
/** Creates the allocator of a device. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAllocator(const VmaAllocatorCreateInfo* pCreateInfo,
                                                       VmaAllocator* pAllocator);
/** Destroys it; allocations and pools that still live are reported and freed. */
VMA_CALL_PRE void VMA_CALL_POST vmaDestroyAllocator(VmaAllocator allocator);
/** Returns the handles that the allocator was made with. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetAllocatorInfo(VmaAllocator allocator,
                                                    VmaAllocatorInfo* pInfo);
/** Returns the device's properties; they live as long as the allocator. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetPhysicalDeviceProperties(
    VmaAllocator allocator, const VkPhysicalDeviceProperties** ppProperties);
/** Returns the device's heaps and types, heap limits put in; they live as long as the allocator. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetMemoryProperties(
    VmaAllocator allocator, const VkPhysicalDeviceMemoryProperties** ppProperties);
/** Returns the flags of a memory type. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetMemoryTypeProperties(VmaAllocator allocator,
                                                           uint32_t memoryTypeIndex,
                                                           VkMemoryPropertyFlags* pFlags);
/** Has no effect: budgets are read when they are needed. */
VMA_CALL_PRE void VMA_CALL_POST vmaSetCurrentFrameIndex(VmaAllocator allocator,
                                                        uint32_t frameIndex);
/** Walks all blocks. */
VMA_CALL_PRE void VMA_CALL_POST vmaCalculateStatistics(VmaAllocator allocator,
                                                       VmaTotalStatistics* pStatistics);
/** Fills one element for each heap. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetHeapBudgets(VmaAllocator allocator, VmaBudget* pBudgets);

/* ---- which memory ---- */

/** Returns the memory type that ranks first. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaFindMemoryTypeIndex(VmaAllocator allocator, uint32_t memoryTypeBits,
                       const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex);
/** Returns the memory type that ranks first for a buffer that need not exist. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaFindMemoryTypeIndexForBufferInfo(VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
                                    const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex);
/** Returns the memory type that ranks first for an image that need not exist. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaFindMemoryTypeIndexForImageInfo(VmaAllocator allocator, const VkImageCreateInfo* pImageInfo,
                                   const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex);

/* ---- pools ---- */

/** Creates a pool of one memory type. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreatePool(VmaAllocator allocator,
                                                  const VmaPoolCreateInfo* pCreateInfo,
                                                  VmaPool* pPool);
/** Destroys a pool and its blocks. */
VMA_CALL_PRE void VMA_CALL_POST vmaDestroyPool(VmaAllocator allocator, VmaPool pool);
/** Reads the totals of a pool. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetPoolStatistics(VmaAllocator allocator, VmaPool pool,
                                                     VmaStatistics* pStatistics);
/** Walks the blocks of a pool. */
VMA_CALL_PRE void VMA_CALL_POST vmaCalculatePoolStatistics(VmaAllocator allocator, VmaPool pool,
                                                           VmaDetailedStatistics* pStatistics);
/** Returns VK_ERROR_FEATURE_NOT_PRESENT: there are no margins. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCheckPoolCorruption(VmaAllocator allocator, VmaPool pool);
/** Returns the name of a pool, or null. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetPoolName(VmaAllocator allocator, VmaPool pool,
                                               const char** ppName);
/** Names a pool; null for no name. */
VMA_CALL_PRE void VMA_CALL_POST vmaSetPoolName(VmaAllocator allocator, VmaPool pool,
                                               const char* pName);

/* ---- allocations ---- */

/** Allocates memory by requirements alone. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaAllocateMemory(VmaAllocator allocator,
                                                      const VkMemoryRequirements* pRequirements,
                                                      const VmaAllocationCreateInfo* pCreateInfo,
                                                      VmaAllocation* pAllocation,
                                                      VmaAllocationInfo* pInfo);
/** Allocates a VkDeviceMemory with structures for its creation. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaAllocateDedicatedMemory(VmaAllocator allocator, const VkMemoryRequirements* pRequirements,
                           const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                           VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
/** Makes several allocations, or none. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaAllocateMemoryPages(VmaAllocator allocator, const VkMemoryRequirements* pRequirements,
                       const VmaAllocationCreateInfo* pCreateInfo, size_t allocationCount,
                       VmaAllocation* pAllocations, VmaAllocationInfo* pInfo);
/** Allocates memory for a buffer and does not bind it. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaAllocateMemoryForBuffer(
    VmaAllocator allocator, VkBuffer buffer, const VmaAllocationCreateInfo* pCreateInfo,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
/** Allocates memory for an image and does not bind it. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaAllocateMemoryForImage(
    VmaAllocator allocator, VkImage image, const VmaAllocationCreateInfo* pCreateInfo,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
/** Frees an allocation; null is allowed. */
VMA_CALL_PRE void VMA_CALL_POST vmaFreeMemory(VmaAllocator allocator, VmaAllocation allocation);
/** Frees several allocations. */
VMA_CALL_PRE void VMA_CALL_POST vmaFreeMemoryPages(VmaAllocator allocator, size_t allocationCount,
                                                   const VmaAllocation* pAllocations);
/** Reads an allocation. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetAllocationInfo(VmaAllocator allocator,
                                                     VmaAllocation allocation,
                                                     VmaAllocationInfo* pInfo);
/** Reads an allocation and its block. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetAllocationInfo2(VmaAllocator allocator,
                                                      VmaAllocation allocation,
                                                      VmaAllocationInfo2* pInfo);
/** Changes an allocation's user data. */
VMA_CALL_PRE void VMA_CALL_POST vmaSetAllocationUserData(VmaAllocator allocator,
                                                         VmaAllocation allocation, void* pUserData);
/** Names an allocation; null for no name. */
VMA_CALL_PRE void VMA_CALL_POST vmaSetAllocationName(VmaAllocator allocator,
                                                     VmaAllocation allocation, const char* pName);
/** Returns the flags of an allocation's memory type. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetAllocationMemoryProperties(VmaAllocator allocator,
                                                                 VmaAllocation allocation,
                                                                 VkMemoryPropertyFlags* pFlags);
#if VMA_EXTERNAL_MEMORY_WIN32
/** Exports the block of an allocation as an opaque handle of Windows. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaGetMemoryWin32Handle(VmaAllocator allocator,
                                                            VmaAllocation allocation, HANDLE target,
                                                            HANDLE* pHandle);
/** Exports the block of an allocation as a handle of Windows of a type. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaGetMemoryWin32Handle2(
    VmaAllocator allocator, VmaAllocation allocation, VkExternalMemoryHandleTypeFlagBits handleType,
    HANDLE target, HANDLE* pHandle);
#endif

/* ---- the host's view ---- */

/** Maps an allocation; mappings are counted. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaMapMemory(VmaAllocator allocator, VmaAllocation allocation,
                                                 void** ppData);
/** Undoes one vmaMapMemory. */
VMA_CALL_PRE void VMA_CALL_POST vmaUnmapMemory(VmaAllocator allocator, VmaAllocation allocation);
/** Makes the host's writes visible; coherent memory needs nothing. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaFlushAllocation(VmaAllocator allocator,
                                                       VmaAllocation allocation,
                                                       VkDeviceSize offset, VkDeviceSize size);
/** Makes the device's writes visible; coherent memory needs nothing. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaInvalidateAllocation(VmaAllocator allocator,
                                                            VmaAllocation allocation,
                                                            VkDeviceSize offset, VkDeviceSize size);
/** Flushes several allocations; null offsets are 0, null sizes are whole. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaFlushAllocations(VmaAllocator allocator,
                                                        uint32_t allocationCount,
                                                        const VmaAllocation* pAllocations,
                                                        const VkDeviceSize* pOffsets,
                                                        const VkDeviceSize* pSizes);
/** Invalidates several allocations likewise. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaInvalidateAllocations(VmaAllocator allocator,
                                                             uint32_t allocationCount,
                                                             const VmaAllocation* pAllocations,
                                                             const VkDeviceSize* pOffsets,
                                                             const VkDeviceSize* pSizes);
/** Maps, copies, flushes and unmaps. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCopyMemoryToAllocation(VmaAllocator allocator,
                                                              const void* pSource,
                                                              VmaAllocation allocation,
                                                              VkDeviceSize offset,
                                                              VkDeviceSize size);
/** Maps, invalidates, copies and unmaps. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCopyAllocationToMemory(VmaAllocator allocator,
                                                              VmaAllocation allocation,
                                                              VkDeviceSize offset,
                                                              void* pDestination,
                                                              VkDeviceSize size);
/** Returns VK_ERROR_FEATURE_NOT_PRESENT: there are no margins. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCheckCorruption(VmaAllocator allocator,
                                                       uint32_t memoryTypeBits);

/* ---- defragmentation ---- */

/** Begins a run of passes. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaBeginDefragmentation(VmaAllocator allocator,
                                                            const VmaDefragmentationInfo* pInfo,
                                                            VmaDefragmentationContext* pContext);
/** Ends a run and returns what it did. */
VMA_CALL_PRE void VMA_CALL_POST vmaEndDefragmentation(VmaAllocator allocator,
                                                      VmaDefragmentationContext context,
                                                      VmaDefragmentationStats* pStatistics);
/** Plans the moves of a pass: VK_INCOMPLETE if there are some, VK_SUCCESS at the end. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaBeginDefragmentationPass(VmaAllocator allocator, VmaDefragmentationContext context,
                            VmaDefragmentationPassMoveInfo* pPass);
/** Carries the moves of a pass out: VK_INCOMPLETE if another pass may follow. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaEndDefragmentationPass(VmaAllocator allocator, VmaDefragmentationContext context,
                          VmaDefragmentationPassMoveInfo* pPass);

/* ---- objects ---- */

/** Binds a buffer to the beginning of an allocation. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaBindBufferMemory(VmaAllocator allocator,
                                                        VmaAllocation allocation, VkBuffer buffer);
/** Binds a buffer at an offset in an allocation. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaBindBufferMemory2(VmaAllocator allocator,
                                                         VmaAllocation allocation,
                                                         VkDeviceSize offset, VkBuffer buffer,
                                                         const void* pNext);
/** Binds an image to the beginning of an allocation. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaBindImageMemory(VmaAllocator allocator,
                                                       VmaAllocation allocation, VkImage image);
/** Binds an image at an offset in an allocation. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaBindImageMemory2(VmaAllocator allocator,
                                                        VmaAllocation allocation,
                                                        VkDeviceSize offset, VkImage image,
                                                        const void* pNext);
/** Creates a buffer with memory. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateBuffer(VmaAllocator allocator,
                                                    const VkBufferCreateInfo* pBufferInfo,
                                                    const VmaAllocationCreateInfo* pCreateInfo,
                                                    VkBuffer* pBuffer, VmaAllocation* pAllocation,
                                                    VmaAllocationInfo* pInfo);
/** Creates a buffer with memory of at least an alignment. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateBufferWithAlignment(
    VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const VmaAllocationCreateInfo* pCreateInfo, VkDeviceSize minAlignment, VkBuffer* pBuffer,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
/** Creates a buffer with a VkDeviceMemory of its own. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaCreateDedicatedBuffer(VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
                         const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                         VkBuffer* pBuffer, VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
/** Creates a buffer in memory that exists. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAliasingBuffer(VmaAllocator allocator,
                                                            VmaAllocation allocation,
                                                            const VkBufferCreateInfo* pBufferInfo,
                                                            VkBuffer* pBuffer);
/** Creates a buffer at an offset in memory that exists. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAliasingBuffer2(VmaAllocator allocator,
                                                             VmaAllocation allocation,
                                                             VkDeviceSize offset,
                                                             const VkBufferCreateInfo* pBufferInfo,
                                                             VkBuffer* pBuffer);
/** Destroys a buffer and frees its memory; either may be null. */
VMA_CALL_PRE void VMA_CALL_POST vmaDestroyBuffer(VmaAllocator allocator, VkBuffer buffer,
                                                 VmaAllocation allocation);
/** Creates an image with memory. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateImage(VmaAllocator allocator,
                                                   const VkImageCreateInfo* pImageInfo,
                                                   const VmaAllocationCreateInfo* pCreateInfo,
                                                   VkImage* pImage, VmaAllocation* pAllocation,
                                                   VmaAllocationInfo* pInfo);
/** Creates an image with a VkDeviceMemory of its own. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaCreateDedicatedImage(VmaAllocator allocator, const VkImageCreateInfo* pImageInfo,
                        const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                        VkImage* pImage, VmaAllocation* pAllocation, VmaAllocationInfo* pInfo);
/** Creates an image in memory that exists. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAliasingImage(VmaAllocator allocator,
                                                           VmaAllocation allocation,
                                                           const VkImageCreateInfo* pImageInfo,
                                                           VkImage* pImage);
/** Creates an image at an offset in memory that exists. */
VMA_CALL_PRE VkResult VMA_CALL_POST vmaCreateAliasingImage2(VmaAllocator allocator,
                                                            VmaAllocation allocation,
                                                            VkDeviceSize offset,
                                                            const VkImageCreateInfo* pImageInfo,
                                                            VkImage* pImage);
/** Destroys an image and frees its memory; either may be null. */
VMA_CALL_PRE void VMA_CALL_POST vmaDestroyImage(VmaAllocator allocator, VkImage image,
                                                VmaAllocation allocation);

/* ---- virtual blocks ---- */

/** Creates a space of numbers. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaCreateVirtualBlock(const VmaVirtualBlockCreateInfo* pCreateInfo, VmaVirtualBlock* pBlock);
/** Destroys a space; ranges that live are dropped. */
VMA_CALL_PRE void VMA_CALL_POST vmaDestroyVirtualBlock(VmaVirtualBlock block);
/** Whether no range lives. */
VMA_CALL_PRE VkBool32 VMA_CALL_POST vmaIsVirtualBlockEmpty(VmaVirtualBlock block);
/** Reads a range. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetVirtualAllocationInfo(VmaVirtualBlock block,
                                                            VmaVirtualAllocation allocation,
                                                            VmaVirtualAllocationInfo* pInfo);
/** Takes a range. */
VMA_CALL_PRE VkResult VMA_CALL_POST
vmaVirtualAllocate(VmaVirtualBlock block, const VmaVirtualAllocationCreateInfo* pCreateInfo,
                   VmaVirtualAllocation* pAllocation, VkDeviceSize* pOffset);
/** Frees a range; null is allowed. */
VMA_CALL_PRE void VMA_CALL_POST vmaVirtualFree(VmaVirtualBlock block,
                                               VmaVirtualAllocation allocation);
/** Frees all ranges. */
VMA_CALL_PRE void VMA_CALL_POST vmaClearVirtualBlock(VmaVirtualBlock block);
/** Changes a range's user data. */
VMA_CALL_PRE void VMA_CALL_POST vmaSetVirtualAllocationUserData(VmaVirtualBlock block,
                                                                VmaVirtualAllocation allocation,
                                                                void* pUserData);
/** Reads the totals of a space. */
VMA_CALL_PRE void VMA_CALL_POST vmaGetVirtualBlockStatistics(VmaVirtualBlock block,
                                                             VmaStatistics* pStatistics);
/** Walks a space. */
VMA_CALL_PRE void VMA_CALL_POST
vmaCalculateVirtualBlockStatistics(VmaVirtualBlock block, VmaDetailedStatistics* pStatistics);

/* ---- JSON ---- */

#if VMA_STATS_STRING_ENABLED
/** Writes a space as JSON. */
VMA_CALL_PRE void VMA_CALL_POST vmaBuildVirtualBlockStatsString(VmaVirtualBlock block,
                                                                char** ppText, VkBool32 detailed);
/** Frees what vmaBuildVirtualBlockStatsString wrote. */
VMA_CALL_PRE void VMA_CALL_POST vmaFreeVirtualBlockStatsString(VmaVirtualBlock block, char* pText);
/** Writes everything as JSON. */
VMA_CALL_PRE void VMA_CALL_POST vmaBuildStatsString(VmaAllocator allocator, char** ppText,
                                                    VkBool32 detailed);
/** Frees what vmaBuildStatsString wrote. */
VMA_CALL_PRE void VMA_CALL_POST vmaFreeStatsString(VmaAllocator allocator, char* pText);
#endif

#ifdef __cplusplus
}
#endif

#endif

/* The definitions of the functions, in the one unit that asks for them. */
#if defined(VMA_IMPLEMENTATION) && !defined(MAAR_VMA_DEFINED) && !defined(MAAR_VMA_DECLARING)
#define MAAR_VMA_DEFINED
#include "maar/vma_unit.h"
#endif
