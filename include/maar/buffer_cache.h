/** @file
 * maar/buffer_cache.h: data in buffers that is larger than memory. A buffer cache keeps those
 * *items* (ranges of one reservation: layers, tensors, meshes) in memory that submissions use, as
 * many as a budget of bytes allows. Items are read-only: their bytes come from a source of the
 * program, such as a file, and an item that makes room is not copied anywhere.
 *
 * Around each submission:
 * 1. maarBeginBufferUse names the items. It pins them, evicts others where there is no room,
 *    commits pages and uploads what is missing. It answers with the point that the submission
 *    waits for.
 * 2. The program submits. The items lie at their offsets in the buffer of the reservation.
 * 3. maarEndBufferUse takes the points of the submission, and unpins. maarCancelBufferUse is for a
 *    submission that is not made.
 *
 * Bytes reach the staging memory in one of two ways. A cache with pfnFill calls this function
 * within maarBeginBufferUse and maarPrefetchBufferItems. Without it, the program fills the uploads
 * that maarTakeBufferUploads hands out, on any thread, and passes them to maarSubmitBufferUploads.
 *
 * The calls submit binds as maarSubmitBinds does, and copies to one queue of the allocator. Pages
 * that are given back are unbound when the last submission that used them has ended. No call waits
 * for the device, except with MAAR_BUFFER_USE_WAIT_BIT.
 *
 * The general rules of maar/allocator.h and maar/paging.h hold here too.
 */
#ifndef MAAR_BUFFER_CACHE_H
#define MAAR_BUFFER_CACHE_H

#include "maar/paging.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A cache that decides which ranges of a reservation have memory and contents. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarBufferCache)

/* ---------------------------------------------------------------------------------------------- */
/* The cache */
/* ---------------------------------------------------------------------------------------------- */

/** Most timelines of the points that maarEndBufferUse is given, in the life of one cache. */
#define MAAR_BUFFER_CACHE_MAX_TIMELINES 7u

/**
 * Writes bytes of an item to staging memory. Called in the thread of maarBeginBufferUse or
 * maarPrefetchBufferItems, with no lock held. Must not call the cache.
 *
 * @param pUserData      MaarBufferCacheCreateInfo::pUserData
 * @param item           number of the item
 * @param pItemUserData  MaarBufferItem::pUserData
 * @param offset         bytes from the start of the item
 * @param size           bytes
 * @param pData          receives them; write only
 * @return VK_SUCCESS, or an error, which the call that needs the item returns
 */
typedef VkResult(VKAPI_PTR* PFN_maarFillBufferItem)(void* pUserData, uint32_t item,
                                                    void* pItemUserData, VkDeviceSize offset,
                                                    VkDeviceSize size, void* pData);

/** How to create a buffer cache. Zero is the default of every field but sType, reservation and
 * budget. */
typedef struct MaarBufferCacheCreateInfo {
    /** MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The reservation: sparse, with TRANSFER_DST usage, not of an array, and without committed
     * pages. While the cache lives, only the cache commits and gives back pages, and the
     * reservation stays alive. If queues of several families use it, its buffer is made with
     * VK_SHARING_MODE_CONCURRENT. */
    MaarReservation reservation;
    /** Bytes that its pages may take; at least a page. Never exceeded: pages that are being filled
     * count, and so do pages that are about to be given back. */
    VkDeviceSize budget;
    /** Bytes of staging memory; 0: 64 MiB, or an eighth of the budget if that is less. Rounded to
     * whole uploads. Bytes take staging memory until their copy has been executed. */
    VkDeviceSize stagingSize;
    /** Most bytes of one upload: larger items are filled piece by piece. 0: 4 MiB. At most half
     * the staging memory. */
    VkDeviceSize uploadSize;
    /** Index into MaarAllocatorCreateInfo::pQueues of the queue that copies. */
    uint32_t queueIndex;
    /** Fills staging memory; NULL: the program calls maarTakeBufferUploads. */
    PFN_maarFillBufferItem pfnFill;
    /** Passed to pfnFill. */
    void* pUserData;
} MaarBufferCacheCreateInfo;

/** The state of a buffer cache. Counts begin with its creation. */
typedef struct MaarBufferCacheInfo {
    /** MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Its reservation. */
    MaarReservation reservation;
    /** Bytes that the pages may take. */
    VkDeviceSize budget;
    /** Bytes that they take. Above the budget only while pinned items keep a smaller budget from
     * being reached. */
    VkDeviceSize committedSize;
    /** Most bytes that they have taken. */
    VkDeviceSize peakCommittedSize;
    /** Bytes of committedSize that cannot make room: items of uses that have not ended, locked
     * items, and items that are being uploaded. */
    VkDeviceSize pinnedSize;
    /** Bytes of staging memory. */
    VkDeviceSize stagingSize;
    /** Bytes of it in use. */
    VkDeviceSize usedStagingSize;
    /** Most bytes of one upload. */
    VkDeviceSize uploadSize;
    /** Items. */
    uint32_t itemCount;
    /** Items with contents. */
    uint32_t residentCount;
    /** Uses that have begun, and neither ended nor were cancelled. */
    uint32_t useCount;
    /** Items that these uses name, together. */
    uint32_t pinCount;
    /** Uses so far. */
    uint64_t begunCount;
    /** Items of uses that had contents; each counts once in a use. */
    uint64_t hitCount;
    /** Items of uses that had none. */
    uint64_t missCount;
    /** Bytes uploaded. */
    uint64_t uploadedSize;
    /** Bytes among these of items that had contents before. */
    uint64_t restoredSize;
    /** Bytes among uploadedSize that maarPrefetchBufferItems asked for. */
    uint64_t prefetchedSize;
    /** Items that made room. */
    uint64_t evictionCount;
    /** Bytes of these. */
    uint64_t evictedSize;
    /** Submissions of copies. */
    uint64_t submissionCount;
    /** Calls that returned VK_NOT_READY, and waits with MAAR_BUFFER_USE_WAIT_BIT. */
    uint64_t stagingWaitCount;
    /** How often the device, or the heap's budget, had no memory for pages that the cache's budget
     * allowed, so that other items made room. */
    uint64_t shortageCount;
} MaarBufferCacheInfo;

/**
 * Creates a buffer cache without items, and its staging memory. Calls the driver.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pCache       receives the cache
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT for a reservation that grows by copies (there is
 *         no fallback: upload to plain buffers instead), or when functions for copies are missing;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_MEMORY_MAP_FAILED; VK_ERROR_DEVICE_LOST; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; the reservation externally
 * @lifetime destroy it with maarDestroyBufferCache before the reservation
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateBufferCache(MaarAllocator allocator,
                                                   const MaarBufferCacheCreateInfo* pCreateInfo,
                                                   MaarBufferCache* pCache);

/**
 * Destroys a buffer cache. Waits for its own copies. No thread may write to
 * MaarBufferUpload::pData any more. The reservation and its pages stay as they are: give
 * maarDestroyReservationAfter the points of the last uses.
 *
 * @param allocator  not null
 * @param cache      may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarDestroyBufferCache(MaarAllocator allocator, MaarBufferCache cache);

/**
 * Reads a buffer cache. Does not call the driver.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetBufferCacheInfo(MaarAllocator allocator, MaarBufferCache cache,
                                                    MaarBufferCacheInfo* pInfo);

/**
 * Sets the budget. Items that are not pinned make room at once; the following calls reach a budget
 * that pinned items exceed now.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param budget     bytes; at least a page
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY or
 *         VK_ERROR_DEVICE_LOST when binds cannot be submitted (the budget is set then too, and the
 *         next call goes on); VK_ERROR_TOO_MANY_OBJECTS when they would wait for more than
 *         MAAR_MAX_POINTS timelines (likewise); VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` and its reservation externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSetBufferCacheBudget(MaarAllocator allocator,
                                                      MaarBufferCache cache, VkDeviceSize budget);

/* ---------------------------------------------------------------------------------------------- */
/* Items */
/* ---------------------------------------------------------------------------------------------- */

/** A range of the reservation that comes and goes as a whole. */
typedef struct MaarBufferItem {
    /** Bytes from the start of the reservation, a multiple of its page size. */
    VkDeviceSize offset;
    /** Bytes, not 0. The item's pages, which no other item shares, are those that its bytes
     * touch. */
    VkDeviceSize size;
    /** 0 to 7: items of a lower class make room before those of a higher one. */
    uint32_t priorityClass;
    /** Kept with the item, and passed to pfnFill. */
    void* pUserData;
} MaarBufferItem;

/** The state of an item. */
typedef struct MaarBufferItemInfo {
    /** MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** As given. */
    MaarBufferItem item;
    /** Bytes of its pages. */
    VkDeviceSize pageBytes;
    /** VK_TRUE: it has pages. */
    VkBool32 committed;
    /** VK_TRUE: it has contents, as soon as `ready` has passed. */
    VkBool32 resident;
    /** The point after which its last upload has been executed; its semaphore is VK_NULL_HANDLE
     * before the first. */
    MaarPoint ready;
    /** Uses that pin it. */
    uint32_t pinCount;
    /** Locks. */
    uint32_t lockCount;
} MaarBufferItemInfo;

/**
 * Adds items, all or none. They get pages and contents when they are used.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param itemCount  how many
 * @param pItems     the items
 * @param pNumbers   receives their numbers, which are 0, 1, 2 in a new cache; may be NULL
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT, also for an item
 *         that shares a page with another one
 * @threadsafety internally synchronized; `cache` externally
 * @lifetime an item ends by maarRemoveBufferItems; its number is used again
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarAddBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                uint32_t itemCount, const MaarBufferItem* pItems,
                                                uint32_t* pNumbers);

/**
 * Removes items, all or none. Their pages are given back by the next submission of binds, after the
 * points of their last uses.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param itemCount  how many
 * @param pNumbers   the items, each named once; none of them is in a use, locked or being uploaded
 * @return VK_SUCCESS; VK_ERROR_TOO_MANY_OBJECTS when the binds would wait for more than
 * MAAR_MAX_POINTS timelines; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` and its reservation externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarRemoveBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                   uint32_t itemCount, const uint32_t* pNumbers);

/**
 * Reads the state of an item. Does not call the driver.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param item       its number
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetBufferItemInfo(MaarAllocator allocator, MaarBufferCache cache,
                                                   uint32_t item, MaarBufferItemInfo* pInfo);

/**
 * Locks items: those that have pages keep them, and the others keep them from the next use on.
 * Locks are counted.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param itemCount  how many
 * @param pNumbers   the items
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, when none was locked
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarLockBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                 uint32_t itemCount, const uint32_t* pNumbers);

/**
 * Takes back locks.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param itemCount  how many
 * @param pNumbers   the items, each named at most as often as it is locked
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, when none was unlocked
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarUnlockBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                   uint32_t itemCount, const uint32_t* pNumbers);

/* ---------------------------------------------------------------------------------------------- */
/* Uses */
/* ---------------------------------------------------------------------------------------------- */

/** Bits of MaarBufferUseBeginInfo::flags. */
typedef enum MaarBufferUseFlagBits {
    /** With pfnFill: when the staging memory is full, the call waits for copies of the cache, which
     * wait for the last uses of what made room. The missing items may then take more bytes than the
     * staging memory has, and are uploaded in several submissions. */
    MAAR_BUFFER_USE_WAIT_BIT = 0x1,
    /** Reserves the enumeration's size. */
    MAAR_BUFFER_USE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarBufferUseFlagBits;
/** Any of MaarBufferUseFlagBits. */
typedef VkFlags MaarBufferUseFlags;

/** What maarBeginBufferUse needs. */
typedef struct MaarBufferUseBeginInfo {
    /** MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarBufferUseFlagBits. */
    MaarBufferUseFlags flags;
    /** How many items, at least 1. */
    uint32_t itemCount;
    /** The items, in the order in which the submission uses them; an item may be named again. */
    const uint32_t* pItems;
} MaarBufferUseBeginInfo;

/** What maarBeginBufferUse and maarPrefetchBufferItems answer. */
typedef struct MaarBufferUseInfo {
    /** MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** VK_TRUE: the submission waits for `wait`. */
    VkBool32 mustWait;
    /** The point after which the contents are there that were submitted to be copied so far. */
    MaarPoint wait;
    /** Items that had contents, or were being uploaded. */
    uint32_t hitCount;
    /** The other items. */
    uint32_t missCount;
    /** Bytes of the items that this call uploads, or that it queued for maarTakeBufferUploads. */
    VkDeviceSize uploadSize;
    /** Bytes of the items that made room. */
    VkDeviceSize evictedSize;
    /** Bytes of the call's items whose copies are not submitted yet. After maarBeginBufferUse,
     * without pfnFill: the submission also waits for the points of the calls of
     * maarSubmitBufferUploads that submit them. After maarPrefetchBufferItems, with pfnFill:
     * following calls fill them. */
    VkDeviceSize pendingSize;
    /** With VK_ERROR_OUT_OF_POOL_MEMORY: bytes that the budget lacks, or else those that the
     * staging memory lacks. */
    VkDeviceSize missingSize;
} MaarBufferUseInfo;

/**
 * Makes the items of a submission present and pins them: all of them, or none. Evicts others where
 * the budget has no room: the cache learns from past uses which are needed last. Submits binds, and
 * with pfnFill also the copies, all in one submission unless MAAR_BUFFER_USE_WAIT_BIT is set. May
 * allocate page blocks; where the device is short of memory, other items make room first.
 *
 * @param allocator   not null
 * @param cache       not null
 * @param pBeginInfo  not NULL
 * @param pInfo       sType and pNext set by the caller; the rest is filled, on failure too; may be
 *                    NULL
 * @param pUse        receives the use, not 0
 * @return VK_SUCCESS; VK_NOT_READY when the staging memory is in use by copies that have not been
 *         executed: call again later; VK_ERROR_OUT_OF_POOL_MEMORY when the items do not fit into
 *         the budget beside what is pinned, or, without MAAR_BUFFER_USE_WAIT_BIT, not into the
 *         staging memory: the message and pInfo->missingSize give the bytes, so that the program
 *         can split the submission; what pfnFill returns; VK_ERROR_TOO_MANY_OBJECTS
 *         when the binds would wait for more than MAAR_MAX_POINTS timelines;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_DEVICE_LOST;
 *         VK_ERROR_VALIDATION_FAILED_EXT. On failure nothing is pinned, and other items may have
 *         made room
 * @threadsafety internally synchronized; `cache` and its reservation externally
 * @lifetime end it with maarEndBufferUse or maarCancelBufferUse
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarBeginBufferUse(MaarAllocator allocator, MaarBufferCache cache,
                                                const MaarBufferUseBeginInfo* pBeginInfo,
                                                MaarBufferUseInfo* pInfo, uint64_t* pUse);

/**
 * Ends a use: the submission was made. Its items may make room; their pages are unbound when the
 * points have passed. Does not call the driver.
 *
 * @param allocator   not null
 * @param cache       not null
 * @param use         from maarBeginBufferUse
 * @param pointCount  1 to MAAR_MAX_POINTS
 * @param pPoints     points of work that was submitted, after which it uses nothing any more; not
 *                    of the host timeline. Their semaphores live until the cache is destroyed
 * @return VK_SUCCESS; VK_ERROR_TOO_MANY_OBJECTS for more than MAAR_BUFFER_CACHE_MAX_TIMELINES
 *         different timelines: the use has not ended then; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarEndBufferUse(MaarAllocator allocator, MaarBufferCache cache,
                                              uint64_t use, uint32_t pointCount,
                                              const MaarPoint* pPoints);

/**
 * Ends a use whose submission is not made. Items keep their contents; uploads that
 * maarTakeBufferUploads has handed out are still passed on or cancelled.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param use        from maarBeginBufferUse; 0 does nothing
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarCancelBufferUse(MaarAllocator allocator, MaarBufferCache cache,
                                             uint64_t use);

/** What maarPrefetchBufferItems takes. */
typedef struct MaarBufferPrefetch {
    /** MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many items. */
    uint32_t itemCount;
    /** The items, in the order in which they will be used. */
    const uint32_t* pItems;
    /** Number of uses of other items before the first of them is used; each further item is
     * expected one later. */
    uint64_t distance;
    /** Most bytes that the call uploads or queues; 0: no limit. */
    VkDeviceSize maxSize;
} MaarBufferPrefetch;

/**
 * Says when items will be used, and brings them into memory as far as that evicts only what is
 * needed later, and as far as the staging memory has room. Stops at the first item for which there
 * is none. With pfnFill, an item that is larger than the free staging memory is uploaded in parts,
 * by this call and the following ones. A hint: want of room is no failure. A use that needs the
 * room of an item that only waits takes it. Does not wait for the device.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param pPrefetch  not NULL
 * @param pInfo      as in maarBeginBufferUse; may be NULL
 * @return VK_SUCCESS; what pfnFill returns; VK_ERROR_TOO_MANY_OBJECTS as in
 *         maarBeginBufferUse; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_DEVICE_LOST; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` and its reservation externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarPrefetchBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                     const MaarBufferPrefetch* pPrefetch,
                                                     MaarBufferUseInfo* pInfo);

/* ---------------------------------------------------------------------------------------------- */
/* Uploads that the program fills */
/* ---------------------------------------------------------------------------------------------- */

/** A piece of an item to be filled. */
typedef struct MaarBufferUpload {
    /** Names the upload as long as it has not ended. */
    uint64_t id;
    /** The item. */
    uint32_t item;
    /** MaarBufferItem::pUserData */
    void* pItemUserData;
    /** Bytes from the start of the item. */
    VkDeviceSize offset;
    /** Bytes. */
    VkDeviceSize size;
    /** Where they go: mapped staging memory with undefined contents. Any thread may write it. */
    void* pData;
} MaarBufferUpload;

/**
 * Hands out uploads for a cache without pfnFill: first those of uses, then those of prefetches,
 * each in the order of the calls.
 *
 * @param allocator     not null
 * @param cache         not null
 * @param pUploadCount  in: room in pUploads; out: uploads handed out, 0 on failure
 * @param pUploads      receives the uploads; NULL only if there is no room
 * @return VK_SUCCESS when none is left; VK_INCOMPLETE when there are more, for which pUploads or
 *         the staging memory has no room: submit or cancel uploads and call again;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_DEVICE_LOST;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` externally
 * @lifetime an upload ends when maarSubmitBufferUploads or maarCancelBufferUploads has taken it
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarTakeBufferUploads(MaarAllocator allocator, MaarBufferCache cache,
                                                   uint32_t* pUploadCount,
                                                   MaarBufferUpload* pUploads);

/**
 * Copies filled uploads into the buffer, in one submission. Flushes staging memory where needed.
 *
 * @param allocator    not null
 * @param cache        not null
 * @param uploadCount  how many
 * @param pUploads     uploads that are filled, each named once; only `id` is read
 * @param pPoint       receives a point of the cache's own timeline, valid as long as the cache; a
 *                     submission that uses the items waits for it; may be NULL
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_DEVICE_LOST; VK_ERROR_VALIDATION_FAILED_EXT. On failure the program keeps the
 *         uploads
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSubmitBufferUploads(MaarAllocator allocator, MaarBufferCache cache,
                                                     uint32_t uploadCount,
                                                     const MaarBufferUpload* pUploads,
                                                     MaarPoint* pPoint);

/**
 * Cancels uploads that cannot be filled. Their items get no contents, and are uploaded from the
 * start by the next use: a submission that uses one of them must not be made.
 *
 * @param allocator    not null
 * @param cache        not null
 * @param uploadCount  how many
 * @param pUploads     uploads that were not submitted, each named once; only `id` is read
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, when none was cancelled
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCancelBufferUploads(MaarAllocator allocator, MaarBufferCache cache,
                                                     uint32_t uploadCount,
                                                     const MaarBufferUpload* pUploads);

#ifdef __cplusplus
}
#endif

#endif
