/** @file
 * maar/touch.h: commit on use. A program names, before each submission, the ranges of its
 * reservations that the submission uses. What has no memory there gets it, what was given memory is
 * listed, since its contents are undefined, and what is used is noted.
 *
 * The notes say in which order the parts of a reservation were last touched. A part is a unit: one
 * page, or a run of pages (MaarReservationTouchInfo). Units are committed as a whole. Notes take 24
 * bytes of host memory a unit, and an eighth of a byte to find them; they are made at the first
 * touch of a reservation. A touch of a range that has memory takes no host memory and no lock, and
 * its cost does not grow with the range if the range was touched as one before.
 *
 * Reservations that grow by copies have no notes: a touch enlarges their buffer.
 *
 * The reservation of an array (MaarArrayInfo::reservation) may be touched where the array has
 * memory. That notes the use, and commits nothing.
 *
 * The general rules of maar/allocator.h and maar/paging.h hold here too.
 */
#ifndef MAAR_TOUCH_H
#define MAAR_TOUCH_H

#include "maar/move.h"
#include "maar/paging.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A range of a reservation. */
typedef struct MaarReservationRange {
    /** The reservation. */
    MaarReservation reservation;
    /** Bytes from its start. */
    VkDeviceSize offset;
    /** Bytes; VK_WHOLE_SIZE for the rest of the reservation. */
    VkDeviceSize size;
} MaarReservationRange;

/** Chained to MaarReservationCreateInfo, says how touches of the reservation are noted. */
typedef struct MaarReservationTouchInfo {
    /** MAAR_STRUCTURE_TYPE_RESERVATION_TOUCH_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Bytes of a unit. Rounded up to a power of two of pages, and further until the reservation
     * has at most 16,777,216 units. 0: the least unit of which the reservation has at most 65,536,
     * so that its notes take at most 1.6 MB. */
    VkDeviceSize unitSize;
} MaarReservationTouchInfo;

/** Chained to MaarReservationInfo, receives what is known of a reservation's use. */
typedef struct MaarReservationUseInfo {
    /** MAAR_STRUCTURE_TYPE_RESERVATION_USE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Bytes of a unit; 0 for a reservation that grows by copies. */
    VkDeviceSize unitSize;
    /** Bytes of host memory that its notes take; 0 before the first touch. */
    VkDeviceSize noteSize;
    /** Number of the last touch that named the reservation; 0: none did. */
    uint64_t lastTouch;
    /** Bytes of pages that lie in another heap than the preferred one. MaarPageRun names the memory
     * type of each run. */
    VkDeviceSize spilledSize;
} MaarReservationUseInfo;

/** What a touch names. */
typedef struct MaarTouchInfo {
    /** MAAR_STRUCTURE_TYPE_TOUCH_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many ranges. */
    uint32_t rangeCount;
    /** The ranges, of any reservations of the allocator. They may overlap. Their ends are rounded
     * outward to whole units. */
    const MaarReservationRange* pRanges;
} MaarTouchInfo;

/** What a touch has done. */
typedef struct MaarTouchResult {
    /** MAAR_STRUCTURE_TYPE_TOUCH_RESULT */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Set by the caller: room in pFresh. */
    uint32_t freshCapacity;
    /** Set by the caller: an array that receives the fresh ranges: those that got memory, and whose
     * contents are undefined until the program writes them (maarRecordZeroPages). Each page is in
     * one range. The order is that of the ranges that are touched, and pages that follow one
     * another there are one range. NULL: they are only counted. */
    MaarReservationRange* pFresh;
    /** Number of these ranges, also if there was no room for them. */
    uint32_t freshCount;
    /** Bytes of these ranges. */
    VkDeviceSize freshSize;
    /** Where the call failed for want of device memory: bytes that were missing. Once so many bytes
     * of pages of these memory types are given back, the same call finds enough. Otherwise 0. */
    VkDeviceSize missingSize;
    /** Number of this touch: the touches of an allocator, by any thread, are numbered from 1. 0 if
     * the call failed. */
    uint64_t touch;
} MaarTouchResult;

/**
 * Touches ranges, all or none. Pages without memory are committed as by maarCommitNewPages: their
 * binds are recorded for maarSubmitBinds, and work that uses them waits for its point. May call the
 * driver for a page block where memory is missing.
 *
 * @param allocator  not null
 * @param pInfo      not NULL
 * @param pResult    sType, pNext, freshCapacity and pFresh set by the caller; the rest is filled;
 *                   may be NULL
 * @return as maarCommitPages; VK_INCOMPLETE when there are more fresh ranges than room: then
 *         nothing was touched, and freshCount says how much room the call needs
 * @threadsafety internally synchronized; each reservation externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarTouchPages(MaarAllocator allocator, const MaarTouchInfo* pInfo,
                                            MaarTouchResult* pResult);

/** Units that follow one another and were touched alike. */
typedef struct MaarTouchedRun {
    /** Bytes from the start of the reservation. */
    VkDeviceSize offset;
    /** Bytes. */
    VkDeviceSize size;
    /** Number of the last touch that named these units. */
    uint64_t touch;
    /** MaarPagePriority::priority */
    int32_t priority;
    /** MaarPagePriority::neverSpills */
    VkBool32 neverSpills;
} MaarTouchedRun;

/**
 * Lists the units of a reservation that were touched and not given back since, the coldest first.
 * Does not call the driver.
 *
 * @param allocator    not null
 * @param reservation  not null; also that of an array
 * @param pCount       in: room in pRuns; out: runs written, or their number if pRuns is NULL
 * @param pRuns        receives the runs; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarEnumerateTouchedRuns(MaarAllocator allocator,
                                                      MaarReservation reservation, uint32_t* pCount,
                                                      MaarTouchedRun* pRuns);

/* ---------------------------------------------------------------------------------------------- */
/* Giving back what is cold */
/* ---------------------------------------------------------------------------------------------- */

/** What maarTrimPages gives back. */
typedef struct MaarPageTrimInfo {
    /** MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many reservations. */
    uint32_t reservationCount;
    /** The reservations, each once, and none of an array. What was never touched stays, whoever
     * committed it. Of reservations that grow by copies nothing is given back. */
    const MaarReservation* pReservations;
    /** Gives back only what was last touched before the touch of this number. A program that passes
     * MaarTouchResult::touch of its present touch keeps what that touch named; n less keeps what
     * the n touches before it named too. 0: the last touch that named one of the reservations. */
    uint64_t touchedBefore;
    /** Stops when the reservations together have at most so many bytes of pages. */
    VkDeviceSize keptSize;
    /** Most bytes to give back, rounded up to a whole unit; 0: no limit. */
    VkDeviceSize maxSize;
    /** 0 to MAAR_MAX_POINTS. */
    uint32_t pointCount;
    /** The points after which nobody uses what is cold, as for maarDelayBinds: the next submission
     * of binds waits for them if anything is given back. */
    const MaarPoint* pPoints;
} MaarPageTrimInfo;

/** What maarTrimPages has given back. */
typedef struct MaarPageTrimResult {
    /** MAAR_STRUCTURE_TYPE_PAGE_TRIM_RESULT */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Set by the caller: room in pRanges. */
    uint32_t rangeCapacity;
    /** Set by the caller: an array that receives the ranges that went, the coldest first; NULL:
     * they are only counted. */
    MaarReservationRange* pRanges;
    /** Number of ranges that went. */
    uint32_t rangeCount;
    /** Bytes of pages that went. */
    VkDeviceSize size;
} MaarPageTrimResult;

/**
 * Gives back pages of reservations, those first that were touched longest ago, in whole units, and
 * records their unbinding for maarSubmitBinds. Their contents are lost: the next touch lists them
 * as fresh. Does not wait for the device.
 *
 * @param allocator  not null
 * @param pInfo      not NULL
 * @param pResult    sType, pNext, rangeCapacity and pRanges set by the caller; the rest is filled;
 *                   may be NULL
 * @return VK_SUCCESS; VK_INCOMPLETE when the list is full and more could go: another call goes on;
 *         VK_ERROR_OUT_OF_HOST_MEMORY and VK_ERROR_TOO_MANY_OBJECTS as maarDelayBinds: nothing was
 *         given back then; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; each reservation externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarTrimPages(MaarAllocator allocator, const MaarPageTrimInfo* pInfo,
                                           MaarPageTrimResult* pResult);

/* ---------------------------------------------------------------------------------------------- */
/* Spilling: pages in another memory type */
/* ---------------------------------------------------------------------------------------------- */

/** Chained to MaarReservationCreateInfo, says where pages spill that do not fit into the preferred
 * memory type. Without it they spill to the other memory types that serve the reservation, or, if
 * its memory is from a pool, not at all. */
typedef struct MaarReservationSpillInfo {
    /** MAAR_STRUCTURE_TYPE_RESERVATION_SPILL_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** A pool that stitches, whose memory type serves the buffer and is of another heap than the
     * preferred one; null: as without the structure. Pages spill there alone. It must exist as long
     * as the reservation; without it nothing spills. */
    MaarPool pool;
} MaarReservationSpillInfo;

/** Least and greatest MaarPagePriority::priority. */
#define MAAR_PAGE_PRIORITY_MIN (-4)
/** Least and greatest MaarPagePriority::priority. */
#define MAAR_PAGE_PRIORITY_MAX 3

/** How readily pages spill. */
typedef struct MaarPagePriority {
    /** MAAR_STRUCTURE_TYPE_PAGE_PRIORITY */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Pages of a lower priority spill first, and those of a higher one return first:
     * MAAR_PAGE_PRIORITY_MIN to MAAR_PAGE_PRIORITY_MAX. 0 is the priority of all others. */
    int32_t priority;
    /** VK_TRUE: new pages come from the preferred memory type alone, as with
     * MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT, and pages that lie there are never spilled. */
    VkBool32 neverSpills;
} MaarPagePriority;

/**
 * Says how readily ranges spill. Applies to pages that are committed later and to those that are
 * there, of which none moves before maarBeginPageMigration. Does nothing for reservations that grow
 * by copies. Takes host memory for the notes of the reservation.
 *
 * @param allocator    not null
 * @param reservation  not null; also that of an array
 * @param rangeCount   how many
 * @param pRanges      the ranges, rounded outward to whole units
 * @param pPriority    not NULL
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `reservation` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSetPagePriority(MaarAllocator allocator,
                                                 MaarReservation reservation, uint32_t rangeCount,
                                                 const MaarPageRange* pRanges,
                                                 const MaarPagePriority* pPriority);

/** Where pages migrate to. */
typedef enum MaarPageMigration {
    /** From the preferred memory type to where pages spill: those of the lowest priority first, and
     * of these the coldest; what was never touched is coldest. */
    MAAR_PAGE_MIGRATION_SPILL = 0,
    /** Back to the preferred memory type: those of the highest priority first, and of these the
     * ones that were touched last. */
    MAAR_PAGE_MIGRATION_RETURN = 1,
    /** Reserves the enumeration's size. */
    MAAR_PAGE_MIGRATION_MAX_ENUM = 0x7FFFFFFF
} MaarPageMigration;

/** Which pages migrate. */
typedef struct MaarPageMigrationInfo {
    /** MAAR_STRUCTURE_TYPE_PAGE_MIGRATION_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Where to. */
    MaarPageMigration direction;
    /** How many reservations. */
    uint32_t reservationCount;
    /** The reservations, also those of arrays, each once; all of one pool, or of none. Those that
     * grow by copies, or were made with MAAR_RESERVATION_CREATE_MAPPED_BIT, have no pages that
     * move. */
    const MaarReservation* pReservations;
    /** Most bytes that move, at least a page; 0: as many as one batch holds. */
    VkDeviceSize maxBytes;
    /** Spilling: only what was last touched before the touch of this number, as for
     * MaarPageTrimInfo. */
    uint64_t touchedBefore;
} MaarPageMigrationInfo;

/**
 * Begins to move pages between memory types: takes pages within budget there, for as many pages of
 * the reservations as may move. May call the driver for page blocks. The batch goes on as one of
 * MAAR_DEFRAGMENTATION_GOAL_PAGES does: maarSubmitMoves or maarRecordMoves copies, and
 * maarCommitMoves records the binds for maarSubmitBinds. Buffers, device addresses and contents
 * stay. Pages whose binds have not been submitted, and those that other reservations show, do not
 * move.
 *
 * @param allocator  not null
 * @param pInfo      not NULL
 * @param pBatch     receives the batch; null if no page is to move
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_DEVICE_MEMORY or VK_ERROR_TOO_MANY_OBJECTS when pages are to
 *         move, and no page is to be had within budget; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; each reservation externally
 * @lifetime end it with maarCommitMoves or maarCancelMoves
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarBeginPageMigration(MaarAllocator allocator,
                                                    const MaarPageMigrationInfo* pInfo,
                                                    MaarMoveBatch* pBatch);

#ifdef __cplusplus
}
#endif

#endif
