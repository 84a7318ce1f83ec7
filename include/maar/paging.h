/** @file
 * maar/paging.h: virtual memory. Address ranges whose pages come and go (reservations, growable
 * arrays, partially resident images) and buffers and images made of whatever pages are free.
 *
 * Binds are recorded and submitted apart. A call that takes pages, gives them back or creates an
 * object made of pages records what is to be bound; maarSubmitBinds hands all of it to the device
 * in one submission and returns a point. Work that uses what was bound waits for that point.
 *
 * What a submission unbinds must not be in use any more when it executes: hand maarSubmitBinds the
 * points after which that is so. Submissions execute one after another, each after the points that
 * it was given. So a page that was given back is held until the submission that unbinds it has been
 * made, and may be taken by any call after that: whoever gets it is bound by a later submission.
 *
 * Everything here needs timeline semaphores and a queue in MaarAllocatorCreateInfo::pQueues; see
 * MaarPagingInfo for what a device can do. The general rules of maar/allocator.h hold here too, but
 * of stale handles only those given to a maarDestroy* function are told: any other call on an
 * object that was destroyed is undefined.
 */
#ifndef MAAR_PAGING_H
#define MAAR_PAGING_H

#include "maar/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An address range of a buffer whose pages come and go. */
VK_DEFINE_HANDLE(MaarReservation)
/** A growable array: a reservation that is filled from its start. */
VK_DEFINE_HANDLE(MaarArray)
/** A partially resident image. */
VK_DEFINE_HANDLE(MaarSparseImage)

/* ---------------------------------------------------------------------------------------------- */
/* What a device can do, and what is in use */
/* ---------------------------------------------------------------------------------------------- */

/** What paging can do on this device, with the features that were enabled and the queues given. */
typedef struct MaarPagingInfo {
    /** MAAR_STRUCTURE_TYPE_PAGING_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Pools may stitch: sparse binding, a queue for it and timelines are there. */
    VkBool32 stitching;
    /** Reservations are sparse: what is above, and sparseResidencyBuffer. Without, and with a queue
     * and timelines, a reservation is a plain buffer that grows by a copy on the device. */
    VkBool32 sparseReservations;
    /** Reservations work at all, sparse or by copies. */
    VkBool32 reservations;
    /** Two ranges may share pages: sparseResidencyAliased. */
    VkBool32 aliasing;
    /** Partially resident 2D images and arrays of them. */
    VkBool32 sparseImages2D;
    /** Partially resident 3D images. */
    VkBool32 sparseImages3D;
    /** What is read where no page is bound is zero, and writes go nowhere; otherwise both are
     * undefined. VkPhysicalDeviceSparseProperties::residencyNonResidentStrict */
    VkBool32 nonResidentStrict;
    /** Index into MaarAllocatorCreateInfo::pQueues of the queue that binds, or, where none does, of
     * the one that copies; UINT32_MAX for none. Where buffers are not sparse, or copies were asked
     * for, growth is by copies on the first queue that can, which may be another one. */
    uint32_t queueIndex;
    /** Bytes of address space for all sparse objects together:
     * VkPhysicalDeviceLimits::sparseAddressSpaceSize */
    VkDeviceSize addressSpaceSize;
    /** Most bytes of one buffer; the address space where the driver does not say. */
    VkDeviceSize maxBufferSize;
} MaarPagingInfo;

/**
 * Says what paging can do here. Does not call the driver.
 *
 * @param allocator  not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetPagingInfo(MaarAllocator allocator, MaarPagingInfo* pInfo);

/** What is reserved, committed and bound. Bytes of pages committed + free + held = bytes of page
 * blocks. In MaarStatistics page blocks count as blocks, committed pages as bytes of live
 * allocations, held ones as pending and the others as free. What was destroyed counts until
 * maarCollect has seen that its last binds were executed. */
typedef struct MaarPagingStatistics {
    /** MAAR_STRUCTURE_TYPE_PAGING_STATISTICS */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Bytes of address space in use by sparse objects. */
    VkDeviceSize reservedBytes;
    /** Bytes of pages that belong to an object. A page that is shared counts once. */
    VkDeviceSize committedBytes;
    /** Bytes of pages that were given back, but whose unbinding has not been submitted yet. */
    VkDeviceSize heldBytes;
    /** Bytes of free pages. */
    VkDeviceSize freeBytes;
    /** VkDeviceMemory objects cut into pages, */
    uint32_t blockCount;
    /** and their bytes. */
    VkDeviceSize blockBytes;
    /** Most of these since maarResetPeaks. */
    VkDeviceSize peakBlockBytes;
    /** Live reservations, arrays and sparse images. */
    uint32_t reservationCount;
    /** Live allocations made of pages. */
    uint32_t stitchedCount;
    /** Allocations ever made of two or more runs of pages that are not adjacent. */
    uint64_t stitchedMade;
    /** Pages ever bound, */
    uint64_t pagesBound;
    /** and ever unbound; pages of objects that were destroyed are not unbound first. */
    uint64_t pagesUnbound;
    /** Elements of VkSparseMemoryBind and VkSparseImageMemoryBind ever submitted. */
    uint64_t bindCount;
    /** Calls of vkQueueBindSparse that succeeded. */
    uint64_t submissionCount;
    /** Bytes that reservations without sparse binding had copied when they grew. */
    uint64_t copiedBytes;
    /** Pages whose change waits for maarSubmitBinds. */
    uint64_t recordedPages;
} MaarPagingStatistics;

/**
 * Reads the totals of paging. Does not call the driver.
 *
 * @param allocator    not null
 * @param pStatistics  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetPagingStatistics(MaarAllocator allocator,
                                                     MaarPagingStatistics* pStatistics);

/** A run of adjacent pages that lie next to one another in memory too. */
typedef struct MaarPageRun {
    /** Where it begins in the resource: bytes, in an image's tiles a number of pages times the
     * page's size. */
    VkDeviceSize offset;
    /** Bytes. */
    VkDeviceSize size;
    /** The page block. */
    VkDeviceMemory memory;
    /** Where it begins there, bytes. */
    VkDeviceSize memoryOffset;
    /** The page block's number: MaarBlockInfo::blockId. */
    uint64_t blockId;
} MaarPageRun;

/* ---------------------------------------------------------------------------------------------- */
/* Submitting */
/* ---------------------------------------------------------------------------------------------- */

/**
 * Submits everything recorded since the last call, by any thread, in one call of vkQueueBindSparse
 * under the queue's lock. Where nothing was recorded nothing is submitted, and the point is that of
 * the last submission. Calls the driver; waits for a submission of another thread that is under
 * way, never for the device.
 *
 * @param allocator   not null
 * @param pointCount  0 to MAAR_MAX_POINTS
 * @param pPoints     what the device waits for before it binds: whatever may still use pages that
 *                    were given back, by any thread: whoever submits takes along what others have
 *                    recorded. Not kept where the call fails or nothing was recorded. Points of
 *                    the host timeline must have passed.
 * @param pPoint      receives a point of Maar's own timeline, good as long as the allocator: what
 *                    uses the pages waits for it; may be NULL
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY or VK_ERROR_OUT_OF_DEVICE_MEMORY (what was not
 *         submitted stays recorded); VK_ERROR_DEVICE_LOST; VK_ERROR_FEATURE_NOT_PRESENT where
 * paging does not work at all; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime the point's semaphore is Maar's; it goes with the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSubmitBinds(MaarAllocator allocator, uint32_t pointCount,
                                             const MaarPoint* pPoints, MaarPoint* pPoint);

/**
 * Makes the coming submission wait for points too, whoever calls maarSubmitBinds. A thread that
 * gives pages back while others submit calls this first, with the points after which nobody uses
 * them; so it need not matter to it who submits. Kept until a submission has been made. Never
 * blocks.
 *
 * @param allocator   not null
 * @param pointCount  0 to MAAR_MAX_POINTS
 * @param pPoints     the points; those of the host timeline must have passed
 * @return VK_SUCCESS; VK_ERROR_TOO_MANY_OBJECTS when they would be of more than MAAR_MAX_POINTS
 *         timelines together with those that were added already, of which none is added then; as
 *         maarSubmitBinds
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDelayBinds(MaarAllocator allocator, uint32_t pointCount,
                                            const MaarPoint* pPoints);

/* ---------------------------------------------------------------------------------------------- */
/* Allocations made of pages */
/* ---------------------------------------------------------------------------------------------- */

/**
 * Chained to MaarPoolCreateInfo: buffers and images that maarCreateBuffer and maarCreateImage make
 * in the pool, from a size on, are made of whatever pages are free, contiguous for the device.
 * Smaller ones, linear images, images that the device cannot make sparse, what is to be mapped, to
 * be aliased or dedicated by its create info, and memory that is allocated without an object, are
 * placed in the pool's other blocks, which begin small, or from 1 MiB on are dedicated; the pool's
 * blockSize, minBlockCount and maxBlockCount are about those blocks, not about page blocks. An
 * object made of pages has a MaarAllocation without a VkDeviceMemory of its own: it cannot be
 * mapped, and nothing else can be bound to it. It may be used once the point that maarSubmitBinds
 * returned after its creation has passed; its contents never move.
 *
 * Where the address space is used up (MaarPagingInfo::addressSpaceSize), an object that would be
 * made of pages is placed in the pool's other blocks too: a warning says so, and it counts as a
 * fallback. With MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT it fails instead, with
 * VK_ERROR_OUT_OF_DEVICE_MEMORY.
 */
typedef struct MaarPoolPagingInfo {
    /** MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** VK_TRUE: stitch. */
    VkBool32 stitch;
    /** Least size that is made of pages, bytes; 0 for eight pages, from which on rounding up to
     * whole pages takes less than an eighth. */
    VkDeviceSize threshold;
    /** Size of page blocks, bytes; 0: 16 MiB, or, where more is held, a 128th of that. */
    VkDeviceSize pageBlockSize;
} MaarPoolPagingInfo;

/**
 * Lists the runs of pages that an allocation is made of, in order.
 *
 * @param allocator   not null
 * @param allocation  live
 * @param pCount      in: room in pRuns; out: runs written, or their number if pRuns is NULL; 0 for
 *                    an allocation that is not made of pages
 * @param pRuns       receives the runs; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `allocation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEnumerateAllocationPages(MaarAllocator allocator,
                                                          MaarAllocation allocation,
                                                          uint32_t* pCount, MaarPageRun* pRuns);

/* ---------------------------------------------------------------------------------------------- */
/* Reservations */
/* ---------------------------------------------------------------------------------------------- */

/** Bits of MaarReservationCreateInfo::flags. */
typedef enum MaarReservationCreateFlagBits {
    /** Pages may be shared by two ranges: see maarAliasPages. */
    MAAR_RESERVATION_CREATE_ALIASED_BIT = 0x1,
    /** Fail with VK_ERROR_FEATURE_NOT_PRESENT rather than grow by copies. */
    MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT = 0x2,
    /** Grow by copies even where sparse binding is there, for programs that compare the two. */
    MAAR_RESERVATION_CREATE_COPYING_BIT = 0x4,
    /** Reserves the enumeration's size. */
    MAAR_RESERVATION_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarReservationCreateFlagBits;
/** Any of MaarReservationCreateFlagBits. */
typedef VkFlags MaarReservationCreateFlags;

/** What a reservation is to be. */
typedef struct MaarReservationCreateInfo {
    /** MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Options. */
    MaarReservationCreateFlags flags;
    /** The buffer: `size` is the whole address range, `flags` need no sparse bits. Copying
     * reservations add transfer usage to `usage` and share the buffer among the families of the
     * allocator's queues. */
    const VkBufferCreateInfo* pBufferInfo;
    /** What memory its pages take; NULL for the defaults. Usage, required, preferred and budget
     * flags, types, `pool` (NULL or one that stitches), pUserData and pName are looked at. Pages
     * cannot be mapped. */
    const MaarAllocationCreateInfo* pMemoryInfo;
} MaarReservationCreateInfo;

/** What is known of a reservation. */
typedef struct MaarReservationInfo {
    /** MAAR_STRUCTURE_TYPE_RESERVATION_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The buffer. Sparse: the same for life. Copying: none before the first growth, and another
     * one after each. */
    VkBuffer buffer;
    /** The buffer's device address; 0 without SHADER_DEVICE_ADDRESS usage. Changes with it. */
    VkDeviceAddress address;
    /** Bytes of the address range. */
    VkDeviceSize size;
    /** The unit of commitment, bytes: what the driver demands for this buffer. */
    VkDeviceSize pageSize;
    /** Bytes of pages committed. Copying: bytes of the buffer. */
    VkDeviceSize committedSize;
    /** VK_TRUE: sparse; VK_FALSE: grows by copies. */
    VkBool32 sparse;
    /** How often `buffer` has changed; stays 0 where it is sparse. */
    uint32_t moveCount;
    /** As given. */
    void* pUserData;
    /** As given, or NULL; valid as long as the reservation. */
    const char* pName;
} MaarReservationInfo;

/** A range of a reservation. Both are rounded outward to whole pages when pages are committed, and
 * inward when they are given back. */
typedef struct MaarPageRange {
    /** Bytes from its start. */
    VkDeviceSize offset;
    /** Bytes; VK_WHOLE_SIZE for the rest. 0 is allowed: nothing. */
    VkDeviceSize size;
} MaarPageRange;

/**
 * Reserves an address range. Takes no pages yet. Calls the driver.
 *
 * @param allocator     not null
 * @param pCreateInfo   not NULL
 * @param pReservation  receives the reservation
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT without timelines or a queue, with the
 *         sparse-only or aliased flag where the device lacks that, or when no memory type serves;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY when it exceeds maxBufferSize or what is left of the
 *         address space (the message says which); VK_ERROR_OUT_OF_HOST_MEMORY; what vkCreateBuffer
 *         returns; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyReservation before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateReservation(MaarAllocator allocator,
                                                   const MaarReservationCreateInfo* pCreateInfo,
                                                   MaarReservation* pReservation);

/**
 * Destroys a reservation and gives its pages back, once its last binds have been executed. Never
 * waits for the device, only for a submission of another thread that is under way. What is recorded
 * for it is dropped; if nothing of its pages was ever submitted, a warning says so, since that is
 * how a forgotten maarSubmitBinds looks. The device must be done with it.
 *
 * @param allocator    not null
 * @param reservation  may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyReservation(MaarAllocator allocator,
                                                MaarReservation reservation);

/**
 * Destroys a reservation once every point has passed. Never blocks.
 *
 * @param allocator    not null
 * @param reservation  may be VK_NULL_HANDLE
 * @param pointCount   0 to MAAR_MAX_POINTS
 * @param pPoints      the points
 * @return as maarFreeMemoryAfter; on failure it stays alive
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDestroyReservationAfter(MaarAllocator allocator,
                                                         MaarReservation reservation,
                                                         uint32_t pointCount,
                                                         const MaarPoint* pPoints);

/**
 * Reads a reservation. Does not call the driver.
 *
 * @param allocator    not null
 * @param reservation  not null
 * @param pInfo        sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetReservationInfo(MaarAllocator allocator,
                                                    MaarReservation reservation,
                                                    MaarReservationInfo* pInfo);

/**
 * Takes a page for every page of the ranges that has none, all or nothing, and records the binds.
 * Contents of new pages are undefined. May call the driver for a page block. A copying reservation
 * gets a larger buffer where a range ends beyond the present one, with room to spare, and records
 * the copy; the old buffer goes once the points given to maarSubmitBinds and the copy have passed.
 *
 * @param allocator    not null
 * @param reservation  not null
 * @param rangeCount   how many
 * @param pRanges      the ranges; they may overlap
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_TOO_MANY_OBJECTS; what vkCreateBuffer returns; VK_ERROR_VALIDATION_FAILED_EXT,
 *         also for a range beyond its end
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCommitPages(MaarAllocator allocator, MaarReservation reservation,
                                             uint32_t rangeCount, const MaarPageRange* pRanges);

/**
 * Gives back every page that lies wholly in one of the ranges and records that it is unbound. The
 * submission must wait for whatever still uses them. Pages without memory are passed over. A
 * copying reservation keeps its buffer.
 *
 * @param allocator    not null
 * @param reservation  not null
 * @param rangeCount   how many
 * @param pRanges      the ranges
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDecommitPages(MaarAllocator allocator, MaarReservation reservation,
                                               uint32_t rangeCount, const MaarPageRange* pRanges);

/**
 * Makes a range of one reservation show the pages of a range of another, or of the same one. Both
 * must have been made with MAAR_RESERVATION_CREATE_ALIASED_BIT, have the same page size and memory
 * types, and all of `size` bytes must be committed in the source. None of the target's pages may be
 * committed, or given back with no submission since. A page lives until the last range that shows
 * it gives it back; a range that did so commits there anew only after a submission, as long as
 * another shows the page.
 *
 * @param allocator     not null
 * @param reservation   the target, not null
 * @param offset        there, bytes; whole pages
 * @param size          bytes; whole pages, or up to the reservation's end
 * @param source        not null
 * @param sourceOffset  bytes; whole pages
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT for copying
 *         reservations; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; both reservations externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAliasPages(MaarAllocator allocator, MaarReservation reservation,
                                            VkDeviceSize offset, VkDeviceSize size,
                                            MaarReservation source, VkDeviceSize sourceOffset);

/**
 * Lists the committed runs of a reservation, in order. A copying reservation has one, its buffer.
 *
 * @param allocator    not null
 * @param reservation  not null
 * @param pCount       in: room in pRuns; out: runs written, or their number if pRuns is NULL
 * @param pRuns        receives the runs; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEnumerateReservationPages(MaarAllocator allocator,
                                                           MaarReservation reservation,
                                                           uint32_t* pCount, MaarPageRun* pRuns);

/* ---------------------------------------------------------------------------------------------- */
/* Growable arrays */
/* ---------------------------------------------------------------------------------------------- */

/** What an array is to be. */
typedef struct MaarArrayCreateInfo {
    /** MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Bytes of an element, at least 1. */
    VkDeviceSize elementSize;
    /** The reservation: its size is the most that the array can hold. */
    MaarReservationCreateInfo reservation;
    /** Bytes that an append commits at a time at least, where there are so many; 0: an eighth of
     * what is committed, at least 1 MiB and at most 64 MiB. */
    VkDeviceSize growSize;
} MaarArrayCreateInfo;

/** What is known of an array. */
typedef struct MaarArrayInfo {
    /** MAAR_STRUCTURE_TYPE_ARRAY_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Elements in it. */
    uint64_t count;
    /** Elements that fit into the pages that it has. */
    uint64_t capacity;
    /** Elements that fit into its reservation. */
    uint64_t maxCount;
    /** Bytes of an element. */
    VkDeviceSize elementSize;
    /** Its reservation, for maarGetReservationInfo; Maar's. */
    MaarReservation reservation;
} MaarArrayInfo;

/**
 * Creates an empty array.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pArray       receives the array
 * @return as maarCreateReservation
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyArray before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateArray(MaarAllocator allocator,
                                             const MaarArrayCreateInfo* pCreateInfo,
                                             MaarArray* pArray);

/**
 * Destroys an array; see maarDestroyReservation.
 *
 * @param allocator  not null
 * @param array      may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `array` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyArray(MaarAllocator allocator, MaarArray array);

/**
 * Destroys an array once every point has passed. Never blocks.
 *
 * @param allocator   not null
 * @param array       may be VK_NULL_HANDLE
 * @param pointCount  0 to MAAR_MAX_POINTS
 * @param pPoints     the points
 * @return as maarFreeMemoryAfter; on failure it stays alive
 * @threadsafety internally synchronized; `array` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDestroyArrayAfter(MaarAllocator allocator, MaarArray array,
                                                   uint32_t pointCount, const MaarPoint* pPoints);

/**
 * Reads an array. Does not call the driver.
 *
 * @param allocator  not null
 * @param array      not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `array` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetArrayInfo(MaarAllocator allocator, MaarArray array,
                                              MaarArrayInfo* pInfo);

/**
 * Sees to it that so many elements have memory, and no more than those, so that appending up to
 * there takes no page.
 *
 * @param allocator  not null
 * @param array      not null
 * @param count      elements in all
 * @return as maarCommitPages; VK_ERROR_OUT_OF_POOL_MEMORY when the reservation is too small
 * @threadsafety internally synchronized; `array` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarReserveArray(MaarAllocator allocator, MaarArray array,
                                              uint64_t count);

/**
 * Appends elements, whose contents are undefined until the device writes them: at `elementSize`
 * times their index. Where pages were taken, that is recorded for maarSubmitBinds.
 *
 * @param allocator  not null
 * @param array      not null
 * @param count      how many
 * @param pFirst     receives the index of the first; may be NULL
 * @return as maarReserveArray; on failure the array is as it was
 * @threadsafety internally synchronized; `array` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAppendArray(MaarAllocator allocator, MaarArray array,
                                             uint64_t count, uint64_t* pFirst);

/**
 * Takes elements away from the end. Keeps their pages, unless told to give them back.
 *
 * @param allocator  not null
 * @param array      not null
 * @param count      elements that stay; no more than there are
 * @param release    VK_TRUE: pages behind them are given back, and recorded so
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `array` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarTruncateArray(MaarAllocator allocator, MaarArray array,
                                               uint64_t count, VkBool32 release);

/* ---------------------------------------------------------------------------------------------- */
/* Partially resident images */
/* ---------------------------------------------------------------------------------------------- */

/** What a partially resident image is to be. */
typedef struct MaarSparseImageCreateInfo {
    /** MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The image: 2D or 3D, optimal tiling, one sample; `flags` need no sparse bits. */
    const VkImageCreateInfo* pImageInfo;
    /** As MaarReservationCreateInfo::pMemoryInfo. */
    const MaarAllocationCreateInfo* pMemoryInfo;
} MaarSparseImageCreateInfo;

/** What is known of a partially resident image. */
typedef struct MaarSparseImageInfo {
    /** MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The image. */
    VkImage image;
    /** Texels of a tile, which is a page. */
    VkExtent3D tileExtent;
    /** Bytes of a page. */
    VkDeviceSize pageSize;
    /** Levels of the image, */
    uint32_t mipLevels;
    /** its layers, */
    uint32_t arrayLayers;
    /** and the first level that is in the mip tail; mipLevels when there is none. Levels from here
     * on come and go together. */
    uint32_t tailFirstLevel;
    /** VK_TRUE: one tail for all layers; VK_FALSE: one a layer. */
    VkBool32 singleTail;
    /** Bytes of a tail. */
    VkDeviceSize tailSize;
    /** Tiles of all levels above the tail and all layers. */
    uint64_t tileCount;
    /** Of these, committed. */
    uint64_t committedTileCount;
    /** Bytes of pages committed: tiles, tails and metadata. */
    VkDeviceSize committedSize;
    /** The aspect whose tiles these are. */
    VkImageAspectFlags aspect;
} MaarSparseImageInfo;

/** A box of tiles of one level, in texels: rounded outward to whole tiles when they are committed,
 * inward (where the level does not end) when they are evicted. */
typedef struct MaarTileRegion {
    /** The level, above the mip tail. */
    uint32_t mipLevel;
    /** The layer. */
    uint32_t arrayLayer;
    /** First texel. */
    VkOffset3D offset;
    /** Texels, none of them 0; may end beyond the level. `depth` is 1 for 2D images. */
    VkExtent3D extent;
} MaarTileRegion;

/**
 * Creates a partially resident image. Takes pages for what must always be there: a metadata aspect,
 * if the driver has one, whose binds are recorded. Calls the driver.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pImage       receives the image
 * @return as maarCreateReservation, with VK_ERROR_FEATURE_NOT_PRESENT where the device lacks
 *         residency for such images, and VK_ERROR_FORMAT_NOT_SUPPORTED where it has it, but not for
 *         this format; what vkCreateImage returns
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroySparseImage before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateSparseImage(MaarAllocator allocator,
                                                   const MaarSparseImageCreateInfo* pCreateInfo,
                                                   MaarSparseImage* pImage);

/**
 * Destroys a partially resident image; see maarDestroyReservation.
 *
 * @param allocator  not null
 * @param image      may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroySparseImage(MaarAllocator allocator, MaarSparseImage image);

/**
 * Destroys a partially resident image once every point has passed. Never blocks.
 *
 * @param allocator   not null
 * @param image       may be VK_NULL_HANDLE
 * @param pointCount  0 to MAAR_MAX_POINTS
 * @param pPoints     the points
 * @return as maarFreeMemoryAfter; on failure it stays alive
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDestroySparseImageAfter(MaarAllocator allocator,
                                                         MaarSparseImage image, uint32_t pointCount,
                                                         const MaarPoint* pPoints);

/**
 * Reads a partially resident image. Does not call the driver.
 *
 * @param allocator  not null
 * @param image      not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetSparseImageInfo(MaarAllocator allocator, MaarSparseImage image,
                                                    MaarSparseImageInfo* pInfo);

/**
 * Takes a page for every tile of the regions that has none, all or nothing, and records the binds.
 * Contents of new tiles are undefined.
 *
 * @param allocator    not null
 * @param image        not null
 * @param regionCount  how many
 * @param pRegions     the regions; they may overlap
 * @return as maarCommitPages
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCommitTiles(MaarAllocator allocator, MaarSparseImage image,
                                             uint32_t regionCount, const MaarTileRegion* pRegions);

/**
 * Gives back every tile that lies wholly in one of the regions and records that it is unbound.
 *
 * @param allocator    not null
 * @param image        not null
 * @param regionCount  how many
 * @param pRegions     the regions
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEvictTiles(MaarAllocator allocator, MaarSparseImage image,
                                            uint32_t regionCount, const MaarTileRegion* pRegions);

/**
 * Takes pages for mip tails, all or nothing, and records the binds. An image with a single tail has
 * it for all layers. Without a tail (MaarSparseImageInfo::tailFirstLevel is mipLevels), nothing:
 * commit the tiles of the coarsest levels then.
 *
 * @param allocator   not null
 * @param image       not null
 * @param firstLayer  first layer
 * @param layerCount  how many; VK_REMAINING_ARRAY_LAYERS for the rest
 * @return as maarCommitPages
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCommitMipTail(MaarAllocator allocator, MaarSparseImage image,
                                               uint32_t firstLayer, uint32_t layerCount);

/**
 * Gives the pages of mip tails back. A single tail goes only when all layers are named.
 *
 * @param allocator   not null
 * @param image       not null
 * @param firstLayer  first layer
 * @param layerCount  how many; VK_REMAINING_ARRAY_LAYERS for the rest
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEvictMipTail(MaarAllocator allocator, MaarSparseImage image,
                                              uint32_t firstLayer, uint32_t layerCount);

/**
 * Says which tiles of a level are committed, as recorded: submitted or not.
 *
 * @param allocator   not null
 * @param image       not null
 * @param mipLevel    level; those of a tail have one tile, the tail
 * @param arrayLayer  layer
 * @param pCount      in: room in pResident; out: tiles written, or their number if pResident is
 *                    NULL
 * @param pResident   receives 1 or 0 for each tile, x fastest, then y, then z; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetTileResidency(MaarAllocator allocator, MaarSparseImage image,
                                                  uint32_t mipLevel, uint32_t arrayLayer,
                                                  uint32_t* pCount, uint8_t* pResident);

/**
 * Says for each tile of level 0 the finest level that a shader may sample there: the lowest one
 * from which on all coarser ones, down to the last, are committed wherever they cover that tile.
 *
 * @param allocator   not null
 * @param image       not null
 * @param arrayLayer  layer
 * @param pCount      in: room in pLevels; out: tiles written, or their number if pLevels is NULL
 * @param pLevels     receives a level for each tile of level 0, x fastest, then y, then z;
 *                    mipLevels where not even the last is there; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetMinResidentLevels(MaarAllocator allocator,
                                                      MaarSparseImage image, uint32_t arrayLayer,
                                                      uint32_t* pCount, uint8_t* pLevels);

#ifdef __cplusplus
}
#endif

#endif
