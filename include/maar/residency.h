/** @file
 * maar/residency.h: objects that need more memory than there is.
 *
 * A manager keeps *residents*: buffers and images whose contents lie in one of four tiers: on the
 * device, in host memory, compressed in host memory, or in a file. Around each submission the
 * program says what the submission uses:
 *
 *  1. maarBeginUse makes all of it present, and pins it. Other residents make room: those that are
 *     needed last, as far as their past shows it. It answers with the Vulkan objects of the
 *     residents, which may be other ones than last time, and with the points that the submission
 *     waits for.
 *  2. The program submits.
 *  3. maarEndUse takes the points of the submission, and unpins. maarCancelUse is for a submission
 *     that is not made.
 *
 * maarUpdateResidency, once a frame, follows the budgets and prepares what comes next.
 * maarWorkResidency does the work of the host (compression and files) on whichever threads the
 * program gives it; Maar starts none.
 *
 * A resident is created without memory and without contents. Its contents are defined by its first
 * use that writes. From then on they are kept, whatever happens to the object, until the resident
 * is destroyed. The exceptions are discardable residents, and contents that were lost to the
 * device or to a file, which the manager reports once.
 *
 * Copies between the tiers run on one queue. A resident that is not shared between queue families
 * belongs to the family of this queue.
 *
 * The general rules of maar/allocator.h hold here too. A manager and its residents belong to one
 * thread at a time: "externally synchronized" means that the program synchronizes all calls on the
 * manager, except maarWorkResidency and maarYieldResidency.
 */
#ifndef MAAR_RESIDENCY_H
#define MAAR_RESIDENCY_H

#include "maar/paging.h"
#include "maar/stores.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A manager of residents. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarResidency)
/** A buffer or an image whose contents may lie elsewhere than on the device. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarResident)
/** The residents of one submission, pinned. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarUse)

/** Contents of residents in a file: see maar/checkpoint.h. */
VK_DEFINE_HANDLE(MaarCheckpoint)

/** Where contents lie. */
typedef enum MaarTier {
    /** Nowhere: there are no contents yet, or they were dropped or lost. */
    MAAR_TIER_NONE = 0,
    /** Memory of the preferred type, in most cases the device's own. */
    MAAR_TIER_DEVICE = 1,
    /** Memory of the host that the device can read. */
    MAAR_TIER_HOST = 2,
    /** Compressed, in memory of the host that only the host can read. */
    MAAR_TIER_COMPRESSED = 3,
    /** A file. */
    MAAR_TIER_FILE = 4,
    /** The number of tiers, with MAAR_TIER_NONE. */
    MAAR_TIER_COUNT = 5,
    /** Reserves the enumeration's size. */
    MAAR_TIER_MAX_ENUM = 0x7FFFFFFF
} MaarTier;

/* ---------------------------------------------------------------------------------------------- */
/* The manager */
/* ---------------------------------------------------------------------------------------------- */

/** Why contents went from one tier to another. */
typedef enum MaarResidencyReason {
    /** A use needs them. */
    MAAR_RESIDENCY_REASON_USE = 0,
    /** Other residents need the room. */
    MAAR_RESIDENCY_REASON_ROOM = 1,
    /** The budget of the tier has become smaller. */
    MAAR_RESIDENCY_REASON_BUDGET = 2,
    /** The program asked for it: maarPrefetchResidents. */
    MAAR_RESIDENCY_REASON_REQUEST = 3,
    /** A copy was made ahead of need, so that a later eviction costs nothing. */
    MAAR_RESIDENCY_REASON_AHEAD = 4,
    /** They could not be read. */
    MAAR_RESIDENCY_REASON_LOST = 5,
    /** Reserves the enumeration's size. */
    MAAR_RESIDENCY_REASON_MAX_ENUM = 0x7FFFFFFF
} MaarResidencyReason;

/** A change of tiers. */
typedef struct MaarResidencyEvent {
    /** The resident. */
    MaarResident resident;
    /** MaarResidentCreateInfo::pUserData */
    void* pUserData;
    /** Where the contents were. */
    MaarTier from;
    /** Where they are, or will be when the submission or the work has ended. */
    MaarTier to;
    /** Why. */
    MaarResidencyReason reason;
    /** Bytes that are copied, compressed, read or written for it; 0 if a copy was there. */
    VkDeviceSize size;
} MaarResidencyEvent;

/** Receives events, in the thread of the call that causes them. Must not call the manager. */
typedef void(VKAPI_PTR* PFN_maarResidencyEvent)(void* pUserData, const MaarResidencyEvent* pEvent);

/** Bits of MaarResidencyCreateInfo::flags. */
typedef enum MaarResidencyCreateFlagBits {
    /** For debugging: contents that leave the device because a lower tier has them are compared
     * with those that came, and a resident that was written by uses with MAAR_ACCESS_READ_BIT alone
     * is reported once. Costs a copy and a wait for each resident that leaves. */
    MAAR_RESIDENCY_CREATE_CHECK_READS_BIT = 0x1,
    /** Reserves the enumeration's size. */
    MAAR_RESIDENCY_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarResidencyCreateFlagBits;
/** Any of MaarResidencyCreateFlagBits. */
typedef VkFlags MaarResidencyCreateFlags;

/** How to create a manager. Zero is the default of every field but sType. */
typedef struct MaarResidencyCreateInfo {
    /** MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain: MaarResidencyPolicy. */
    const void* pNext;
    /** See MaarResidencyCreateFlagBits. */
    MaarResidencyCreateFlags flags;
    /** Index into MaarAllocatorCreateInfo::pQueues of the queue that copies. For residents with a
     * depth or stencil aspect it does graphics. */
    uint32_t queueIndex;
    /** Bytes of device memory for residents: the sum of the VkDeviceMemory objects of the manager
     * never exceeds it. 0: what the budget of the device memory's heap leaves beside the
     * allocator's other blocks in use, read anew by each update, though room for the largest
     * resident. After a fall a rise counts when some updates in a row have seen it. */
    VkDeviceSize deviceBudget;
    /** Bytes of host memory that the device can read, for contents that are not on the device and
     * for copies under way. At least twice the bytes of the largest resident. 0: as many bytes as
     * the budget of the device has at first. */
    VkDeviceSize hostBudget;
    /** Bytes of host memory for compressed contents; 0: none. */
    VkDeviceSize compressedBudget;
    /** How to compress; NULL: the library that Maar was built with, or, without one, zero pages and
     * repeated patterns alone. Copied. */
    const MaarCompressor* pCompressor;
    /** Where contents go for which the other tiers have no room; NULL: nowhere. Copied, except what
     * it points to. */
    const MaarFileStore* pFileStore;
    /** Receives events; may be NULL. */
    PFN_maarResidencyEvent pfnEvent;
    /** Passed to pfnEvent. */
    void* pUserData;
    /** Name for messages, copied; may be NULL. */
    const char* pName;
} MaarResidencyCreateInfo;

/**
 * Creates a manager. Makes a timeline semaphore and command buffers; residents get their memory
 * when they are used.
 *
 * @param allocator    not null; with timeline semaphores and a queue
 * @param pCreateInfo  not NULL
 * @param pResidency   receives the manager
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT without timeline semaphores, or when functions
 *         for copies are missing; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyResidency before the allocator
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateResidency(MaarAllocator allocator,
                                                 const MaarResidencyCreateInfo* pCreateInfo,
                                                 MaarResidency* pResidency);

/**
 * Destroys a manager and its residents. Waits for its own copies, and for the points that
 * maarEndUse was given. No thread may be in maarWorkResidency.
 *
 * @param allocator  not null
 * @param residency  may be VK_NULL_HANDLE
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarDestroyResidency(MaarAllocator allocator, MaarResidency residency);

/** What a tier holds, and what went there. */
typedef struct MaarTierInfo {
    /** Bytes that the tier may hold. */
    VkDeviceSize budget;
    /** Bytes that it holds: on the device, those of the manager's VkDeviceMemory objects, and of
     * pages. */
    VkDeviceSize size;
    /** Most bytes that it has held. */
    VkDeviceSize peakSize;
    /** Bytes of residents in it. A resident may have copies in several tiers. */
    VkDeviceSize residentSize;
    /** Residents in it. */
    uint32_t residentCount;
    /** Contents that were brought to the tier from one below it: restored. */
    uint64_t restoredCount;
    /** Bytes of these. */
    uint64_t restoredSize;
    /** Contents that were copied to the tier from one above it. */
    uint64_t savedCount;
    /** Bytes of these. */
    uint64_t savedSize;
    /** Contents that left the tier without a copy, because one was there already. */
    uint64_t cleanCount;
    /** Bytes of these. */
    uint64_t cleanSize;
} MaarTierInfo;

/** The state of a manager. */
typedef struct MaarResidencyInfo {
    /** MAAR_STRUCTURE_TYPE_RESIDENCY_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The tiers, by MaarTier. */
    MaarTierInfo tiers[MAAR_TIER_COUNT];
    /** Residents. */
    uint32_t residentCount;
    /** Uses that have begun, and neither ended nor were cancelled. */
    uint32_t useCount;
    /** Pins of all these uses. */
    uint32_t pinCount;
    /** Uses so far. */
    uint64_t begunCount;
    /** Calls of maarBeginUse that returned VK_NOT_READY. */
    uint64_t notReadyCount;
    /** Residents that uses had in host memory although they wanted them on the device. */
    uint64_t demotedCount;
    /** Submissions of copies. */
    uint64_t submissionCount;
    /** Pieces of work that wait for maarWorkResidency, and those whose transfers the system makes
     * meanwhile (MAAR_FILE_TRANSFER_PATH_IO_URING). */
    uint32_t workCount;
    /** Residents whose contents were lost. */
    uint64_t lostCount;
    /** Transfers of the file. */
    MaarFileTransfers fileTransfers;
} MaarResidencyInfo;

/**
 * Reads the state of a manager. Does not call the driver.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetResidencyInfo(MaarAllocator allocator, MaarResidency residency,
                                                  MaarResidencyInfo* pInfo);

/* ---------------------------------------------------------------------------------------------- */
/* Residents */
/* ---------------------------------------------------------------------------------------------- */

/** Bits of MaarResidentCreateInfo::flags. */
typedef enum MaarResidentCreateFlagBits {
    /** The program can make the contents anew: they are dropped when others need the room. A use
     * that reads them finds MaarResidentObject::isFresh set. */
    MAAR_RESIDENT_CREATE_DISCARDABLE_BIT = 0x1,
    /** The device address of a buffer with SHADER_DEVICE_ADDRESS usage may change. Without this bit
     * such a buffer is refused. */
    MAAR_RESIDENT_CREATE_ADDRESS_MAY_CHANGE_BIT = 0x2,
    /** The manager never compresses the contents: they are known not to shrink. */
    MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT = 0x4,
    /** The buffer of pBufferInfo is stitched: made of pages, so that pieces of memory serve it, and
     * its handle and device address never change. Needs MaarPagingInfo::sparseReservations. It is
     * not demoted. */
    MAAR_RESIDENT_CREATE_STITCHED_BIT = 0x8,
    /** Reserves the enumeration's size. */
    MAAR_RESIDENT_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarResidentCreateFlagBits;
/** Any of MaarResidentCreateFlagBits. */
typedef VkFlags MaarResidentCreateFlags;

/** Reads bytes of a source that never changes, such as a file of weights.
 *
 * @param pUserData  MaarResidentCreateInfo::pSourceUserData
 * @param size       bytes: MaarResidentInfo::contentSize
 * @param pData      receives them. For an image: level after level, in each level its aspects, in
 *                   each aspect its layers, texel blocks tightly packed; each aspect of a level
 *                   begins at a multiple of its texel block, or of four of them if a block is no
 *                   multiple of 4 bytes
 * @return VK_SUCCESS, or an error: then the contents are lost */
typedef VkResult(VKAPI_PTR* PFN_maarResidentRead)(void* pUserData, VkDeviceSize size, void* pData);

/** How to create a resident. Zero is the default of every field but sType and one of pBufferInfo,
 * pImageInfo, reservation, sparseImage and array. */
typedef struct MaarResidentCreateInfo {
    /** MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarResidentCreateFlagBits. */
    MaarResidentCreateFlags flags;
    /** The buffer, or NULL. What MaarMovableInfo says of create infos holds here. */
    const VkBufferCreateInfo* pBufferInfo;
    /** The image, or NULL. Its initial layout is VK_IMAGE_LAYOUT_UNDEFINED. Images of several
     * samples, of several planes, or of formats whose texels Maar cannot count are refused unless
     * they are discardable. */
    const VkImageCreateInfo* pImageInfo;
    /** Pages of a sparse reservation, or VK_NULL_HANDLE: the buffer and its device address stay.
     * The pages have no memory now. While the resident lives, only the manager commits them and
     * gives them back, and the reservation stays alive. They count in the budget of the device as
     * bytes of pages; the page blocks are those of the reservation's pool. */
    MaarReservation reservation;
    /** Where the range begins, bytes: a multiple of MaarReservationInfo::pageSize. */
    VkDeviceSize offset;
    /** Bytes of the range: whole pages, or up to the end; VK_WHOLE_SIZE: the rest. */
    VkDeviceSize size;
    /** A partially resident image, or VK_NULL_HANDLE: all its tiles and mip tails come and go
     * together, and the image stays. It has one aspect, and no committed tiles now. Otherwise as
     * `reservation`. */
    MaarSparseImage sparseImage;
    /** A growable array on sparse pages, or VK_NULL_HANDLE: the elements that it has when a use
     * that writes ends come and go together, and its buffer and device address stay. It is empty
     * and has no memory now; it gets capacity for `size` bytes, in whole pages. While the resident
     * lives, the array stays alive, elements are appended within this capacity, and
     * maarResizeResident changes it. Afterwards it is empty. Otherwise as `reservation`. */
    MaarArray array;
    /** 0 to 7: residents of a lower class make room before those of a higher one. */
    uint32_t priorityClass;
    /** Reads the contents that the resident has at first, and after each loss; NULL: it has none.
     * Called by maarWorkResidency, on any thread, for one resident by one thread at a time. */
    PFN_maarResidentRead pfnRead;
    /** Passed to pfnRead. Valid until the resident has been destroyed and no thread is in
     * maarWorkResidency. */
    void* pSourceUserData;
    /** Names the contents in checkpoints; 0: they are in none. */
    uint64_t key;
    /** A checkpoint, or VK_NULL_HANDLE. If it has contents of this size under the key, the resident
     * has them at first, and pfnRead is not used. It lives as long as the resident. */
    MaarCheckpoint checkpoint;
    /** Kept with the resident, and passed in events. */
    void* pUserData;
    /** Name for messages, dumps and captures, copied; may be NULL. */
    const char* pName;
} MaarResidentCreateInfo;

/**
 * Creates a resident. It has no memory before its first use.
 *
 * @param allocator    not null
 * @param residency    not null
 * @param pCreateInfo  not NULL
 * @param pResident    receives the resident
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_POOL_MEMORY for a resident that the budgets can never hold
 *         (the message gives the figures); VK_ERROR_FEATURE_NOT_PRESENT and
 *         VK_ERROR_FORMAT_NOT_SUPPORTED for an object that cannot be created anew or copied; what
 *         vkCreateBuffer or vkCreateImage return; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @lifetime destroy it with maarDestroyResident; maarDestroyResidency destroys it at the latest
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateResident(MaarAllocator allocator, MaarResidency residency,
                                                const MaarResidentCreateInfo* pCreateInfo,
                                                MaarResident* pResident);

/**
 * Destroys a resident. Its memory is free when the points of its uses have passed. A resident that
 * a use has pinned is not destroyed: the call reports this.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param resident   may be VK_NULL_HANDLE
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarDestroyResident(MaarAllocator allocator, MaarResidency residency,
                                             MaarResident resident);

/**
 * Gives a resident that is a growable array a new number of elements: the only way to change its
 * capacity. A use that reads or writes it, or the first one that writes, has pinned it. Where it
 * grows beyond its capacity, other residents make room, as for the use; where less than half of
 * the capacity is needed, the rest is given back after the uses that have ended: the use that pins
 * it does not touch it any more. Either drops the copies in lower tiers. Most calls change a number
 * alone.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param resident   created with MaarResidentCreateInfo::array, and pinned
 * @param count      elements from then on; new ones are undefined
 * @param pWait      receives the point that submissions wait for that use new elements; its
 *                   semaphore is VK_NULL_HANDLE if there is none
 * @return VK_SUCCESS; VK_NOT_READY when a copy has not ended without which nothing can make room;
 *         VK_ERROR_OUT_OF_POOL_MEMORY when the array or the budgets are too small;
 *         what the driver returns for memory and submissions; VK_ERROR_VALIDATION_FAILED_EXT. On
 *         failure the array keeps its elements
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarResizeResident(MaarAllocator allocator, MaarResidency residency,
                                                MaarResident resident, uint64_t count,
                                                MaarPoint* pWait);

/** The object of a resident. */
typedef struct MaarResidentObject {
    /** The buffer, or VK_NULL_HANDLE. */
    VkBuffer buffer;
    /** The image, or VK_NULL_HANDLE. */
    VkImage image;
    /** The device address of its first byte, for buffers with that usage; else 0. Of a range of a
     * reservation, `buffer` is the whole one. */
    VkDeviceAddress address;
    /** Grows with each change of the object: views and descriptors of another epoch are stale. */
    uint64_t epoch;
    /** The layout of the image: VK_IMAGE_LAYOUT_UNDEFINED if isFresh is set. */
    VkImageLayout layout;
    /** MAAR_TIER_DEVICE, or MAAR_TIER_HOST for a buffer that was demoted; MAAR_TIER_NONE: there is
     * no object now. */
    MaarTier tier;
    /** VK_TRUE: the contents are undefined. */
    VkBool32 isFresh;
} MaarResidentObject;

/** The state of a resident. */
typedef struct MaarResidentInfo {
    /** MAAR_STRUCTURE_TYPE_RESIDENT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Its object now. */
    MaarResidentObject object;
    /** The highest tier that has its contents. */
    MaarTier tier;
    /** A bit 1 << tier for each tier that has a valid copy. */
    uint32_t tierBits;
    /** Bytes of memory of its object. */
    VkDeviceSize size;
    /** Bytes of its contents: of the buffer, or of the texels of all levels and layers. */
    VkDeviceSize contentSize;
    /** Bytes of its compressed copy; 0: it has none. */
    VkDeviceSize compressedSize;
    /** Uses that pin it, and locks. */
    uint32_t pinCount;
    /** As given. */
    uint32_t priorityClass;
    /** As given. */
    void* pUserData;
} MaarResidentInfo;

/**
 * Reads the state of a resident. Does not call the driver.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param resident   not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetResidentInfo(MaarAllocator allocator, MaarResidency residency,
                                                 MaarResident resident, MaarResidentInfo* pInfo);

/* ---------------------------------------------------------------------------------------------- */
/* Uses */
/* ---------------------------------------------------------------------------------------------- */

/** Bits of MaarResidentUse::access. */
typedef enum MaarAccessFlagBits {
    /** The contents are read. A copy in a lower tier stays valid. */
    MAAR_ACCESS_READ_BIT = 0x1,
    /** The contents are changed in part. Implies MAAR_ACCESS_READ_BIT. */
    MAAR_ACCESS_WRITE_BIT = 0x2,
    /** All contents are written before they are read: nothing is restored, and the contents before
     * the use are lost when it ends. */
    MAAR_ACCESS_OVERWRITE_BIT = 0x4,
    /** Reserves the enumeration's size. */
    MAAR_ACCESS_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarAccessFlagBits;
/** Any of MaarAccessFlagBits. */
typedef VkFlags MaarAccessFlags;

/** What a submission does with a resident. */
typedef struct MaarResidentUse {
    /** Which. A resident may be named several times: the accesses are joined, and the last layout
     * counts. */
    MaarResident resident;
    /** At least one of MaarAccessFlagBits. */
    MaarAccessFlags access;
    /** The layout in which the submission leaves the image; VK_IMAGE_LAYOUT_UNDEFINED: the one in
     * which it finds the image, which is not allowed for a use that gives the image its contents:
     * with MAAR_ACCESS_OVERWRITE_BIT, and for the first one that writes. */
    VkImageLayout finalLayout;
} MaarResidentUse;

/** Bits of MaarUseBeginInfo::flags. */
typedef enum MaarUseFlagBits {
    /** Buffers for which the device has no room are used in host memory, over the bus. So are those
     * that would displace what has come to the device for one of the last uses: where sets take
     * turns that do not fit together, parts of them stay where they are. */
    MAAR_USE_MAY_DEMOTE_BIT = 0x1,
    /** The call does the host's work that stands in the way itself, and waits for copies of the
     * manager's own, rather than return VK_NOT_READY. */
    MAAR_USE_WAIT_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_USE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarUseFlagBits;
/** Any of MaarUseFlagBits. */
typedef VkFlags MaarUseFlags;

/** What maarBeginUse needs. */
typedef struct MaarUseBeginInfo {
    /** MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarUseFlagBits. */
    MaarUseFlags flags;
    /** How many residents, at least 1. */
    uint32_t useCount;
    /** The residents, in the order in which the submission uses them. */
    const MaarResidentUse* pUses;
} MaarUseBeginInfo;

/** What maarBeginUse answers, besides the objects. */
typedef struct MaarUseInfo {
    /** MAAR_STRUCTURE_TYPE_USE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** VK_TRUE: the submission waits for `wait`. */
    VkBool32 mustWait;
    /** The point after which everything is in place. */
    MaarPoint wait;
    /** Residents whose contents are undefined. */
    uint32_t freshCount;
    /** Bytes that were restored to the device. */
    VkDeviceSize restoredSize;
    /** Bytes that left the device, clean ones included. */
    VkDeviceSize evictedSize;
    /** Bytes of residents that are used in host memory. */
    VkDeviceSize demotedSize;
    /** With VK_NOT_READY: bytes that the host must read or unpack first. */
    VkDeviceSize queuedSize;
    /** With VK_ERROR_OUT_OF_POOL_MEMORY: bytes that the budget of the device lacks. */
    VkDeviceSize missingSize;
} MaarUseInfo;

/**
 * Makes the residents of a submission present and pins them: all of them, or none. May evict other
 * residents, create and bind objects, and submit copies to the manager's queue. Never waits, except
 * with MAAR_USE_WAIT_BIT.
 *
 * @param allocator   not null
 * @param residency   not null
 * @param pBeginInfo  not NULL
 * @param pObjects    receives the objects in the order of pUses; may be NULL
 * @param pInfo       sType and pNext set by the caller; the rest is filled, on failure too; may be
 *                    NULL
 * @param pUse        receives the use
 * @return VK_SUCCESS; VK_NOT_READY when contents must be read or unpacked by the host first (the
 *         work is queued: maarWorkResidency does it; call again afterwards), or when a copy has not
 *         ended without which nothing can make room; VK_ERROR_OUT_OF_POOL_MEMORY when the residents
 *         do not fit beside what is pinned: the message and pInfo->missingSize give the bytes, so
 *         that the program can split the submission; VK_ERROR_INITIALIZATION_FAILED when the
 *         contents of a resident were lost and its use reads them (reported once for each loss;
 *         later uses find isFresh set); what the driver returns for objects, memory and
 *         submissions; VK_ERROR_VALIDATION_FAILED_EXT. On failure nothing is pinned and all
 *         contents are kept
 * @threadsafety `residency` externally synchronized
 * @lifetime end it with maarEndUse or maarCancelUse
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarBeginUse(MaarAllocator allocator, MaarResidency residency,
                                          const MaarUseBeginInfo* pBeginInfo,
                                          MaarResidentObject* pObjects, MaarUseInfo* pInfo,
                                          MaarUse* pUse);

/**
 * Ends a use: the submission was made. The residents are unpinned, and make room from when the
 * points have passed.
 *
 * @param allocator   not null
 * @param residency   not null
 * @param use         not null
 * @param pointCount  1 to MAAR_MAX_POINTS
 * @param pPoints     points after which the submission uses nothing any more; not of the host
 *                    timeline. Their semaphores live until the manager has been destroyed
 * @return VK_SUCCESS; VK_ERROR_TOO_MANY_OBJECTS for more than MAAR_MAX_POINTS - 1 different
 *         timelines in one manager: the use has not ended then; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarEndUse(MaarAllocator allocator, MaarResidency residency,
                                        MaarUse use, uint32_t pointCount, const MaarPoint* pPoints);

/**
 * Ends a use whose submission is not made: it failed or was dropped. Contents are as they were
 * before the use. Uses of the same residents that began later are cancelled too, before it: where
 * they count on what this use would have written, the call reports them, and until they end no use
 * can read the residents.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param use        may be VK_NULL_HANDLE
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarCancelUse(MaarAllocator allocator, MaarResidency residency,
                                       MaarUse use);

/* ---------------------------------------------------------------------------------------------- */
/* What comes next */
/* ---------------------------------------------------------------------------------------------- */

/** A limit of maarUpdateResidency. Zero is the default of every field but sType. */
typedef struct MaarResidencyUpdate {
    /** MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Most bytes that this update copies from or to the device; 0: 64 MiB. A good value is what
     * the bus carries until the next update. */
    VkDeviceSize maxCopySize;
    /** Most residents that it copies; 0: 128. */
    uint32_t maxCopyCount;
    /** Nanoseconds of the host after which it takes up nothing more, though one resident of each
     * kind of work; 0: no limit. */
    uint64_t maxTime_ns;
} MaarResidencyUpdate;

/**
 * Does what need not wait for a use: notes which copies and which work have ended, reads the
 * heap's budget, evicts what exceeds the budgets, restores what maarPrefetchResidents has named,
 * and copies residents that will make room next, so that they can leave at once. Call it once a
 * frame. Never waits.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param pUpdate    limits; NULL for the defaults
 * @return VK_SUCCESS; what the driver returns for objects, memory and submissions: then what was
 *         not done stays to be done; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarUpdateResidency(MaarAllocator allocator, MaarResidency residency,
                                                 const MaarResidencyUpdate* pUpdate);

/**
 * Sets the budget of a tier. The following updates and uses reach a smaller one.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param tier       MAAR_TIER_DEVICE to MAAR_TIER_COMPRESSED
 * @param budget     bytes; for MAAR_TIER_DEVICE 0 follows the heap's budget. The device's budget
 *                   and the host's hold the largest resident, and that of the host holds it twice
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSetResidencyBudget(MaarAllocator allocator,
                                                    MaarResidency residency, MaarTier tier,
                                                    VkDeviceSize budget);

/**
 * Says that residents will be used soon, in this order. The following updates bring them to the
 * device, those of the last call first, as far as that evicts only what is needed later: what is
 * known to come again must do so a third later at least. A hint: it never fails for want of room.
 * Name also what is on the device already: it stays then. A hint holds until its resident is used,
 * or until calls after an update have named others.
 *
 * @param allocator      not null
 * @param residency      not null
 * @param residentCount  how many
 * @param pResidents     the residents; each is expected after the uses of those before it. Of one
 *                       that is named several times, the first place counts
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, when nothing was noted
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarPrefetchResidents(MaarAllocator allocator, MaarResidency residency,
                                                   uint32_t residentCount,
                                                   const MaarResident* pResidents);

/**
 * Says that a resident will not be used for long: it makes room before others of its class.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param resident   not null
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarEvictResident(MaarAllocator allocator, MaarResidency residency,
                                               MaarResident resident);

/**
 * Locks a resident: where it is on the device, it stays there, until maarUnlockResident was called
 * as often. To bring it there, use it.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param resident   not null
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarLockResident(MaarAllocator allocator, MaarResidency residency,
                                              MaarResident resident);

/**
 * Takes back a lock.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param resident   locked
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety `residency` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarUnlockResident(MaarAllocator allocator, MaarResidency residency,
                                                MaarResident resident);

/**
 * Gives memory back to the driver, for a request that would fail or for another interface: to be
 * called by MaarAllocatorCreateInfo::pfnOutOfMemory. Residents that nothing pins or locks leave the
 * device, a VkDeviceMemory at a time: first those that are clean and idle, which are free at once.
 * With a timeout also those that must be copied first, or that uses and copies have not left yet;
 * the call then waits for them. Where memory of the host is wanted, copies there end of which the
 * device or a lower tier has another one. The budget of the device is lowered by what was given up,
 * until an update finds that the heap has room again. In the middle of another call on the manager
 * of this thread, as when its own request for memory has failed, nothing is given up.
 *
 * Calls on the manager wait while this one chooses and submits, not while it waits. With a timeout
 * it may submit: the queue then has a lock (MaarQueue::pfnLock) if other threads use it. Events,
 * and the functions of a policy of the program's, come in this thread.
 *
 * @param allocator       not null
 * @param residency       not null
 * @param memoryTypeBits  whose heaps shall have the memory: for the preferred type of a request 1
 * << MaarOutOfMemoryInfo::memoryTypeIndex
 * @param size            bytes, at least 1
 * @param timeout_ns      longest wait for another call on the manager, and for the device, in
 *                        nanoseconds; 0: gives up what is clean and idle
 * @param pReleased       receives the bytes that have been released; may be NULL
 * @return VK_SUCCESS when `size` bytes or more have been released; VK_INCOMPLETE for fewer bytes,
 *         or none: what still waits for the device comes free later; VK_NOT_READY when another call
 *         on the manager did not end in time, or this one is made in the middle of one;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; what the driver returns for submissions;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized: any thread, at any time between the creation and the
 *               destruction of the manager
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarYieldResidency(MaarAllocator allocator, MaarResidency residency,
                                                uint32_t memoryTypeBits, VkDeviceSize size,
                                                uint64_t timeout_ns, VkDeviceSize* pReleased);

/**
 * Does work of the host: compresses, unpacks, reads and writes. The results take effect in the next
 * call of maarBeginUse or maarUpdateResidency. Does not call the driver.
 *
 * Where the system makes the transfers of the file by itself, several are under way at once. A call
 * without a limit returns when all have ended. One with a limit returns when it has begun so many
 * pieces; a later call, of this function, maarBeginUse or maarUpdateResidency, ends them. With
 * nothing else to do it sleeps until one has ended.
 *
 * @param allocator  not null
 * @param residency  not null
 * @param maxCount   most pieces of work, each of one resident; 0: all that there is
 * @param pDone      receives the number of pieces that were ended; may be NULL
 * @return VK_SUCCESS; VK_INCOMPLETE if there is more to do; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized: any number of threads, at any time between the creation
 *               and the destruction of the manager
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarWorkResidency(MaarAllocator allocator, MaarResidency residency,
                                               uint32_t maxCount, uint32_t* pDone);

#ifdef __cplusplus
}
#endif

#endif
