/** @file
 * maar/move.h: gives allocations another place while the program runs.
 *
 * A move keeps the handle of an allocation and changes where its bytes lie. It has four steps:
 *
 *  1. maarBeginMoves takes new ranges for some allocations. The allocations stay where they are.
 *  2. The program creates new buffers and images and binds them to the new ranges
 *     (maarBindMovedBuffer, maarBindMovedImage).
 *  3. The bytes are copied: by Maar (maarSubmitMoves, or maarRecordMoves into a command buffer of
 *     the program) or by the program, with commands of its own. From the begin of the copy until
 *     the commit, nobody may write to the old objects.
 *  4. maarCommitMoves makes the new ranges the places of the allocations, all at once. The program
 *     uses its new objects from then on, after the copy, and destroys the old ones itself. The old
 *     ranges are reused when points have passed, which the program names.
 *
 * The steps between begin and commit may take any time, and other threads may allocate and free
 * meanwhile. They may also free an allocation that moves: its handle is invalid at once, its bytes
 * are pending until the moves have ended, and its move is dropped. They may map it: it then stays
 * where it is, and its move is dropped by the commit. Queries answer with the old place until the
 * commit. MaarAllocationInfo::locationEpoch counts the moves of an allocation.
 *
 * Device addresses, mapped pointers and descriptors of the old objects are not those of the new
 * ones. Moving an allocation does not move the objects that are bound to it, except for objects
 * that were created movable (MaarMovableInfo): Maar creates these anew, copies their contents and
 * destroys the old ones. See maarCreateMovedObjects.
 *
 * The general rules of maar/allocator.h hold here too.
 */
#ifndef MAAR_MOVE_H
#define MAAR_MOVE_H

#include "maar/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Moves under way: new ranges, and the allocations that will lie there. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarMoveBatch)

/** Why an allocation cannot move. */
typedef enum MaarMoveObstacle {
    /** Nothing is in the way. */
    MAAR_MOVE_OBSTACLE_NONE = 0,
    /** It is mapped. */
    MAAR_MOVE_OBSTACLE_MAPPED = 1,
    /** It moves already. */
    MAAR_MOVE_OBSTACLE_MOVING = 2,
    /** Another API or process may use its block: the memory is exportable or was imported. */
    MAAR_MOVE_OBSTACLE_SHARED = 3,
    /** It is made of pages. These move in runs with MAAR_DEFRAGMENTATION_GOAL_PAGES, and not as
     * allocations. */
    MAAR_MOVE_OBSTACLE_PAGES = 4,
    /** An object of Maar's owns it: a buffer of slices, a transient heap. */
    MAAR_MOVE_OBSTACLE_OWNED = 5,
    /** It was freed while it moved. */
    MAAR_MOVE_OBSTACLE_FREED = 6,
    /** The program dropped its move. */
    MAAR_MOVE_OBSTACLE_DROPPED = 7,
    /** It belongs to a movable buffer whose device address must not change. */
    MAAR_MOVE_OBSTACLE_ADDRESS = 8,
    /** It belongs to a movable object, and the driver requires that its memory is dedicated to the
     * object. */
    MAAR_MOVE_OBSTACLE_DEDICATED = 9,
    /** It was allocated in pending memory (maar/ordered.h), whose points have not passed. */
    MAAR_MOVE_OBSTACLE_PENDING = 10,
    /** Reserves the enumeration's size. */
    MAAR_MOVE_OBSTACLE_MAX_ENUM = 0x7FFFFFFF
} MaarMoveObstacle;

/** An allocation that shall move. */
typedef struct MaarMoveRequest {
    /** Which. An allocation occurs once in a batch. */
    MaarAllocation allocation;
    /** Alignment of the new range, bytes, a power of two: that of the objects that will be bound to
     * it. 0: the alignment that the allocation was made with, or 64 KiB if it has a block of its
     * own. */
    VkDeviceSize alignment;
} MaarMoveRequest;

/** What maarBeginMoves needs. */
typedef struct MaarMoveBeginInfo {
    /** MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many allocations shall move, at least 1. */
    uint32_t requestCount;
    /** The allocations. */
    const MaarMoveRequest* pRequests;
    /** How to allocate the new ranges. NULL: in the pool where the allocation lies. Otherwise all
     * fields count but pUserData and pName, which an allocation keeps, and `dedicated` means what
     * it means for a new allocation; MAAR_ALLOCATION_CREATE_MAPPED_BIT is not allowed. The new
     * memory types are among memoryTypeBits: the program sets there what its new objects
     * require. */
    const MaarAllocationCreateInfo* pCreateInfo;
} MaarMoveBeginInfo;

/** A move of a batch, as listed. */
typedef struct MaarMove {
    /** MAAR_STRUCTURE_TYPE_MOVE */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The allocation. The handle is stale if it was freed. */
    MaarAllocation allocation;
    /** MAAR_MOVE_OBSTACLE_NONE, or why the commit will leave the allocation where it is. */
    MaarMoveObstacle obstacle;
    /** Kind of the resource, as given when it was allocated. */
    MaarResourceKind kind;
    /** As given when it was allocated; NULL if it was freed. */
    void* pUserData;
    /** Bytes to copy: MaarAllocationInfo::size. */
    VkDeviceSize size;
    /** Where the bytes lie now. */
    VkDeviceMemory sourceMemory;
    /** Offset there, bytes. */
    VkDeviceSize sourceOffset;
    /** Where they will lie. */
    VkDeviceMemory targetMemory;
    /** Offset there, bytes. */
    VkDeviceSize targetOffset;
    /** Memory type of the new range. */
    uint32_t targetMemoryTypeIndex;
    /** VK_TRUE: maarRecordMoves and maarSubmitMoves copy the bytes. VK_FALSE: only the program can
     * copy them, since the resource is an image of optimal tiling that was not created movable, or
     * of a kind that Maar does not know. */
    VkBool32 copiedByMaar;
} MaarMove;

/** Adjacent pages of a buffer whose bytes move to other pages. The buffer, its device address and
 * the allocation stay. */
typedef struct MaarPageMove {
    /** MAAR_STRUCTURE_TYPE_PAGE_MOVE */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The allocation that the buffer was created with, in a pool that stitches; VK_NULL_HANDLE for
     * reservations and arrays. */
    MaarAllocation allocation;
    /** The buffer; VK_NULL_HANDLE if it was destroyed. */
    VkBuffer buffer;
    /** As given when it was created; NULL if it was destroyed. */
    void* pUserData;
    /** MAAR_MOVE_OBSTACLE_NONE; MAAR_MOVE_OBSTACLE_FREED if the commit will leave all of these
     * pages alone: they were given back, or are shared with another reservation. */
    MaarMoveObstacle obstacle;
    /** Bytes from the start of the buffer. */
    VkDeviceSize offset;
    /** Bytes that move. */
    VkDeviceSize size;
    /** Where they lie now. */
    VkDeviceMemory sourceMemory;
    /** Offset there, bytes. */
    VkDeviceSize sourceOffset;
    /** Where they will lie. */
    VkDeviceMemory targetMemory;
    /** Offset there, bytes. */
    VkDeviceSize targetOffset;
} MaarPageMove;

/** What maarSubmitMoves needs. */
typedef struct MaarMoveSubmitInfo {
    /** MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Index into MaarAllocatorCreateInfo::pQueues of a queue that can copy, in a family that may
     * use the resources: that of exclusive ones, or one of those that share them. */
    uint32_t queueIndex;
    /** How many points the copies wait for, at most MAAR_MAX_POINTS. */
    uint32_t waitCount;
    /** The points after which nobody writes to the old objects. They are points of work that is
     * submitted already. */
    const MaarPoint* pWaits;
} MaarMoveSubmitInfo;

/**
 * Says whether an allocation can move, and why not. The answer may change at any time: another
 * thread may map the allocation.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @param pObstacle   receives MAAR_MOVE_OBSTACLE_NONE, or what is in the way
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetMoveObstacle(MaarAllocator allocator, MaarAllocation allocation,
                                                 MaarMoveObstacle* pObstacle);

/**
 * Begins to move allocations: takes a new range for each of them, or, on failure, for none. The new
 * ranges are pending bytes until the moves are committed. May call the driver for a new block.
 *
 * @param allocator   not null
 * @param pBeginInfo  not NULL
 * @param pBatch      receives the batch
 * @return VK_SUCCESS; what maarAllocateMemory returns for the new ranges;
 *         VK_ERROR_FEATURE_NOT_PRESENT when one of the allocations cannot move (the message says
 *         which, and why); VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime end it with maarCommitMoves or maarCancelMoves
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarBeginMoves(MaarAllocator allocator,
                                            const MaarMoveBeginInfo* pBeginInfo,
                                            MaarMoveBatch* pBatch);

/**
 * Lists the moves of a batch, in the order of the requests.
 *
 * @param allocator  not null
 * @param batch      not null
 * @param pCount     in: room in pMoves; out: moves written, or their number if pMoves is NULL
 * @param pMoves     an array whose elements have sType and pNext set; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                          uint32_t* pCount, MaarMove* pMoves);

/**
 * Lists the moves of pages in a batch of a run with MAAR_DEFRAGMENTATION_GOAL_PAGES.
 *
 * @param allocator  not null
 * @param batch      not null
 * @param pCount     in: room in pMoves; out: moves written, or their number if pMoves is NULL
 * @param pMoves     an array whose elements have sType and pNext set; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetPageMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                              uint32_t* pCount, MaarPageMove* pMoves);

/**
 * Drops moves of a batch: the commit leaves these allocations where they are. Their new ranges are
 * kept until the batch ends.
 *
 * @param allocator        not null
 * @param batch            not null
 * @param allocationCount  how many
 * @param pAllocations     allocations of the batch
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, also for an allocation that is not in the
 *         batch; then no move was dropped
 * @threadsafety `batch` externally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarDropMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                           uint32_t allocationCount,
                                           const MaarAllocation* pAllocations);

/**
 * Binds a buffer to the new range of an allocation that moves. Checks size, alignment and memory
 * type.
 *
 * @param allocator   not null
 * @param batch       not null
 * @param allocation  an allocation of the batch
 * @param offset      within the new range, bytes
 * @param buffer      not null, not bound yet
 * @param pNext       chained to VkBindBufferMemoryInfo; may be NULL
 * @return what vkBindBufferMemory2 returns; VK_ERROR_VALIDATION_FAILED_EXT, also if the buffer does
 *         not fit there
 * @threadsafety internally synchronized; `batch` and `buffer` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarBindMovedBuffer(MaarAllocator allocator, MaarMoveBatch batch,
                                                 MaarAllocation allocation, VkDeviceSize offset,
                                                 VkBuffer buffer, const void* pNext);

/**
 * Binds an image to the new range of an allocation that moves. Checks size, alignment and memory
 * type.
 *
 * @param allocator   not null
 * @param batch       not null
 * @param allocation  an allocation of the batch
 * @param offset      within the new range, bytes
 * @param image       not null, not bound yet
 * @param pNext       chained to VkBindImageMemoryInfo; may be NULL
 * @return what vkBindImageMemory2 returns; VK_ERROR_VALIDATION_FAILED_EXT, also if the image does
 *         not fit there
 * @threadsafety internally synchronized; `batch` and `image` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarBindMovedImage(MaarAllocator allocator, MaarMoveBatch batch,
                                                MaarAllocation allocation, VkDeviceSize offset,
                                                VkImage image, const void* pNext);

/**
 * Maps the new range of an allocation that moves, so that the host can write there what the program
 * does not copy by commands. Mappings are counted; the end of the batch ends those that are left.
 * Calls the driver if the block is not mapped.
 *
 * @param allocator   not null
 * @param batch       not null
 * @param allocation  an allocation of the batch
 * @param ppData      receives the address of the range's first byte
 * @return VK_SUCCESS; VK_ERROR_MEMORY_MAP_FAILED, also when the memory type is not HOST_VISIBLE;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `batch` must not end meanwhile
 * @lifetime until maarUnmapMovedMemory or the end of the batch
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarMapMovedMemory(MaarAllocator allocator, MaarMoveBatch batch,
                                                MaarAllocation allocation, void** ppData);

/**
 * Ends one mapping by maarMapMovedMemory.
 *
 * @param allocator   not null
 * @param batch       not null
 * @param allocation  an allocation of the batch, whose new range is mapped
 * @threadsafety internally synchronized; `batch` must not end meanwhile
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarUnmapMovedMemory(MaarAllocator allocator, MaarMoveBatch batch,
                                              MaarAllocation allocation);

/**
 * Makes what the host has written to a mapped new range visible to the device. Calls the driver
 * only where the memory is not coherent.
 *
 * @param allocator   not null
 * @param batch       not null
 * @param allocation  an allocation of the batch, whose new range is mapped
 * @param offset      within the range, bytes
 * @param size        bytes; VK_WHOLE_SIZE for the rest
 * @return what vkFlushMappedMemoryRanges returns; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `batch` must not end meanwhile
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarFlushMovedMemory(MaarAllocator allocator, MaarMoveBatch batch,
                                                  MaarAllocation allocation, VkDeviceSize offset,
                                                  VkDeviceSize size);

/**
 * Makes what the device has written to a mapped new range visible to the host. Calls the driver
 * only where the memory is not coherent.
 *
 * @param allocator   not null
 * @param batch       not null
 * @param allocation  an allocation of the batch, whose new range is mapped
 * @param offset      within the range, bytes
 * @param size        bytes; VK_WHOLE_SIZE for the rest
 * @return what vkInvalidateMappedMemoryRanges returns; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `batch` must not end meanwhile
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarInvalidateMovedMemory(MaarAllocator allocator, MaarMoveBatch batch,
                                                       MaarAllocation allocation,
                                                       VkDeviceSize offset, VkDeviceSize size);

/**
 * Records the copies of a batch into a command buffer of the program: a memory barrier that waits
 * for all earlier commands, copies between buffers that Maar makes on the blocks, and a memory
 * barrier for which all later commands wait. Records only moves with MaarMove::copiedByMaar that
 * are not dropped. Movable objects are copied from object to object: see maarCreateMovedObjects.
 * The program submits the command buffer, and names to maarCommitMoves or maarCancelMoves a point
 * after which it is executed.
 *
 * @param allocator      not null
 * @param batch          not null
 * @param commandBuffer  in the recording state, outside a render pass, of a family that may use the
 *                       resources; primary
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_FEATURE_NOT_PRESENT when the driver lets no buffer cover a block; VK_NOT_READY
 *         while an earlier submission of binds has not been executed that new pages wait for;
 *         VK_ERROR_VALIDATION_FAILED_EXT. On failure nothing is recorded.
 * @threadsafety internally synchronized; `batch` and `commandBuffer` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarRecordMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                             VkCommandBuffer commandBuffer);

/**
 * Copies the bytes of a batch on a queue of the allocator. Copies what maarRecordMoves would
 * record. At most one submission carries the copies of a batch.
 *
 * @param allocator    not null
 * @param batch        not null
 * @param pSubmitInfo  not NULL
 * @param pPoint       receives the point at which the copies are done; may be NULL. The new objects
 *                     are used after it.
 * @return VK_SUCCESS; what vkQueueSubmit returns; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT without timeline semaphores,
 *         and as maarRecordMoves; VK_ERROR_VALIDATION_FAILED_EXT. On failure nothing was submitted,
 *         and the call may be repeated.
 * @threadsafety internally synchronized; `batch` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSubmitMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                             const MaarMoveSubmitInfo* pSubmitInfo,
                                             MaarPoint* pPoint);

/**
 * Commits a batch: each allocation whose move was not dropped has its new place from now on. The
 * old ranges, and the new ranges of dropped moves, are pending until the points and the copies of
 * maarSubmitMoves have passed. The handle of the batch is invalid then. Does not call the driver.
 *
 * Refuses to lose contents. What Maar copies must have been copied by a maarSubmitMoves or
 * maarRecordMoves that succeeded: pages, and movable objects, but for images whose layout was said
 * to be VK_IMAGE_LAYOUT_UNDEFINED. Of other allocations the program may copy the bytes itself, or
 * leave them behind, which Maar cannot see; they are refused if one of the two calls has failed for
 * the batch and none has succeeded. To copy them itself then, the program cancels the batch and
 * begins another one.
 *
 * A batch with moves of pages records that these pages are bound. The next maarSubmitBinds, of any
 * thread, passes that to the device and waits for the points; its own point is the one after which
 * the pages are used again. The old pages are pending until then.
 *
 * @param allocator    not null
 * @param batch        may be VK_NULL_HANDLE
 * @param pointCount   0 (the device uses neither the old objects nor copies any more) to
 *                     MAAR_MAX_POINTS
 * @param pPoints      the points after which it does not
 * @param pMovedCount  receives the number of allocations, or pages, that have moved; may be NULL
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_FEATURE_NOT_PRESENT and
 *         VK_ERROR_VALIDATION_FAILED_EXT as maarFreeMemoryAfter; VK_ERROR_VALIDATION_FAILED_EXT
 *         if contents would be lost; with moves of pages also VK_ERROR_VALIDATION_FAILED_EXT if
 *         nothing was copied, or a point of the host timeline has not passed, and
 *         VK_ERROR_TOO_MANY_OBJECTS as maarDelayBinds; the batch is then unchanged
 * @threadsafety internally synchronized; `batch` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCommitMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                             uint32_t pointCount, const MaarPoint* pPoints,
                                             uint32_t* pMovedCount);

/**
 * Ends a batch and leaves every allocation where it is. The new ranges are pending until the points
 * and the copies of maarSubmitMoves have passed.
 *
 * @param allocator   not null
 * @param batch       may be VK_NULL_HANDLE
 * @param pointCount  0 (no copy was submitted) to MAAR_MAX_POINTS
 * @param pPoints     the points after which the device has executed the copies
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_FEATURE_NOT_PRESENT and
 *         VK_ERROR_VALIDATION_FAILED_EXT as maarFreeMemoryAfter; the batch is then unchanged
 * @threadsafety internally synchronized; `batch` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCancelMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                             uint32_t pointCount, const MaarPoint* pPoints);

/* ---------------------------------------------------------------------------------------------- */
/* Movable objects */
/* ---------------------------------------------------------------------------------------------- */

/** Bits of MaarMovableInfo::flags. */
typedef enum MaarMovableFlagBits {
    /** The device address of the buffer may change: the program reads it anew after each move.
     * Without this bit a buffer with the usage SHADER_DEVICE_ADDRESS does not move. */
    MAAR_MOVABLE_ADDRESS_MAY_CHANGE_BIT = 0x1,
    /** Reserves the enumeration's size. */
    MAAR_MOVABLE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarMovableFlagBits;
/** Any of MaarMovableFlagBits. */
typedef VkFlags MaarMovableFlags;

/**
 * Chained to MaarAllocationCreateInfo, makes maarCreateBuffer or maarCreateImage create a movable
 * object: Maar keeps a copy of the create info, and can create the object anew elsewhere.
 *
 * Maar adds the usages TRANSFER_SRC and TRANSFER_DST to the object. Of structures chained to the
 * Vulkan create info, Maar knows VkImageFormatListCreateInfo and
 * VkImageStencilUsageCreateInfo; a create info with another one is refused, and so is an object
 * whose contents Vulkan cannot copy: one that is protected, external, subsampled, a transient
 * attachment, of a tiling by DRM format modifier, or created for capture and replay of its address.
 * MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT is not allowed, and nothing else can be bound to the
 * allocation.
 *
 * The object is destroyed by maarDestroyBuffer, maarDestroyImage or the calls that do so after
 * points, and not by maarFreeMemory. They destroy the object that the allocation has at that time.
 * The handle that they are given may be that object, the one that it had before its last move, or
 * VK_NULL_HANDLE.
 *
 * In a pool that makes objects of pages, an object that is made of pages keeps its handle, and this
 * structure has no effect on it.
 */
typedef struct MaarMovableInfo {
    /** MAAR_STRUCTURE_TYPE_MOVABLE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarMovableFlagBits. */
    MaarMovableFlags flags;
} MaarMovableInfo;

/** A movable object that a batch replaces by a new one. Either the buffers or the images are
 * VK_NULL_HANDLE. */
typedef struct MaarObjectSwap {
    /** MAAR_STRUCTURE_TYPE_OBJECT_SWAP */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The allocation. The handle is stale if it was freed. */
    MaarAllocation allocation;
    /** MAAR_MOVE_OBSTACLE_NONE, or why the commit will keep the old object and destroy the new one.
     */
    MaarMoveObstacle obstacle;
    /** As given when it was allocated; NULL if it was freed. */
    void* pUserData;
    /** The buffer now. */
    VkBuffer oldBuffer;
    /** The buffer after the commit. */
    VkBuffer newBuffer;
    /** The image now. */
    VkImage oldImage;
    /** The image after the commit. */
    VkImage newImage;
} MaarObjectSwap;

/** The layout of a movable image. */
typedef struct MaarMovedImageLayout {
    /** An allocation of the batch, of a movable image. */
    MaarAllocation allocation;
    /** The layout of the whole image when the copies begin. The new image is in this layout after
     * the copies, and so is the old one. VK_IMAGE_LAYOUT_UNDEFINED: the image has no contents, and
     * nothing is copied. Not VK_IMAGE_LAYOUT_PREINITIALIZED. */
    VkImageLayout layout;
} MaarMovedImageLayout;

/**
 * Creates the new objects of all movable objects of a batch, and binds them to the new ranges. It
 * skips moves that were dropped, and objects that have new ones already. A batch that moves movable
 * objects cannot be copied or committed without their new objects.
 *
 * maarRecordMoves and maarSubmitMoves then copy the contents between the objects. An object that is
 * not shared between queue families must be owned by the family of the queue that copies, and the
 * new one is owned by it afterwards. Images with a depth or stencil aspect need a queue that does
 * graphics. While the copies are executed, the old images must not be used, since they change their
 * layouts; old buffers may be read. The commit destroys the old objects when its points, and the
 * copies of maarSubmitMoves, have passed.
 *
 * @param allocator  not null
 * @param batch      not null
 * @return VK_SUCCESS; what vkCreateBuffer, vkCreateImage, vkBindBufferMemory2 and
 *         vkBindImageMemory2 return; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT,
 *         also if an object does not fit into its new range. On failure no new object was created.
 * @threadsafety internally synchronized; `batch` externally
 * @lifetime the commit destroys the old objects, and the new ones of moves that it leaves out. A
 *           cancel destroys the new ones.
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateMovedObjects(MaarAllocator allocator, MaarMoveBatch batch);

/**
 * Lists the movable objects of a batch that have new objects, in the order of the moves. The
 * program makes views and descriptors of the new objects from it, and drops by maarDropMoves what
 * shall stay.
 *
 * @param allocator  not null
 * @param batch      not null
 * @param pCount     in: room in pSwaps; out: swaps written, or their number if pSwaps is NULL
 * @param pSwaps     an array whose elements have sType and pNext set; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetObjectSwaps(MaarAllocator allocator, MaarMoveBatch batch,
                                                uint32_t* pCount, MaarObjectSwap* pSwaps);

/**
 * Says in which layouts movable images of a batch are. Each image that maarRecordMoves or
 * maarSubmitMoves copies needs one.
 *
 * @param allocator    not null
 * @param batch        not null
 * @param layoutCount  how many
 * @param pLayouts     the layouts
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, also for an allocation that is not that of a
 *         movable image with a new image in the batch; then no layout was set
 * @threadsafety internally synchronized; `batch` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSetMovedImageLayouts(MaarAllocator allocator, MaarMoveBatch batch,
                                                      uint32_t layoutCount,
                                                      const MaarMovedImageLayout* pLayouts);

/**
 * Reads which object a movable allocation has now.
 *
 * @param allocator   not null
 * @param allocation  of a movable object
 * @param pBuffer     receives the buffer, or VK_NULL_HANDLE for an image; may be NULL
 * @param pImage      receives the image, or VK_NULL_HANDLE for a buffer; may be NULL
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, also for an allocation that is not movable
 * @threadsafety internally synchronized
 * @lifetime the object lives until the points of a maarCommitMoves that moves it have passed, or
 *           until it is destroyed
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetMovableObject(MaarAllocator allocator,
                                                  MaarAllocation allocation, VkBuffer* pBuffer,
                                                  VkImage* pImage);

/* ---------------------------------------------------------------------------------------------- */
/* Defragmentation */
/* ---------------------------------------------------------------------------------------------- */

/** A run that moves allocations: it empties blocks, so that they are given back to the driver, or
 * it makes room for one request. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarDefragmentation)

/**
 * Asks the program whether an allocation may move. Called without a lock, on the thread that calls
 * maarStepDefragmentation. It must not call back into the same allocator.
 *
 * @param pUserData            MaarDefragmentationBeginInfo::pUserData
 * @param allocation           which; another thread may free it at any time
 * @param pAllocationUserData  the allocation's user data
 * @return VK_TRUE if it may
 */
typedef VkBool32(VKAPI_PTR* PFN_maarMayMove)(void* pUserData, MaarAllocation allocation,
                                             void* pAllocationUserData);

/** What a run is for. */
typedef enum MaarDefragmentationGoal {
    /** To give blocks back to the driver. */
    MAAR_DEFRAGMENTATION_GOAL_BLOCKS = 0,
    /** To make room for one allocation in an existing block. */
    MAAR_DEFRAGMENTATION_GOAL_ROOM = 1,
    /** To give page blocks back to the driver: those of reservations, of arrays and of buffers in
     * pools that stitch. */
    MAAR_DEFRAGMENTATION_GOAL_PAGES = 2,
    /** Reserves the enumeration's size. */
    MAAR_DEFRAGMENTATION_GOAL_MAX_ENUM = 0x7FFFFFFF
} MaarDefragmentationGoal;

/** How far a run has come that makes room. */
typedef enum MaarDefragmentationRoom {
    /** It looks for a place, or its goal is another one. */
    MAAR_DEFRAGMENTATION_ROOM_NONE = 0,
    /** It has found a place. What lies there has new ranges elsewhere, and moves. */
    MAAR_DEFRAGMENTATION_ROOM_FOUND = 1,
    /** The room is empty: maarTakeDefragmentationRoom succeeds. */
    MAAR_DEFRAGMENTATION_ROOM_READY = 2,
    /** The program has taken the room. */
    MAAR_DEFRAGMENTATION_ROOM_TAKEN = 3,
    /** There is no place: too little can move, or what would have to move has no room elsewhere. */
    MAAR_DEFRAGMENTATION_ROOM_IMPOSSIBLE = 4,
    /** Reserves the enumeration's size. */
    MAAR_DEFRAGMENTATION_ROOM_MAX_ENUM = 0x7FFFFFFF
} MaarDefragmentationRoom;

/** Bits of MaarDefragmentationBeginInfo::flags. */
typedef enum MaarDefragmentationFlagBits {
    /** The run only finds out what it would move, and give back or make room for:
     * maarStepDefragmentation returns no batch, and everything stays where it is. The new ranges
     * that it would use are taken until maarEndDefragmentation. */
    MAAR_DEFRAGMENTATION_DRY_RUN_BIT = 0x1,
    /** Reserves the enumeration's size. */
    MAAR_DEFRAGMENTATION_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarDefragmentationFlagBits;
/** Any of MaarDefragmentationFlagBits. */
typedef VkFlags MaarDefragmentationFlags;

/** What maarBeginDefragmentation needs. All zero but sType: empties as many blocks of the default
 * pools as it can. */
typedef struct MaarDefragmentationBeginInfo {
    /** MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarDefragmentationFlagBits. */
    MaarDefragmentationFlags flags;
    /** A pool with TLSF or buddy placement, or VK_NULL_HANDLE for all such default pools. With
     * MAAR_DEFRAGMENTATION_GOAL_PAGES: a pool that stitches, or VK_NULL_HANDLE for the page blocks
     * of no MaarPool. */
    MaarPool pool;
    /** With default pools: the memory types of those that take part; 0 for all. */
    uint32_t memoryTypeBits;
    /** Most blocks to empty; 0 for no limit. Blocks whose emptying moves the fewest bytes come
     * first. In place of a block that cannot be emptied comes the next one. */
    uint32_t maxBlockCount;
    /** Asked for each allocation before it moves; NULL: every allocation may move. A block with an
     * allocation that may not is left alone. With MAAR_DEFRAGMENTATION_GOAL_PAGES it is asked for
     * each buffer whose pages may move, and asked again before they do: with the buffer's
     * allocation in a pool that stitches, else with VK_NULL_HANDLE, and with the buffer's user
     * data. */
    PFN_maarMayMove pfnMayMove;
    /** Given to pfnMayMove. */
    void* pUserData;
    /** What the run is for. With MAAR_DEFRAGMENTATION_GOAL_ROOM the pool has TLSF placement, or the
     * run is for the default pools that have; maxBlockCount does not count. */
    MaarDefragmentationGoal goal;
    /** Kind of the resource for which the run makes room. Without MAAR_DEFRAGMENTATION_GOAL_ROOM
     * this and the next two do not count. */
    MaarResourceKind roomKind;
    /** Size of the room, bytes: that of the resource's memory requirements. Not 0. */
    VkDeviceSize roomSize;
    /** Alignment of the room, bytes, a power of two; 0: 1. */
    VkDeviceSize roomAlignment;
} MaarDefragmentationBeginInfo;

/** Limits of a step. */
typedef struct MaarDefragmentationStepInfo {
    /** MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Most bytes of the batch; 0 for no limit. A batch has one move at least, however large. */
    VkDeviceSize maxBytes;
    /** Most moves of the batch; 0 for no limit. */
    uint32_t maxMoves;
    /** Host time after which the step returns VK_NOT_READY, ns; 0 for no limit. It is looked at
     * after each part of the work, of some microseconds. With a limit, a batch has at most 128
     * moves. A batch has at most 1,024 moves of pages in any case. */
    uint64_t maxHostTime_ns;
    /** VK_TRUE: the run chooses nothing more, and takes back what it has not handed out, within the
     * host time. Then maarEndDefragmentation has nothing left to take back. Further steps of the
     * run do the same. */
    VkBool32 givesUp;
} MaarDefragmentationStepInfo;

/** What a run has done, and what it will do as far as it has planned. */
typedef struct MaarDefragmentationInfo {
    /** MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Blocks whose allocations all have new ranges by now: those that the run empties. */
    uint32_t blockCount;
    /** Bytes of these blocks. */
    VkDeviceSize blockBytes;
    /** Moves that empty them, with those of allocations that make way in other blocks. With
     * MAAR_DEFRAGMENTATION_GOAL_PAGES a move is that of one page. */
    uint32_t moveCount;
    /** Bytes of these moves. */
    VkDeviceSize moveBytes;
    /** How many of these moves were handed out in batches. */
    uint32_t batchedCount;
    /** Bytes of those. */
    VkDeviceSize batchedBytes;
    /** Blocks, or places for a room, that the run has given up: an allocation cannot move, or finds
     * no room elsewhere, or the pool needed the room. */
    uint32_t abandonedCount;
    /** Blocks of the pools that were given back since the run began, after they had drained. */
    uint32_t releasedCount;
    /** Bytes of those. */
    VkDeviceSize releasedBytes;
    /** With MAAR_DEFRAGMENTATION_GOAL_ROOM: how far the run has come. moveCount and moveBytes say
     * what must move. */
    MaarDefragmentationRoom room;
    /** Where the room is, from MAAR_DEFRAGMENTATION_ROOM_FOUND on; else VK_NULL_HANDLE. */
    VkDeviceMemory roomMemory;
    /** Offset there, bytes. */
    VkDeviceSize roomOffset;
} MaarDefragmentationInfo;

/**
 * Begins a run. No allocation moves yet. Does not call the driver.
 *
 * A run that gives blocks back plans in its first steps which blocks it empties and where each
 * allocation goes. A block that was chosen takes no more allocations, unless its pool has no other
 * room: then all chosen blocks of the pool take allocations again, and the run leaves them alone.
 * Blocks whose allocations fit into free ranges come first. In pools with TLSF placement others
 * follow, for which smaller allocations make way in the blocks that stay. Such a block takes no
 * allocations either until its range is in use.
 *
 * A run that makes room looks for the place in one block where the fewest bytes must move. The free
 * ranges of that place are taken at once, as pending bytes, and so is what moves out of it: other
 * requests do not use the room meanwhile. The program takes it by maarTakeDefragmentationRoom.
 *
 * A run that empties page blocks moves the pages of some to free pages of the others. Only the
 * pages of buffers move, and only those that nobody shares: a block with other pages is left alone.
 * The program carries out each batch by maarSubmitMoves (or maarRecordMoves), maarCommitMoves with
 * the points after which nobody uses the buffers, and maarSubmitBinds. From the begin of the copies
 * until the point of maarSubmitBinds, nobody may write to the ranges that maarGetPageMoves lists,
 * and work that the points of the commit do not cover must not read them. Buffers, device addresses
 * and allocations stay.
 *
 * @param allocator        not null
 * @param pBeginInfo       not NULL
 * @param pDefragmentation receives the run
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT for a pool with
 *         linear placement, and, to make room, for one with buddy placement, and, to empty page
 *         blocks, for one that does not stitch;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime end it with maarEndDefragmentation
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL
maarBeginDefragmentation(MaarAllocator allocator, const MaarDefragmentationBeginInfo* pBeginInfo,
                         MaarDefragmentation* pDefragmentation);

/**
 * Plans some moves and hands them out as a batch, which the program carries out like one of
 * maarBeginMoves. All allocations of a block, or of the place for a room, get their new ranges
 * before the first of them is handed out, so a block that cannot be emptied moves nothing. Where
 * others make way, all are asked before the first one moves, and the allocations of the block
 * follow when these moves have ended and the points of their commit have passed. No allocation
 * moves twice in a run. Never waits for the device, does not call the driver.
 *
 * @param allocator       not null
 * @param defragmentation not null
 * @param pStepInfo       limits; NULL for none
 * @param pBatch          receives the batch, or VK_NULL_HANDLE when nothing is left to move
 * @return VK_SUCCESS; VK_NOT_READY when the host time was used up before there was a batch (call
 *         again), or when what is left waits for a batch that has not ended or for points that
 *         have not passed (end the batch, call maarCollect in a later frame, and call again);
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `defragmentation` externally
 * @lifetime end the batch with maarCommitMoves or maarCancelMoves; it may outlive the run
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarStepDefragmentation(MaarAllocator allocator,
                                                     MaarDefragmentation defragmentation,
                                                     const MaarDefragmentationStepInfo* pStepInfo,
                                                     MaarMoveBatch* pBatch);

/**
 * Turns the room that a run has made into an allocation of MaarDefragmentationBeginInfo::roomSize
 * bytes. The program binds its resource to it. The run has reached its goal then, and is ended by
 * maarEndDefragmentation as ever. Never waits for the device. Collects what is pending, as
 * maarCollect does.
 *
 * @param allocator       not null
 * @param defragmentation not null; a run with MAAR_DEFRAGMENTATION_GOAL_ROOM that is not dry
 * @param pUserData       stored with the allocation
 * @param pAllocation     receives the allocation
 * @return VK_SUCCESS; VK_NOT_READY while the run has moves to hand out (maarStepDefragmentation),
 *         or a batch has not ended, or the points of a commit have not passed;
 *         VK_ERROR_OUT_OF_POOL_MEMORY when there is no room and the run can make none, or when it
 *         was taken before; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT, also for a
 *         run with another goal, and for a dry one
 * @threadsafety internally synchronized; `defragmentation` externally
 * @lifetime free it with maarFreeMemory
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarTakeDefragmentationRoom(MaarAllocator allocator,
                                                         MaarDefragmentation defragmentation,
                                                         void* pUserData,
                                                         MaarAllocation* pAllocation);

/**
 * Reads what a run has planned and done. Does not call the driver.
 *
 * @param allocator       not null
 * @param defragmentation not null
 * @param pInfo           sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `defragmentation` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetDefragmentationInfo(MaarAllocator allocator,
                                                        MaarDefragmentation defragmentation,
                                                        MaarDefragmentationInfo* pInfo);

/**
 * Ends a run. Moves that were planned and not handed out do not take place. Batches that were
 * handed out go on. Blocks that were emptied are given back when the old ranges in them have ended.
 * A room that was not taken is free for every request.
 *
 * @param allocator       not null
 * @param defragmentation may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `defragmentation` externally
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarEndDefragmentation(MaarAllocator allocator,
                                                MaarDefragmentation defragmentation);

#ifdef __cplusplus
}
#endif

#endif
