/** @file
 * maar/cuda.h: buffers and images of Maar in CUDA, without a copy. Most programs need five calls:
 *
 *   maarCreateCuda          finds the CUDA device that is the allocator's device
 *   maarGetCudaMemory       an allocation's address in CUDA
 *   maarCreateCudaTimeline  a timeline that both sides wait for and signal
 *   maarReleaseToCuda       Vulkan gives resources away, and the stream waits for them
 *   maarAcquireFromCuda     the stream gives them back, and Vulkan waits for it
 *
 * The CUDA driver is opened at run time; neither the CUDA Toolkit nor its runtime library is
 * needed. Streams and pointers of the driver API and of the runtime API both work. The allocations
 * must have been made with MaarExportInfo and the handle type that maarGetCudaInfo names. The
 * general rules of maar/allocator.h hold here too, and those of maar/share.h on ownership.
 *
 * A timeline, image, range or mirror belongs to the MaarCuda that it was made of, which each call
 * takes first. A handle that is null, that names a destroyed object, or that belongs to another
 * MaarCuda is reported (MAAR_MESSAGE_ID_NULL_HANDLE, MAAR_MESSAGE_ID_STALE_HANDLE,
 * MAAR_MESSAGE_ID_FOREIGN_HANDLE). The call returns VK_ERROR_VALIDATION_FAILED_EXT and does
 * nothing. Only the functions that destroy accept VK_NULL_HANDLE, silently. A stale handle is
 * detected even when a new object is at the same place.
 */
#ifndef MAAR_CUDA_H
#define MAAR_CUDA_H

#include "maar/share.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The allocator's device as CUDA sees it, with the memory that was imported there. */
VK_DEFINE_HANDLE(MaarCuda)
/** A timeline that Vulkan queues and CUDA streams share. Belongs to a MaarCuda. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarCudaTimeline)
/** A VkImage as a mipmapped array. Belongs to a MaarCuda. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarCudaImage)

/** A CUstream or cudaStream_t; NULL is the default stream. */
typedef void* MaarCudaStream;

/** Bits of MaarCudaCreateInfo::flags. */
typedef enum MaarCudaCreateFlagBits {
    /** Allows maarAllocateCudaMemory, which imports CUDA's memory into Vulkan. Only NVIDIA's
     * drivers support it. */
    MAAR_CUDA_CREATE_CUDA_MEMORY_BIT = 0x1,
    /** Reserves the enumeration's size. */
    MAAR_CUDA_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarCudaCreateFlagBits;
/** Any of MaarCudaCreateFlagBits. */
typedef VkFlags MaarCudaCreateFlags;

/** How to find CUDA. Zero is the default of every field but sType. */
typedef struct MaarCudaCreateInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarCudaCreateFlagBits. */
    MaarCudaCreateFlags flags;
    /** The driver's library; NULL for libcuda.so.1, on Windows nvcuda.dll. */
    const char* pLibraryPath;
    /** A CUcontext on the device; NULL for its primary context, the one of the runtime API. */
    void* pContext;
} MaarCudaCreateInfo;

/** How a timeline is shared. */
typedef enum MaarHandoffMode {
    /** The first of the modes below that both sides support. */
    MAAR_HANDOFF_MODE_AUTO = 0,
    /** A timeline semaphore that both sides see. Waits may be queued before the signal. */
    MAAR_HANDOFF_MODE_TIMELINE = 1,
    /** Two binary semaphores. The two sides take turns: one signals a value, the other waits for it
     * and then signals the next value, for which the first side waits. Either side may begin. */
    MAAR_HANDOFF_MODE_BINARY = 2,
    /** The host connects the two sides. A stream's wait blocks the calling thread until Vulkan has
     * finished. A stream's signal does not block: the host passes it on when the stream reaches
     * it. */
    MAAR_HANDOFF_MODE_HOST = 3,
    /** Reserves the enumeration's size. */
    MAAR_HANDOFF_MODE_MAX_ENUM = 0x7FFFFFFF
} MaarHandoffMode;

/** Properties of the CUDA device and of its connection with Vulkan. */
typedef struct MaarCudaInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The device's name, as CUDA reports it. */
    char deviceName[256];
    /** The device's ordinal, as cudaSetDevice takes it. */
    int deviceOrdinal;
    /** The highest CUDA version that the driver knows, 1000 x major + 10 x minor. */
    int driverVersion;
    /** The CUcontext in use. */
    void* pContext;
    /** The handle type for memory. Put it into MaarExportInfo::handleTypes. */
    VkExternalMemoryHandleTypeFlagBits memoryHandleType;
    /** The mode that MAAR_HANDOFF_MODE_AUTO selects; MAAR_HANDOFF_MODE_AUTO where no timeline can
     * be made at all. */
    MaarHandoffMode handoffMode;
    /** Both sides share timeline semaphores. */
    VkBool32 timelineSemaphores;
    /** Both sides share binary semaphores. */
    VkBool32 binarySemaphores;
    /** maarCreateCudaImage works. */
    VkBool32 images;
    /** The device has CUDA's virtual memory management, and file descriptors for it; never on
     * Windows. */
    VkBool32 virtualMemory;
    /** Number of blocks that are imported now. */
    uint32_t importedBlockCount;
    /** Bytes of the imported blocks. */
    VkDeviceSize importedBytes;
} MaarCudaInfo;

/** An allocation as CUDA sees it. */
typedef struct MaarCudaMemory {
    /** MAAR_STRUCTURE_TYPE_CUDA_MEMORY */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Address of the allocation's first byte for the driver API: a CUdeviceptr. */
    uint64_t devicePointer;
    /** The same address for the runtime API and kernels. */
    void* pDevice;
    /** Size of the allocation, bytes. */
    VkDeviceSize size;
    /** Address of the first byte of the block. */
    uint64_t blockPointer;
    /** Size of the block, bytes. */
    VkDeviceSize blockSize;
} MaarCudaMemory;

/**
 * Opens the CUDA driver and finds the device whose UUID (on Windows LUID) is that of the
 * allocator's device.
 *
 * @param allocator    not null
 * @param pCreateInfo  NULL for the defaults
 * @param pCuda        receives the object
 * @return VK_SUCCESS; VK_ERROR_INITIALIZATION_FAILED when there is no CUDA driver or the driver
 *         does not start (the message gives its reason); VK_ERROR_INCOMPATIBLE_DRIVER when the
 *         driver is too old, or none of its devices is the allocator's (the message names both
 *         sides); VK_ERROR_FEATURE_NOT_PRESENT when the allocator's device was created without the
 *         extension that exports memory; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY
 *         and VK_ERROR_UNKNOWN when CUDA gives no context; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyCuda before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCuda(MaarAllocator allocator,
                                            const MaarCudaCreateInfo* pCreateInfo, MaarCuda* pCuda);

/**
 * Destroys the object and ends every import. Timelines, images, ranges and mirrors made with the
 * object must have been destroyed, and streams must have finished with the memory. Otherwise the
 * call reports the objects that live and keeps them and `cuda`; their handles stay valid.
 *
 * @param cuda  may be VK_NULL_HANDLE
 * @threadsafety `cuda` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCuda(MaarCuda cuda);

/**
 * Reads the properties of the CUDA device. Does not call CUDA.
 *
 * @param cuda   not null
 * @param pInfo  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaInfo(MaarCuda cuda, MaarCudaInfo* pInfo);

/**
 * Gives an allocation's address in CUDA. The first call for a block imports and maps the whole
 * block, once for all allocations in it. The import lasts until Maar frees the block or `cuda` is
 * destroyed, so the caller has nothing to release. The address is valid until the allocation is
 * freed. Streams must have finished by then, or the free must wait for a point that they signal.
 *
 * @param cuda        not null
 * @param allocation  made with MaarExportInfo and MaarCudaInfo::memoryHandleType
 * @param pMemory     sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE when CUDA refuses the block;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_UNKNOWN for any other error of CUDA's (the message names it);
 *         VK_ERROR_VALIDATION_FAILED_EXT, also for memory that was not made to be exported
 * @threadsafety internally synchronized; `allocation` externally
 * @lifetime the address is valid until the allocation is freed or `cuda` destroyed
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaMemory(MaarCuda cuda, MaarAllocation allocation,
                                               MaarCudaMemory* pMemory);

/** An image as CUDA sees it. */
typedef struct MaarCudaImageInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** A CUmipmappedArray or cudaMipmappedArray_t. */
    void* pMipmappedArray;
    /** Number of the array's levels. */
    uint32_t levelCount;
    /** The first 16 levels, each a CUarray or cudaArray_t; valid as long as the image. */
    void* ppLevels[16];
} MaarCudaImageInfo;

/**
 * Makes a mipmapped array of an image. The image keeps its optimal tiling: CUDA reads it through
 * surfaces and textures, and never by a pointer. Kernels may write it through surfaces when its
 * usage has VK_IMAGE_USAGE_STORAGE_BIT. CUDA sees normalised and sRGB formats as integers of the
 * same bits. In formats that begin with B the blue channel comes first.
 *
 * @param cuda        not null
 * @param allocation  the image's memory, made with MaarExportInfo
 * @param pImageInfo  the image's create info; 1D, 2D, 3D, arrays and cube maps, one sample, optimal
 *                    tiling, a colour format of one, two or four channels of 8, 16 or 32 bits each
 * @param pImage      receives the object
 * @return as maarGetCudaMemory; VK_ERROR_FORMAT_NOT_SUPPORTED when CUDA has no such format or kind
 *         of image; VK_ERROR_FEATURE_NOT_PRESENT without MaarCudaInfo::images
 * @threadsafety internally synchronized; `allocation` externally
 * @lifetime destroy it with maarDestroyCudaImage before `cuda`, and before the allocation is freed
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCudaImage(MaarCuda cuda, MaarAllocation allocation,
                                                 const VkImageCreateInfo* pImageInfo,
                                                 MaarCudaImage* pImage);

/**
 * Destroys the array. The VkImage stays.
 *
 * @param cuda   not null; the owner
 * @param image  may be VK_NULL_HANDLE
 * @threadsafety `image` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCudaImage(MaarCuda cuda, MaarCudaImage image);

/**
 * Reads the arrays. Does not call CUDA.
 *
 * @param cuda   not null; the owner
 * @param image  not null
 * @param pInfo  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaImageInfo(MaarCuda cuda, MaarCudaImage image,
                                                  MaarCudaImageInfo* pInfo);

/** A timeline to be made. Zero is the default of every field but sType. */
typedef struct MaarCudaTimelineCreateInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The first value. */
    uint64_t initialValue;
    /** How the timeline shall be shared. */
    MaarHandoffMode mode;
} MaarCudaTimelineCreateInfo;

/** Properties of a timeline. */
typedef struct MaarCudaTimelineInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** How the timeline is shared; never MAAR_HANDOFF_MODE_AUTO. */
    MaarHandoffMode mode;
    /** The timeline semaphore. Use it like any other timeline semaphore of the device, also in
     * points of frees. Null with MAAR_HANDOFF_MODE_BINARY. */
    VkSemaphore semaphore;
} MaarCudaTimelineInfo;

/**
 * Creates a timeline that both sides share. Use one for each pair of queue and stream.
 *
 * @param cuda         not null
 * @param pCreateInfo  NULL for the defaults
 * @param pTimeline    receives the timeline
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when the requested mode, or any mode, is not
 *         supported; VK_ERROR_INVALID_EXTERNAL_HANDLE when CUDA refuses the semaphore;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_UNKNOWN for any other error of CUDA's (the message names it);
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyCudaTimeline before `cuda`
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCudaTimeline(MaarCuda cuda,
                                                    const MaarCudaTimelineCreateInfo* pCreateInfo,
                                                    MaarCudaTimeline* pTimeline);

/**
 * Destroys a timeline. Both sides must have finished with it, and frees that wait for its points
 * must have been executed. Waits at most five seconds for signals that are still on their way
 * through the host. After that the timeline and its MaarCuda are kept, and the call reports it.
 * They are released when those signals have arrived and maarDestroyCuda is called again.
 *
 * @param cuda      not null; the owner
 * @param timeline  may be VK_NULL_HANDLE
 * @threadsafety `timeline` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCudaTimeline(MaarCuda cuda, MaarCudaTimeline timeline);

/**
 * Reads the properties of a timeline. Does not call CUDA.
 *
 * @param cuda      not null; the owner
 * @param timeline  not null
 * @param pInfo     sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaTimelineInfo(MaarCuda cuda, MaarCudaTimeline timeline,
                                                     MaarCudaTimelineInfo* pInfo);

/**
 * Gives the point that a Vulkan submission has to signal so that the timeline reaches a value. The
 * point names the timeline itself, or a binary semaphore, whose value is ignored.
 *
 * @param cuda      not null; the owner
 * @param timeline  not null
 * @param value     above all values that Vulkan was to signal before
 * @param pPoint    receives the point to signal
 * @return VK_SUCCESS; VK_NOT_READY with binary semaphores when it is the stream's turn;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaTimelineSignal(MaarCuda cuda, MaarCudaTimeline timeline,
                                                       uint64_t value, MaarPoint* pPoint);

/**
 * Gives the point that a Vulkan submission has to wait for so that it comes after maarCudaSignal
 * with that value.
 *
 * @param cuda      not null; the owner
 * @param timeline  not null
 * @param value     the value that the stream signals; with MAAR_HANDOFF_MODE_BINARY maarCudaSignal
 *                  must have been called
 * @param pPoint    receives the point to wait for
 * @return VK_SUCCESS; VK_NOT_READY when a binary semaphore has not been signalled yet;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaTimelineWait(MaarCuda cuda, MaarCudaTimeline timeline,
                                                     uint64_t value, MaarPoint* pPoint);

/**
 * Makes a stream wait until Vulkan has signalled a value. With MAAR_HANDOFF_MODE_HOST the calling
 * thread waits instead. The submission must then have been made before.
 *
 * @param cuda      not null; the owner
 * @param timeline  not null
 * @param value     the value that Vulkan signals
 * @param stream    the stream that waits
 * @return VK_SUCCESS; VK_NOT_READY when the signal of a binary semaphore was not requested yet;
 *         VK_ERROR_DEVICE_LOST; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_UNKNOWN for an error of CUDA's (the message names it);
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `stream` as CUDA requires
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCudaWait(MaarCuda cuda, MaarCudaTimeline timeline, uint64_t value,
                                          MaarCudaStream stream);

/**
 * Makes a stream signal a value when the stream reaches this command.
 *
 * @param cuda      not null; the owner
 * @param timeline  not null
 * @param value     above all values that streams have signalled before
 * @param stream    the stream that signals
 * @return VK_SUCCESS; VK_NOT_READY with binary semaphores when it is Vulkan's turn;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_UNKNOWN for an error
 *         of CUDA's (the message names it); with MAAR_HANDOFF_MODE_HOST also what vkSignalSemaphore
 *         returned for an earlier signal; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `stream` as CUDA requires
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCudaSignal(MaarCuda cuda, MaarCudaTimeline timeline,
                                            uint64_t value, MaarCudaStream stream);

/** A handoff between a Vulkan queue and a CUDA stream. */
typedef struct MaarCudaHandoffInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The value that stands for this handoff, above all earlier ones in the same direction. */
    uint64_t value;
    /** The stream. */
    MaarCudaStream stream;
    /** Index into MaarAllocatorCreateInfo::pQueues. */
    uint32_t queue;
    /** How many resources; 0 is allowed. */
    uint32_t resourceCount;
    /** The resources. */
    const MaarHandoffResource* pResources;
} MaarCudaHandoffInfo;

/**
 * Transfers resources from Vulkan to CUDA: submits the barriers, signals the timeline and makes the
 * stream wait for it. The stream's later work sees all that was submitted to the queue before. If
 * only the stream's wait fails, the resources have been released nevertheless. The message reports
 * that, and maarCudaWait with the same value completes the handoff.
 *
 * @param cuda      not null; the owner
 * @param timeline  not null
 * @param pInfo     the handoff
 * @return as maarCudaWait; what vkQueueSubmit returns
 * @threadsafety internally synchronized; the stream as CUDA requires
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarReleaseToCuda(MaarCuda cuda, MaarCudaTimeline timeline,
                                               const MaarCudaHandoffInfo* pInfo);

/**
 * Transfers resources from CUDA to Vulkan: the stream signals the timeline, and a submission waits
 * for it and carries the barriers. Later submissions to the queue see the stream's earlier work. If
 * only the submission fails, the stream signals nevertheless. The message reports that, and
 * maarSubmitHandoff with the point of maarGetCudaTimelineWait completes the handoff.
 *
 * @param cuda      not null; the owner
 * @param timeline  not null
 * @param pInfo     the handoff
 * @return as maarCudaSignal; what vkQueueSubmit returns
 * @threadsafety internally synchronized; the stream as CUDA requires
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAcquireFromCuda(MaarCuda cuda, MaarCudaTimeline timeline,
                                                 const MaarCudaHandoffInfo* pInfo);

#if defined(MAAR_ENABLE_EXPERIMENTAL)

/**
 * Allocates memory in CUDA (cuMemCreate) and imports it into Vulkan. Only NVIDIA's drivers accept
 * such an import, and no specification requires it. `cuda` must have been created with
 * MAAR_CUDA_CREATE_CUDA_MEMORY_BIT. maarGetCudaMemory gives the memory's address in CUDA.
 *
 * @param cuda         not null
 * @param pBufferInfo  the buffer to be bound to it
 * @param typeIndex    the memory type to import it as, or MAAR_MEMORY_TYPE_NONE to try those that
 *                     the buffer may live in, device-local ones first
 * @param pBuffer      receives the buffer
 * @param pAllocation  receives the allocation; destroy both with maarDestroyBuffer
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT; VK_ERROR_INVALID_EXTERNAL_HANDLE when the
 *         Vulkan driver refuses the handle for every memory type; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_UNKNOWN for any other
 *         error of CUDA's; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime see above
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAllocateCudaMemory(MaarCuda cuda,
                                                    const VkBufferCreateInfo* pBufferInfo,
                                                    uint32_t typeIndex, VkBuffer* pBuffer,
                                                    MaarAllocation* pAllocation);

/** Blocks one behind the other in one range of CUDA addresses. Belongs to a MaarCuda. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarCudaRange)

/** What a range holds. */
typedef struct MaarCudaRangeInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The first byte, a CUdeviceptr. */
    uint64_t devicePointer;
    /** Bytes reserved. */
    VkDeviceSize reservedSize;
    /** Bytes of the range that are backed by blocks. */
    VkDeviceSize size;
    /** Every block must be a multiple of this, bytes. */
    VkDeviceSize granularity;
} MaarCudaRangeInfo;

/**
 * Reserves a range of CUDA addresses. Blocks are mapped into it, so that several VkDeviceMemory
 * objects form one array in CUDA, as they do in a sparse VkBuffer that is bound to them in the same
 * order.
 *
 * @param cuda          not null
 * @param reservedSize  bytes; rounded up to the granularity
 * @param pRange        receives the range
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT without MaarCudaInfo::virtualMemory;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_UNKNOWN;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyCudaRange before `cuda`
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCudaRange(MaarCuda cuda, VkDeviceSize reservedSize,
                                                 MaarCudaRange* pRange);

/**
 * Unmaps and releases a range. The allocations stay. Streams must have finished with the range.
 *
 * @param cuda   not null; the owner
 * @param range  may be VK_NULL_HANDLE
 * @threadsafety `range` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCudaRange(MaarCuda cuda, MaarCudaRange range);

/**
 * Maps the block of an allocation behind the blocks that the range holds
 * (cuMemImportFromShareableHandle and cuMemMap). CUDA does not document whether it accepts such
 * handles from Vulkan.
 *
 * @param cuda        not null; the owner
 * @param range       not null
 * @param allocation  dedicated, made with MaarExportInfo, its block a multiple of the granularity
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE when CUDA refuses the handle;
 *         VK_ERROR_OUT_OF_POOL_MEMORY when the range is full; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_UNKNOWN;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `range` externally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAppendToCudaRange(MaarCuda cuda, MaarCudaRange range,
                                                   MaarAllocation allocation);

/**
 * Reads the properties of a range. Does not call CUDA.
 *
 * @param cuda   not null; the owner
 * @param range  not null
 * @param pInfo  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaRangeInfo(MaarCuda cuda, MaarCudaRange range,
                                                  MaarCudaRangeInfo* pInfo);

/** A Vulkan buffer and a range of CUDA addresses that grow together over the same blocks. Belongs
 * to a MaarCuda. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarCudaMirror)

/** A mirror to be made. */
typedef struct MaarCudaMirrorCreateInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The buffer. Its `size` is the size to which the mirror can grow, bytes, rounded up. Maar
     * adds the flags of sparse binding and residency, and the external structure. */
    const VkBufferCreateInfo* pBufferInfo;
    /** Index into MaarAllocatorCreateInfo::pQueues of the queue that binds. Its family must support
     * sparse binding. Maar takes the queue's lock. */
    uint32_t queue;
} MaarCudaMirrorCreateInfo;

/** Properties of a mirror. */
typedef struct MaarCudaMirrorInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The sparse buffer. */
    VkBuffer buffer;
    /** Address of the buffer's first byte in CUDA, a CUdeviceptr. The address and the buffer stay
     * the same while the mirror grows. */
    uint64_t devicePointer;
    /** Size to which the mirror can grow, bytes. */
    VkDeviceSize reservedSize;
    /** Bytes that are backed by memory, counted from the first byte. */
    VkDeviceSize size;
    /** Growth comes in multiples of this, bytes. */
    VkDeviceSize granularity;
    /** Number of the mirror's VkDeviceMemory objects. */
    uint32_t blockCount;
} MaarCudaMirrorInfo;

/**
 * Makes an empty mirror. Needs the features sparseBinding and sparseResidencyBuffer,
 * MaarCudaInfo::virtualMemory, and a driver that exports the memory of sparse buffers. Few drivers
 * do: Mesa's CPU driver reports that it does but binds other memory, so the call fails there.
 *
 * @param cuda         not null
 * @param pCreateInfo  not NULL
 * @param pMirror      receives the mirror
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when any of these is missing (the message names
 *         it); VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_UNKNOWN for
 *         another error of CUDA's; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyCudaMirror before `cuda`
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCudaMirror(MaarCuda cuda,
                                                  const MaarCudaMirrorCreateInfo* pCreateInfo,
                                                  MaarCudaMirror* pMirror);

/**
 * Destroys a mirror and frees its memory. Both sides must have finished with it.
 *
 * @param cuda    not null; the owner
 * @param mirror  may be VK_NULL_HANDLE
 * @threadsafety `mirror` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCudaMirror(MaarCuda cuda, MaarCudaMirror mirror);

/**
 * Grows a mirror by one block, so that it has memory for at least `size` bytes. The bytes that it
 * has stay at their addresses on both sides. Waits until the block is bound.
 *
 * @param cuda    not null; the owner
 * @param mirror  not null
 * @param size    bytes in all; a size below the mirror's own does nothing
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_POOL_MEMORY above MaarCudaMirrorInfo::reservedSize;
 *         VK_ERROR_INVALID_EXTERNAL_HANDLE when CUDA refuses the block;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_DEVICE_LOST; VK_ERROR_UNKNOWN; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `mirror` externally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGrowCudaMirror(MaarCuda cuda, MaarCudaMirror mirror,
                                                VkDeviceSize size);

/**
 * Reads the properties of a mirror. Calls neither CUDA nor the Vulkan driver.
 *
 * @param cuda    not null; the owner
 * @param mirror  not null
 * @param pInfo   sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `mirror` externally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaMirrorInfo(MaarCuda cuda, MaarCudaMirror mirror,
                                                   MaarCudaMirrorInfo* pInfo);

#endif /* MAAR_ENABLE_EXPERIMENTAL */

#ifdef __cplusplus
}
#endif

#endif
