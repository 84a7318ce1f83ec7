/** @file
 * maar/checkpoint.h: the contents of residents in a file, for another process or another device.
 *
 * A program gives each resident that a checkpoint shall have a key. maarWriteCheckpoint writes the
 * contents of all of them to a file store. Later, or elsewhere, maarOpenCheckpoint opens the file,
 * and residents that are created with the checkpoint and a key have the contents written under that
 * key: they are read when a use needs them.
 *
 * After the loss of a device, contents that were only in its memory or in host memory that it can
 * write to are lost. What was compressed or in a file survives: maarWriteCheckpoint writes that,
 * counts the others, and works although the device is lost. A program that must lose nothing writes
 * checkpoints from time to time.
 *
 * A checkpoint that was cut off while it was written, truncated or altered is noticed: it does not
 * open, or the contents concerned are not handed out.
 */
#ifndef MAAR_CHECKPOINT_H
#define MAAR_CHECKPOINT_H

#include "maar/residency.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What maarWriteCheckpoint has written. */
typedef struct MaarCheckpointInfo {
    /** MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Residents that were written. */
    uint32_t entryCount;
    /** Residents with a key whose contents could not be had: they are not in the checkpoint. */
    uint32_t missingCount;
    /** Bytes of the contents. */
    VkDeviceSize contentSize;
    /** Bytes of the file that were written. */
    VkDeviceSize fileSize;
} MaarCheckpointInfo;

/**
 * Writes the contents of all residents with a key (MaarResidentCreateInfo::key) to a file store.
 * Residents without contents are left out, and so are those whose contents their source still has.
 * Waits for the uses of the residents and for copies of its own, for which host memory may exceed
 * its budget, by an eighth and eight times the largest resident, until the next updates. What the
 * store had before is overwritten, beginning with what makes it a checkpoint.
 *
 * @param allocator   not null
 * @param residency   not null; no use has begun and not ended
 * @param pFileStore  not NULL; another one than that of the manager
 * @param pInfo       sType and pNext set by the caller; the rest is filled; may be NULL
 * @return VK_SUCCESS; VK_INCOMPLETE: contents of some residents could not be had, and the others
 *         were written; VK_ERROR_OUT_OF_POOL_MEMORY: the store is too small; what the store's
 *         functions return; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT, also for
 *         two residents with one key. After an error the store has no checkpoint
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarWriteCheckpoint(MaarAllocator allocator, MaarResidency residency,
                                                 const MaarFileStore* pFileStore,
                                                 MaarCheckpointInfo* pInfo);

/** What maarOpenCheckpoint needs. */
typedef struct MaarCheckpointOpenInfo {
    /** MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The file; copied, except what it points to, which lives as long as the checkpoint. */
    const MaarFileStore* pFileStore;
    /** The compressor of the manager that wrote the checkpoint; NULL: as there. */
    const MaarCompressor* pCompressor;
    /** For host memory; NULL for the C library's. */
    const VkAllocationCallbacks* pAllocationCallbacks;
} MaarCheckpointOpenInfo;

/**
 * Opens a checkpoint. Reads and checks the list of its entries.
 *
 * @param pOpenInfo    not NULL
 * @param pCheckpoint  receives the checkpoint
 * @return VK_SUCCESS; VK_ERROR_INITIALIZATION_FAILED if the file has no whole checkpoint; what
 *         pfnRead returns; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime close it with maarCloseCheckpoint
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarOpenCheckpoint(const MaarCheckpointOpenInfo* pOpenInfo,
                                                MaarCheckpoint* pCheckpoint);

/**
 * Closes a checkpoint. No resident that was created with it lives, and no thread reads it.
 *
 * @param checkpoint  may be VK_NULL_HANDLE
 * @threadsafety `checkpoint` externally synchronized
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarCloseCheckpoint(MaarCheckpoint checkpoint);

/** Contents in a checkpoint. */
typedef struct MaarCheckpointEntry {
    /** MaarResidentCreateInfo::key */
    uint64_t key;
    /** Bytes: MaarResidentInfo::contentSize. */
    VkDeviceSize size;
} MaarCheckpointEntry;

/**
 * Lists the entries of a checkpoint by rising keys.
 *
 * @param checkpoint  not null
 * @param pCount      in: room in pEntries; out: entries written, or their number if pEntries is
 * NULL
 * @param pEntries    receives the entries; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarEnumerateCheckpoint(MaarCheckpoint checkpoint, uint32_t* pCount,
                                                     MaarCheckpointEntry* pEntries);

/**
 * Reads the contents under a key. Managers call this for residents that were created with the
 * checkpoint; programs may, too.
 *
 * @param checkpoint  not null
 * @param key         of an entry
 * @param size        bytes: those of the entry
 * @param pData       receives them; undefined after an error
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT: no entry has this key and size;
 *         VK_ERROR_UNKNOWN: the bytes in the file are not those that were written; what pfnRead
 *         returns; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarReadCheckpoint(MaarCheckpoint checkpoint, uint64_t key,
                                                VkDeviceSize size, void* pData);

#ifdef __cplusplus
}
#endif

#endif
