/** @file
 * maar/objects.h: buffers, images and slices. One call creates an object, allocates its memory and
 * binds the two; if a step fails, the steps before it are undone. The general rules of
 * maar/allocator.h apply here too.
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
 * @param pBufferInfo  as for vkCreateBuffer; usage is not 0, unless the chain has a
 *                     VkBufferUsageFlags2CreateInfo; usage SHADER_DEVICE_ADDRESS requires that
 *                     pEnabledFeatures of the allocator had the bufferDeviceAddress feature
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
 * Destroys a buffer and frees its memory. The device must have finished with it.
 *
 * @param allocator   not null
 * @param buffer      may be VK_NULL_HANDLE; created by Maar, or with the allocator's
 *                    pAllocationCallbacks
 * @param allocation  may be VK_NULL_HANDLE; if it is refused (it is stale, another allocator's, or
 *                    an object of Maar's owns it), the buffer is not destroyed either, as the
 *                    message of a stale one says: destroy the buffer with its own allocation, or
 *                    with VK_NULL_HANDLE
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
 * @param pImageInfo   as for vkCreateImage; usage is not 0
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
 * Destroys an image and frees its memory. The device must have finished with it.
 *
 * @param allocator   not null
 * @param image       may be VK_NULL_HANDLE
 * @param allocation  may be VK_NULL_HANDLE; if it is refused (it is stale, another allocator's, or
 *                    an object of Maar's owns it), the image is not destroyed either, as the
 * message of a stale one says: destroy the image with its own allocation, or with VK_NULL_HANDLE
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

/** The largest number of planes of an image. */
#define MAAR_MAX_PLANES 3

/**
 * Creates a multi-planar image with VK_IMAGE_CREATE_DISJOINT_BIT. Each plane gets an allocation of
 * its own. To destroy the image, call maarDestroyImage with the image and its first allocation, and
 * free the other allocations.
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
 * Creates a buffer on an existing allocation. The allocation should have been made with
 * MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT. Without this bit, and in a pool of one kind, the buffer
 * must be of the allocation's kind, and the allocation must not be dedicated to an object. The call
 * checks size, alignment and memory type.
 *
 * @param allocator    not null
 * @param allocation   what to bind to
 * @param offset       within the allocation, bytes
 * @param pBufferInfo  as for vkCreateBuffer
 * @param pBuffer      receives the buffer; destroy it with vkDestroyBuffer and the allocator's
 *                     pAllocationCallbacks
 * @return what vkCreateBuffer and vkBindBufferMemory2 return; VK_ERROR_VALIDATION_FAILED_EXT, also
 *         if the object does not fit there, or the driver requires a dedicated allocation for it
 * @threadsafety internally synchronized
 * @lifetime destroy the buffer before the allocation is freed
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateAliasingBuffer(MaarAllocator allocator,
                                                      MaarAllocation allocation,
                                                      VkDeviceSize offset,
                                                      const VkBufferCreateInfo* pBufferInfo,
                                                      VkBuffer* pBuffer);

/**
 * Creates an image on an existing allocation. The rules are those of maarCreateAliasingBuffer.
 *
 * @param allocator   not null
 * @param allocation  what to bind to
 * @param offset      within the allocation, bytes
 * @param pImageInfo  as for vkCreateImage
 * @param pImage      receives the image; destroy it with vkDestroyImage and the allocator's
 *                    pAllocationCallbacks
 * @return as maarCreateAliasingBuffer
 * @threadsafety internally synchronized
 * @lifetime destroy the image before the allocation is freed
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
 * @param tiling       the tiling that the image was created with
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
 * Binds a buffer to an allocation. Checks size, alignment and memory type against the allocation,
 * as no validation layer can: to a layer, the whole block is one memory.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @param offset      within the allocation, bytes
 * @param buffer      not null, not bound yet
 * @param pNext       chained to VkBindBufferMemoryInfo; may be NULL
 * @return what vkBindBufferMemory2 returns; VK_ERROR_VALIDATION_FAILED_EXT, also if the buffer does
 *         not fit there
 * @threadsafety internally synchronized; `buffer` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarBindBuffer(MaarAllocator allocator, MaarAllocation allocation,
                                            VkDeviceSize offset, VkBuffer buffer,
                                            const void* pNext);

/**
 * Binds an image to an allocation. Without pNext, checks size, alignment and memory type as
 * maarBindBuffer does.
 *
 * @param allocator   not null
 * @param allocation  not null
 * @param offset      within the allocation, bytes
 * @param image       not null, not bound yet
 * @param pNext       chained to VkBindImageMemoryInfo (plane, swapchain); may be NULL
 * @return what vkBindImageMemory2 returns; VK_ERROR_VALIDATION_FAILED_EXT, also if the image does
 *         not fit there
 * @threadsafety internally synchronized; `image` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarBindImage(MaarAllocator allocator, MaarAllocation allocation,
                                           VkDeviceSize offset, VkImage image, const void* pNext);

/**
 * Ranks the memory types for a buffer that does not exist yet. Where VK_KHR_maintenance4 is not
 * enabled, the call creates such a buffer and destroys it.
 *
 * @param allocator    not null
 * @param pBufferInfo  as for vkCreateBuffer
 * @param pCreateInfo  usage, flags and types; NULL for the defaults
 * @param pChoice      the caller sets sType and pNext; the call fills in the rest
 * @return as maarChooseMemoryType, and what vkCreateBuffer returns
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarChooseMemoryTypeForBuffer(
    MaarAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const MaarAllocationCreateInfo* pCreateInfo, MaarMemoryTypeChoice* pChoice);

/**
 * Ranks the memory types for an image that does not exist yet. In other respects the call is
 * like maarChooseMemoryTypeForBuffer.
 *
 * @param allocator    not null
 * @param pImageInfo   as for vkCreateImage; not disjoint
 * @param pCreateInfo  usage, flags and types; NULL for the defaults
 * @param pChoice      the caller sets sType and pNext; the call fills in the rest
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
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT if bufferDeviceAddress is not enabled;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetBufferAddress(MaarAllocator allocator, VkBuffer buffer,
                                                  VkDeviceAddress* pAddress);

/* ---------------------------------------------------------------------------------------------- */
/* Slices: thousands of small buffers out of few big ones */
/* ---------------------------------------------------------------------------------------------- */

/** A range of a VkBuffer that belongs to Maar and that many slices share. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarSlice)

/** How to create a slice. */
typedef struct MaarSliceCreateInfo {
    /** MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Bytes, at least 1 and at most MAAR_MAX_SLICE_SIZE. */
    VkDeviceSize size;
    /** The least alignment of the offset, bytes, in addition to what the usage requires (of
     * uniform, storage and texel buffer offsets); 0 for none. Any number up to
     * MAAR_MAX_SLICE_ALIGNMENT, a power of two or not. Only the first bytes of a VkBuffer suit an
     * alignment above the size of that buffer, 64 KiB to 4 MiB. */
    VkDeviceSize alignment;
    /** The usage of the buffer. Slices share a VkBuffer only with slices of the same usage. */
    VkBufferUsageFlags usage;
    /** What the memory is for. */
    MaarMemoryUsage memoryUsage;
    /** Of MaarAllocationCreateFlagBits: within budget, never allocate, no fallback, avoided types.
     * Slices share a VkBuffer only with slices of the same flags. */
    MaarAllocationCreateFlags allocationFlags;
    /** Bits of the queue families that use the slice at the same time. With fewer than two, the
     * buffer is exclusive. Slices share a VkBuffer only with slices of the same families. */
    uint32_t queueFamilyBits;
    /** Stored with the slice, for the program. */
    void* pUserData;
    /** Property flags that the memory type must have. Slices share a VkBuffer only with slices of
     * the same required and preferred flags. */
    VkMemoryPropertyFlags requiredFlags;
    /** Property flags that the type should have. They weigh more than the preferences of
     * memoryUsage. */
    VkMemoryPropertyFlags preferredFlags;
} MaarSliceCreateInfo;

/** The largest slice, bytes. A larger buffer should be a buffer of its own. */
#define MAAR_MAX_SLICE_SIZE 262144

/** The largest alignment of a slice, bytes: 1 GiB. */
#define MAAR_MAX_SLICE_ALIGNMENT 1073741824

/** What maarGetSliceInfo reads. */
typedef struct MaarSliceInfo {
    /** MAAR_STRUCTURE_TYPE_SLICE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The shared buffer. */
    VkBuffer buffer;
    /** Where the slice lies in the buffer, bytes. */
    VkDeviceSize offset;
    /** The size of the slice, bytes. */
    VkDeviceSize size;
    /** The slice's first byte in host memory; NULL where the type is not HOST_VISIBLE. */
    void* pMappedData;
    /** The slice's device address; 0 without SHADER_DEVICE_ADDRESS usage. */
    VkDeviceAddress address;
    /** The shared buffer's memory, for maarFlushAllocation at `allocationOffset`. */
    MaarAllocation allocation;
    /** Where the slice lies in `allocation`, bytes. */
    VkDeviceSize allocationOffset;
    /** MaarSliceCreateInfo::pUserData. */
    void* pUserData;
} MaarSliceInfo;

/**
 * Takes a slice of a shared buffer. Creates a new buffer if none has room.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pSlice       receives the slice
 * @return as maarCreateBuffer
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroySlice
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateSlice(MaarAllocator allocator,
                                             const MaarSliceCreateInfo* pCreateInfo,
                                             MaarSlice* pSlice);

/**
 * Destroys a slice. The device must have finished with it. A stale handle is reported and nothing
 * happens.
 *
 * @param allocator  not null
 * @param slice      may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `slice` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroySlice(MaarAllocator allocator, MaarSlice slice);

/**
 * Destroys a slice once every point has passed. Never blocks.
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
 * @param pInfo      the caller sets sType and pNext; the call fills in the rest
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
