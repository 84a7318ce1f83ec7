/** @file
 * maar/allocator.h: device memory. The allocator, its pools, its allocations, what is freed later,
 * and what can be learnt about all of them.
 *
 * Unless a function says otherwise: when it fails, the handles and pointers that it returns are
 * null, the structures that it fills are left as they were, and nothing else has changed. Misuse (a
 * null argument, a wrong sType, a stale handle) is told to the message callback and answered with
 * VK_ERROR_VALIDATION_FAILED_EXT. A null allocator, and a create info of an allocator with a wrong
 * sType, have no callback that could be told: only the result says it.
 *
 * VK_ERROR_UNKNOWN is the answer to every call once an invariant was found broken (the message says
 * which): what is left is to destroy. Calls that allocate device memory also pass it on from
 * drivers that say it for want of memory, as RADV does when the kernel has no address for it.
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
/** A range of a block, or a whole block, that the caller owns. 64 bits on every platform; carries a
 * generation, so that a handle that was freed is noticed. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarAllocation)

/** Stands for "every memory type" or "no memory type". */
#define MAAR_MEMORY_TYPE_NONE 0xFFFFFFFFu

/* ---------------------------------------------------------------------------------------------- */
/* Before the device exists */
/* ---------------------------------------------------------------------------------------------- */

/** Most extensions that a recommendation names. */
#define MAAR_MAX_RECOMMENDED_EXTENSIONS 32

/**
 * What is worth enabling on a physical device. Nothing of it is required. The feature structures
 * are linked to one another: hand `pFeatures` to VkDeviceCreateInfo::pNext and, later, to
 * MaarAllocatorCreateInfo::pEnabledFeatures. Do not copy the structure, since it points into
 * itself.
 */
typedef struct MaarDeviceRecommendation {
    /** MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** How many of ppExtensionNames are set. */
    uint32_t extensionCount;
    /** Device extensions to enable; static strings. Also those that a later version took up, so
     * that they serve a program of any version. */
    const char* ppExtensionNames[MAAR_MAX_RECOMMENDED_EXTENSIONS];
    /** Head of the chain of those feature structures below that this device has. */
    void* pFeatures;
    /** Lowest-numbered queue family that may do graphics, or else compute; UINT32_MAX for none. */
    uint32_t mainQueueFamily;
    /** Queue family for sparse binding, the main one if that can; UINT32_MAX for none. */
    uint32_t sparseQueueFamily;
    /** Queue family that only transfers, UINT32_MAX for none. */
    uint32_t transferQueueFamily;
    /** Core features; only those set that Maar can use. Head of the chain. */
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
 * Says what is worth enabling on a physical device before a VkDevice is made from it. Calls the
 * driver; allocates nothing that outlives the call.
 *
 * @param pfnGetInstanceProcAddr  the loader's or driver's entry point, not NULL
 * @param instance                an instance of Vulkan 1.1 or later
 * @param physicalDevice          the device in question
 * @param pAllocationCallbacks    host memory for the query, may be NULL; pfnAllocation and pfnFree
 *                                must be there
 * @param pRecommendation         sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_INITIALIZATION_FAILED when the entry points of Vulkan 1.1 are not
 *         there; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT for a null argument,
 *         half of the callbacks or a wrong sType; whatever the driver's enumerations return
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
    /** Called before each submission. These submit, and nothing else does: maarSubmitBinds; the
     * handoffs of maar/share.h, maar/cuda.h and maar/hip.h; maarCreateCudaMirror and
     * maarGrowCudaMirror; maarDestroyAllocator, once more to each queue that carried binds or
     * copies, which shows that the driver is done with them. NULL when no other thread uses the
     * queue while one calls those. What it takes must not be held by a thread that calls Maar:
     * calls that undo binds wait for a submission under way. */
    PFN_maarQueueLock pfnLock;
    /** Called after each submission; NULL together with pfnLock. */
    PFN_maarQueueLock pfnUnlock;
    /** Given to both. */
    void* pUserData;
} MaarQueue;

/**
 * Told of every VkDeviceMemory that Maar allocates (after it succeeded) or frees (before it goes).
 * Called with no lock held, on the thread that caused it; it must not call back into the same
 * allocator.
 *
 * @param pUserData        MaarAllocatorCreateInfo::pDeviceMemoryUserData
 * @param memoryTypeIndex  its memory type
 * @param memory           the object
 * @param size             bytes
 */
typedef void(VKAPI_PTR* PFN_maarDeviceMemory)(void* pUserData, uint32_t memoryTypeIndex,
                                              VkDeviceMemory memory, VkDeviceSize size);

/** What an out-of-memory observer is told. */
typedef struct MaarOutOfMemoryInfo {
    /** MAAR_STRUCTURE_TYPE_OUT_OF_MEMORY_INFO */
    MaarStructureType sType;
    /** NULL. */
    const void* pNext;
    /** Bytes asked for. */
    VkDeviceSize size;
    /** Types that would serve, the best first one given in memoryTypeIndex. */
    uint32_t memoryTypeBits;
    /** The type that was liked best. */
    uint32_t memoryTypeIndex;
    /** That type's heap. */
    uint32_t heapIndex;
    /** How often the observer was asked for this request already: 0, 1, 2, ... */
    uint32_t attempt;
    /** What the last attempt ended with. */
    VkResult result;
} MaarOutOfMemoryInfo;

/**
 * Asked when a request can be met by no type. It may free allocations of the same allocator, or
 * make the program shrink, and return VK_TRUE to have the request tried again, at most
 * MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS times. Not asked for requests with
 * MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT, which only look for what is there already. Called with
 * no lock held, on the requesting thread.
 */
typedef VkBool32(VKAPI_PTR* PFN_maarOutOfMemory)(void* pUserData, const MaarOutOfMemoryInfo* pInfo);

/** How often an out-of-memory observer is asked for one request. */
#define MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS 8

/** Bits of MaarAllocatorCreateInfo::flags. */
typedef enum MaarAllocatorCreateFlagBits {
    /** The program calls from one thread at a time; Maar takes no locks. */
    MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT = 0x1,
    /** Walk whole structures after every change and stop at the first broken invariant. Slow. */
    MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT = 0x2,
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
    /** The Vulkan version that the program uses on this device, at least VK_API_VERSION_1_1; the
     * lower of this and the device's own is what Maar relies on. Zero means 1.1. */
    uint32_t apiVersion;
    /** Not NULL; created with VkApplicationInfo::apiVersion of at least 1.1. */
    VkInstance instance;
    /** Not NULL. */
    VkPhysicalDevice physicalDevice;
    /** Not NULL; must outlive the allocator. */
    VkDevice device;
    /** The loader's vkGetInstanceProcAddr. Not NULL. */
    PFN_vkGetInstanceProcAddr pfnGetInstanceProcAddr;
    /** NULL to ask pfnGetInstanceProcAddr for it. */
    PFN_vkGetDeviceProcAddr pfnGetDeviceProcAddr;
    /** How many device extensions were enabled. */
    uint32_t enabledExtensionCount;
    /** VkDeviceCreateInfo::ppEnabledExtensionNames; read during the call only. */
    const char* const* ppEnabledExtensionNames;
    /** The chain of features given to VkDeviceCreateInfo::pNext (VkPhysicalDeviceFeatures2,
     * VkPhysicalDeviceVulkan12Features, single ones); what is not there counts as off. Read during
     * the call only. */
    const void* pEnabledFeatures;
    /** How many queues Maar may submit to. */
    uint32_t queueCount;
    /** Those queues. Copied. */
    const MaarQueue* pQueues;
    /** Host memory; copied. NULL for the C library's. Also handed to the driver, so all three
     * functions must be there. */
    const VkAllocationCallbacks* pAllocationCallbacks;
    /** Receives messages; NULL for none. */
    PFN_maarMessage pfnMessage;
    /** Given to pfnMessage. */
    void* pMessageUserData;
    /** Told of each new VkDeviceMemory; NULL for none. */
    PFN_maarDeviceMemory pfnDeviceAllocate;
    /** Told of each VkDeviceMemory about to go; NULL for none. */
    PFN_maarDeviceMemory pfnDeviceFree;
    /** Given to both. */
    void* pDeviceMemoryUserData;
    /** Asked when memory runs out; NULL for none. */
    PFN_maarOutOfMemory pfnOutOfMemory;
    /** Given to pfnOutOfMemory. */
    void* pOutOfMemoryUserData;
    /** How many entries pHeapSizeLimits has: 0, or the number of heaps. */
    uint32_t heapSizeLimitCount;
    /** Per heap, the most bytes of blocks that Maar may hold; 0 for no limit. Copied. */
    const VkDeviceSize* pHeapSizeLimits;
    /** Placement of the default pools. */
    MaarPlacementStrategy strategy;
    /** Size that blocks of the default pools grow to, bytes; 0: 256 MiB, or an eighth of a heap of
     * at most 1 GiB. The first block has an eighth of it (in memory that is not DEVICE_LOCAL a
     * 256th), what a pool holds doubles at first, and blocks of large pools stay below it. */
    VkDeviceSize preferredBlockSize;
    /** Empty blocks that a default pool keeps, bytes: a block that becomes empty is released when
     * it brings the empty ones above this. 0: one block alone is kept, the largest unless several
     * threads have met in the pool; UINT64_MAX: all are.
     * While its heap is over budget, and before a request fails or exceeds a budget, none is. */
    VkDeviceSize retainedEmptySize;
} MaarAllocatorCreateInfo;

/** What an allocator found out and decided at its creation. */
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
    /** Most bytes of one VkDeviceMemory; the fallback (the largest heap) where the driver says 0.
     */
    VkDeviceSize maxMemoryAllocationSize;
    /** Most VkDeviceMemory objects; the fallback (4096) where the driver says 0. */
    uint32_t maxMemoryAllocationCount;
    /** Types never chosen unless named: AMD's device-coherent ones, protected ones. */
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
 * of Vulkan 1.1 cannot be found (the message names it); VK_ERROR_INCOMPATIBLE_DRIVER for an
 *         apiVersion below 1.1; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyAllocator before the VkDevice
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateAllocator(const MaarAllocatorCreateInfo* pCreateInfo,
                                                 MaarAllocator* pAllocator);

/**
 * Destroys an allocator and all memory that it holds. What is pending is waited for, at most five
 * seconds each for frees, for handoffs, and for binds and the queues that carried them; then it is
 * freed. pQueues and their locks must still serve. Allocations and pools still alive are reported
 * as leaks, by name, and their memory is freed; objects bound to it must have been destroyed.
 *
 * @param allocator  may be VK_NULL_HANDLE
 * @threadsafety `allocator` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyAllocator(MaarAllocator allocator);

/**
 * Reads what the allocator knows of its device. Does not call the driver.
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
    /** Lives within a render pass only; lazily allocated memory where there is some. */
    MAAR_MEMORY_USAGE_TRANSIENT = 4,
    /** Only the flags below decide; ties go to the first type in the driver's order. */
    MAAR_MEMORY_USAGE_FLAGS_ONLY = 5,
    /** Reserves the enumeration's size. */
    MAAR_MEMORY_USAGE_MAX_ENUM = 0x7FFFFFFF
} MaarMemoryUsage;

/** Whether an allocation gets a VkDeviceMemory of its own. */
typedef enum MaarDedicated {
    /** When the driver requires it; and out of default pools, while no more than three quarters of
     * maxMemoryAllocationCount are in use, when the driver prefers it or it is at least half the
     * preferred block size. */
    MAAR_DEDICATED_AUTO = 0,
    /** Always. */
    MAAR_DEDICATED_ALWAYS = 1,
    /** Never, even if the driver prefers it; an error where the driver requires it. */
    MAAR_DEDICATED_NEVER = 2,
    /** Whenever no more than three quarters of maxMemoryAllocationCount are in use; a custom pool's
     * allocations too. */
    MAAR_DEDICATED_PREFERRED = 3,
    /** Reserves the enumeration's size. */
    MAAR_DEDICATED_MAX_ENUM = 0x7FFFFFFF
} MaarDedicated;

/** Bits of MaarAllocationCreateInfo::flags. */
typedef enum MaarAllocationCreateFlagBits {
    /** Mapped as long as it lives: see maarGetMappedData. Adds HOST_VISIBLE to requiredFlags; with
     * device-local usage that takes from a BAR, which may be small. */
    MAAR_ALLOCATION_CREATE_MAPPED_BIT = 0x1,
    /** Fail with VK_ERROR_OUT_OF_DEVICE_MEMORY rather than exceed a heap's budget. */
    MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT = 0x2,
    /** Other objects, of either kind, will be bound to the same bytes: the range shares no granule
     * with anything, and what the next flag says holds. */
    MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT = 0x4,
    /** Linear pools: from the upper end of the block. */
    MAAR_ALLOCATION_CREATE_UPPER_BIT = 0x8,
    /** Only out of blocks that exist already. */
    MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT = 0x10,
    /** No other memory type than the best one; in a pool that stitches, no placed object where one
     * made of pages finds no address space. */
    MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT = 0x20,
    /** A VkDeviceMemory of its own is not tied to its object by VkMemoryDedicatedAllocateInfo,
     * unless the driver requires it. */
    MAAR_ALLOCATION_CREATE_UNTIED_BIT = 0x40,
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
    /** What the memory is for. Ignored with `pool`, unlike the flags and types below. */
    MaarMemoryUsage usage;
    /** Whether it gets a VkDeviceMemory of its own. */
    MaarDedicated dedicated;
    /** Property flags that the type must have. */
    VkMemoryPropertyFlags requiredFlags;
    /** Property flags that the type had better have; they weigh more than the usage's wishes. */
    VkMemoryPropertyFlags preferredFlags;
    /** Types that may be used, 0 for any. A type that is avoided unasked (AMD's device-coherent
     * ones, protected ones) is used only when its bit is set here or its flag is required. */
    uint32_t memoryTypeBits;
    /** Least alignment in bytes, on top of the resource's own; any number; 0 for none. */
    VkDeviceSize minAlignment;
    /** 0 < priority <= 1 for VK_EXT_memory_priority, used by dedicated allocations; 0: 0.5. */
    float priority;
    /** A pool to allocate from, or VK_NULL_HANDLE for a default one. */
    MaarPool pool;
    /** Kept with the allocation. */
    void* pUserData;
    /** Name for dumps and messages, copied; may be NULL. */
    const char* pName;
} MaarAllocationCreateInfo;

/** The types that would serve a request, and why. */
typedef struct MaarMemoryTypeChoice {
    /** MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The best type, MAAR_MEMORY_TYPE_NONE if none serves. */
    uint32_t memoryTypeIndex;
    /** How many types serve. */
    uint32_t candidateCount;
    /** Those types, the best first: the order in which a full heap is passed over. */
    uint32_t candidates[VK_MAX_MEMORY_TYPES];
    /** One sentence about the best type: what was wanted, and in what it falls short of that;
     * zero-terminated. */
    char reason[256];
} MaarMemoryTypeChoice;

/**
 * Ranks the memory types for a request. Depends on the device's tables alone, neither on what is
 * allocated nor on budgets. Does not call the driver.
 *
 * @param allocator       not null
 * @param memoryTypeBits  VkMemoryRequirements::memoryTypeBits
 * @param pCreateInfo     usage, flags and types wanted; `pool` is ignored
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
    /** Where its blocks live. */
    uint32_t memoryTypeIndex;
    /** Placement in its blocks. */
    MaarPlacementStrategy strategy;
    /** Exact size of every block, bytes; 0 to let them grow. */
    VkDeviceSize blockSize;
    /** Blocks made at once and never released. */
    uint32_t minBlockCount;
    /** Most blocks; 0 for no limit. */
    uint32_t maxBlockCount;
    /** Least alignment of its allocations, bytes; 0 for none. */
    VkDeviceSize minAlignment;
    /** 0 < priority <= 1 of its blocks; 0: 0.5. */
    float priority;
    /** As MaarAllocatorCreateInfo::retainedEmptySize. */
    VkDeviceSize retainedEmptySize;
    /** VK_TRUE: only resources of one kind will live here, so bufferImageGranularity is ignored.
     * The first one whose kind is known decides which, unless the call that makes it fails; those
     * of the other kind are refused. */
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
 *         chain asks for pages or handle types that are not there; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyPool; at the latest with the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreatePool(MaarAllocator allocator,
                                            const MaarPoolCreateInfo* pCreateInfo, MaarPool* pPool);

/**
 * Destroys a pool and its blocks. What is pending in it is waited for, at most five seconds, then
 * freed all the same and reported. Allocations still in it are reported as leaks.
 *
 * @param allocator  not null
 * @param pool       may be VK_NULL_HANDLE
 * @threadsafety `pool` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyPool(MaarAllocator allocator, MaarPool pool);

/**
 * Frees what is no longer pending and returns empty blocks to the driver, down to the pools'
 * minimum counts.
 *
 * @param allocator      not null
 * @param pool           one pool, or VK_NULL_HANDLE for all
 * @param pReleasedSize  receives the bytes given back; may be NULL
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarTrim(MaarAllocator allocator, MaarPool pool,
                                      VkDeviceSize* pReleasedSize);

/**
 * Changes the priority of a pool's blocks, those to come and, with
 * VK_EXT_pageable_device_local_memory, those that exist. Dedicated allocations keep theirs.
 *
 * @param allocator  not null
 * @param pool       not null
 * @param priority   0 to 1
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when the device has no priorities, or
 *         VK_INCOMPLETE when only blocks to come are affected; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSetPoolPriority(MaarAllocator allocator, MaarPool pool,
                                                 float priority);

/* ---------------------------------------------------------------------------------------------- */
/* Allocations */
/* ---------------------------------------------------------------------------------------------- */

/** What a resource demands of its memory. */
typedef struct MaarMemoryRequest {
    /** MAAR_STRUCTURE_TYPE_MEMORY_REQUEST */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Size (not 0), alignment (0 counts as 1; any number) and types. */
    VkMemoryRequirements requirements;
    /** What will be bound. */
    MaarResourceKind kind;
    /** VkMemoryDedicatedRequirements::prefersDedicatedAllocation */
    VkBool32 prefersDedicated;
    /** VkMemoryDedicatedRequirements::requiresDedicatedAllocation */
    VkBool32 requiresDedicated;
    /** For VkMemoryDedicatedAllocateInfo, should it become a dedicated one; a VkBuffer, or null. */
    VkBuffer dedicatedBuffer;
    /** Likewise, a VkImage, or null; at most one of the two is set. */
    VkImage dedicatedImage;
} MaarMemoryRequest;

/** What is known of an allocation. */
typedef struct MaarAllocationInfo {
    /** MAAR_STRUCTURE_TYPE_ALLOCATION_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The VkDeviceMemory it lies in. */
    VkDeviceMemory memory;
    /** Where in it, bytes. */
    VkDeviceSize offset;
    /** How many bytes: those asked for, in whole atoms where the memory is not HOST_COHERENT. */
    VkDeviceSize size;
    /** The whole block's bytes. */
    VkDeviceSize blockSize;
    /** The block's number, unique within the allocator's life. */
    uint64_t blockId;
    /** The memory type. */
    uint32_t memoryTypeIndex;
    /** The memory type's property flags. */
    VkMemoryPropertyFlags propertyFlags;
    /** It has a VkDeviceMemory of its own. */
    VkBool32 dedicated;
    /** It is not in the type that was liked best, since that was full; or it is not made of pages,
     * as it was to be, since the address space was used up. A type that the device lacks altogether
     * is no fallback: see propertyFlags. */
    VkBool32 fallback;
    /** Its first byte in host memory, or NULL while it is not mapped. */
    void* pMappedData;
    /** As given. */
    void* pUserData;
    /** As given, or NULL; valid until it is renamed or freed. */
    const char* pName;
    /** The pool, or VK_NULL_HANDLE for a default one. */
    MaarPool pool;
    /** As given. */
    MaarResourceKind kind;
} MaarAllocationInfo;

/**
 * Allocates memory. May call the driver when no block has room.
 *
 * @param allocator    not null
 * @param pRequest     what the resource demands
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
 * Allocates several times, all or nothing.
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
 * Frees memory. Whatever is bound to it must have been destroyed, and the device done with it.
 * A stale handle is reported, and nothing happens.
 *
 * @param allocator   not null
 * @param allocation  may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `allocation` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarFreeMemory(MaarAllocator allocator, MaarAllocation allocation);

/**
 * Frees several allocations.
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
 * @return the address of its first byte; NULL while it is not mapped, and for a stale handle
 * @threadsafety internally synchronized
 * @lifetime as the mapping's: until the matching maarUnmapMemory, or, for one made with the mapped
 *           flag, until it is freed
 * @since 0.1.0
 */
MAAR_API void* VKAPI_CALL maarGetMappedData(MaarAllocator allocator, MaarAllocation allocation);

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
 * Maps an allocation, counting: each call wants one maarUnmapMemory. Calls the driver when the
 * block is not mapped yet. A block that was mapped twice stays mapped until it is freed.
 *
 * @param allocator   not null
 * @param allocation  in a HOST_VISIBLE type
 * @param ppData      receives the address of its first byte
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
 * Undoes one maarMapMemory. One call too many is reported, and nothing happens.
 *
 * @param allocator   not null
 * @param allocation  mapped by maarMapMemory
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarUnmapMemory(MaarAllocator allocator, MaarAllocation allocation);

/**
 * Makes the host's writes visible to the device. Calls the driver only for types that are not
 * HOST_COHERENT; rounds to nonCoherentAtomSize and stays within the block.
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
 * Makes the device's writes visible to the host. Otherwise as maarFlushAllocation.
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
 * Invalidates several allocations. Otherwise as maarFlushAllocations.
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
     * maarAdvanceHostTimeline moves. A semaphore must live until what waits for it was freed: until
     * a maarCollect, maarTrim or maarWaitPending after the point had passed, or
     * maarDestroyAllocator. */
    VkSemaphore semaphore;
    /** The point has passed when the timeline's value is at least this. */
    uint64_t value;
} MaarPoint;

/** Most points that one free may wait for. */
#define MAAR_MAX_POINTS 16

/**
 * Frees memory once every point has passed, or the device is lost. The handle is dead at once; the
 * bytes count as pending until then. Never blocks.
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
 * below the present one is reported and ignored.
 *
 * @param allocator  not null
 * @param value      everything up to this value has been done by the device
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAdvanceHostTimeline(MaarAllocator allocator, uint64_t value);

/**
 * Frees whatever is pending and may be freed by now. Also done by every request for which the
 * blocks of its pool have no room, before any request fails or exceeds a budget, and by maarTrim.
 * Reads the semaphores' values.
 *
 * @param allocator    not null
 * @param pFreedCount  receives how many were freed; may be NULL
 * @return VK_SUCCESS; VK_ERROR_DEVICE_LOST (everything was freed then);
 *         VK_ERROR_OUT_OF_HOST_MEMORY or VK_ERROR_OUT_OF_DEVICE_MEMORY from reading a semaphore,
 * when what waits for other timelines is freed, and counted, all the same;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCollect(MaarAllocator allocator, uint32_t* pFreedCount);

/**
 * Waits until nothing is pending, and frees it. Points of the host timeline are not waited for.
 *
 * @param allocator   not null
 * @param timeout_ns  nanoseconds for all waits together; UINT64_MAX for no limit
 * @return VK_SUCCESS; VK_TIMEOUT; VK_NOT_READY when only host points are left;
 *         VK_ERROR_DEVICE_LOST (everything was freed then); VK_ERROR_OUT_OF_HOST_MEMORY or
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY from the driver; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWaitPending(MaarAllocator allocator, uint64_t timeout_ns);

/* ---------------------------------------------------------------------------------------------- */
/* What happened to memory */
/* ---------------------------------------------------------------------------------------------- */

/** Totals that are kept anyway; reading them visits each block once. Bytes live + pending + padding
 * + free = bytes of blocks. The buffers that slices share count as live allocations. */
typedef struct MaarStatistics {
    /** MAAR_STRUCTURE_TYPE_STATISTICS */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** VkDeviceMemory objects held, dedicated ones included. */
    uint32_t blockCount;
    /** Of these, dedicated ones. */
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
    /** Most blockBytes since the last maarResetPeaks; also what a failing call held for a moment.
     * Allocator-wide statistics only. */
    VkDeviceSize peakBlockBytes;
    /** Most allocationBytes since then. Exact while one thread allocates from one pool; where
     * several threads or pools are in use, an estimate, mostly within some MiB for each, and never
     * above peakBlockBytes. Allocator-wide statistics only. */
    VkDeviceSize peakAllocationBytes;
    /** Most blocks since then. Allocator-wide statistics only. */
    uint32_t peakBlockCount;
    /** vkAllocateMemory calls, failed ones included, since creation. Allocator-wide only. */
    uint64_t deviceAllocationCalls;
    /** vkFreeMemory calls since creation. Allocator-wide only. */
    uint64_t deviceFreeCalls;
    /** Allocations made since creation. Allocator-wide only. */
    uint64_t allocationsMade;
    /** Requests that failed since creation. Allocator-wide only. */
    uint64_t failureCount;
    /** Requests met by another type than the one liked best, or, in a pool that stitches, without
     * pages for want of address space. Allocator-wide only. */
    uint64_t fallbackCount;
    /** Requests for which a heap's budget was exceeded. Allocator-wide only. */
    uint64_t overBudgetCount;
    /** Live slices. Allocator-wide only, as are the next three. */
    uint32_t sliceCount;
    /** Slices freed but still pending. */
    uint32_t pendingSliceCount;
    /** Bytes of live slices. */
    VkDeviceSize sliceBytes;
    /** Bytes of slices freed but still pending. */
    VkDeviceSize pendingSliceBytes;
} MaarStatistics;

/** What takes a walk over every block to find out. */
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

/** A heap: what the system allows and what is used. */
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
    /** What this process may use now, bytes: the driver's answer, or 80 % of the heap when there is
     * none or it makes no sense (more than the heap, or 0 in every heap). */
    VkDeviceSize budget;
    /** What this process uses now, bytes: the driver's answer, or blockBytes when there is none. */
    VkDeviceSize usage;
    /** Whether budget and usage are the driver's. */
    VkBool32 fromDriver;
    /** Bytes of Maar's blocks in it. */
    VkDeviceSize blockBytes;
    /** VkDeviceMemory objects of Maar in it. */
    uint32_t blockCount;
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
 * Walks every block of the allocator or of one pool. Slow, and holds each pool's lock in turn.
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
 * Sets the peaks of MaarStatistics to what is held now.
 *
 * @param allocator  not null
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarResetPeaks(MaarAllocator allocator);

/**
 * Reads the budgets of all heaps. Calls the driver with VK_EXT_memory_budget.
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
    /** It belongs to one allocation alone. */
    VkBool32 dedicated;
    /** How it is placed in. */
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

/** What a range of a block is. */
typedef enum MaarBlockRangeState {
    /** Can be handed out. */
    MAAR_BLOCK_RANGE_STATE_FREE = 0,
    /** A live allocation. */
    MAAR_BLOCK_RANGE_STATE_LIVE = 1,
    /** Freed, waiting for points. */
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
    /** What is bound, for live and pending ones. */
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
 * Lists what lies in one block, by offset, without gaps.
 *
 * @param allocator  not null
 * @param blockId    MaarBlockInfo::blockId
 * @param pCount     in: room in pRanges; out: ranges written, or their number if pRanges is NULL
 * @param pRanges    receives the ranges; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT when there is no such block,
 *         also when another thread made it go: that is not told to the message callback
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEnumerateBlockRanges(MaarAllocator allocator, uint64_t blockId,
                                                      uint32_t* pCount, MaarBlockRange* pRanges);

/** The schema of a dump. */
typedef enum MaarDumpFormat {
    /** Maar's own, `maar-dump/1`: see docs/dumps.md. */
    MAAR_DUMP_FORMAT_MAAR = 0,
    /** The JSON that VulkanMemoryAllocator writes, for its viewers. */
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
    /** Every block with every range, rather than totals alone. */
    VkBool32 detailed;
} MaarDumpInfo;

/**
 * Writes the allocator's state as JSON, UTF-8.
 *
 * @param allocator  not null
 * @param pDumpInfo  not NULL
 * @param pSize      in: room in pText, bytes; out: bytes written with the final zero, or needed if
 *                   pText is NULL
 * @param pText      receives the text; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE when the room does not suffice (nothing but a zero is written
 *         and *pSize is what is needed now); VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWriteDump(MaarAllocator allocator, const MaarDumpInfo* pDumpInfo,
                                           size_t* pSize, char* pText);

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
