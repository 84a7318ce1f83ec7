/** @file
 * maar/capture.h: captures of an allocator. A program writes into a file what its allocator does
 * with device memory: blocks, allocations, buffers and images, pages, names, budgets, and, with
 * calls of its own, frames, submissions and marks. `maar report` and `maar advise` read the file;
 * maar/capture_file.h defines it. The general rules of maar/allocator.h apply here too.
 */
#ifndef MAAR_CAPTURE_H
#define MAAR_CAPTURE_H

#include "maar/allocator.h"
#include "maar/capture_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What maarBeginCapture needs. */
typedef struct MaarCaptureBeginInfo {
    /** MAAR_STRUCTURE_TYPE_CAPTURE_BEGIN_INFO */
    MaarStructureType sType;
    /** NULL */
    const void* pNext;
    /** The file, which must not exist; UTF-8. */
    const char* pPath;
    /** The most bytes of the file, at least 65536. The capture ends there. 0: no limit. */
    uint64_t maxBytes;
    /** File name of the program, for readers; UTF-8. NULL: none. */
    const char* pProgram;
} MaarCaptureBeginInfo;

/** How a submission uses an allocation. */
typedef enum MaarCaptureAccessFlagBits {
    /** It reads. */
    MAAR_CAPTURE_ACCESS_READ_BIT = 0x1,
    /** It writes. */
    MAAR_CAPTURE_ACCESS_WRITE_BIT = 0x2,
    /** It needs no earlier contents. */
    MAAR_CAPTURE_ACCESS_DISCARD_BIT = 0x4,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_ACCESS_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureAccessFlagBits;
/** Bits of MaarCaptureAccessFlagBits. */
typedef VkFlags MaarCaptureAccessFlags;

/** An allocation that a submission uses. */
typedef struct MaarCaptureAccess {
    /** The allocation. */
    MaarAllocation allocation;
    /** How it is used. */
    MaarCaptureAccessFlags flags;
} MaarCaptureAccess;

/** A batch that the program has submitted. */
typedef struct MaarCaptureSubmitInfo {
    /** MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO */
    MaarStructureType sType;
    /** NULL */
    const void* pNext;
    /** The queue; may be VK_NULL_HANDLE. */
    VkQueue queue;
    /** Number of command buffers. */
    uint32_t commandBufferCount;
    /** Number of waits. */
    uint32_t waitCount;
    /** What the batch waits for; a value of 0 for a binary semaphore. NULL if waitCount is 0. */
    const MaarPoint* pWaits;
    /** Number of signals. */
    uint32_t signalCount;
    /** What the batch signals; a value of 0 for a binary semaphore. NULL if signalCount is 0. */
    const MaarPoint* pSignals;
    /** Number of allocations that are named. */
    uint32_t accessCount;
    /** The allocations that the batch uses, as far as the program wants to say. NULL if accessCount
     * is 0. */
    const MaarCaptureAccess* pAccesses;
} MaarCaptureSubmitInfo;

/**
 * Begins to write what the allocator does into a new file. What is alive at this moment comes
 * first: memory, and each allocation as a range. Afterwards, each event is written when it happens.
 * A file of a program that is killed can be read up to its last moment.
 *
 * An allocation that is freed after points ends in the file when its bytes come free. A buffer or
 * an image that Maar creates during the capture is written with its kind, and later with its end;
 * one that is older is a range, as are allocations for objects that the program creates itself. A
 * buffer of slices is one buffer. A full disk, and maxBytes, end the capture and nothing else.
 *
 * Reads the budgets from the driver. Takes 280 KiB of host memory until maarEndCapture, and 40
 * bytes for each buffer and image of the capture.
 *
 * @param allocator  not null; it writes no other capture
 * @param pInfo      the file; Maar keeps no pointer to it
 * @return VK_SUCCESS; VK_ERROR_INITIALIZATION_FAILED, if the file exists or cannot be created;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT: also during a capture
 * @threadsafety internally synchronized
 * @lifetime the capture ends with maarEndCapture, or with the allocator: then the file shows what
 *           was alive as leaks
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarBeginCapture(MaarAllocator allocator,
                                              const MaarCaptureBeginInfo* pInfo);

/**
 * Ends the capture and completes its file. Waits until other threads have written the entries that
 * they are writing.
 *
 * @param allocator  not null
 * @return VK_SUCCESS; VK_INCOMPLETE, if the capture had ended before, because the disk was full or
 *         the file had reached maxBytes: the file is good up to there;
 *         VK_ERROR_VALIDATION_FAILED_EXT: also without a capture
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarEndCapture(MaarAllocator allocator);

/**
 * Writes that a frame was presented. Does nothing without a capture. Reads the budgets from the
 * driver, at most each 100 ms.
 *
 * @param allocator  not null
 * @param queue      the queue; may be VK_NULL_HANDLE
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCaptureFrame(MaarAllocator allocator, VkQueue queue);

/**
 * Writes a text with the present time, such as "level 3 loaded". Does nothing without a capture.
 * Never calls the driver.
 *
 * @param allocator  not null
 * @param pText      the text; UTF-8. It is cut off after 57,000 bytes
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCaptureMark(MaarAllocator allocator, const char* pText);

/**
 * Writes a batch that the program has submitted: Maar does not see the program's submissions. Call
 * it after vkQueueSubmit, in the order of each queue. Does nothing without a capture. Never calls
 * the driver. An allocation that Maar has made for a buffer or an image stands for the object.
 *
 * @param allocator  not null
 * @param pInfo      the batch
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT: also for an allocation that
 *         is not alive; then nothing is written
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCaptureSubmit(MaarAllocator allocator,
                                               const MaarCaptureSubmitInfo* pInfo);

#ifdef __cplusplus
}
#endif

#endif
