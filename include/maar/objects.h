/** @file
 * maar/objects.h: buffers, images and slices, made and bound in one call, with a rollback between
 * the steps. The general rules of maar/allocator.h hold here too.
 */
#ifndef MAAR_OBJECTS_H
#define MAAR_OBJECTS_H

#include "maar/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a buffer with memory bound to it.
 *
 * @param allocator    not null
 * @param pBufferInfo  as for vkCreateBuffer; with SHADER_DEVICE_ADDRESS usage the allocator must
 *                     have been told of the bufferDeviceAddress feature
 * @param pCreateInfo  how to allocate; NULL for the defaults
 * @param pBuffer      receives the buffer
 * @param pAllocation  receives its memory
 * @return as maarAllocateMemory, and what vkCreateBuffer and vkBindBufferMemory2 return
 * @threadsafety internally synchronized
 * @lifetime destroy both with maarDestroyBuffer
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateBuffer(MaarAllocator allocator,
                                              const VkBufferCreateInfo* pBufferInfo,
                                              const MaarAllocationCreateInfo* pCreateInfo,
                                              VkBuffer* pBuffer, MaarAllocation* pAllocation);

/**
 * Destroys a buffer and frees its memory. The device must be done with it.
 *
 * @param allocator   not null
 * @param buffer      may be VK_NULL_HANDLE; made by Maar, or with the allocator's
 *                    pAllocationCallbacks
 * @param allocation  may be VK_NULL_HANDLE; when it is stale, the buffer is not destroyed either
 * @threadsafety internally synchronized; `buffer` and `allocation` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyBuffer(MaarAllocator allocator, VkBuffer buffer,
                                           MaarAllocation allocation);

/**
 * Destroys a buffer and frees its memory once every point has passed. Never blocks.
 *
 * @param allocator   not null
 * @param buffer      may be VK_NULL_HANDLE
 * @param allocation  its memory
 * @param pointCount  0 (now) to MAAR_MAX_POINTS
 * @param pPoints     the points
 * @return as maarFreeMemoryAfter; on failure the buffer stays alive
 * @threadsafety internally synchronized; `buffer` and `allocation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDestroyBufferAfter(MaarAllocator allocator, VkBuffer buffer,
                                                    MaarAllocation allocation, uint32_t pointCount,
                                                    const MaarPoint* pPoints);

/**
 * Creates an image with memory bound to it. For disjoint images see maarCreateDisjointImage.
 *
 * @param allocator    not null
 * @param pImageInfo   as for vkCreateImage
 * @param pCreateInfo  how to allocate; NULL for the defaults
 * @param pImage       receives the image
 * @param pAllocation  receives its memory
 * @return as maarAllocateMemory, and what vkCreateImage and vkBindImageMemory2 return
 * @threadsafety internally synchronized
 * @lifetime destroy both with maarDestroyImage
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateImage(MaarAllocator allocator,
                                             const VkImageCreateInfo* pImageInfo,
                                             const MaarAllocationCreateInfo* pCreateInfo,
                                             VkImage* pImage, MaarAllocation* pAllocation);

/**
 * Destroys an image and frees its memory. The device must be done with it.
 *
 * @param allocator   not null
 * @param image       may be VK_NULL_HANDLE
 * @param allocation  may be VK_NULL_HANDLE; when it is stale, the image is not destroyed either
 * @threadsafety internally synchronized; `image` and `allocation` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyImage(MaarAllocator allocator, VkImage image,
                                          MaarAllocation allocation);

/**
 * Destroys an image and frees its memory once every point has passed. Never blocks.
 *
 * @param allocator   not null
 * @param image       may be VK_NULL_HANDLE
 * @param allocation  its memory
 * @param pointCount  0 (now) to MAAR_MAX_POINTS
 * @param pPoints     the points
 * @return as maarFreeMemoryAfter; on failure the image stays alive
 * @threadsafety internally synchronized; `image` and `allocation` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDestroyImageAfter(MaarAllocator allocator, VkImage image,
                                                   MaarAllocation allocation, uint32_t pointCount,
                                                   const MaarPoint* pPoints);

/** Most planes of an image. */
#define MAAR_MAX_PLANES 3

/**
 * Creates a multi-planar image with VK_IMAGE_CREATE_DISJOINT_BIT, each plane with memory of its
 * own. To destroy it, destroy the image with maarDestroyImage and its first allocation, and free
 * the others.
 *
 * @param allocator     not null
 * @param pImageInfo    with the disjoint bit and a multi-planar format
 * @param pCreateInfo   how to allocate each plane; NULL for the defaults
 * @param planeCount    planes of the format, 2 or 3
 * @param pImage        receives the image
 * @param pAllocations  receives planeCount allocations
 * @return as maarCreateImage
 * @threadsafety internally synchronized
 * @lifetime see above
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateDisjointImage(MaarAllocator allocator,
                                                     const VkImageCreateInfo* pImageInfo,
                                                     const MaarAllocationCreateInfo* pCreateInfo,
                                                     uint32_t planeCount, VkImage* pImage,
                                                     MaarAllocation* pAllocations);

/**
 * Creates a buffer on memory that is there already. The allocation should have been made with
 * MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT; without it, and in a pool of one kind, only an object of
 * the same kind is let in, and none into memory that is dedicated to an object. Size, alignment and
 * memory type are checked.
 *
 * @param allocator    not null
 * @param allocation   what to bind to
 * @param offset       within the allocation, bytes
 * @param pBufferInfo  as for vkCreateBuffer
 * @param pBuffer      receives the buffer; destroy it with vkDestroyBuffer and the allocator's
 *                     pAllocationCallbacks
 * @return what vkCreateBuffer and vkBindBufferMemory2 return; VK_ERROR_VALIDATION_FAILED_EXT, also
 *         when it does not fit there, or the driver requires memory of its own for it
 * @threadsafety internally synchronized
 * @lifetime the buffer must go before the allocation
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateAliasingBuffer(MaarAllocator allocator,
                                                      MaarAllocation allocation,
                                                      VkDeviceSize offset,
                                                      const VkBufferCreateInfo* pBufferInfo,
                                                      VkBuffer* pBuffer);

/**
 * Creates an image on memory that is there already. Otherwise as maarCreateAliasingBuffer.
 *
 * @param allocator   not null
 * @param allocation  what to bind to
 * @param offset      within the allocation, bytes
 * @param pImageInfo  as for vkCreateImage
 * @param pImage      receives the image; destroy it with vkDestroyImage and the allocator's
 *                    pAllocationCallbacks
 * @return as maarCreateAliasingBuffer
 * @threadsafety internally synchronized
 * @lifetime the image must go before the allocation
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateAliasingImage(MaarAllocator allocator,
                                                     MaarAllocation allocation, VkDeviceSize offset,
                                                     const VkImageCreateInfo* pImageInfo,
                                                     VkImage* pImage);

/**
 * Allocates memory for a buffer that the caller made, without binding it.
 *
 * @param allocator    not null
 * @param buffer       not null
 * @param pCreateInfo  how to allocate; NULL for the defaults
 * @param pAllocation  receives its memory
 * @return as maarAllocateMemory
 * @threadsafety internally synchronized
 * @lifetime free it with maarFreeMemory
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAllocateMemoryForBuffer(
    MaarAllocator allocator, VkBuffer buffer, const MaarAllocationCreateInfo* pCreateInfo,
    MaarAllocation* pAllocation);

/**
 * Allocates memory for an image that the caller made, without binding it.
 *
 * @param allocator    not null
 * @param image        not null; not disjoint
 * @param tiling       the tiling it was created with
 * @param pCreateInfo  how to allocate; NULL for the defaults
 * @param pAllocation  receives its memory
 * @return as maarAllocateMemory
 * @threadsafety internally synchronized
 * @lifetime free it with maarFreeMemory
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAllocateMemoryForImage(MaarAllocator allocator, VkImage image,
                                                        VkImageTiling tiling,
                                                        const MaarAllocationCreateInfo* pCreateInfo,
                                                        MaarAllocation* pAllocation);

/**
 * Binds a buffer to an allocation.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @param offset      within the allocation, bytes
 * @param buffer      not null, not bound yet
 * @param pNext       chained to VkBindBufferMemoryInfo; may be NULL
 * @return what vkBindBufferMemory2 returns; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `buffer` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarBindBuffer(MaarAllocator allocator, MaarAllocation allocation,
                                            VkDeviceSize offset, VkBuffer buffer,
                                            const void* pNext);

/**
 * Binds an image to an allocation.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @param offset      within the allocation, bytes
 * @param image       not null, not bound yet
 * @param pNext       chained to VkBindImageMemoryInfo (plane, swapchain); may be NULL
 * @return what vkBindImageMemory2 returns; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarBindImage(MaarAllocator allocator, MaarAllocation allocation,
                                           VkDeviceSize offset, VkImage image, const void* pNext);

/**
 * Ranks the memory types for a buffer that does not exist yet. Makes and destroys one where
 * VK_KHR_maintenance4 is not enabled.
 *
 * @param allocator    not null
 * @param pBufferInfo  as for vkCreateBuffer
 * @param pCreateInfo  usage, flags and types wanted; NULL for the defaults
 * @param pChoice      sType and pNext set by the caller; the rest is filled
 * @return as maarChooseMemoryType, and what vkCreateBuffer returns
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarChooseMemoryTypeForBuffer(
    MaarAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const MaarAllocationCreateInfo* pCreateInfo, MaarMemoryTypeChoice* pChoice);

/**
 * Ranks the memory types for an image that does not exist yet. Otherwise as
 * maarChooseMemoryTypeForBuffer.
 *
 * @param allocator    not null
 * @param pImageInfo   as for vkCreateImage; not disjoint
 * @param pCreateInfo  usage, flags and types wanted; NULL for the defaults
 * @param pChoice      sType and pNext set by the caller; the rest is filled
 * @return as maarChooseMemoryType, and what vkCreateImage returns
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarChooseMemoryTypeForImage(
    MaarAllocator allocator, const VkImageCreateInfo* pImageInfo,
    const MaarAllocationCreateInfo* pCreateInfo, MaarMemoryTypeChoice* pChoice);

/**
 * Reads a buffer's device address.
 *
 * @param allocator  not null
 * @param buffer     bound, with SHADER_DEVICE_ADDRESS usage
 * @param pAddress   receives the address
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when bufferDeviceAddress is off;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetBufferAddress(MaarAllocator allocator, VkBuffer buffer,
                                                  VkDeviceAddress* pAddress);

/* ---------------------------------------------------------------------------------------------- */
/* Slices: thousands of small buffers out of few big ones */
/* ---------------------------------------------------------------------------------------------- */

/** A range of a VkBuffer that Maar owns and shares among many. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarSlice)

/** What a slice is to be. */
typedef struct MaarSliceCreateInfo {
    /** MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Bytes, at least 1 and at most MAAR_MAX_SLICE_SIZE. */
    VkDeviceSize size;
    /** Least alignment of the offset, bytes, on top of what the usage demands (uniform, storage and
     * texel buffer offsets); 0 for none. Any number. */
    VkDeviceSize alignment;
    /** What it is used for; slices share a VkBuffer only with others of the same usage. */
    VkBufferUsageFlags usage;
    /** What the memory is for. */
    MaarMemoryUsage memoryUsage;
    /** Of MaarAllocationCreateFlagBits: within budget, never allocate, no fallback. Slices share a
     * VkBuffer only with others of the same flags. */
    MaarAllocationCreateFlags allocationFlags;
    /** Bits of the device's queue families that use it at the same time; with fewer than two the
     * buffer is exclusive. Slices share a VkBuffer only with others of the same families. */
    uint32_t queueFamilyBits;
    /** Kept with the slice. */
    void* pUserData;
} MaarSliceCreateInfo;

/** Largest slice, bytes; larger buffers are better off alone. */
#define MAAR_MAX_SLICE_SIZE 262144

/** What is known of a slice. */
typedef struct MaarSliceInfo {
    /** MAAR_STRUCTURE_TYPE_SLICE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The shared buffer. */
    VkBuffer buffer;
    /** Where in it, bytes. */
    VkDeviceSize offset;
    /** How many bytes. */
    VkDeviceSize size;
    /** The slice's first byte in host memory; NULL where the type is not HOST_VISIBLE. */
    void* pMappedData;
    /** The slice's device address; 0 without SHADER_DEVICE_ADDRESS usage. */
    VkDeviceAddress address;
    /** The shared buffer's memory, for maarFlushAllocation at `allocationOffset`. */
    MaarAllocation allocation;
    /** Where the slice lies in `allocation`, bytes. */
    VkDeviceSize allocationOffset;
    /** As given. */
    void* pUserData;
} MaarSliceInfo;

/**
 * Takes a slice of a shared buffer, making a new one when none has room.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pSlice       receives the slice
 * @return as maarCreateBuffer
 * @threadsafety internally synchronized
 * @lifetime give it back with maarDestroySlice
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateSlice(MaarAllocator allocator,
                                             const MaarSliceCreateInfo* pCreateInfo,
                                             MaarSlice* pSlice);

/**
 * Gives a slice back. The device must be done with it. A stale handle is reported, and nothing
 * happens.
 *
 * @param allocator  not null
 * @param slice      may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `slice` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroySlice(MaarAllocator allocator, MaarSlice slice);

/**
 * Gives a slice back once every point has passed. Never blocks.
 *
 * @param allocator   not null
 * @param slice       may be VK_NULL_HANDLE
 * @param pointCount  0 (now) to MAAR_MAX_POINTS
 * @param pPoints     the points
 * @return as maarFreeMemoryAfter; on failure the slice stays alive
 * @threadsafety internally synchronized; `slice` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDestroySliceAfter(MaarAllocator allocator, MaarSlice slice,
                                                   uint32_t pointCount, const MaarPoint* pPoints);

/**
 * Reads a slice. Does not call the driver.
 *
 * @param allocator  not null
 * @param slice      not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetSliceInfo(MaarAllocator allocator, MaarSlice slice,
                                              MaarSliceInfo* pInfo);

#ifdef __cplusplus
}
#endif

#endif
