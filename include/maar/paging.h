/** @file
 * maar/paging.h: virtual memory. Address ranges whose pages come and go (reservations, growable
 * arrays, partially resident images), and buffers and images made of any free pages.
 *
 * Binds are recorded first and submitted later. A call that takes pages, gives them back or creates
 * an object made of pages records its binds. maarSubmitBinds hands all recorded binds to the device
 * in one submission and returns a point. Work that uses the pages waits for that point.
 *
 * When a submission executes, nobody may use the pages that it unbinds: give maarSubmitBinds the
 * points after which that is so. Submissions execute one after another, each after its points. A
 * page that was given back is held until the submission that unbinds it has been made. From then on
 * any call may take it, since a later submission binds it. When memory runs out, a call takes held
 * pages too: then the submission unbinds them in a first step and binds them in a second one, which
 * waits for the first. So a program with a full heap may give pages back and commit others before
 * one maarSubmitBinds.
 *
 * Everything here needs timeline semaphores and a queue in MaarAllocatorCreateInfo::pQueues;
 * MaarPagingInfo says what a device can do. The general rules of maar/allocator.h hold here too. A
 * handle of a destroyed object is reported as misuse, unless a new object has the same handle.
 */
#ifndef MAAR_PAGING_H
#define MAAR_PAGING_H

#include "maar/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An address range of a buffer whose pages come and go. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarReservation)
/** A growable array: a reservation that is filled from its start. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarArray)
/** A partially resident image. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarSparseImage)

/* ---------------------------------------------------------------------------------------------- */
/* What a device can do, and what is in use */
/* ---------------------------------------------------------------------------------------------- */

/** What paging can do on this device, with the features that were enabled and the queues given. */
typedef struct MaarPagingInfo {
    /** MAAR_STRUCTURE_TYPE_PAGING_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Pools may stitch: the device has sparse binding, a queue for it, and timelines. */
    VkBool32 stitching;
    /** Reservations are sparse: the device has all that stitching needs, and sparseResidencyBuffer.
     * Without it a reservation is a plain buffer that grows by a copy on the device, which needs a
     * queue and timelines. */
    VkBool32 sparseReservations;
    /** Reservations work at all, sparse or by copies. */
    VkBool32 reservations;
    /** Two ranges may share pages: sparseResidencyAliased. */
    VkBool32 aliasing;
    /** Partially resident 2D images and arrays of them. */
    VkBool32 sparseImages2D;
    /** Partially resident 3D images. */
    VkBool32 sparseImages3D;
    /** VK_TRUE: reads where no page is bound return zero, and writes there have no effect;
     * VK_FALSE: both are undefined. VkPhysicalDeviceSparseProperties::residencyNonResidentStrict */
    VkBool32 nonResidentStrict;
    /** Index into MaarAllocatorCreateInfo::pQueues of the queue that binds, or, where none does, of
     * the queue that copies; UINT32_MAX for none. Reservations that grow by copies use the first
     * queue that can copy, which may be another one. */
    uint32_t queueIndex;
    /** Bytes of address space for all sparse objects together:
     * VkPhysicalDeviceLimits::sparseAddressSpaceSize */
    VkDeviceSize addressSpaceSize;
    /** Most bytes of one buffer. Where the driver gives no limit, the bytes of address space. */
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

/** Reserved, committed and bound bytes and pages. Bytes of pages committed + free + held = bytes of
 * page blocks. MaarStatistics counts page blocks as blocks, committed pages as bytes of live
 * allocations, held pages as pending and the others as free. A destroyed object counts until
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
    /** Bytes of pages that were given back and whose unbinding has not been submitted yet, and of
     * pages that moves have taken or left. */
    VkDeviceSize heldBytes;
    /** Bytes of free pages. */
    VkDeviceSize freeBytes;
    /** VkDeviceMemory objects that are cut into pages. */
    uint32_t blockCount;
    /** Bytes of these objects. */
    VkDeviceSize blockBytes;
    /** Most bytes of these objects since maarResetPeaks. */
    VkDeviceSize peakBlockBytes;
    /** Live reservations, arrays and sparse images. */
    uint32_t reservationCount;
    /** Live allocations made of pages. */
    uint32_t stitchedCount;
    /** Allocations ever made of two or more runs of pages that are not adjacent. */
    uint64_t stitchedMade;
    /** Pages ever bound. */
    uint64_t pagesBound;
    /** Pages ever unbound. The pages of a destroyed object are not unbound. */
    uint64_t pagesUnbound;
    /** Elements of VkSparseMemoryBind and VkSparseImageMemoryBind ever submitted. */
    uint64_t bindCount;
    /** Calls of vkQueueBindSparse that succeeded. */
    uint64_t submissionCount;
    /** Bytes copied by the growth of reservations without sparse binding. */
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

/** A run of pages that are adjacent in the resource and in memory. */
typedef struct MaarPageRun {
    /** Offset in the resource, bytes. For the tiles of an image: the number of pages before the run
     * times the size of a page. */
    VkDeviceSize offset;
    /** Bytes. */
    VkDeviceSize size;
    /** The page block. */
    VkDeviceMemory memory;
    /** Offset in the page block, bytes. */
    VkDeviceSize memoryOffset;
    /** The page block's number: MaarBlockInfo::blockId. */
    uint64_t blockId;
    /** The page block's memory type. */
    uint32_t memoryTypeIndex;
} MaarPageRun;

/* ---------------------------------------------------------------------------------------------- */
/* Submitting */
/* ---------------------------------------------------------------------------------------------- */

/**
 * Submits everything that any thread has recorded since the last call, in one call of
 * vkQueueBindSparse under the queue's lock. If nothing was recorded, nothing is submitted, and the
 * point is the one of the last submission. Calls the driver. Waits for a submission of another
 * thread that is under way, never for the device.
 *
 * @param allocator   not null
 * @param pointCount  0 to MAAR_MAX_POINTS
 * @param pPoints     the device waits for these before it binds: the points after which nobody uses
 *                    the pages that were given back. The submission takes what all threads have
 *                    recorded, so their pages count too. Forgotten if the call fails or nothing was
 *                    recorded. Points of the host timeline must have passed. Work of other points
 *                    must have been submitted: if it is submitted later to the same queue, neither
 *                    the binds nor that work ever begin
 * @param pPoint      receives a point of Maar's own timeline, valid as long as the allocator; work
 *                    that uses the pages waits for it; may be NULL
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY or VK_ERROR_OUT_OF_DEVICE_MEMORY (what was not
 *         submitted stays recorded); VK_ERROR_DEVICE_LOST; VK_ERROR_FEATURE_NOT_PRESENT where
 *         paging does not work at all; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime the point's semaphore belongs to Maar; it ends with the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSubmitBinds(MaarAllocator allocator, uint32_t pointCount,
                                             const MaarPoint* pPoints, MaarPoint* pPoint);

/**
 * Makes the next submission wait for points too, whichever thread calls maarSubmitBinds. A thread
 * that gives pages back while others submit calls this first, with the points after which nobody
 * uses these pages. The points are kept until a submission has been made. Never blocks.
 *
 * @param allocator   not null
 * @param pointCount  0 to MAAR_MAX_POINTS
 * @param pPoints     the points; those of the host timeline must have passed
 * @return VK_SUCCESS; VK_ERROR_TOO_MANY_OBJECTS when these points and those that were added before
 *         belong to more than MAAR_MAX_POINTS timelines: none is added then;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT
 *         where paging does not work at all; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDelayBinds(MaarAllocator allocator, uint32_t pointCount,
                                            const MaarPoint* pPoints);

/* ---------------------------------------------------------------------------------------------- */
/* Allocations made of pages */
/* ---------------------------------------------------------------------------------------------- */

/**
 * Chained to MaarPoolCreateInfo, makes the pool stitch: maarCreateBuffer and maarCreateImage make
 * large objects in the pool of any free pages. For the device such an object is contiguous.
 *
 * An object made of pages has a MaarAllocation without a VkDeviceMemory of its own: it cannot be
 * mapped, and nothing else can be bound to it. It may be used once the point that maarSubmitBinds
 * returned after its creation has passed. Only runs with MAAR_DEFRAGMENTATION_GOAL_PAGES move its
 * contents.
 *
 * The pool places the following in its other blocks: objects below the threshold, linear images,
 * images that the device cannot make sparse, objects whose create info asks for mapping, aliasing
 * or dedicated memory, and memory that is allocated without an object. These blocks begin small;
 * from 1 MiB on they are dedicated. The pool's blockSize, minBlockCount and maxBlockCount apply to
 * them and not to page blocks.
 *
 * When the address space is used up (MaarPagingInfo::addressSpaceSize), large objects are placed in
 * the other blocks too: a warning says so, and the object counts as a fallback. With
 * MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT the call fails instead, with
 * VK_ERROR_OUT_OF_DEVICE_MEMORY.
 */
typedef struct MaarPoolPagingInfo {
    /** MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** VK_TRUE: stitch. */
    VkBool32 stitch;
    /** Least size of an object made of pages, bytes; 0 for eight pages: from there on, rounding up
     * to whole pages takes less than an eighth. */
    VkDeviceSize threshold;
    /** Size of page blocks, bytes; 0: 16 MiB, or a 128th of the pool's bytes if that is more. */
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
    /** Creation fails with VK_ERROR_FEATURE_NOT_PRESENT rather than choose growth by copies. */
    MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT = 0x2,
    /** The reservation grows by copies although the device has sparse binding, for programs that
     * compare the two. */
    MAAR_RESERVATION_CREATE_COPYING_BIT = 0x4,
    /** Its pages are of HOST_VISIBLE memory types alone, and the host may access them:
     * maarGetHostPages. Runs of defragmentation leave them where they are. */
    MAAR_RESERVATION_CREATE_MAPPED_BIT = 0x8,
    /** Reserves the enumeration's size. */
    MAAR_RESERVATION_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarReservationCreateFlagBits;
/** Any of MaarReservationCreateFlagBits. */
typedef VkFlags MaarReservationCreateFlags;

/** How to create a reservation. */
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
    /** The memory of its pages; NULL for the defaults. Maar reads usage, required, preferred and
     * budget flags, types, `pool` (NULL or a pool that stitches), pUserData and pName. The pages
     * are mapped with MAAR_RESERVATION_CREATE_MAPPED_BIT alone. When the preferred memory type has
     * no room, pages come from another type, for example from system memory: a warning says so, and
     * the call that took the pages counts once in MaarStatistics::fallbackCount. With
     * MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT that call fails instead, with
     * VK_ERROR_OUT_OF_DEVICE_MEMORY. */
    const MaarAllocationCreateInfo* pMemoryInfo;
} MaarReservationCreateInfo;

/** The properties of a reservation. */
typedef struct MaarReservationInfo {
    /** MAAR_STRUCTURE_TYPE_RESERVATION_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The buffer. Sparse: it never changes. Copying: VK_NULL_HANDLE before the first growth, and
     * another buffer after each growth. */
    VkBuffer buffer;
    /** The buffer's device address; 0 without SHADER_DEVICE_ADDRESS usage. Changes with the buffer.
     */
    VkDeviceAddress address;
    /** Bytes of the address range. */
    VkDeviceSize size;
    /** The unit of commitment, bytes: the driver's answer for this buffer, but at least 4 KiB. */
    VkDeviceSize pageSize;
    /** Bytes of pages committed. Copying: bytes of the buffer. */
    VkDeviceSize committedSize;
    /** VK_TRUE: sparse; VK_FALSE: grows by copies. */
    VkBool32 sparse;
    /** How often `buffer` has changed; 0 for sparse reservations. */
    uint32_t moveCount;
    /** As given. */
    void* pUserData;
    /** As given, or NULL; valid as long as the reservation. */
    const char* pName;
} MaarReservationInfo;

/** A range of a reservation. Its ends are rounded outward to whole pages when pages are committed,
 * and inward when pages are given back. */
typedef struct MaarPageRange {
    /** Bytes from the start of the reservation. */
    VkDeviceSize offset;
    /** Bytes; VK_WHOLE_SIZE for the rest of the reservation; 0 for an empty range. */
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
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY when it exceeds maxBufferSize or the rest of the address
 *         space (the message says which); VK_ERROR_OUT_OF_HOST_MEMORY; what vkCreateBuffer
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
 * waits for the device, only for a submission of another thread that is under way. Recorded binds
 * of the reservation are dropped. A warning is reported if it has pages and no submission ever
 * named it: a program that forgets maarSubmitBinds looks like that. The device must not use the
 * reservation any more. If other objects took over pages that the reservation had given back, the
 * next maarSubmitBinds unbinds them here first: until then the reservation is pending.
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
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT for a semaphore without the timelineSemaphore
 *         feature; VK_ERROR_VALIDATION_FAILED_EXT; on failure the object stays alive
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
 * Commits every page of the ranges that has no memory yet, all or nothing, and records the binds.
 * The contents of new pages are undefined. May call the driver for a page block. If a range ends
 * beyond the present buffer of a copying reservation, the reservation gets a larger buffer, with
 * room to spare, and records the copy. The old buffer is destroyed once the points given to
 * maarSubmitBinds and the copy have passed.
 *
 * @param allocator    not null
 * @param reservation  not null
 * @param rangeCount   how many
 * @param pRanges      the ranges; they may overlap
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_TOO_MANY_OBJECTS; what vkCreateBuffer returns; what vkMapMemory returns, with
 *         MAAR_RESERVATION_CREATE_MAPPED_BIT; VK_ERROR_VALIDATION_FAILED_EXT, also for a range
 *         beyond the end of the reservation
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCommitPages(MaarAllocator allocator, MaarReservation reservation,
                                             uint32_t rangeCount, const MaarPageRange* pRanges);

/** Receives which pages a commit has taken. */
typedef struct MaarNewPages {
    /** MAAR_STRUCTURE_TYPE_NEW_PAGES */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Set by the caller: room in pRanges. */
    uint32_t rangeCapacity;
    /** Set by the caller: an array that receives the ranges of new pages; NULL: they are only
     * counted. Each new page is in one range. The ranges follow the order of those that are
     * committed, and new pages that follow one another there are one range. The end of a range is
     * at most that of the reservation. */
    MaarPageRange* pRanges;
    /** Number of these ranges, also if there was no room for them. */
    uint32_t rangeCount;
    /** Bytes of these ranges. */
    VkDeviceSize size;
} MaarNewPages;

/**
 * Commits pages as maarCommitPages does, and says which of them are new: they had no memory before
 * the call, so nobody has written them since. A page that was given back and is committed again is
 * new. Of a copying reservation, the bytes that a larger buffer has beyond the smaller one are new.
 * Of an array, the bytes from MaarReservationInfo::committedSize before an append to that after
 * it are new. A page that maarAliasPages shows is new nowhere. Takes no host memory for
 * the list.
 *
 * @param allocator    not null
 * @param reservation  not null
 * @param rangeCount   how many
 * @param pRanges      the ranges; they may overlap
 * @param pNewPages    sType, pNext, rangeCapacity and pRanges set by the caller; the rest is filled
 * @return as maarCommitPages; VK_INCOMPLETE when there are more ranges of new pages than room:
 *         then nothing was committed, and rangeCount says how much room the call needs
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCommitNewPages(MaarAllocator allocator,
                                                MaarReservation reservation, uint32_t rangeCount,
                                                const MaarPageRange* pRanges,
                                                MaarNewPages* pNewPages);

/**
 * Records commands that fill ranges of a reservation with zeros into a command buffer of the
 * program: a memory barrier that waits for all earlier commands, the fills, and a memory barrier
 * for which all later commands wait. The program submits the command buffer after the point that
 * maarSubmitBinds returned for the pages. Programs that record fills of their own find in
 * MaarNewPages what to fill.
 *
 * Vulkan fills whole words of 4 bytes. If the size of the buffer is no multiple of 4, its last
 * bytes stay as they are.
 *
 * @param allocator      not null
 * @param reservation    not null; its buffer has the usage TRANSFER_DST, which copying reservations
 *                       add
 * @param rangeCount     how many
 * @param pRanges        committed ranges: offsets and sizes are multiples of 4, or end at the end
 *                       of the reservation, as those of MaarNewPages do
 * @param commandBuffer  in the recording state, outside a render pass, of a family that may use the
 *                       buffer
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT if the program's table of functions lacks one;
 *         VK_ERROR_VALIDATION_FAILED_EXT, also for a range that is not committed. On failure
 *         nothing is recorded.
 * @threadsafety internally synchronized; `reservation` and `commandBuffer` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarRecordZeroPages(MaarAllocator allocator,
                                                 MaarReservation reservation, uint32_t rangeCount,
                                                 const MaarPageRange* pRanges,
                                                 VkCommandBuffer commandBuffer);

/**
 * Gives back every page that lies wholly in one of the ranges and records its unbinding. The
 * submission must wait for all work that still uses these pages. Pages without memory are skipped.
 * A copying reservation keeps its buffer.
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
 * reservations were made with MAAR_RESERVATION_CREATE_ALIASED_BIT and have the same page size and
 * memory types. All of the source's range must be committed. No page of the target's range may be
 * committed, nor given back without a submission since. A page lives until the last range that
 * shows it gives it back. While another range still shows the page, a range that gave it back can
 * commit there again only after a submission.
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
/* The host's access to reservations */
/* ---------------------------------------------------------------------------------------------- */

/** Bytes of a reservation that are adjacent for the host too. */
typedef struct MaarHostRun {
    /** Bytes from the start of the reservation. */
    VkDeviceSize offset;
    /** Bytes. */
    VkDeviceSize size;
    /** Address of the first byte, valid until its page is given back. Copying reservations: until
     * MaarReservationInfo::moveCount changes. */
    void* pData;
} MaarHostRun;

/**
 * Says where the host finds a range of a reservation that was made with
 * MAAR_RESERVATION_CREATE_MAPPED_BIT. Does not call the driver.
 *
 * The host may access new pages once the point that maarSubmitBinds returned for them has passed:
 * until then the device may use the bytes as those of another page. Memory that is HOST_VISIBLE and
 * not HOST_COHERENT needs maarFlushPages after writes, before work that reads them is submitted,
 * and maarInvalidatePages before reads.
 *
 * @param allocator    not null
 * @param reservation  not null; also that of an array
 * @param pRange       a committed range, of any bytes
 * @param pCount       in: room in pRuns; out: runs written, or their number if pRuns is NULL
 * @param pRuns        receives the runs, in order; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT, also for a range that is not
 *         committed
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetHostPages(MaarAllocator allocator, MaarReservation reservation,
                                              const MaarPageRange* pRange, uint32_t* pCount,
                                              MaarHostRun* pRuns);

/**
 * Makes writes of the host visible to the device. Widens the ranges to nonCoherentAtomSize, inside
 * their pages. Does nothing for coherent memory.
 *
 * @param allocator    not null
 * @param reservation  not null; made with MAAR_RESERVATION_CREATE_MAPPED_BIT
 * @param rangeCount   how many
 * @param pRanges      committed ranges, of any bytes
 * @return VK_SUCCESS; what vkFlushMappedMemoryRanges returns; VK_ERROR_VALIDATION_FAILED_EXT, also
 *         for a range that is not committed
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarFlushPages(MaarAllocator allocator, MaarReservation reservation,
                                            uint32_t rangeCount, const MaarPageRange* pRanges);

/**
 * Makes writes of the device visible to the host. Else as maarFlushPages.
 *
 * @param allocator    not null
 * @param reservation  not null; made with MAAR_RESERVATION_CREATE_MAPPED_BIT
 * @param rangeCount   how many
 * @param pRanges      committed ranges, of any bytes
 * @return VK_SUCCESS; what vkInvalidateMappedMemoryRanges returns; VK_ERROR_VALIDATION_FAILED_EXT,
 *         also for a range that is not committed
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarInvalidatePages(MaarAllocator allocator,
                                                 MaarReservation reservation, uint32_t rangeCount,
                                                 const MaarPageRange* pRanges);

/* ---------------------------------------------------------------------------------------------- */
/* Growable arrays */
/* ---------------------------------------------------------------------------------------------- */

/** How to create an array. */
typedef struct MaarArrayCreateInfo {
    /** MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Bytes of an element, at least 1. */
    VkDeviceSize elementSize;
    /** The reservation. Its size limits the array. */
    MaarReservationCreateInfo reservation;
    /** Least bytes that an append commits at a time, as far as the reservation has them; 0: an
     * eighth of the committed bytes, at least 1 MiB and at most 64 MiB. */
    VkDeviceSize growSize;
} MaarArrayCreateInfo;

/** The properties of an array. */
typedef struct MaarArrayInfo {
    /** MAAR_STRUCTURE_TYPE_ARRAY_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Elements in the array. */
    uint64_t count;
    /** Elements that fit into its committed pages. */
    uint64_t capacity;
    /** Elements that fit into its reservation. */
    uint64_t maxCount;
    /** Bytes of an element. */
    VkDeviceSize elementSize;
    /** Its reservation, for maarGetReservationInfo. It belongs to the array. */
    MaarReservation reservation;
    /** MaarReservationInfo::buffer: the buffer that holds the elements. */
    VkBuffer buffer;
    /** MaarReservationInfo::address: the buffer's device address. */
    VkDeviceAddress address;
    /** MaarReservationInfo::moveCount: how often `buffer` has changed. */
    uint32_t moveCount;
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
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT for a semaphore without the timelineSemaphore
 *         feature; VK_ERROR_VALIDATION_FAILED_EXT; on failure the object stays alive
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
 * Ensures that `count` elements have memory, and commits no more than they need. Appending up to
 * `count` then takes no page.
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
 * Appends elements. Each lies at `elementSize` times its index; its contents are undefined until
 * the device writes them. If the append takes pages, their binds are recorded for maarSubmitBinds.
 *
 * @param allocator  not null
 * @param array      not null
 * @param count      how many
 * @param pFirst     receives the index of the first; may be NULL
 * @return as maarReserveArray; on failure the array is unchanged
 * @threadsafety internally synchronized; `array` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAppendArray(MaarAllocator allocator, MaarArray array,
                                             uint64_t count, uint64_t* pFirst);

/**
 * Removes elements from the end. Keeps their pages, unless `release` is VK_TRUE.
 *
 * @param allocator  not null
 * @param array      not null
 * @param count      elements that stay; at most the number of elements
 * @param release    VK_TRUE: the pages behind them are given back, and their unbinding is recorded
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `array` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarTruncateArray(MaarAllocator allocator, MaarArray array,
                                               uint64_t count, VkBool32 release);

/** A new number of elements of an array. */
typedef struct MaarArrayResize {
    /** The array. Each array occurs once in a call. */
    MaarArray array;
    /** Elements from then on. New ones are appended, as by maarAppendArray; the others stay. */
    uint64_t count;
    /** VK_TRUE: if the array shrinks, the pages behind its last element are given back, as by
     * maarTruncateArray. */
    VkBool32 release;
} MaarArrayResize;

/**
 * Gives many arrays new numbers of elements, all or none: for caches that grow together, one call
 * and one submission a step. An array that has to grow takes pages as maarAppendArray does; if
 * memory is too short for that, all of them take only what their elements need. Pages that the call
 * gives back do not serve the arrays that grow in it. Most calls record nothing, and then cost a
 * few nanoseconds an array.
 *
 * @param allocator     not null
 * @param resizeCount   how many
 * @param pResizes      the arrays
 * @param pMissingSize  receives, if device memory was short, the bytes that were missing, as
 *                      MaarTouchResult::missingSize; otherwise 0; may be NULL
 * @return as maarReserveArray; on failure every array is unchanged
 * @threadsafety internally synchronized; each array externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarResizeArrays(MaarAllocator allocator, uint32_t resizeCount,
                                              const MaarArrayResize* pResizes,
                                              VkDeviceSize* pMissingSize);

/* ---------------------------------------------------------------------------------------------- */
/* Partially resident images */
/* ---------------------------------------------------------------------------------------------- */

/** How to create a partially resident image. */
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

/** The properties of a partially resident image. */
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
    /** Levels of the image. */
    uint32_t mipLevels;
    /** Layers of the image. */
    uint32_t arrayLayers;
    /** The first level of the mip tail; mipLevels without a tail. The levels of a tail are
     * committed and evicted together. */
    uint32_t tailFirstLevel;
    /** VK_TRUE: one tail for all layers; VK_FALSE: one for each layer. */
    VkBool32 singleTail;
    /** Bytes of a tail. */
    VkDeviceSize tailSize;
    /** Tiles of all levels above the tail and all layers. */
    uint64_t tileCount;
    /** Committed tiles among these. */
    uint64_t committedTileCount;
    /** Bytes of pages committed: tiles, tails and metadata. */
    VkDeviceSize committedSize;
    /** The aspect that these tiles belong to. */
    VkImageAspectFlags aspect;
} MaarSparseImageInfo;

/** A box of tiles of one level, in texels. Its ends are rounded to whole tiles: outward when tiles
 * are committed; inward, except at the end of the level, when tiles are evicted. */
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
 * Creates a partially resident image. If the driver has a metadata aspect, commits its pages, which
 * must always be there, and records their binds. Calls the driver.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pImage       receives the image
 * @return as maarCreateReservation; VK_ERROR_FEATURE_NOT_PRESENT where the device lacks residency
 *         for such images; VK_ERROR_FORMAT_NOT_SUPPORTED where it lacks residency for this format;
 *         what vkCreateImage returns
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
 * @return as maarFreeMemoryAfter; on failure the object stays alive
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
 * Commits every tile of the regions that has no page yet, all or nothing, and records the binds.
 * The contents of new tiles are undefined.
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
 * Gives back every tile that lies wholly in one of the regions and records its unbinding.
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
 * Commits mip tails, all or nothing, and records the binds. A single tail serves all layers. For an
 * image without a tail (MaarSparseImageInfo::tailFirstLevel is mipLevels) this does nothing: commit
 * the tiles of the coarsest levels instead.
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
 * Gives the pages of mip tails back. A single tail is given back only when all layers are named.
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
 * Reads which tiles of a level are committed. A commit counts from its call on, submitted or not.
 *
 * @param allocator   not null
 * @param image       not null
 * @param mipLevel    level; a level of a tail has one tile, the tail
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
 * Finds for each tile of level 0 the finest level that a shader may sample there: this level and
 * all coarser ones are committed wherever they cover that tile.
 *
 * @param allocator   not null
 * @param image       not null
 * @param arrayLayer  layer
 * @param pCount      in: room in pLevels; out: tiles written, or their number if pLevels is NULL
 * @param pLevels     receives a level for each tile of level 0, x fastest, then y, then z;
 *                    mipLevels where not even the last is committed; or NULL
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
