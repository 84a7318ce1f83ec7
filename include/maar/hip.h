/** @file
 * maar/hip.h: buffers of Maar in AMD's HIP, without a copy. The calls are those of maar/cuda.h
 * without the parts that HIP lacks on Linux. There are no images, and no semaphores that both sides
 * see, so the host connects the two sides at each handoff (MAAR_HANDOFF_MODE_HOST). maarGetHipInfo
 * reports the mode.
 *
 * The HIP runtime is opened at run time. The general rules of maar/allocator.h hold here too, those
 * of maar/share.h on ownership, and those of maar/cuda.h on handles: a timeline belongs to the
 * MaarHip that it was made of, and a stale handle is reported.
 */
#ifndef MAAR_HIP_H
#define MAAR_HIP_H

#include "maar/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The allocator's device as HIP sees it, with the memory that was imported there. */
VK_DEFINE_HANDLE(MaarHip)
/** A timeline that Vulkan queues and HIP streams share. Belongs to a MaarHip. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarHipTimeline)

/** A hipStream_t; NULL is the default stream. */
typedef void* MaarHipStream;

/** How to find HIP. Zero is the default of every field but sType. */
typedef struct MaarHipCreateInfo {
    /** MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The runtime's library. NULL: the one that the program has loaded already, for example
     * PyTorch's own, or else libamdhip64.so with the version number that the system has. */
    const char* pLibraryPath;
    /** The device's ordinal plus one. 0 finds the device by its PCI address, which Vulkan reports
     * when VK_EXT_pci_bus_info is enabled, or else by its UUID. HIP and Vulkan drivers mostly write
     * the UUID differently. */
    uint32_t deviceOrdinalPlusOne;
} MaarHipCreateInfo;

/** Properties of the HIP device and of its connection with Vulkan. */
typedef struct MaarHipInfo {
    /** MAAR_STRUCTURE_TYPE_HIP_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The device's name, as HIP reports it. */
    char deviceName[256];
    /** The device's ordinal, as hipSetDevice takes it. */
    int deviceOrdinal;
    /** hipRuntimeGetVersion */
    int runtimeVersion;
    /** The handle type for memory. Put it into MaarExportInfo::handleTypes. */
    VkExternalMemoryHandleTypeFlagBits memoryHandleType;
    /** MAAR_HANDOFF_MODE_HOST; or MAAR_HANDOFF_MODE_AUTO where no timeline can be made at all. */
    MaarHandoffMode handoffMode;
    /** Number of blocks that are imported now. */
    uint32_t importedBlockCount;
    /** Bytes of the imported blocks. */
    VkDeviceSize importedBytes;
} MaarHipInfo;

/** An allocation as HIP sees it. */
typedef struct MaarHipMemory {
    /** MAAR_STRUCTURE_TYPE_HIP_MEMORY */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Address of the allocation's first byte. */
    void* pDevice;
    /** Size of the allocation, bytes. */
    VkDeviceSize size;
    /** Address of the first byte of the block. */
    void* pBlock;
    /** Size of the block, bytes. */
    VkDeviceSize blockSize;
} MaarHipMemory;

/**
 * Opens the HIP runtime and finds the device that is the allocator's.
 *
 * @param allocator    not null
 * @param pCreateInfo  NULL for the defaults
 * @param pHip         receives the object
 * @return VK_SUCCESS; VK_ERROR_INITIALIZATION_FAILED when there is no HIP runtime or it does not
 *         start (the message gives its reason); VK_ERROR_INCOMPATIBLE_DRIVER when the runtime is
 *         too old, or none of its devices is the allocator's (the message names both sides);
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyHip before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateHip(MaarAllocator allocator,
                                           const MaarHipCreateInfo* pCreateInfo, MaarHip* pHip);

/**
 * Destroys the object and ends every import. Timelines made with the object must have been
 * destroyed, and streams must have finished with the memory.
 *
 * @param hip  may be VK_NULL_HANDLE
 * @threadsafety `hip` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyHip(MaarHip hip);

/**
 * Reads the properties of the HIP device. Does not call HIP.
 *
 * @param hip    not null
 * @param pInfo  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetHipInfo(MaarHip hip, MaarHipInfo* pInfo);

/**
 * Gives an allocation's address in HIP. Everything else is as in maarGetCudaMemory.
 *
 * @param hip         not null
 * @param allocation  made with MaarExportInfo and MaarHipInfo::memoryHandleType
 * @param pMemory     sType and pNext set by the caller; the rest is filled
 * @return as maarGetCudaMemory
 * @threadsafety internally synchronized; `allocation` externally
 * @lifetime the address is valid until the allocation is freed or `hip` destroyed
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetHipMemory(MaarHip hip, MaarAllocation allocation,
                                              MaarHipMemory* pMemory);

/**
 * Creates a timeline that both sides share through the host.
 *
 * @param hip           not null
 * @param initialValue  its first value
 * @param pTimeline     receives the timeline
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT without the timelineSemaphore feature, or with a
 *         runtime that has no hipLaunchHostFunc;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyHipTimeline before `hip`
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateHipTimeline(MaarHip hip, uint64_t initialValue,
                                                   MaarHipTimeline* pTimeline);

/**
 * Destroys a timeline. Both sides must have finished with it. Waits for signals that are on their
 * way, as maarDestroyCudaTimeline does.
 *
 * @param hip       not null; the owner
 * @param timeline  may be VK_NULL_HANDLE
 * @threadsafety `timeline` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyHipTimeline(MaarHip hip, MaarHipTimeline timeline);

/**
 * Gives the timeline semaphore that Vulkan's submissions wait for and signal.
 *
 * @param hip         not null; the owner
 * @param timeline    not null
 * @param pSemaphore  receives the semaphore
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetHipTimelineSemaphore(MaarHip hip, MaarHipTimeline timeline,
                                                         VkSemaphore* pSemaphore);

/**
 * Waits on the calling thread until Vulkan has signalled a value, so that later commands of the
 * stream come after it. The submission must have been made before.
 *
 * @param hip       not null; the owner
 * @param timeline  not null
 * @param value     the value that Vulkan signals
 * @param stream    the stream whose later commands come after the signal
 * @return VK_SUCCESS; VK_ERROR_DEVICE_LOST; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_UNKNOWN for an error of HIP's (the message names
 *         it); VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `stream` as HIP requires
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarHipWait(MaarHip hip, MaarHipTimeline timeline, uint64_t value,
                                         MaarHipStream stream);

/**
 * Makes the host signal a value when the stream reaches this command. Does not block.
 *
 * @param hip       not null; the owner
 * @param timeline  not null
 * @param value     above all values that streams have signalled before
 * @param stream    the stream that signals
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_UNKNOWN
 *         for an error of HIP's (the message names it); what vkSignalSemaphore returned for an
 *         earlier signal; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `stream` as HIP requires
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarHipSignal(MaarHip hip, MaarHipTimeline timeline, uint64_t value,
                                           MaarHipStream stream);

/** A handoff between a Vulkan queue and a HIP stream. */
typedef struct MaarHipHandoffInfo {
    /** MAAR_STRUCTURE_TYPE_HIP_HANDOFF_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The value that stands for this handoff, above all earlier ones in the same direction. */
    uint64_t value;
    /** The stream. */
    MaarHipStream stream;
    /** Index into MaarAllocatorCreateInfo::pQueues. */
    uint32_t queue;
    /** How many resources; 0 is allowed. */
    uint32_t resourceCount;
    /** The resources. */
    const MaarHandoffResource* pResources;
} MaarHipHandoffInfo;

/**
 * Transfers resources from Vulkan to HIP: submits the barriers and waits, on the calling thread,
 * until they have been executed.
 *
 * @param hip       not null; the owner
 * @param timeline  not null
 * @param pInfo     the handoff
 * @return as maarHipWait; what vkQueueSubmit returns
 * @threadsafety internally synchronized; the stream as HIP requires
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarReleaseToHip(MaarHip hip, MaarHipTimeline timeline,
                                              const MaarHipHandoffInfo* pInfo);

/**
 * Transfers resources from HIP to Vulkan: the host signals the timeline when the stream reaches
 * this command, and a submission waits for it and carries the barriers. Does not block.
 *
 * @param hip       not null; the owner
 * @param timeline  not null
 * @param pInfo     the handoff
 * @return as maarHipSignal; what vkQueueSubmit returns
 * @threadsafety internally synchronized; the stream as HIP requires
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAcquireFromHip(MaarHip hip, MaarHipTimeline timeline,
                                                const MaarHipHandoffInfo* pInfo);

#ifdef __cplusplus
}
#endif

#endif
