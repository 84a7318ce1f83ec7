/** @file
 * maar/allocator.h: device memory. This header has the allocator, its pools, its allocations, frees
 * that wait for the device, and queries about all of them.
 *
 * When a function fails, the handles and pointers that it returns are null, the structures that it
 * fills are left as they were, and nothing else has changed. A function that differs says so.
 * Misuse (a null argument, a wrong sType, a stale handle) is reported to the message callback, and
 * the call returns VK_ERROR_VALIDATION_FAILED_EXT. A null allocator, and a create info of an
 * allocator with a wrong sType, have no callback: only the result reports the misuse.
 *
 * A handle of 64 bits on every platform (an allocation, a pool, a slice, and so on) is checked by
 * each call. The call refuses the handle of an object that was destroyed, however often its place
 * has been used since, and the handle of an object of another allocator. MaarAllocator,
 * MaarRangeAllocator, MaarPlan, MaarPlanCache, MaarCuda, MaarHip and MaarExternalHandle are
 * pointers: after their destruction, no call may be given them.
 *
 * Once an invariant was found broken (the message names the invariant), every call returns
 * VK_ERROR_UNKNOWN, and the program can only destroy the allocator. Calls that allocate device
 * memory also return VK_ERROR_UNKNOWN when the driver does: RADV returns it when the kernel has no
 * address for the memory.
 */
#ifndef MAAR_ALLOCATOR_H
#define MAAR_ALLOCATOR_H

#include "maar/base.h"
#include "maar/message.h"
#include "maar/range.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All of Maar's state for one VkDevice. */
VK_DEFINE_HANDLE(MaarAllocator)
/** Blocks of one memory type under one placement strategy. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarPool)
/** A range of a block, or a whole block, that the caller owns. The handle has 64 bits on every
 * platform. It carries a generation, so that Maar notices a handle that was freed. The low 32 bits
 * are the number of the allocation: it is above 0, below 2^31, and no other allocation of the
 * allocator that lives has it. See maarFindAllocation. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarAllocation)

/** Stands for "every memory type" or "no memory type". */
#define MAAR_MEMORY_TYPE_NONE 0xFFFFFFFFu

/* ---------------------------------------------------------------------------------------------- */
/* Before the device exists */
/* ---------------------------------------------------------------------------------------------- */

/** Most extensions that a recommendation names. */
#define MAAR_MAX_RECOMMENDED_EXTENSIONS 32

/**
 * The extensions, features and queue families that are worth enabling on a physical device. None of
 * them is required. The feature structures are linked to one another: give `pFeatures` to
 * VkDeviceCreateInfo::pNext and, later, to MaarAllocatorCreateInfo::pEnabledFeatures. Do not copy
 * the structure: it points into itself.
 */
typedef struct MaarDeviceRecommendation {
    /** MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION */
    MaarStructureType sType;
    /** NULL or a chain, which may have a MaarFeatureChainInfo. */
    void* pNext;
    /** How many of ppExtensionNames are set. */
    uint32_t extensionCount;
    /** Device extensions to enable; static strings. Extensions that became part of a later Vulkan
     * version are listed too, so that the list serves a program of any version. */
    const char* ppExtensionNames[MAAR_MAX_RECOMMENDED_EXTENSIONS];
    /** Head of the chain of those feature structures below that this device has; with a
     * MaarFeatureChainInfo, head of the program's chain. */
    void* pFeatures;
    /** Lowest-numbered queue family that may do graphics, or else compute; UINT32_MAX for none. */
    uint32_t mainQueueFamily;
    /** Queue family for sparse binding: the main one if it can bind; UINT32_MAX for none. */
    uint32_t sparseQueueFamily;
    /** Queue family that only transfers, UINT32_MAX for none. */
    uint32_t transferQueueFamily;
    /** Core features. Only the features that Maar can use are set. Head of the chain. */
    VkPhysicalDeviceFeatures2 features;
    /** For device addresses of buffers. */
    VkPhysicalDeviceBufferDeviceAddressFeatures bufferDeviceAddress;
    /** For frees after points in GPU time. */
    VkPhysicalDeviceTimelineSemaphoreFeatures timelineSemaphore;
    /** For barriers of transient heaps. */
    VkPhysicalDeviceSynchronization2Features synchronization2;
    /** For requirements without creating objects. */
    VkPhysicalDeviceMaintenance4Features maintenance4;
    /** For priorities of blocks. */
    VkPhysicalDeviceMemoryPriorityFeaturesEXT memoryPriority;
    /** For changing priorities later. */
    VkPhysicalDevicePageableDeviceLocalMemoryFeaturesEXT pageableDeviceLocalMemory;
} MaarDeviceRecommendation;

/**
 * Chained to MaarDeviceRecommendation: the features that the program itself enables. Vulkan allows
 * each structure once in a chain, and does not allow the structure of a feature beside the one of
 * the Vulkan version that adopted the feature (VkPhysicalDeviceVulkan12Features, ...), so a program
 * cannot simply link the recommendation to its own chain. maarRecommendDevice then sets the
 * features in the program's structures, where they have a place, and links the recommendation's
 * structures for the others to the end of the chain. A feature that the program has enabled stays
 * enabled. The recommendation's structures hold the answers of this call in either case.
 *
 * The chain leads into the recommendation afterwards, which must live as long as the chain is used.
 * A later call for the same recommendation takes its structures out of the chain first; features
 * that were set in the program's own structures stay set.
 */
typedef struct MaarFeatureChainInfo {
    /** MAAR_STRUCTURE_TYPE_FEATURE_CHAIN_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** What the program would give to VkDeviceCreateInfo::pNext: structures of features and others,
     * or NULL. After the call, give MaarDeviceRecommendation::pFeatures in its place. */
    void* pFeatures;
    /** What the program would give to VkDeviceCreateInfo::pEnabledFeatures, or NULL. Vulkan does
     * not allow this beside a VkPhysicalDeviceFeatures2 in pFeatures. If set, the call adds the
     * core features to it; MaarDeviceRecommendation::features is then no part of the device's
     * chain: it has the program's core features and leads to that chain, so that a pointer to it
     * serves as MaarAllocatorCreateInfo::pEnabledFeatures. */
    VkPhysicalDeviceFeatures* pEnabledFeatures;
} MaarFeatureChainInfo;

/**
 * Lists what is worth enabling on a physical device before a VkDevice is made from it. Calls the
 * driver. Allocates nothing that outlives the call.
 *
 * @param pfnGetInstanceProcAddr  the loader's or driver's entry point, not NULL
 * @param instance                an instance of Vulkan 1.1 or later
 * @param physicalDevice          the device in question
 * @param pAllocationCallbacks    host memory for the query; may be NULL; pfnAllocation and pfnFree
 *                                must be set
 * @param pRecommendation         sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_INITIALIZATION_FAILED when the entry points of Vulkan 1.1 cannot be
 *         found; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT for a null argument,
 *         only one of the two callbacks, a wrong sType, or core features in both places of a
 *         MaarFeatureChainInfo; what vkEnumerateDeviceExtensionProperties returns
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarRecommendDevice(PFN_vkGetInstanceProcAddr pfnGetInstanceProcAddr,
                                                 VkInstance instance,
                                                 VkPhysicalDevice physicalDevice,
                                                 const VkAllocationCallbacks* pAllocationCallbacks,
                                                 MaarDeviceRecommendation* pRecommendation);

/* ---------------------------------------------------------------------------------------------- */
/* The allocator */
/* ---------------------------------------------------------------------------------------------- */

/** Locks or unlocks a queue that the program shares with Maar. */
typedef void(VKAPI_PTR* PFN_maarQueueLock)(void* pUserData, VkQueue queue);

/** A queue that Maar may submit to. */
typedef struct MaarQueue {
    /** Its family's index. */
    uint32_t familyIndex;
    /** Its index within the family. */
    uint32_t queueIndex;
    /** The queue itself. */
    VkQueue queue;
    /** Called before each submission. Only these calls may submit: maarSubmitBinds; of buffer
     * caches maarBeginBufferUse, maarPrefetchBufferItems, maarSubmitBufferUploads,
     * maarSetBufferCacheBudget and maarDestroyBufferCache; of residents maarBeginUse, maarEndUse,
     * maarCancelUse, maarUpdateResidency, maarResizeResident, maarDestroyResident,
     * maarWriteCheckpoint, maarYieldResidency and maarDestroyResidency; maarSubmitMoves;
     * maarSubmitHandoff, maarReleaseToCuda, maarAcquireFromCuda, maarReleaseToHip and
     * maarAcquireFromHip; maarGrowCudaMirror; maarDestroyAllocator, once to each queue that carried
     * binds or copies, to find out that the driver is done with them. NULL when no other thread
     * uses the queue during one of those calls. A thread that calls Maar must not hold the lock
     * that this function takes: calls that undo binds wait for a submission under way. */
    PFN_maarQueueLock pfnLock;
    /** Called after each submission; NULL together with pfnLock. */
    PFN_maarQueueLock pfnUnlock;
    /** Given to both. */
    void* pUserData;
} MaarQueue;

/**
 * Receives every VkDeviceMemory that Maar allocates (after the driver's success) or frees (before
 * the driver's call). Maar calls it with no lock held, on the thread that caused the change. It
 * must not call back into the same allocator.
 *
 * @param pUserData        MaarAllocatorCreateInfo::pDeviceMemoryUserData
 * @param memoryTypeIndex  its memory type
 * @param memory           the object
 * @param size             bytes
 */
typedef void(VKAPI_PTR* PFN_maarDeviceMemory)(void* pUserData, uint32_t memoryTypeIndex,
                                              VkDeviceMemory memory, VkDeviceSize size);

/** The failed request that an out-of-memory observer receives. */
typedef struct MaarOutOfMemoryInfo {
    /** MAAR_STRUCTURE_TYPE_OUT_OF_MEMORY_INFO */
    MaarStructureType sType;
    /** NULL. */
    const void* pNext;
    /** Bytes asked for. */
    VkDeviceSize size;
    /** Memory types that would serve. memoryTypeIndex is the preferred one. */
    uint32_t memoryTypeBits;
    /** The preferred type. */
    uint32_t memoryTypeIndex;
    /** That type's heap. */
    uint32_t heapIndex;
    /** How often the observer was called for this request before: 0, 1, 2, ... */
    uint32_t attempt;
    /** The result of the last attempt. */
    VkResult result;
} MaarOutOfMemoryInfo;

/**
 * Called when no memory type can serve a request, and the request is about to fail. A request that
 * may lie in system memory goes there first, and nobody is asked: set
 * MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT, or require DEVICE_LOCAL, where that is not wanted. It may
 * wait for points of submitted work (maarWaitPoints). It may free allocations of the same
 * allocator, or make the program use less memory, and return VK_TRUE: Maar then tries the request
 * again, at most MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS times. It is not called for requests with
 * MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT, which only look in blocks that exist already. Maar
 * calls it with no lock held, on the requesting thread.
 */
typedef VkBool32(VKAPI_PTR* PFN_maarOutOfMemory)(void* pUserData, const MaarOutOfMemoryInfo* pInfo);

/** The most calls of an out-of-memory observer for one request. */
#define MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS 8

/** A function of Vulkan and its name. */
typedef struct MaarNamedFunction {
    /** As vkGetDeviceProcAddr takes it; a name of an extension where the program uses that. */
    const char* pName;
    /** The function; NULL: the entry points are asked for it. */
    PFN_vkVoidFunction pfnFunction;
} MaarNamedFunction;

/** Chained to MaarAllocatorCreateInfo: functions that the program passes itself, and what it
 * enabled on its instance. A program on Vulkan 1.1 with the loader's entry points needs neither. */
typedef struct MaarEntryPointsInfo {
    /** MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many functions pFunctions has. */
    uint32_t functionCount;
    /** Functions that Maar calls in the place of those that the entry points would give. Read
     * during the call only. With functions for memory and for objects in it, pfnGetInstanceProcAddr
     * may be NULL. Calls that need a function which is in neither fail with
     * VK_ERROR_FEATURE_NOT_PRESENT and name the function. */
    const MaarNamedFunction* pFunctions;
    /** How many instance extensions were enabled. */
    uint32_t instanceExtensionCount;
    /** VkInstanceCreateInfo::ppEnabledExtensionNames. On Vulkan 1.0, budgets need
     * VK_KHR_get_physical_device_properties2 here. Read during the call only. */
    const char* const* ppInstanceExtensionNames;
} MaarEntryPointsInfo;

/** Bits of MaarAllocatorCreateInfo::flags. */
typedef enum MaarAllocatorCreateFlagBits {
    /** The program calls from one thread at a time; Maar takes no locks. */
    MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT = 0x1,
    /** Maar walks whole structures after every change and stops at the first broken invariant.
     * Slow. */
    MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT = 0x2,
    /** Maar may make more VkDeviceMemory objects than maxMemoryAllocationCount, because several
     * drivers accept more than they report. Vulkan forbids it, and validation layers report it. The
     * first object too many is announced by a warning, MAAR_MESSAGE_ID_ALLOCATION_COUNT_EXCEEDED.
     * When the driver refuses an object with VK_ERROR_TOO_MANY_OBJECTS, Maar takes the number of
     * its objects for the limit and enforces it, until less than three quarters of them are left:
     * the driver is then asked again. Preferences for dedicated memory end at three quarters of the
     * limit that is known, as they do without this flag. */
    MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT = 0x4,
    /** Reserves the enumeration's size. */
    MAAR_ALLOCATOR_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarAllocatorCreateFlagBits;
/** Any of MaarAllocatorCreateFlagBits. */
typedef VkFlags MaarAllocatorCreateFlags;

/** What maarCreateAllocator needs. Fields from `flags` on may be zero unless they say otherwise. */
typedef struct MaarAllocatorCreateInfo {
    /** MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarAllocatorCreateFlagBits. */
    MaarAllocatorCreateFlags flags;
    /** The Vulkan version that the program uses on this device. Maar relies on the lower of this
     * version and the device's own. Zero means 1.1. VK_API_VERSION_1_0 suffices for memory, buffers
     * and images; what needs more says so. */
    uint32_t apiVersion;
    /** Not NULL; created with VkApplicationInfo::apiVersion of at least this apiVersion. */
    VkInstance instance;
    /** Not NULL. */
    VkPhysicalDevice physicalDevice;
    /** Not NULL; must outlive the allocator. */
    VkDevice device;
    /** The loader's vkGetInstanceProcAddr. Not NULL, unless a MaarEntryPointsInfo has functions. */
    PFN_vkGetInstanceProcAddr pfnGetInstanceProcAddr;
    /** vkGetDeviceProcAddr; NULL to get it from pfnGetInstanceProcAddr. */
    PFN_vkGetDeviceProcAddr pfnGetDeviceProcAddr;
    /** How many device extensions were enabled. */
    uint32_t enabledExtensionCount;
    /** VkDeviceCreateInfo::ppEnabledExtensionNames; read during the call only. */
    const char* const* ppEnabledExtensionNames;
    /** The chain of features given to VkDeviceCreateInfo::pNext (VkPhysicalDeviceFeatures2,
     * VkPhysicalDeviceVulkan12Features, single ones). A feature that is not in the chain counts as
     * off. Read during the call only. */
    const void* pEnabledFeatures;
    /** How many queues Maar may submit to. */
    uint32_t queueCount;
    /** The queues that Maar may submit to. Copied. */
    const MaarQueue* pQueues;
    /** Host memory callbacks, copied. NULL for the C library's heap. Maar gives them to the driver
     * too, so all three functions must be set. */
    const VkAllocationCallbacks* pAllocationCallbacks;
    /** Receives messages; NULL for none. */
    PFN_maarMessage pfnMessage;
    /** Given to pfnMessage. */
    void* pMessageUserData;
    /** Receives each new VkDeviceMemory; NULL for none. */
    PFN_maarDeviceMemory pfnDeviceAllocate;
    /** Receives each VkDeviceMemory before it is freed; NULL for none. */
    PFN_maarDeviceMemory pfnDeviceFree;
    /** Given to both. */
    void* pDeviceMemoryUserData;
    /** Called when memory runs out; NULL for none. */
    PFN_maarOutOfMemory pfnOutOfMemory;
    /** Given to pfnOutOfMemory. */
    void* pOutOfMemoryUserData;
    /** How many entries pHeapSizeLimits has: 0, or the number of heaps. */
    uint32_t heapSizeLimitCount;
    /** Per heap, the most bytes of blocks that Maar may hold; 0 for no limit. Copied. */
    const VkDeviceSize* pHeapSizeLimits;
    /** Placement of the default pools. */
    MaarPlacementStrategy strategy;
    /** Size that blocks grow to, bytes, in pools without a blockSize. The first block has an eighth
     * of it (in memory that is not DEVICE_LOCAL, a 256th), and each further block doubles the
     * pool's bytes at first. 0: 256 MiB, or an eighth of a heap of at most 1 GiB, and the blocks
     * are smaller than that growth gives: the whole allocator holds about a quarter more than what
     * lives in it, or 4 MiB more, beside memory for others (MaarExportInfo) and blocks of pages,
     * which begin with 16 MiB (MaarPoolPagingInfo::pageBlockSize), unless the program has left
     * holes. A pool that holds that size may later have blocks of twice that size, if the
     * allocator then holds at most an eighth more than what lives. */
    VkDeviceSize preferredBlockSize;
    /** Bytes of empty blocks that a default pool keeps: a block that becomes empty is released when
     * it brings the empty blocks above this limit. 0: one empty block is kept, the largest unless
     * several threads have met in the pool; if preferredBlockSize is 0 too, smaller ones are kept
     * beside it, up to half of the most that the allocator has held, at least 64 MiB and at most
     * 256 MiB together (a quarter and all of the size that blocks grow to). Those go before a
     * request makes a larger block. UINT64_MAX: all are kept. No empty block is kept while its heap
     * is over budget, or before a request fails or exceeds a budget. */
    VkDeviceSize retainedEmptySize;
} MaarAllocatorCreateInfo;

/**
 * Chained to MaarAllocatorCreateInfo: unused bytes behind each allocation that shares a block with
 * others, for a program that may write beyond the end of one. Sizes that Maar reports are without
 * margins; statistics count those of live allocations as padding. Dedicated allocations, pages and
 * slices have none. Allocations take Maar's slow path then.
 */
typedef struct MaarMarginInfo {
    /** MAAR_STRUCTURE_TYPE_MARGIN_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Bytes behind each allocation, at most 1 MiB; more where memory is flushed in larger atoms. 0
     * for none. */
    VkDeviceSize marginSize;
    /** VK_TRUE: margins in memory that is HOST_VISIBLE and HOST_COHERENT are filled with a pattern.
     * They are compared when an allocation is freed, and by maarCheckMargins. Calls that give an
     * allocation a place, or end it, map its block for that. An allocation fails if that fails. */
    VkBool32 checksMargins;
} MaarMarginInfo;

/** What an allocator found out about its device and decided at its creation. */
typedef struct MaarAllocatorInfo {
    /** MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The device's memory heaps and types. */
    VkPhysicalDeviceMemoryProperties memoryProperties;
    /** The device's name. */
    char deviceName[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    /** Discrete, integrated, CPU, ... */
    VkPhysicalDeviceType deviceType;
    /** The version that Maar relies on. */
    uint32_t apiVersion;
    /** Granularity between linear and optimal resources, bytes, at least 1. */
    VkDeviceSize bufferImageGranularity;
    /** Flush and invalidate granularity, bytes, at least 1. */
    VkDeviceSize nonCoherentAtomSize;
    /** Most bytes of one VkDeviceMemory; the largest heap's size where the driver says 0. */
    VkDeviceSize maxMemoryAllocationSize;
    /** Most VkDeviceMemory objects; 4096 where the driver says 0. */
    uint32_t maxMemoryAllocationCount;
    /** Most VkDeviceMemory objects that Maar makes now: maxMemoryAllocationCount, or with
     * MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT the number at which the driver refused
     * another one, and UINT32_MAX while it has not. */
    uint32_t allocationCountLimit;
    /** Memory types that Maar chooses only when a request asks for them: AMD's device-coherent ones
     * and protected ones. See MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT. */
    uint32_t avoidedTypeBits;
    /** VK_EXT_memory_budget is in use. */
    VkBool32 memoryBudget;
    /** VK_EXT_memory_priority is in use. */
    VkBool32 memoryPriority;
    /** VK_EXT_pageable_device_local_memory is in use. */
    VkBool32 pageableDeviceLocalMemory;
    /** Blocks have device addresses. */
    VkBool32 bufferDeviceAddress;
    /** Requirements are queried without creating objects. */
    VkBool32 maintenance4;
    /** Points may name timeline semaphores. */
    VkBool32 timelineSemaphore;
} MaarAllocatorInfo;

/**
 * Creates an allocator. Queries the driver; allocates no device memory yet.
 *
 * @param pCreateInfo  not NULL
 * @param pAllocator   receives the allocator
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INITIALIZATION_FAILED when a function
 *         that Maar needs cannot be found (the message names it): those for memory, buffers and
 *         images, and with queues those for submissions; VK_ERROR_INCOMPATIBLE_DRIVER for an
 *         apiVersion below 1.0; VK_ERROR_FEATURE_NOT_PRESENT when a MaarDefaultExportInfo names
 *         handle types whose extensions are not enabled; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyAllocator before the VkDevice
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateAllocator(const MaarAllocatorCreateInfo* pCreateInfo,
                                                 MaarAllocator* pAllocator);

/**
 * Destroys an allocator and all memory that it holds. Waits for pending work at most five seconds
 * each for frees, for handoffs, and for binds and the queues that carried them; then frees it. The
 * queues of pQueues and their locks must still work. Allocations and pools that are still alive are
 * reported as leaks, by name, and their memory is freed. Objects bound to that memory must have
 * been destroyed.
 *
 * @param allocator  may be VK_NULL_HANDLE
 * @threadsafety `allocator` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyAllocator(MaarAllocator allocator);

/**
 * Reads what the allocator found out about its device. Does not call the driver.
 *
 * @param allocator  not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetAllocatorInfo(MaarAllocator allocator,
                                                  MaarAllocatorInfo* pInfo);

/* ---------------------------------------------------------------------------------------------- */
/* Which memory */
/* ---------------------------------------------------------------------------------------------- */

/** What a resource's memory is for. */
typedef enum MaarMemoryUsage {
    /** Read and written by the device; the host need not see it. */
    MAAR_MEMORY_USAGE_DEVICE_LOCAL = 0,
    /** Written by the host, in order, and read by the device, often once. Always mappable. */
    MAAR_MEMORY_USAGE_UPLOAD = 1,
    /** Written by the device and read by the host, in any order. Always mappable. */
    MAAR_MEMORY_USAGE_READBACK = 2,
    /** Written by the host in place and read by the device many times: device-local memory that the
     * host sees (BAR, ReBAR, unified memory), or else upload memory. Always mappable. */
    MAAR_MEMORY_USAGE_DEVICE_UPLOAD = 3,
    /** Lives within a render pass only. Maar uses lazily allocated memory where the device has
     * some. */
    MAAR_MEMORY_USAGE_TRANSIENT = 4,
    /** Only requiredFlags, preferredFlags and memoryTypeBits decide. Of equal types, the first in
     * the driver's order is chosen. */
    MAAR_MEMORY_USAGE_FLAGS_ONLY = 5,
    /** Reserves the enumeration's size. */
    MAAR_MEMORY_USAGE_MAX_ENUM = 0x7FFFFFFF
} MaarMemoryUsage;

/** Whether an allocation gets a VkDeviceMemory of its own. */
typedef enum MaarDedicated {
    /** When the driver requires it. In default pools, while no more than three quarters of
     * maxMemoryAllocationCount are in use, also when the driver prefers it, or when the request has
     * at least half the preferred block size. */
    MAAR_DEDICATED_AUTO = 0,
    /** Always. */
    MAAR_DEDICATED_ALWAYS = 1,
    /** Never, even if the driver prefers it. The call fails where the driver requires it. */
    MAAR_DEDICATED_NEVER = 2,
    /** Whenever no more than three quarters of maxMemoryAllocationCount are in use. This holds in a
     * custom pool too. */
    MAAR_DEDICATED_PREFERRED = 3,
    /** Reserves the enumeration's size. */
    MAAR_DEDICATED_MAX_ENUM = 0x7FFFFFFF
} MaarDedicated;

/** Bits of MaarAllocationCreateInfo::flags. */
typedef enum MaarAllocationCreateFlagBits {
    /** The allocation is mapped as long as it lives: see maarGetMappedData. The flag adds
     * HOST_VISIBLE to requiredFlags. With device-local usage the memory then comes from a BAR,
     * which may be small. */
    MAAR_ALLOCATION_CREATE_MAPPED_BIT = 0x1,
    /** The call fails with VK_ERROR_OUT_OF_DEVICE_MEMORY when it would exceed a heap's budget. Free
     * bytes of blocks that exist are used even while the heap is over its budget. */
    MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT = 0x2,
    /** Other objects, of either kind, will be bound to the same bytes. The range shares no granule
     * with any other range. MAAR_ALLOCATION_CREATE_UNTIED_BIT is implied. */
    MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT = 0x4,
    /** In linear pools: takes the range from the upper end of the block. */
    MAAR_ALLOCATION_CREATE_UPPER_BIT = 0x8,
    /** Uses only blocks that exist already. */
    MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT = 0x10,
    /** Uses the preferred memory type alone. Holds for the pages of reservations, arrays, sparse
     * images and tile caches too. In a pool that stitches, an object made of pages that finds no
     * address space is not placed in a block instead. */
    MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT = 0x20,
    /** VkMemoryDedicatedAllocateInfo does not tie a dedicated VkDeviceMemory to its object, unless
     * the driver requires it. */
    MAAR_ALLOCATION_CREATE_UNTIED_BIT = 0x40,
    /** As MAAR_ALLOCATION_CREATE_MAPPED_BIT, if the memory type that is chosen without it is
     * HOST_VISIBLE; maarGetMappedData returns NULL otherwise. Pages of reservations are not mapped,
     * and an object of a pool that stitches is placed in a block. */
    MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT = 0x80,
    /** Takes the block whose largest free range exceeds the request least, among 64 blocks with
     * room and to within a 32nd, and not the first block with room: large free ranges last longer,
     * and the call takes longer. Requests of a 192nd of the preferred block size or more do so
     * without this flag. */
    MAAR_ALLOCATION_CREATE_TIGHTEST_BIT = 0x100,
    /** Chooses the block as MAAR_ALLOCATION_CREATE_TIGHTEST_BIT does, and takes the lowest offset
     * in that block at which the allocation fits: see MAAR_RANGE_ALLOCATE_LOWEST_BIT. Without
     * effect on offsets in pools of linear placement, and where a pending range serves an ordered
     * request. */
    MAAR_ALLOCATION_CREATE_LOWEST_BIT = 0x200,
    /** The avoided types (MaarAllocatorInfo::avoidedTypeBits) and lazily allocated ones may be used
     * like any other. They rank behind ordinary types, unless requiredFlags names their flags. */
    MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT = 0x400,
    /** Reserves the enumeration's size. */
    MAAR_ALLOCATION_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarAllocationCreateFlagBits;
/** Any of MaarAllocationCreateFlagBits. */
typedef VkFlags MaarAllocationCreateFlags;

/** How to allocate. All zero means: device-local memory out of a default pool. */
typedef struct MaarAllocationCreateInfo {
    /** MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarAllocationCreateFlagBits. */
    MaarAllocationCreateFlags flags;
    /** What the memory is for. Ignored with `pool`, whose memory type is fixed; the flags and types
     * below are not. */
    MaarMemoryUsage usage;
    /** Whether it gets a VkDeviceMemory of its own. */
    MaarDedicated dedicated;
    /** Property flags that the type must have. */
    VkMemoryPropertyFlags requiredFlags;
    /** Property flags that the type should have. They weigh more than the usage's preferences. */
    VkMemoryPropertyFlags preferredFlags;
    /** Types that may be used, 0 or all bits for any. An avoided type (AMD's device-coherent ones,
     * protected ones) is used only with MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT, when its flag is
     * required, or when this field names avoided or lazily allocated types alone. */
    uint32_t memoryTypeBits;
    /** Least alignment in bytes, in addition to the resource's own; any number; 0 for none. */
    VkDeviceSize minAlignment;
    /** Priority of a dedicated allocation for VK_EXT_memory_priority, above 0 and at most 1; 0
     * means 0.5. */
    float priority;
    /** A pool to allocate from, or VK_NULL_HANDLE for a default one. */
    MaarPool pool;
    /** Kept with the allocation. */
    void* pUserData;
    /** Name for dumps and messages, copied; may be NULL. */
    const char* pName;
} MaarAllocationCreateInfo;

/** Chained to the create info of a dedicated allocation (MAAR_DEDICATED_ALWAYS): structures for its
 * vkAllocateMemory. */
typedef struct MaarMemoryAllocateNextInfo {
    /** MAAR_STRUCTURE_TYPE_MEMORY_ALLOCATE_NEXT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Chained to VkMemoryAllocateInfo, in the place of the pool's chain; NULL for none. Memory
     * that a structure there makes exportable or imports is the program's to share. */
    const void* pMemoryAllocateNext;
} MaarMemoryAllocateNextInfo;

/** Chained to MaarAllocationCreateInfo: the memory types to try, instead of Maar's ranking. One
 * request tries all of them, so the out-of-memory observer is asked once. `usage`, preferredFlags
 * and the types that are otherwise avoided play no part; requiredFlags, memoryTypeBits,
 * MAAR_ALLOCATION_CREATE_MAPPED_BIT, what the resource allows and what the device has enabled rule
 * types out. Without effect in a pool, which has one type. */
typedef struct MaarMemoryTypeOrderInfo {
    /** MAAR_STRUCTURE_TYPE_MEMORY_TYPE_ORDER_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many types, 1 to VK_MAX_MEMORY_TYPES. */
    uint32_t memoryTypeCount;
    /** Their indices; the first one that serves is the preferred type. Indices that the device does
     * not have are passed over. */
    const uint32_t* pMemoryTypeIndices;
} MaarMemoryTypeOrderInfo;

/** The memory types that would serve a request. */
typedef struct MaarMemoryTypeChoice {
    /** MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE */
    MaarStructureType sType;
    /** NULL or a chain; see MaarMemoryTypeReason. */
    void* pNext;
    /** The preferred type; MAAR_MEMORY_TYPE_NONE if none serves. */
    uint32_t memoryTypeIndex;
    /** How many types serve. */
    uint32_t candidateCount;
    /** The types that serve, in order of preference. When a heap is full, Maar tries the next
     * one. */
    uint32_t candidates[VK_MAX_MEMORY_TYPES];
} MaarMemoryTypeChoice;

/** Chained to MaarMemoryTypeChoice: receives the reason for the choice. */
typedef struct MaarMemoryTypeReason {
    /** MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** One sentence about the preferred type, zero-terminated: what the request asked for, and
     * which of that the type does not have. Empty when no type serves. */
    char text[256];
} MaarMemoryTypeReason;

/**
 * Ranks the memory types for a request. The result depends on the device's memory properties alone,
 * and not on budgets or on what is allocated. Does not call the driver.
 *
 * @param allocator       not null
 * @param memoryTypeBits  VkMemoryRequirements::memoryTypeBits
 * @param pCreateInfo     usage, flags and types; `pool` is ignored; NULL for the defaults
 * @param pChoice         sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when no type has what is required;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarChooseMemoryType(MaarAllocator allocator, uint32_t memoryTypeBits,
                                                  const MaarAllocationCreateInfo* pCreateInfo,
                                                  MaarMemoryTypeChoice* pChoice);

/* ---------------------------------------------------------------------------------------------- */
/* Pools */
/* ---------------------------------------------------------------------------------------------- */

/** How a pool works. Zero is the default of every field but memoryTypeIndex, which has none. */
typedef struct MaarPoolCreateInfo {
    /** MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Chained to each VkMemoryAllocateInfo of the pool; must stay valid as long as the pool. */
    const void* pMemoryAllocateNext;
    /** The memory type of its blocks. */
    uint32_t memoryTypeIndex;
    /** Placement in its blocks. */
    MaarPlacementStrategy strategy;
    /** Exact size of every block, bytes; 0: each further block may be larger. */
    VkDeviceSize blockSize;
    /** Number of blocks that maarCreatePool makes. They are never released before the pool is
     * destroyed. */
    uint32_t minBlockCount;
    /** Most blocks; 0 for no limit. Dedicated allocations do not count. */
    uint32_t maxBlockCount;
    /** Least alignment of its allocations, bytes; 0 for none. */
    VkDeviceSize minAlignment;
    /** Priority of its blocks, above 0 and at most 1; 0 means 0.5. */
    float priority;
    /** As MaarAllocatorCreateInfo::retainedEmptySize. */
    VkDeviceSize retainedEmptySize;
    /** VK_TRUE: the pool holds resources of one kind only, so bufferImageGranularity is ignored.
     * The first resource whose kind is known decides the kind, unless the call that makes it fails.
     * Requests of the other kind fail. */
    VkBool32 singleKind;
    /** Name for dumps, copied; may be NULL. */
    const char* pName;
} MaarPoolCreateInfo;

/**
 * Creates a pool, and its first minBlockCount blocks.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pPool        receives the pool
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_DEVICE_LOST; VK_ERROR_FEATURE_NOT_PRESENT when the
 *         chain asks for pages or handle types that the device does not have;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyPool; maarDestroyAllocator destroys it at the latest
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreatePool(MaarAllocator allocator,
                                            const MaarPoolCreateInfo* pCreateInfo, MaarPool* pPool);

/**
 * Destroys a pool and its blocks. Waits at most five seconds for pending frees in the pool. Frees
 * that are pending after that are executed and reported. Allocations that still live in the pool
 * are reported as leaks.
 *
 * @param allocator  not null
 * @param pool       may be VK_NULL_HANDLE
 * @threadsafety `pool` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyPool(MaarAllocator allocator, MaarPool pool);

/**
 * Executes pending frees whose points have passed. Then returns empty blocks to the driver, down to
 * the pools' minimum counts.
 *
 * @param allocator      not null
 * @param pool           one pool, or VK_NULL_HANDLE for all
 * @param pReleasedSize  receives the bytes returned to the driver; may be NULL
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarTrim(MaarAllocator allocator, MaarPool pool,
                                      VkDeviceSize* pReleasedSize);

/**
 * Does what maarTrim does with the blocks that have been empty for a time of the program's choice:
 * a block whose bytes were all free, with no free pending, at every call since the one at
 * `time` - `age` or before. A program that calls this once a frame with the number of the frame,
 * or with a value of its timeline, so returns what was not used for `age` frames or values; with
 * a `time` that rises by one at each call, `age` is a number of calls. What was empty at the first
 * call counts from that call on. The cost does not depend on the blocks that stay.
 *
 * Empty page blocks and empty buffers of slices are released too. The bytes of such a buffer are
 * free in a block from then on.
 *
 * @param allocator      not null
 * @param pool           one pool, or VK_NULL_HANDLE for all
 * @param time           now, in any unit, not below that of earlier calls
 * @param age            in the same unit; 0: as maarTrim
 * @param pReleasedSize  receives the bytes returned to the driver; may be NULL
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarTrimAged(MaarAllocator allocator, MaarPool pool, uint64_t time,
                                          uint64_t age, VkDeviceSize* pReleasedSize);

/**
 * Changes the priority of a pool's future blocks and, with VK_EXT_pageable_device_local_memory, of
 * its existing ones. Dedicated allocations keep their priority.
 *
 * @param allocator  not null
 * @param pool       not null
 * @param priority   0 to 1
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when the device has no priorities, or
 *         VK_INCOMPLETE when only future blocks are affected; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSetPoolPriority(MaarAllocator allocator, MaarPool pool,
                                                 float priority);

/**
 * Renames a pool.
 *
 * @param allocator  not null
 * @param pool       not null
 * @param pName      copied; NULL for none
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `pool` externally synchronized, also with dumps and with calls that may report that
 *               the pool has no room
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSetPoolName(MaarAllocator allocator, MaarPool pool,
                                             const char* pName);

/* ---------------------------------------------------------------------------------------------- */
/* Allocations */
/* ---------------------------------------------------------------------------------------------- */

/** What a resource requires of its memory. */
typedef struct MaarMemoryRequest {
    /** MAAR_STRUCTURE_TYPE_MEMORY_REQUEST */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Size (not 0), alignment (0 counts as 1; any number) and types. */
    VkMemoryRequirements requirements;
    /** Kind of the resource that will be bound. */
    MaarResourceKind kind;
    /** VkMemoryDedicatedRequirements::prefersDedicatedAllocation */
    VkBool32 prefersDedicated;
    /** VkMemoryDedicatedRequirements::requiresDedicatedAllocation */
    VkBool32 requiresDedicated;
    /** For VkMemoryDedicatedAllocateInfo if the allocation becomes dedicated: a VkBuffer, or
     * null. */
    VkBuffer dedicatedBuffer;
    /** For the same structure: a VkImage, or null. At most one of the two is set. */
    VkImage dedicatedImage;
} MaarMemoryRequest;

/** Properties of an allocation. */
typedef struct MaarAllocationInfo {
    /** MAAR_STRUCTURE_TYPE_ALLOCATION_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The VkDeviceMemory that holds the allocation. */
    VkDeviceMemory memory;
    /** Offset in `memory`, bytes. */
    VkDeviceSize offset;
    /** Size in bytes: the requested size, rounded up to whole atoms where the memory is not
     * HOST_COHERENT. */
    VkDeviceSize size;
    /** Size of the whole block, bytes. */
    VkDeviceSize blockSize;
    /** The block's number, unique within the allocator's life. */
    uint64_t blockId;
    /** The memory type. */
    uint32_t memoryTypeIndex;
    /** The memory type's property flags. */
    VkMemoryPropertyFlags propertyFlags;
    /** The allocation has a VkDeviceMemory of its own. */
    VkBool32 dedicated;
    /** VK_TRUE in two cases. The allocation is in another type than the preferred one, which was
     * full. Or the allocation should have been made of pages and is not, since the address space
     * was used up. A preferred property that the device does not have at all is not a fallback: see
     * propertyFlags. */
    VkBool32 fallback;
    /** Address of the first byte in host memory; NULL while the allocation is not mapped. */
    void* pMappedData;
    /** As given. */
    void* pUserData;
    /** The name, or NULL; valid until the allocation is renamed or freed. */
    const char* pName;
    /** The pool, or VK_NULL_HANDLE for a default one. */
    MaarPool pool;
    /** As given. */
    MaarResourceKind kind;
    /** How often the allocation's bytes have moved to another place, modulo 2^32. The handle stays
     * the same in a move; `memory`, `offset`, `blockSize`, `blockId` and what follows from them are
     * others: see maar/move.h. */
    uint32_t locationEpoch;
} MaarAllocationInfo;

/**
 * Allocates memory. May call the driver when no block has room, or when the allocation is dedicated
 * or mapped.
 *
 * @param allocator    not null
 * @param pRequest     the resource's requirements
 * @param pCreateInfo  how to allocate; NULL for the defaults
 * @param pAllocation  receives the allocation
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_FEATURE_NOT_PRESENT when no memory type serves;
 *         VK_ERROR_MEMORY_MAP_FAILED with the mapped flag; VK_ERROR_DEVICE_LOST;
 *         VK_ERROR_OUT_OF_POOL_MEMORY with the never-allocate flag or in a pool at its limit;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime free it with maarFreeMemory
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAllocateMemory(MaarAllocator allocator,
                                                const MaarMemoryRequest* pRequest,
                                                const MaarAllocationCreateInfo* pCreateInfo,
                                                MaarAllocation* pAllocation);

/**
 * Makes several allocations: all of them or, on failure, none.
 *
 * @param allocator        not null
 * @param allocationCount  how many; 0 is allowed
 * @param pRequests        that many requests
 * @param pCreateInfo      how to allocate each; NULL for the defaults
 * @param pAllocations     receives that many allocations
 * @return as maarAllocateMemory
 * @threadsafety internally synchronized
 * @lifetime free them with maarFreeMemory or maarFreeMemories
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAllocateMemories(MaarAllocator allocator, uint32_t allocationCount,
                                                  const MaarMemoryRequest* pRequests,
                                                  const MaarAllocationCreateInfo* pCreateInfo,
                                                  MaarAllocation* pAllocations);

/**
 * Frees memory. Objects bound to the memory must have been destroyed, and the device must have
 * finished with it. For a stale handle, and for memory that an object of Maar's owns, such as a
 * buffer of slices, the call only reports the misuse.
 *
 * @param allocator   not null
 * @param allocation  may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `allocation` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarFreeMemory(MaarAllocator allocator, MaarAllocation allocation);

/**
 * Frees several allocations, each as maarFreeMemory does.
 *
 * @param allocator        not null
 * @param allocationCount  how many
 * @param pAllocations     the allocations; any may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; the allocations externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarFreeMemories(MaarAllocator allocator, uint32_t allocationCount,
                                          const MaarAllocation* pAllocations);

/**
 * Reads an allocation. Does not call the driver.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @param pInfo       sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetAllocationInfo(MaarAllocator allocator,
                                                   MaarAllocation allocation,
                                                   MaarAllocationInfo* pInfo);

/**
 * Reads where an allocation is mapped. Does not call the driver.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @return the address of the allocation's first byte; NULL while the allocation is not mapped, and
 *         for a stale handle
 * @threadsafety internally synchronized
 * @lifetime the address is valid until the matching maarUnmapMemory; for an allocation made with
 *           the mapped flag, until it is freed
 * @since 0.1.0
 */
MAAR_API void* VKAPI_CALL maarGetMappedData(MaarAllocator allocator, MaarAllocation allocation);

/**
 * Finds the allocation that lives under a number, for programs that have room for 32 bits alone. A
 * number without its handle does not distinguish an allocation from a later one of the same number.
 * Does not call the driver.
 *
 * @param allocator  not null
 * @param number     the low 32 bits of a handle; any value
 * @return the handle; VK_NULL_HANDLE if no allocation lives under the number
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API MaarAllocation VKAPI_CALL maarFindAllocation(MaarAllocator allocator, uint32_t number);

/**
 * Changes an allocation's user data.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @param pUserData   any value
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `allocation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSetAllocationUserData(MaarAllocator allocator,
                                                       MaarAllocation allocation, void* pUserData);

/**
 * Renames an allocation.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @param pName       copied; NULL for none
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `allocation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSetAllocationName(MaarAllocator allocator,
                                                   MaarAllocation allocation, const char* pName);

/**
 * Changes the priority of a dedicated allocation's memory.
 *
 * @param allocator   not null
 * @param allocation  a dedicated allocation
 * @param priority    0 to 1
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT without VK_EXT_pageable_device_local_memory;
 *         VK_ERROR_VALIDATION_FAILED_EXT, also for an allocation that is not dedicated
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSetAllocationPriority(MaarAllocator allocator,
                                                       MaarAllocation allocation, float priority);

/* ---------------------------------------------------------------------------------------------- */
/* The host's view */
/* ---------------------------------------------------------------------------------------------- */

/**
 * Maps an allocation. Mappings are counted: each call needs one maarUnmapMemory. Calls the driver
 * when the block is not mapped yet. A block that was mapped twice stays mapped until it is freed.
 *
 * @param allocator   not null
 * @param allocation  in a HOST_VISIBLE type
 * @param ppData      receives the address of the allocation's first byte
 * @return VK_SUCCESS; VK_ERROR_MEMORY_MAP_FAILED, also when the type is not HOST_VISIBLE or the
 *         allocation is mapped 65,535 times already; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime the address is valid until the matching maarUnmapMemory
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarMapMemory(MaarAllocator allocator, MaarAllocation allocation,
                                           void** ppData);

/**
 * Undoes one maarMapMemory. A call without a matching maarMapMemory is reported and does nothing
 * else.
 *
 * @param allocator   not null
 * @param allocation  mapped by maarMapMemory
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarUnmapMemory(MaarAllocator allocator, MaarAllocation allocation);

/**
 * Makes the host's writes visible to the device. Calls the driver only for types that are not
 * HOST_COHERENT. Rounds the range to nonCoherentAtomSize and stays within the block.
 *
 * @param allocator   not null
 * @param allocation  mapped
 * @param offset      within the allocation, bytes
 * @param size        bytes, or VK_WHOLE_SIZE for the rest of the allocation
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT, also for a range outside the allocation
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarFlushAllocation(MaarAllocator allocator, MaarAllocation allocation,
                                                 VkDeviceSize offset, VkDeviceSize size);

/**
 * Makes the device's writes visible to the host. Everything else is as in maarFlushAllocation.
 *
 * @param allocator   not null
 * @param allocation  mapped
 * @param offset      within the allocation, bytes
 * @param size        bytes, or VK_WHOLE_SIZE for the rest of the allocation
 * @return as maarFlushAllocation
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarInvalidateAllocation(MaarAllocator allocator,
                                                      MaarAllocation allocation,
                                                      VkDeviceSize offset, VkDeviceSize size);

/**
 * Flushes several allocations, with as few driver calls as their number allows.
 *
 * @param allocator        not null
 * @param allocationCount  how many
 * @param pAllocations     the allocations
 * @param pOffsets         an offset each; NULL for 0
 * @param pSizes           a size each; NULL for VK_WHOLE_SIZE
 * @return as maarFlushAllocation
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarFlushAllocations(MaarAllocator allocator, uint32_t allocationCount,
                                                  const MaarAllocation* pAllocations,
                                                  const VkDeviceSize* pOffsets,
                                                  const VkDeviceSize* pSizes);

/**
 * Invalidates several allocations. Everything else is as in maarFlushAllocations.
 *
 * @param allocator        not null
 * @param allocationCount  how many
 * @param pAllocations     the allocations
 * @param pOffsets         an offset each; NULL for 0
 * @param pSizes           a size each; NULL for VK_WHOLE_SIZE
 * @return as maarFlushAllocation
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarInvalidateAllocations(MaarAllocator allocator,
                                                       uint32_t allocationCount,
                                                       const MaarAllocation* pAllocations,
                                                       const VkDeviceSize* pOffsets,
                                                       const VkDeviceSize* pSizes);

/**
 * Maps, copies from host memory, flushes and unmaps.
 *
 * @param allocator   not null
 * @param allocation  in a HOST_VISIBLE type
 * @param offset      within the allocation, bytes
 * @param size        bytes
 * @param pSource     that many bytes
 * @return as maarMapMemory and maarFlushAllocation
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCopyToAllocation(MaarAllocator allocator,
                                                  MaarAllocation allocation, VkDeviceSize offset,
                                                  VkDeviceSize size, const void* pSource);

/**
 * Maps, invalidates, copies to host memory and unmaps.
 *
 * @param allocator    not null
 * @param allocation   in a HOST_VISIBLE type
 * @param offset       within the allocation, bytes
 * @param size         bytes
 * @param pDestination room for that many bytes
 * @return as maarMapMemory and maarInvalidateAllocation
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCopyFromAllocation(MaarAllocator allocator,
                                                    MaarAllocation allocation, VkDeviceSize offset,
                                                    VkDeviceSize size, void* pDestination);

/* ---------------------------------------------------------------------------------------------- */
/* Until when */
/* ---------------------------------------------------------------------------------------------- */

/** A value of a timeline. */
typedef struct MaarPoint {
    /** A timeline semaphore, or VK_NULL_HANDLE for the allocator's own host timeline, which
     * maarAdvanceHostTimeline moves. A semaphore must live until the frees that wait for it were
     * executed: until a maarCollect, maarTrim or maarWaitPending after the point had passed, or
     * until maarDestroyAllocator. Calls on the allocator that other threads began before that may
     * read the semaphore until they return, so it must outlive them too. */
    VkSemaphore semaphore;
    /** The point has passed when the timeline's value is at least this. */
    uint64_t value;
} MaarPoint;

/** Most points that one free may wait for. */
#define MAAR_MAX_POINTS 16

/**
 * Frees memory once every point has passed, or the device is lost. The handle is invalid at once.
 * The bytes count as pending until they are freed. Never blocks.
 *
 * @param allocator   not null
 * @param allocation  may be VK_NULL_HANDLE
 * @param pointCount  0 (free now) to MAAR_MAX_POINTS
 * @param pPoints     the points
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY (the allocation stays alive);
 *         VK_ERROR_FEATURE_NOT_PRESENT for a semaphore without the timelineSemaphore feature;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `allocation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarFreeMemoryAfter(MaarAllocator allocator, MaarAllocation allocation,
                                                 uint32_t pointCount, const MaarPoint* pPoints);

/**
 * Moves the host timeline of points without a semaphore, for programs that use fences or frame
 * numbers. Move it to UINT64_MAX before maarDestroyAllocator, when the device is idle. A value
 * below the current one is reported and ignored.
 *
 * @param allocator  not null
 * @param value      the device has finished all work up to this value
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAdvanceHostTimeline(MaarAllocator allocator, uint64_t value);

/**
 * Executes the pending frees whose points have passed. Reads the semaphores' values. maarTrim does
 * the same, and so does every request for which the blocks of its pool have no room, before it
 * fails or exceeds a budget.
 *
 * @param allocator    not null
 * @param pFreedCount  receives the number of executed frees; may be NULL
 * @return VK_SUCCESS; VK_ERROR_DEVICE_LOST (everything was freed then); VK_ERROR_OUT_OF_HOST_MEMORY
 *         or VK_ERROR_OUT_OF_DEVICE_MEMORY when the driver cannot read a semaphore (the frees that
 *         wait for other timelines are executed and counted nevertheless);
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCollect(MaarAllocator allocator, uint32_t* pFreedCount);

/**
 * Waits for the points of all pending frees and executes the frees. Does not wait for points of the
 * host timeline, nor for what the program has not submitted by maarSubmitBinds. A free whose point
 * belongs to work that the program has not submitted yet holds this call up until timeout_ns: in
 * the middle of a frame, wait for the points of earlier frames by maarWaitPoints.
 *
 * @param allocator   not null
 * @param timeout_ns  nanoseconds for all waits together; UINT64_MAX for no limit
 * @return VK_SUCCESS; VK_TIMEOUT; VK_NOT_READY when only such points are left;
 *         VK_ERROR_DEVICE_LOST (everything was freed then); VK_ERROR_OUT_OF_HOST_MEMORY or
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY from the driver; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWaitPending(MaarAllocator allocator, uint64_t timeout_ns);

/**
 * Waits until these points have passed, whatever else is pending, and executes all pending frees
 * whose points have passed by then. An observer calls it with the point of the last work that was
 * submitted. After a timeout, frees are executed as well.
 *
 * @param allocator   not null
 * @param pointCount  at most MAAR_MAX_POINTS; 0 waits for nothing
 * @param pPoints     that many points
 * @param timeout_ns  nanoseconds for all points together; UINT64_MAX for no limit
 * @return VK_SUCCESS; VK_TIMEOUT; VK_NOT_READY, without waiting, when one of the points can only
 *         pass by another call of the program: by maarAdvanceHostTimeline or maarSubmitBinds;
 *         VK_ERROR_FEATURE_NOT_PRESENT when a point names a semaphore without the
 *         timelineSemaphore feature; VK_ERROR_DEVICE_LOST (everything pending was freed then);
 *         VK_ERROR_OUT_OF_HOST_MEMORY or VK_ERROR_OUT_OF_DEVICE_MEMORY from the driver;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarWaitPoints(MaarAllocator allocator, uint32_t pointCount,
                                            const MaarPoint* pPoints, uint64_t timeout_ns);

/* ---------------------------------------------------------------------------------------------- */
/* What happened to memory */
/* ---------------------------------------------------------------------------------------------- */

/** Totals that Maar keeps up to date. Reading them visits each block once. The bytes of live,
 * pending, padding and free ranges add up to the bytes of blocks. The buffers that slices share
 * count as live allocations. */
typedef struct MaarStatistics {
    /** MAAR_STRUCTURE_TYPE_STATISTICS */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** VkDeviceMemory objects held, dedicated ones included. */
    uint32_t blockCount;
    /** Number of dedicated ones among blockCount. */
    uint32_t dedicatedCount;
    /** Live allocations. */
    uint32_t allocationCount;
    /** Allocations freed but still pending. */
    uint32_t pendingCount;
    /** Bytes of VkDeviceMemory held. */
    VkDeviceSize blockBytes;
    /** Bytes of dedicated VkDeviceMemory. */
    VkDeviceSize dedicatedBytes;
    /** Bytes of live allocations, as MaarAllocationInfo::size says. */
    VkDeviceSize allocationBytes;
    /** Bytes freed but still pending. */
    VkDeviceSize pendingBytes;
    /** Bytes lost to alignment, rounding and granularity. */
    VkDeviceSize paddingBytes;
    /** Bytes that can be handed out. */
    VkDeviceSize freeBytes;
    /** Most blockBytes since the last maarResetPeaks. Bytes that a failing call held for a moment
     * count too. Allocator-wide statistics only. */
    VkDeviceSize peakBlockBytes;
    /** Most allocationBytes since the last maarResetPeaks. The figure is exact while one thread
     * allocates from one pool. Where several threads or pools are in use, it may fall short by a
     * sixteenth of what lives in each of the others, at most 8 MiB each, or contain a few
     * allocations of each block that one thread made and another one has just freed. It is never
     * above peakBlockBytes. Allocator-wide statistics only. */
    VkDeviceSize peakAllocationBytes;
    /** Most blocks since the last maarResetPeaks. Allocator-wide statistics only. */
    uint32_t peakBlockCount;
    /** vkAllocateMemory calls, failed ones included, since creation. Allocator-wide only. */
    uint64_t deviceAllocationCalls;
    /** vkFreeMemory calls since creation. Allocator-wide only. */
    uint64_t deviceFreeCalls;
    /** Allocations made since creation. Allocator-wide only. */
    uint64_t allocationsMade;
    /** Requests that failed since creation. A call that commits pages is one request.
     * Allocator-wide only. */
    uint64_t failureCount;
    /** Requests served by another type than the preferred one, or, in a pool that stitches, without
     * pages for lack of address space. A call that commits pages is one request. Allocator-wide
     * only. */
    uint64_t fallbackCount;
    /** Requests for which a heap's budget was exceeded. Allocator-wide only. */
    uint64_t overBudgetCount;
    /** Live slices. This field and those that follow are set in allocator-wide statistics only. */
    uint32_t sliceCount;
    /** Slices freed but still pending. */
    uint32_t pendingSliceCount;
    /** Bytes of live slices. */
    VkDeviceSize sliceBytes;
    /** Bytes of slices freed but still pending. */
    VkDeviceSize pendingSliceBytes;
    /** VkBuffers that hold slices, empty ones that are kept included. */
    uint32_t sliceBufferCount;
    /** Bytes of these buffers. */
    VkDeviceSize sliceBufferBytes;
} MaarStatistics;

/** Statistics that need a walk over every block. */
typedef struct MaarDetailedStatistics {
    /** MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Smallest live allocation, bytes; 0 when there is none. */
    VkDeviceSize allocationSizeMin;
    /** Largest live allocation, bytes; 0 when there is none. */
    VkDeviceSize allocationSizeMax;
    /** Free ranges. */
    uint32_t freeRangeCount;
    /** Smallest free range, bytes; 0 when there is none. */
    VkDeviceSize freeRangeSizeMin;
    /** Largest free range, bytes; 0 when there is none. */
    VkDeviceSize freeRangeSizeMax;
    /** 1 - largest free range / free bytes, 0 to 1; 0 when nothing is free. */
    double fragmentation;
} MaarDetailedStatistics;

/** A heap's budget and its use. */
typedef struct MaarHeapBudget {
    /** MAAR_STRUCTURE_TYPE_HEAP_BUDGET */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Which heap. */
    uint32_t heapIndex;
    /** VkMemoryHeap::size, bytes. */
    VkDeviceSize size;
    /** MaarAllocatorCreateInfo::pHeapSizeLimits, or 0. */
    VkDeviceSize limit;
    /** Bytes that this process may use now: the driver's answer, or 80 % of the heap when the
     * driver gives no answer or an impossible one (more than the heap, or 0 in every heap). */
    VkDeviceSize budget;
    /** Bytes that this process uses now: the driver's answer, or blockBytes when the driver gives
     * none. */
    VkDeviceSize usage;
    /** VK_TRUE: budget and usage are the driver's answers. */
    VkBool32 fromDriver;
    /** Bytes of Maar's blocks in this heap. */
    VkDeviceSize blockBytes;
    /** Maar's VkDeviceMemory objects in this heap. */
    uint32_t blockCount;
    /** Bytes that requests may still take in whole blocks, within budget and limit: what both leave
     * beside the blocks in use. Empty blocks count as available, since they are reused or released.
     * Free ranges of the blocks in use come on top: MaarStatistics::freeBytes has them. */
    VkDeviceSize available;
} MaarHeapBudget;

/**
 * Reads the totals of the allocator or of one pool. Never calls the driver.
 *
 * @param allocator    not null
 * @param pool         one pool, or VK_NULL_HANDLE for everything
 * @param pStatistics  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetStatistics(MaarAllocator allocator, MaarPool pool,
                                               MaarStatistics* pStatistics);

/**
 * Reads the totals of one memory type, all pools together.
 *
 * @param allocator        not null
 * @param memoryTypeIndex  which
 * @param pStatistics      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetMemoryTypeStatistics(MaarAllocator allocator,
                                                         uint32_t memoryTypeIndex,
                                                         MaarStatistics* pStatistics);

/**
 * Walks every block of the allocator or of one pool. The walk is slow and holds each pool's lock in
 * turn.
 *
 * @param allocator    not null
 * @param pool         one pool, or VK_NULL_HANDLE for everything
 * @param pStatistics  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetDetailedStatistics(MaarAllocator allocator, MaarPool pool,
                                                       MaarDetailedStatistics* pStatistics);

/**
 * Walks every block of one memory type, all pools together. Everything else is as in
 * maarGetDetailedStatistics.
 *
 * @param allocator        not null
 * @param memoryTypeIndex  which
 * @param pStatistics      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetMemoryTypeDetailedStatistics(
    MaarAllocator allocator, uint32_t memoryTypeIndex, MaarDetailedStatistics* pStatistics);

/**
 * Sets the peaks of MaarStatistics to the current values.
 *
 * @param allocator  not null
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarResetPeaks(MaarAllocator allocator);

/**
 * Reads the budgets of all heaps. Calls the driver when VK_EXT_memory_budget is in use.
 *
 * @param allocator  not null
 * @param pCount     in: room in pBudgets; out: heaps written, or their number if pBudgets is NULL
 * @param pBudgets   an array whose elements have sType and pNext set; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetHeapBudgets(MaarAllocator allocator, uint32_t* pCount,
                                                MaarHeapBudget* pBudgets);

/** A block, as listed. */
typedef struct MaarBlockInfo {
    /** MAAR_STRUCTURE_TYPE_BLOCK_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Its number, unique within the allocator's life. */
    uint64_t blockId;
    /** The object. */
    VkDeviceMemory memory;
    /** Bytes. */
    VkDeviceSize size;
    /** Its memory type. */
    uint32_t memoryTypeIndex;
    /** The block belongs to one allocation alone. */
    VkBool32 dedicated;
    /** How ranges are placed in the block. */
    MaarPlacementStrategy strategy;
    /** Live allocations. */
    uint32_t allocationCount;
    /** Bytes of live allocations. */
    VkDeviceSize allocationBytes;
    /** Bytes freed but still pending. */
    VkDeviceSize pendingBytes;
    /** Its pool, or VK_NULL_HANDLE for a default one. */
    MaarPool pool;
} MaarBlockInfo;

/** State of a range of a block. */
typedef enum MaarBlockRangeState {
    /** Can be handed out. */
    MAAR_BLOCK_RANGE_STATE_FREE = 0,
    /** A live allocation. */
    MAAR_BLOCK_RANGE_STATE_LIVE = 1,
    /** A freed allocation that waits for its points. */
    MAAR_BLOCK_RANGE_STATE_PENDING = 2,
    /** Lost to alignment, rounding or granularity. */
    MAAR_BLOCK_RANGE_STATE_PADDING = 3,
    /** Reserves the enumeration's size. */
    MAAR_BLOCK_RANGE_STATE_MAX_ENUM = 0x7FFFFFFF
} MaarBlockRangeState;

/** A range of a block, as listed. */
typedef struct MaarBlockRange {
    /** What it is. */
    MaarBlockRangeState state;
    /** Kind of the bound resource, for live and pending ranges. */
    MaarResourceKind kind;
    /** Bytes from the block's start. */
    VkDeviceSize offset;
    /** Bytes. */
    VkDeviceSize size;
    /** The live allocation, or null. */
    MaarAllocation allocation;
    /** As given. */
    void* pUserData;
    /** As given, cut to fit; empty for none. */
    char name[48];
} MaarBlockRange;

/**
 * Lists the blocks of the allocator or of one pool, in order of their numbers within each pool.
 *
 * @param allocator  not null
 * @param pool       one pool, or VK_NULL_HANDLE for everything
 * @param pCount     in: room in pBlocks; out: blocks written, or their number if pBlocks is NULL
 * @param pBlocks    an array whose elements have sType and pNext set; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEnumerateBlocks(MaarAllocator allocator, MaarPool pool,
                                                 uint32_t* pCount, MaarBlockInfo* pBlocks);

/**
 * Lists the ranges of one block in order of offsets, without gaps.
 *
 * @param allocator  not null
 * @param blockId    MaarBlockInfo::blockId
 * @param pCount     in: room in pRanges; out: ranges written, or their number if pRanges is NULL
 * @param pRanges    receives the ranges; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT when there is no such block; a
 *         block that another thread released is not reported to the message callback
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEnumerateBlockRanges(MaarAllocator allocator, uint64_t blockId,
                                                      uint32_t* pCount, MaarBlockRange* pRanges);

/** The schema of a dump. */
typedef enum MaarDumpFormat {
    /** Maar's own, `maar-dump/1`: see docs/dumps.md. */
    MAAR_DUMP_FORMAT_MAAR = 0,
    /** The JSON that VulkanMemoryAllocator writes, for that library's viewers. */
    MAAR_DUMP_FORMAT_VMA = 1,
    /** Reserves the enumeration's size. */
    MAAR_DUMP_FORMAT_MAX_ENUM = 0x7FFFFFFF
} MaarDumpFormat;

/** What to dump. */
typedef struct MaarDumpInfo {
    /** MAAR_STRUCTURE_TYPE_DUMP_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The schema. */
    MaarDumpFormat format;
    /** VK_TRUE: the dump lists every block with every range. VK_FALSE: it has totals alone. */
    VkBool32 detailed;
} MaarDumpInfo;

/**
 * Says what an allocation is used as. Called with no lock held, on the thread that writes the dump.
 * The allocation may have been freed meanwhile. It must not call back into the same allocator.
 *
 * @param pUserData   MaarDumpUsageInfo::pUserData
 * @param allocation  a live allocation of the dump
 * @return VkBufferUsageFlags or VkImageUsageFlags of what is bound to it; 0 if they are not known
 */
typedef uint64_t(VKAPI_PTR* PFN_maarDumpUsage)(void* pUserData, MaarAllocation allocation);

/** Chained to MaarDumpInfo: usages for MAAR_DUMP_FORMAT_VMA, whose viewers colour allocations by
 * them. Maar itself does not keep usages. */
typedef struct MaarDumpUsageInfo {
    /** MAAR_STRUCTURE_TYPE_DUMP_USAGE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Asked once for each live allocation of a detailed dump, in no order; not NULL. */
    PFN_maarDumpUsage pfnUsage;
    /** Given to pfnUsage. */
    void* pUserData;
} MaarDumpUsageInfo;

/**
 * Writes the allocator's state as JSON, UTF-8.
 *
 * @param allocator  not null
 * @param pDumpInfo  not NULL
 * @param pSize      in: room in pText, bytes; out: bytes written with the final zero, or, if pText
 *                   is NULL, bytes that suffice until something is allocated or freed
 * @param pText      receives the text; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE when there is too little room (only a final zero is written,
 *         and *pSize receives bytes that suffice); VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWriteDump(MaarAllocator allocator, const MaarDumpInfo* pDumpInfo,
                                           size_t* pSize, char* pText);

/**
 * Compares the margins of all allocations in blocks with the pattern that they were filled with
 * (MaarMarginInfo::checksMargins), and reports the first margin of each block that was overwritten.
 * Maps blocks, and calls the driver for that. Takes as long as reading all margins.
 *
 * @param allocator       not null
 * @param pool            one of the allocator's pools; VK_NULL_HANDLE for all, and for memory
 *                        outside of pools
 * @param memoryTypeBits  the memory types that are looked at; types whose margins are not checked
 *                        are left out
 * @return VK_SUCCESS; VK_ERROR_UNKNOWN when a margin was overwritten; VK_ERROR_FEATURE_NOT_PRESENT
 *         when margins are checked in none of these types; what vkMapMemory returned;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCheckMargins(MaarAllocator allocator, MaarPool pool,
                                              uint32_t memoryTypeBits);

/**
 * Walks every structure and checks every invariant. Slow.
 *
 * @param allocator  not null
 * @param ppBroken   receives NULL, or a static sentence naming the first broken invariant; may be
 *                   NULL
 * @return VK_SUCCESS; VK_ERROR_UNKNOWN when an invariant is broken; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCheckAllocator(MaarAllocator allocator, const char** ppBroken);

#ifdef __cplusplus
}
#endif

#endif
