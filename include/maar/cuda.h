/** @file
 * maar/cuda.h: buffers and images of Maar in CUDA, without a copy. Five calls are the whole of it
 * for most programs:
 *
 *   maarCreateCuda          finds the CUDA device that is the allocator's device
 *   maarGetCudaMemory       an allocation's address in CUDA
 *   maarCreateCudaTimeline  a timeline that both sides wait for and signal
 *   maarReleaseToCuda       Vulkan gives resources away, and the stream waits for them
 *   maarAcquireFromCuda     the stream gives them back, and Vulkan waits for it
 *
 * The CUDA driver is opened at run time; neither the CUDA Toolkit nor its runtime library is
 * needed. Streams and pointers are those of the driver and of the runtime API alike. The
 * allocations must have been made with MaarExportInfo and the handle type that maarGetCudaInfo
 * names. The general rules of maar/allocator.h hold here too, and those of maar/share.h on
 * ownership.
 */
#ifndef MAAR_CUDA_H
#define MAAR_CUDA_H

#include "maar/share.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The allocator's device as CUDA sees it, with all that was imported there. */
VK_DEFINE_HANDLE(MaarCuda)
/** A timeline that Vulkan queues and CUDA streams share. */
VK_DEFINE_HANDLE(MaarCudaTimeline)
/** A VkImage as a mipmapped array. */
VK_DEFINE_HANDLE(MaarCudaImage)

/** A CUstream or cudaStream_t; NULL is the default stream. */
typedef void* MaarCudaStream;

/** Bits of MaarCudaCreateInfo::flags. */
typedef enum MaarCudaCreateFlagBits {
    /** Allow maarAllocateCudaMemory: the opposite direction, which NVIDIA's drivers alone know. */
    MAAR_CUDA_CREATE_CUDA_MEMORY_BIT = 0x1,
    /** Reserves the enumeration's size. */
    MAAR_CUDA_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarCudaCreateFlagBits;
/** Any of MaarCudaCreateFlagBits. */
typedef VkFlags MaarCudaCreateFlags;

/** How to find CUDA. All zero will do. */
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
    /** The best that both sides can do, in the order in which they stand here. */
    MAAR_HANDOFF_MODE_AUTO = 0,
    /** A timeline semaphore that both sides see. Waits may be queued before the signal. */
    MAAR_HANDOFF_MODE_TIMELINE = 1,
    /** Two binary semaphores, by which the sides take turns: one signals a value, the other waits
     * for it and then signals the next, for which the first one waits. Either may begin. */
    MAAR_HANDOFF_MODE_BINARY = 2,
    /** The host stands between: a stream's wait blocks the calling thread until Vulkan's side is
     * done; its signal is carried over when the stream gets there, without blocking. */
    MAAR_HANDOFF_MODE_HOST = 3,
    /** Reserves the enumeration's size. */
    MAAR_HANDOFF_MODE_MAX_ENUM = 0x7FFFFFFF
} MaarHandoffMode;

/** What was found. */
typedef struct MaarCudaInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The device's name, as CUDA says it. */
    char deviceName[256];
    /** The device's ordinal: what cudaSetDevice takes. */
    int deviceOrdinal;
    /** The highest CUDA version that the driver knows, 1000 x major + 10 x minor. */
    int driverVersion;
    /** The CUcontext in use. */
    void* pContext;
    /** How memory is handed over: what to put into MaarExportInfo::handleTypes. */
    VkExternalMemoryHandleTypeFlagBits memoryHandleType;
    /** What MAAR_HANDOFF_MODE_AUTO stands for; itself where no timeline can be made at all. */
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
    /** Blocks that are imported just now. */
    uint32_t importedBlockCount;
    /** Their bytes. */
    VkDeviceSize importedBytes;
} MaarCudaInfo;

/** An allocation as CUDA sees it. */
typedef struct MaarCudaMemory {
    /** MAAR_STRUCTURE_TYPE_CUDA_MEMORY */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Its first byte, for the driver API: a CUdeviceptr. */
    uint64_t devicePointer;
    /** The same for the runtime API and kernels. */
    void* pDevice;
    /** Its bytes. */
    VkDeviceSize size;
    /** The first byte of its block. */
    uint64_t blockPointer;
    /** The block's bytes. */
    VkDeviceSize blockSize;
} MaarCudaMemory;

/**
 * Opens the CUDA driver and finds the device whose UUID (on Windows LUID) is that of the
 * allocator's device.
 *
 * @param allocator    not null
 * @param pCreateInfo  NULL for the defaults
 * @param pCuda        receives the object
 * @return VK_SUCCESS; VK_ERROR_INITIALIZATION_FAILED when there is no CUDA driver or it does not
 *         start (the message gives its reason); VK_ERROR_INCOMPATIBLE_DRIVER when it is too old, or
 *         none of its devices is the allocator's (the message names both sides);
 *         VK_ERROR_FEATURE_NOT_PRESENT when the allocator's device was created without the
 *         extension that exports memory; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY and VK_ERROR_UNKNOWN when CUDA gives no context;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyCuda before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCuda(MaarAllocator allocator,
                                            const MaarCudaCreateInfo* pCreateInfo, MaarCuda* pCuda);

/**
 * Ends every import. Timelines and images made of it must have been destroyed, and streams be done
 * with the memory.
 *
 * @param cuda  may be VK_NULL_HANDLE
 * @threadsafety `cuda` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCuda(MaarCuda cuda);

/**
 * Reads what was found. Does not call CUDA.
 *
 * @param cuda   not null
 * @param pInfo  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaInfo(MaarCuda cuda, MaarCudaInfo* pInfo);

/**
 * Gives an allocation's address in CUDA. Its block is imported and mapped as a whole when it is
 * first asked for, once for all allocations in it, and stays so until Maar frees the block or the
 * object is destroyed: there is nothing to release. Freeing the allocation is what ends the use of
 * the address; streams must be done by then, or the free be made to wait for a point that they
 * signal.
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
    /** How many levels it has. */
    uint32_t levelCount;
    /** The first 16 levels, each a CUarray or cudaArray_t; valid as long as the image. */
    void* ppLevels[16];
} MaarCudaImageInfo;

/**
 * Makes a mipmapped array of an image. Optimal tiling stays what it is: CUDA reads it through
 * surfaces and textures, never as a pointer. Kernels may write it through surfaces when its usage
 * has VK_IMAGE_USAGE_STORAGE_BIT. Normalised and sRGB formats are integers of the same bits to
 * CUDA; of formats that begin with B the blue channel comes first.
 *
 * @param cuda        not null
 * @param allocation  the image's memory, made with MaarExportInfo
 * @param pImageInfo  what the image was created with; 1D, 2D, 3D, arrays and cube maps, one sample,
 *                    optimal tiling, a colour format of one, two or four channels of 8, 16 or 32
 *                    bits each
 * @param pImage      receives the object
 * @return as maarGetCudaMemory; VK_ERROR_FORMAT_NOT_SUPPORTED when CUDA has no such format or kind
 *         of image; VK_ERROR_FEATURE_NOT_PRESENT without MaarCudaInfo::images
 * @threadsafety internally synchronized; `allocation` externally
 * @lifetime destroy it with maarDestroyCudaImage before the allocation is freed
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCudaImage(MaarCuda cuda, MaarAllocation allocation,
                                                 const VkImageCreateInfo* pImageInfo,
                                                 MaarCudaImage* pImage);

/**
 * Destroys the array; the VkImage stays.
 *
 * @param image  may be VK_NULL_HANDLE
 * @threadsafety `image` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCudaImage(MaarCudaImage image);

/**
 * Reads the arrays. Does not call CUDA.
 *
 * @param image  not null
 * @param pInfo  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaImageInfo(MaarCudaImage image, MaarCudaImageInfo* pInfo);

/** A timeline to be made. All zero will do. */
typedef struct MaarCudaTimelineCreateInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The first value. */
    uint64_t initialValue;
    /** How it is to be shared. */
    MaarHandoffMode mode;
} MaarCudaTimelineCreateInfo;

/** What a timeline is. */
typedef struct MaarCudaTimelineInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** How it is shared; never MAAR_HANDOFF_MODE_AUTO. */
    MaarHandoffMode mode;
    /** The timeline semaphore, to be used like any other of the device, also in points of frees; or
     * null with MAAR_HANDOFF_MODE_BINARY. */
    VkSemaphore semaphore;
} MaarCudaTimelineInfo;

/**
 * Creates a timeline that both sides share. Use one for each pair of queue and stream.
 *
 * @param cuda         not null
 * @param pCreateInfo  NULL for the defaults
 * @param pTimeline    receives the timeline
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when the mode asked for, or any, is not to be
 *         had; VK_ERROR_INVALID_EXTERNAL_HANDLE when CUDA refuses the semaphore;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_UNKNOWN for any other error of CUDA's (the message names it);
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyCudaTimeline
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCudaTimeline(MaarCuda cuda,
                                                    const MaarCudaTimelineCreateInfo* pCreateInfo,
                                                    MaarCudaTimeline* pTimeline);

/**
 * Destroys a timeline. Both sides must be done with it, and with frees that wait for its points.
 * Waits for signals that are still on their way through the host, five seconds at most: then the
 * timeline and its MaarCuda are kept, which is told, until those signals have come and
 * maarDestroyCuda is called again.
 *
 * @param timeline  may be VK_NULL_HANDLE
 * @threadsafety `timeline` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCudaTimeline(MaarCudaTimeline timeline);

/**
 * Reads what a timeline is. Does not call CUDA.
 *
 * @param timeline  not null
 * @param pInfo     sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaTimelineInfo(MaarCudaTimeline timeline,
                                                     MaarCudaTimelineInfo* pInfo);

/**
 * Says what a Vulkan submission has to signal so that the timeline reaches a value: the timeline
 * itself, or a binary semaphore, whose value is ignored.
 *
 * @param timeline  not null
 * @param value     above all that Vulkan was to signal before
 * @param pPoint    receives what to signal
 * @return VK_SUCCESS; VK_NOT_READY when with binary semaphores it is the stream's turn;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaTimelineSignal(MaarCudaTimeline timeline, uint64_t value,
                                                       MaarPoint* pPoint);

/**
 * Says what a Vulkan submission has to wait for so that it comes after maarCudaSignal with that
 * value.
 *
 * @param timeline  not null
 * @param value     what the stream signals; signalled already with MAAR_HANDOFF_MODE_BINARY
 * @param pPoint    receives what to wait for
 * @return VK_SUCCESS; VK_NOT_READY when a binary semaphore has not been signalled yet;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaTimelineWait(MaarCudaTimeline timeline, uint64_t value,
                                                     MaarPoint* pPoint);

/**
 * Makes a stream wait until Vulkan has signalled a value. With MAAR_HANDOFF_MODE_HOST the calling
 * thread waits instead, so the submission must have been made.
 *
 * @param timeline  not null
 * @param value     what Vulkan signals
 * @param stream    what waits
 * @return VK_SUCCESS; VK_NOT_READY when the signal of a binary semaphore was not asked for yet;
 *         VK_ERROR_DEVICE_LOST; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_UNKNOWN for an error of CUDA's (the message names it);
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `stream` as CUDA wants it
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCudaWait(MaarCudaTimeline timeline, uint64_t value,
                                          MaarCudaStream stream);

/**
 * Makes a stream signal a value when it gets there.
 *
 * @param timeline  not null
 * @param value     above all that streams have signalled before
 * @param stream    what signals
 * @return VK_SUCCESS; VK_NOT_READY when with binary semaphores it is Vulkan's turn;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_UNKNOWN for an error
 *         of CUDA's (the message names it); with MAAR_HANDOFF_MODE_HOST also what vkSignalSemaphore
 *         returned for an earlier signal; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `stream` as CUDA wants it
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCudaSignal(MaarCudaTimeline timeline, uint64_t value,
                                            MaarCudaStream stream);

/** A handoff between a Vulkan queue and a CUDA stream. */
typedef struct MaarCudaHandoffInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The value that stands for this handoff, above all before in the same direction. */
    uint64_t value;
    /** The stream. */
    MaarCudaStream stream;
    /** Which of MaarAllocatorCreateInfo::pQueues. */
    uint32_t queue;
    /** How many resources; 0 is allowed. */
    uint32_t resourceCount;
    /** The resources. */
    const MaarHandoffResource* pResources;
} MaarCudaHandoffInfo;

/**
 * Vulkan gives resources to CUDA: submits the barriers, signals the timeline and makes the stream
 * wait for it. What was submitted to the queue before is seen by what the stream does afterwards.
 * Should the stream's wait alone fail, the resources have been released all the same: the message
 * says so, and maarCudaWait with that value makes up for it.
 *
 * @param timeline  not null
 * @param pInfo     the handoff
 * @return as maarSubmitHandoff and maarCudaWait
 * @threadsafety internally synchronized; the stream as CUDA wants it
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarReleaseToCuda(MaarCudaTimeline timeline,
                                               const MaarCudaHandoffInfo* pInfo);

/**
 * CUDA gives resources back: the stream signals the timeline, and a submission waits for it and
 * carries the barriers. What is submitted to the queue afterwards sees what the stream did before.
 * Should the submission alone fail, the stream signals all the same: the message says so, and
 * maarSubmitHandoff with what maarGetCudaTimelineWait gives makes up for it.
 *
 * @param timeline  not null
 * @param pInfo     the handoff
 * @return as maarCudaSignal and maarSubmitHandoff
 * @threadsafety internally synchronized; the stream as CUDA wants it
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAcquireFromCuda(MaarCudaTimeline timeline,
                                                 const MaarCudaHandoffInfo* pInfo);

#if defined(MAAR_ENABLE_EXPERIMENTAL)

/**
 * Allocates memory in CUDA (cuMemCreate) and imports it into Vulkan: the opposite direction.
 * NVIDIA's drivers alone take it, and no specification says that they must; MaarCuda must have been
 * created with MAAR_CUDA_CREATE_CUDA_MEMORY_BIT. maarGetCudaMemory gives its address.
 *
 * @param cuda         not null
 * @param pBufferInfo  the buffer to be bound to it
 * @param typeIndex    the memory type to import it as, or MAAR_MEMORY_TYPE_NONE to try those that
 *                     the buffer may live in, device-local ones first
 * @param pBuffer      receives the buffer
 * @param pAllocation  receives the allocation; destroy both with maarDestroyBuffer
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT; VK_ERROR_INVALID_EXTERNAL_HANDLE when Vulkan
 *         refuses it as every type; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_UNKNOWN for any other error of CUDA's;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime see above
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAllocateCudaMemory(MaarCuda cuda,
                                                    const VkBufferCreateInfo* pBufferInfo,
                                                    uint32_t typeIndex, VkBuffer* pBuffer,
                                                    MaarAllocation* pAllocation);

/** Blocks one behind the other in one range of CUDA addresses. */
VK_DEFINE_HANDLE(MaarCudaRange)

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
    /** Bytes that have a block behind them. */
    VkDeviceSize size;
    /** Every block must be a multiple of this, bytes. */
    VkDeviceSize granularity;
} MaarCudaRangeInfo;

/**
 * Reserves a range of CUDA addresses that blocks are laid into, so that several VkDeviceMemory
 * objects are one array in CUDA, as they are in a sparse VkBuffer bound to them in the same order.
 *
 * @param cuda          not null
 * @param reservedSize  bytes; rounded up to the granularity
 * @param pRange        receives the range
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT without MaarCudaInfo::virtualMemory;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_UNKNOWN;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyCudaRange
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCudaRange(MaarCuda cuda, VkDeviceSize reservedSize,
                                                 MaarCudaRange* pRange);

/**
 * Unmaps and releases a range; the allocations stay. Streams must be done with it.
 *
 * @param range  may be VK_NULL_HANDLE
 * @threadsafety `range` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCudaRange(MaarCudaRange range);

/**
 * Lays the block of an allocation behind what the range holds (cuMemImportFromShareableHandle and
 * cuMemMap). Whether a driver takes such handles of Vulkan's is not documented.
 *
 * @param range       not null
 * @param allocation  dedicated, made with MaarExportInfo, its block a multiple of the granularity
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE when CUDA refuses the handle;
 *         VK_ERROR_OUT_OF_POOL_MEMORY when the range is full; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_UNKNOWN;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `range` externally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAppendToCudaRange(MaarCudaRange range, MaarAllocation allocation);

/**
 * Reads what a range holds. Does not call CUDA.
 *
 * @param range  not null
 * @param pInfo  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaRangeInfo(MaarCudaRange range, MaarCudaRangeInfo* pInfo);

/** A buffer of Vulkan's and a range of CUDA addresses that grow together over the same blocks. */
VK_DEFINE_HANDLE(MaarCudaMirror)

/** A mirror to be made. */
typedef struct MaarCudaMirrorCreateInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The buffer; `size` is what it can grow to, bytes, rounded up. The flags of sparse binding
     * and residency, and the external structure, are added. */
    const VkBufferCreateInfo* pBufferInfo;
    /** Which of MaarAllocatorCreateInfo::pQueues binds; its family must do sparse binding. Its lock
     * is taken. */
    uint32_t queue;
} MaarCudaMirrorCreateInfo;

/** What a mirror is. */
typedef struct MaarCudaMirrorInfo {
    /** MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The sparse buffer. */
    VkBuffer buffer;
    /** The same first byte in CUDA, a CUdeviceptr. Constant, as the buffer is. */
    uint64_t devicePointer;
    /** What it can grow to, bytes. */
    VkDeviceSize reservedSize;
    /** Bytes that have memory behind them, from the first on. */
    VkDeviceSize size;
    /** Growth comes in multiples of this, bytes. */
    VkDeviceSize granularity;
    /** VkDeviceMemory objects behind it. */
    uint32_t blockCount;
} MaarCudaMirrorInfo;

/**
 * Makes a mirror, still empty. Needs the features sparseBinding and sparseResidencyBuffer, a driver
 * that exports the memory of sparse buffers, which few do (Mesa's CPU driver says so but binds
 * something else, and is refused), and MaarCudaInfo::virtualMemory.
 *
 * @param cuda         not null
 * @param pCreateInfo  not NULL
 * @param pMirror      receives the mirror
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when any of that is missing (the message says
 *         what); VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_UNKNOWN for
 *         another error of CUDA's; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyCudaMirror before `cuda`
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateCudaMirror(MaarCuda cuda,
                                                  const MaarCudaMirrorCreateInfo* pCreateInfo,
                                                  MaarCudaMirror* pMirror);

/**
 * Destroys a mirror and frees its memory. Both sides must be done with it.
 *
 * @param mirror  may be VK_NULL_HANDLE
 * @threadsafety `mirror` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyCudaMirror(MaarCudaMirror mirror);

/**
 * Grows a mirror by one block, so that it has memory for at least so many bytes. What is there
 * stays where it is, on both sides. Waits until the block is bound.
 *
 * @param mirror  not null
 * @param size    bytes in all; less than it has does nothing
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_POOL_MEMORY beyond what it can grow to;
 *         VK_ERROR_INVALID_EXTERNAL_HANDLE when CUDA refuses the block;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_DEVICE_LOST; VK_ERROR_UNKNOWN; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `mirror` externally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGrowCudaMirror(MaarCudaMirror mirror, VkDeviceSize size);

/**
 * Reads what a mirror is. Calls neither side.
 *
 * @param mirror  not null
 * @param pInfo   sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `mirror` externally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCudaMirrorInfo(MaarCudaMirror mirror,
                                                   MaarCudaMirrorInfo* pInfo);

#endif /* MAAR_ENABLE_EXPERIMENTAL */

#ifdef __cplusplus
}
#endif

#endif
