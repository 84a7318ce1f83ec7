/** @file
 * maar/ordered.h: memory that is reused in the order of GPU time. Memory that was freed after
 * points serves a new allocation before these points have passed, if the new allocation is first
 * used after them. The general rules of maar/allocator.h apply here too.
 */
#ifndef MAAR_ORDERED_H
#define MAAR_ORDERED_H

#include "maar/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options of an ordered allocation. */
typedef enum MaarOrderedUseFlagBits {
    /** The allocation may have pending memory that pPoints do not cover. The missing points are
     * added to pWaits, and the program makes the first use wait for all of pWaits, too. Only points
     * of submissions that the program has declared (maarDeclareSubmission) are added, never those
     * of the host timeline. A request gets such memory only if it would need a new block
     * otherwise. */
    MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT = 0x1,
    /** With that flag: the request gets such memory rather than free memory, too. So less memory is
     * placed, and submissions wait more often. */
    MAAR_ORDERED_USE_PREFER_WAITS_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_ORDERED_USE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarOrderedUseFlagBits;
/** Any of MaarOrderedUseFlagBits. */
typedef VkFlags MaarOrderedUseFlags;

/**
 * Chained to MaarAllocationCreateInfo: the program promises that neither the device nor the host
 * uses the memory before these points have passed. In return, the allocation may have memory that
 * is still pending (maarFreeMemoryAfter, maarDestroyBufferAfter, maarDestroyImageAfter), if each
 * point that this memory waits for is covered: if it is one of pPoints, or an earlier value of the
 * timeline of one of them, or if declared submissions (maarDeclareSubmission) show that it passes
 * before one of them.
 *
 * The order of submissions to a queue is no such promise: a submission uses the memory after the
 * points only if it waits for them, or for a point that passes after them, by semaphores.
 *
 * If no single pending range is large enough, neighbours are joined, with the free bytes between
 * and beside them. They stay joined until their points have passed, even if a later step of the
 * call fails.
 *
 * The memory keeps waiting for the points of its former owners. So it may be freed again at any
 * time, even if it was never used. The promise holds in maarAllocateMemory, maarCreateBuffer,
 * maarCreateImage and all other calls that allocate from pools of blocks. Pending memory that was
 * freed before the allocator's first call with this structure, or before its first
 * maarDeclareSubmission, is not reused so.
 */
typedef struct MaarOrderedUseInfo {
    /** MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarOrderedUseFlagBits. */
    MaarOrderedUseFlags flags;
    /** Number of points, at most MAAR_MAX_POINTS. */
    uint32_t pointCount;
    /** The points after which the memory is first used. NULL if pointCount is 0. */
    const MaarPoint* pPoints;
    /** Room in pWaits. With MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT at least 1, else ignored. */
    uint32_t waitCapacity;
    /** With that flag: the points for which the first use waits besides pPoints. They cover as
     * pPoints do. The call adds to them, and may raise the value of one; so allocations for one
     * submission share the array. */
    MaarPoint* pWaits;
    /** With that flag: the number of points in pWaits. Set it to 0 before the first allocation for
     * a submission. A call that fails leaves it as it is. */
    uint32_t* pWaitCount;
} MaarOrderedUseInfo;

/** What orders a submission. */
typedef struct MaarSubmissionInfo {
    /** MAAR_STRUCTURE_TYPE_SUBMISSION_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Number of waits, at most MAAR_MAX_POINTS. */
    uint32_t waitCount;
    /** The points that the submission waits for before it executes anything. A wait of a later
     * pipeline stage than the first is none of these. Points of value 0 are ignored. NULL if
     * waitCount is 0. */
    const MaarPoint* pWaits;
    /** Number of signals, at most MAAR_MAX_POINTS. */
    uint32_t signalCount;
    /** The points that pass when the submission has been executed. Points of value 0 are ignored.
     * NULL if signalCount is 0. */
    const MaarPoint* pSignals;
} MaarSubmissionInfo;

/**
 * Declares what a submission waits for and signals, so that ordered allocations know which points
 * pass before which. Call it with each vkQueueSubmit, in the order of the submissions, when
 * everything that the submission uses is allocated. The order in which one timeline signals its
 * values is known without this call. The allocator remembers a
 * bounded number of timelines, and the latest submissions of each. What it has forgotten, and what
 * the program does not declare, makes ordered allocations reuse less, and nothing else. Never calls
 * the driver.
 *
 * @param allocator  not null
 * @param pInfo      not null
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY (nothing was declared);
 *         VK_ERROR_FEATURE_NOT_PRESENT for a semaphore without the timelineSemaphore feature;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarDeclareSubmission(MaarAllocator allocator,
                                                   const MaarSubmissionInfo* pInfo);

/**
 * Forgets what was declared of a timeline. Call it before destroying a semaphore that a
 * MaarSubmissionInfo, a MaarOrderedUseInfo or a free after points has named: the driver may give
 * its handle to another semaphore. Never calls the driver.
 *
 * @param allocator  not null
 * @param semaphore  any semaphore; one that was never named is ignored
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarForgetTimeline(MaarAllocator allocator, VkSemaphore semaphore);

/** What ordered reuse has done. */
typedef struct MaarOrderedStatistics {
    /** MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Allocations so far that have got pending memory, all points of which were covered. */
    uint64_t coveredCount;
    /** Allocations so far that have got pending memory by added waits. */
    uint64_t waitedCount;
    /** Those of both that have got several pending ranges side by side, or one with free bytes
     * beside it. */
    uint64_t joinedCount;
    /** Bytes of both. */
    uint64_t reusedBytes;
    /** Live allocations that still wait for points of former owners. */
    uint64_t inheritingCount;
    /** Pending ranges that an ordered allocation can have now. */
    uint64_t pendingCount;
    /** Bytes of these ranges. */
    VkDeviceSize pendingBytes;
    /** Timelines that the allocator knows of. */
    uint32_t timelineCount;
} MaarOrderedStatistics;

/**
 * Returns what ordered reuse has done. All zero before its first use.
 *
 * @param allocator    not null
 * @param pStatistics  receives the numbers
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetOrderedStatistics(MaarAllocator allocator,
                                                      MaarOrderedStatistics* pStatistics);

#ifdef __cplusplus
}
#endif

#endif
