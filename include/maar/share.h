/** @file
 * maar/share.h: the same bytes in other processes, other devices and other APIs. Memory that can be
 * exported, memory that was made elsewhere, semaphores seen from both sides, and the transfer of
 * ownership that Vulkan wants at each handoff. maar/cuda.h, maar/hip.h and maar/process.h are built
 * on it. The general rules of maar/allocator.h hold here too.
 *
 * One rule governs every handle of the operating system: it has one owner. A MaarExternalHandle
 * owns it until it is taken out, at most once. A call that imports consumes it when it succeeds and
 * leaves it untouched when it fails. What was not taken is closed with the object.
 */
#ifndef MAAR_SHARE_H
#define MAAR_SHARE_H

#include "maar/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- */
/* Handles of the operating system */
/* ---------------------------------------------------------------------------------------------- */

/** Owns a file descriptor, or an NT handle on Windows, until it is taken out or the object is
 * destroyed, which closes it. Descriptors are close-on-exec. Those that an allocator made and
 * nobody destroyed are told of, as leaks, when the allocator is destroyed. */
VK_DEFINE_HANDLE(MaarExternalHandle)

/**
 * Gives a file descriptor to a new object. On failure it stays the caller's.
 *
 * @param allocator  not null; gives host memory alone, so the object serves other allocators too
 * @param fd         at least 0, open; must not be used or closed by the caller any more
 * @param pHandle    receives the object
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INVALID_EXTERNAL_HANDLE when fd is not
 *         open; VK_ERROR_FEATURE_NOT_PRESENT where there are no file descriptors to share;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyExternalHandle, before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWrapFd(MaarAllocator allocator, int fd,
                                        MaarExternalHandle* pHandle);

/**
 * Gives a Win32 NT handle to a new object. On failure it stays the caller's. Not for the KMT
 * handles of old, which hold no reference and must never be closed.
 *
 * @param allocator    not null; gives host memory alone
 * @param win32Handle  a HANDLE, neither NULL nor INVALID_HANDLE_VALUE
 * @param pHandle      receives the object
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT elsewhere than on
 *         Windows; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyExternalHandle, before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWrapWin32Handle(MaarAllocator allocator, void* win32Handle,
                                                 MaarExternalHandle* pHandle);

/**
 * Takes the file descriptor out: the caller owns it from now on, and the object is empty. Of two
 * threads that take at once, one succeeds.
 *
 * @param allocator  not null
 * @param handle     not null
 * @param pFd        receives the descriptor; -1 on failure
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE when it was taken before, by this call or by
 *         an import, or holds no file descriptor; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarTakeFd(MaarAllocator allocator, MaarExternalHandle handle,
                                        int* pFd);

/**
 * Takes the NT handle out. Otherwise as maarTakeFd.
 *
 * @param allocator     not null
 * @param handle        not null
 * @param pWin32Handle  receives the HANDLE; NULL on failure
 * @return as maarTakeFd
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarTakeWin32Handle(MaarAllocator allocator, MaarExternalHandle handle,
                                                 void** pWin32Handle);

/**
 * Shows the file descriptor without taking it: not to be closed, nor given to whatever closes it.
 *
 * @param handle  may be VK_NULL_HANDLE
 * @return the descriptor; -1 when it was taken or there is none
 * @threadsafety internally synchronized
 * @lifetime until it is taken or the object destroyed
 * @since 0.1.0
 */
MAAR_API int VKAPI_CALL maarPeekFd(MaarExternalHandle handle);

/**
 * Shows the NT handle without taking it.
 *
 * @param handle  may be VK_NULL_HANDLE
 * @return the HANDLE; NULL when it was taken or there is none
 * @threadsafety internally synchronized
 * @lifetime until it is taken or the object destroyed
 * @since 0.1.0
 */
MAAR_API void* VKAPI_CALL maarPeekWin32Handle(MaarExternalHandle handle);

/**
 * Makes a second handle to the same thing, with an owner of its own.
 *
 * @param allocator  not null; gives the copy's host memory
 * @param handle     not null, not empty
 * @param pCopy      receives the copy
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_TOO_MANY_OBJECTS when the process has
 *         no descriptor left; VK_ERROR_INVALID_EXTERNAL_HANDLE when it was taken or closed;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `handle` externally
 * @lifetime destroy it with maarDestroyExternalHandle
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDuplicateExternalHandle(MaarAllocator allocator,
                                                         MaarExternalHandle handle,
                                                         MaarExternalHandle* pCopy);

/**
 * Destroys the object, and closes what was not taken out.
 *
 * @param allocator  not null
 * @param handle     may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `handle` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyExternalHandle(MaarAllocator allocator,
                                                   MaarExternalHandle handle);

/* ---------------------------------------------------------------------------------------------- */
/* What can be shared */
/* ---------------------------------------------------------------------------------------------- */

/** What the device, as it was created, can share. */
typedef struct MaarSharingInfo {
    /** MAAR_STRUCTURE_TYPE_SHARING_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** VkPhysicalDeviceIDProperties::deviceUUID */
    uint8_t deviceUUID[VK_UUID_SIZE];
    /** VkPhysicalDeviceIDProperties::driverUUID. Opaque handles want both equal. */
    uint8_t driverUUID[VK_UUID_SIZE];
    /** VkPhysicalDeviceIDProperties::deviceLUID */
    uint8_t deviceLUID[VK_LUID_SIZE];
    /** VkPhysicalDeviceIDProperties::deviceNodeMask */
    uint32_t deviceNodeMask;
    /** Whether the two above mean anything. */
    VkBool32 deviceLUIDValid;
    /** VK_KHR_external_memory_fd is enabled. */
    VkBool32 memoryFd;
    /** VK_EXT_external_memory_dma_buf is enabled. */
    VkBool32 dmaBuf;
    /** VK_KHR_external_memory_win32 is enabled. */
    VkBool32 memoryWin32;
    /** VK_EXT_external_memory_host is enabled. */
    VkBool32 hostPointers;
    /** VK_EXT_image_drm_format_modifier is enabled. */
    VkBool32 imageModifiers;
    /** VK_EXT_queue_family_foreign is enabled. */
    VkBool32 foreignQueueFamily;
    /** VkPhysicalDeviceExternalMemoryHostPropertiesEXT::minImportedHostPointerAlignment, bytes; 0
     * without hostPointers. */
    VkDeviceSize minImportedHostPointerAlignment;
    /** Types that a timeline semaphore can be exported as. */
    VkExternalSemaphoreHandleTypeFlags exportableTimelineTypes;
    /** Types that a timeline semaphore can be imported from. */
    VkExternalSemaphoreHandleTypeFlags importableTimelineTypes;
    /** Types that a binary semaphore can be exported as. */
    VkExternalSemaphoreHandleTypeFlags exportableBinaryTypes;
    /** Types that a binary semaphore can be imported from. */
    VkExternalSemaphoreHandleTypeFlags importableBinaryTypes;
} MaarSharingInfo;

/**
 * Reads what the device can share. Calls the driver.
 *
 * @param allocator  not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetSharingInfo(MaarAllocator allocator, MaarSharingInfo* pInfo);

/** A resource, and how it is to be shared. */
typedef struct MaarSharingQuery {
    /** MAAR_STRUCTURE_TYPE_SHARING_QUERY */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** A buffer, or NULL; VkExternalMemoryBufferCreateInfo is added if it is not chained. */
    const VkBufferCreateInfo* pBufferInfo;
    /** An image, not disjoint, or NULL; exactly one of the two is given. */
    const VkImageCreateInfo* pImageInfo;
    /** One bit. */
    VkExternalMemoryHandleTypeFlagBits handleType;
} MaarSharingQuery;

/** How a resource can be shared. */
typedef struct MaarSharingSupport {
    /** MAAR_STRUCTURE_TYPE_SHARING_SUPPORT */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Memory for it can be exported, and the extension for that is enabled. */
    VkBool32 exportable;
    /** Memory for it can be imported, and the extension for that is enabled. */
    VkBool32 importable;
    /** It must have a VkDeviceMemory of its own; Maar sees to it. */
    VkBool32 dedicatedOnly;
    /** Types that may be asked for together with this one. */
    VkExternalMemoryHandleTypeFlags compatibleTypes;
    /** Types that memory imported by this one can be exported as. */
    VkExternalMemoryHandleTypeFlags exportFromImportedTypes;
    /** Memory types that it may live in, asked with the external structure chained; 0 when it can
     * neither be exported nor imported. */
    uint32_t memoryTypeBits;
} MaarSharingSupport;

/**
 * Says how a resource can be shared, with the same structures chained as when it is created. Calls
 * the driver.
 *
 * @param allocator  not null
 * @param pQuery     what is to be shared
 * @param pSupport   sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS, also when it cannot be shared at all; VK_ERROR_OUT_OF_HOST_MEMORY and
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY from the driver; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetSharingSupport(MaarAllocator allocator,
                                                   const MaarSharingQuery* pQuery,
                                                   MaarSharingSupport* pSupport);

/* ---------------------------------------------------------------------------------------------- */
/* Export */
/* ---------------------------------------------------------------------------------------------- */

/**
 * Chained to MaarAllocationCreateInfo::pNext: the allocation can be exported, and lives in a pool
 * of such memory, one for each memory type and set of handle types, that Maar makes when it is
 * first needed. Chained to MaarPoolCreateInfo::pNext: the pool is of such memory, and whatever is
 * allocated from it can be exported. Objects made there by maarCreateBuffer and maarCreateImage get
 * the external structure that Vulkan wants, and memory of their own where the driver demands it;
 * what cannot be exported so is refused with VK_ERROR_FEATURE_NOT_PRESENT. Not together with
 * MaarPoolPagingInfo: what is made of pages is never exported.
 */
typedef struct MaarExportInfo {
    /** MAAR_STRUCTURE_TYPE_EXPORT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** At least one bit; the types must go together, see MaarSharingSupport::compatibleTypes. */
    VkExternalMemoryHandleTypeFlags handleTypes;
} MaarExportInfo;

/** Memory as another API, process or device is to import it. */
typedef struct MaarExportedMemory {
    /** MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The block's handle, with an owner of its own: the caller's to take or to destroy. */
    MaarExternalHandle handle;
    /** As asked for. */
    VkExternalMemoryHandleTypeFlagBits handleType;
    /** Bytes of the whole block, VkMemoryAllocateInfo::allocationSize: what to import. */
    VkDeviceSize blockSize;
    /** Where in the block the allocation begins, bytes. */
    VkDeviceSize offset;
    /** Bytes of the allocation. */
    VkDeviceSize size;
    /** The block's number, unique within the allocator's life: import each block once. */
    uint64_t blockId;
    /** The memory type; a Vulkan import of an opaque handle wants the same. */
    uint32_t memoryTypeIndex;
    /** The block was made with VkMemoryDedicatedAllocateInfo, and is to be imported so. */
    VkBool32 dedicated;
} MaarExportedMemory;

/**
 * Exports the block of an allocation. The driver is asked once for each block and handle type;
 * every call gives a duplicate of that handle.
 *
 * @param allocator   not null
 * @param allocation  made with MaarExportInfo, or out of a pool of such memory; or imported from a
 *                    handle of that type
 * @param handleType  one bit of MaarExportInfo::handleTypes
 * @param pMemory     sType and pNext set by the caller; the rest is filled, on failure with zeros
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_TOO_MANY_OBJECTS when there is no
 *         descriptor left; VK_ERROR_FEATURE_NOT_PRESENT when the extension is not enabled;
 *         VK_ERROR_UNKNOWN when the driver gives none; VK_ERROR_VALIDATION_FAILED_EXT, also for
 *         memory that was not made for it
 * @threadsafety internally synchronized; `allocation` externally
 * @lifetime destroy MaarExportedMemory::handle; the bytes live as long as anybody has them
 *           imported, also when the allocation is freed first
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarExportMemory(MaarAllocator allocator, MaarAllocation allocation,
                                              VkExternalMemoryHandleTypeFlagBits handleType,
                                              MaarExportedMemory* pMemory);

/* ---------------------------------------------------------------------------------------------- */
/* Import */
/* ---------------------------------------------------------------------------------------------- */

/** Memory that was made elsewhere. */
typedef struct MaarImportInfo {
    /** MAAR_STRUCTURE_TYPE_IMPORT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Not null, not empty; emptied when the call succeeds. */
    MaarExternalHandle handle;
    /** What it is; one bit. */
    VkExternalMemoryHandleTypeFlagBits handleType;
    /** Bytes of the whole block, as the exporter said: not those of one resource in it. For a
     * dma-buf 0 stands for its whole size. */
    VkDeviceSize blockSize;
    /** Where in the block the buffer or image begins, bytes. maarImportMemory ignores it. */
    VkDeviceSize offset;
    /** The exporter's memory type for opaque handles, which only the exporter knows;
     * MAAR_MEMORY_TYPE_NONE for the best one that the handle and the object allow. */
    uint32_t memoryTypeIndex;
    /** The exporter made the block for one object alone; so does this import. maarImportMemory
     * refuses it. */
    VkBool32 dedicated;
    /** What is preferred among several types; as MaarAllocationCreateInfo::usage. */
    MaarMemoryUsage usage;
    /** Kept with the allocation. */
    void* pUserData;
    /** Name for dumps and messages, copied; may be NULL. */
    const char* pName;
} MaarImportInfo;

/**
 * Imports memory as an allocation of its own that spans the whole block: buffers and images are
 * bound to it with maarCreateAliasingBuffer and maarCreateAliasingImage, it is mapped, named,
 * counted and freed like any other. Heap limits and budgets do not apply, since the bytes are there
 * already.
 *
 * @param allocator    not null
 * @param pImportInfo  what to import
 * @param pAllocation  receives the allocation
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE when the driver refuses the handle, or it is
 *         empty; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_FEATURE_NOT_PRESENT when the extension is not enabled
 *         or no memory type serves; VK_ERROR_VALIDATION_FAILED_EXT. On failure the handle is as it
 *         was.
 * @threadsafety internally synchronized; MaarImportInfo::handle externally
 * @lifetime free it with maarFreeMemory
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarImportMemory(MaarAllocator allocator,
                                              const MaarImportInfo* pImportInfo,
                                              MaarAllocation* pAllocation);

/**
 * Imports memory with a buffer in it.
 *
 * @param allocator    not null
 * @param pBufferInfo  as the exporter's; VkExternalMemoryBufferCreateInfo is added if it is not
 *                     chained
 * @param pImportInfo  what to import
 * @param pBuffer      receives the buffer
 * @param pAllocation  receives the whole block
 * @return as maarImportMemory, and what vkCreateBuffer and vkBindBufferMemory2 return;
 *         VK_ERROR_VALIDATION_FAILED_EXT also when the buffer does not fit at that offset
 * @threadsafety internally synchronized; MaarImportInfo::handle externally
 * @lifetime destroy both with maarDestroyBuffer
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarImportBuffer(MaarAllocator allocator,
                                              const VkBufferCreateInfo* pBufferInfo,
                                              const MaarImportInfo* pImportInfo, VkBuffer* pBuffer,
                                              MaarAllocation* pAllocation);

/**
 * Imports memory with an image in it. For a dma-buf chain
 * VkImageDrmFormatModifierExplicitCreateInfoEXT with what the exporter said.
 *
 * @param allocator    not null
 * @param pImageInfo   as the exporter's; VkExternalMemoryImageCreateInfo is added if it is not
 *                     chained. Not disjoint.
 * @param pImportInfo  what to import
 * @param pImage       receives the image
 * @param pAllocation  receives the whole block
 * @return as maarImportBuffer
 * @threadsafety internally synchronized; MaarImportInfo::handle externally
 * @lifetime destroy both with maarDestroyImage
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarImportImage(MaarAllocator allocator,
                                             const VkImageCreateInfo* pImageInfo,
                                             const MaarImportInfo* pImportInfo, VkImage* pImage,
                                             MaarAllocation* pAllocation);

/* ---------------------------------------------------------------------------------------------- */
/* The host's own memory */
/* ---------------------------------------------------------------------------------------------- */

/** A buffer on memory of the host, or on a copy of it. */
VK_DEFINE_HANDLE(MaarHostBuffer)

/** Bits of MaarHostBufferCreateInfo::flags. */
typedef enum MaarHostBufferCreateFlagBits {
    /** Fail rather than work on a copy. */
    MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT = 0x1,
    /** Always work on a copy. */
    MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_HOST_BUFFER_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarHostBufferCreateFlagBits;
/** Any of MaarHostBufferCreateFlagBits. */
typedef VkFlags MaarHostBufferCreateFlags;

/** Memory of the host that the device is to see. */
typedef struct MaarHostBufferCreateInfo {
    /** MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarHostBufferCreateFlagBits. */
    MaarHostBufferCreateFlags flags;
    /** First byte; must stay allocated, readable and writable, until the buffer is destroyed. An
     * import holds no reference to it. */
    void* pMemory;
    /** Bytes, not 0. Whole multiples of minImportedHostPointerAlignment around them are imported,
     * but never beyond their pages; only these bytes are touched. */
    VkDeviceSize size;
    /** Not 0. */
    VkBufferUsageFlags usage;
    /** Name for dumps and messages, copied; may be NULL. */
    const char* pName;
} MaarHostBufferCreateInfo;

/** What became of it. */
typedef struct MaarHostBufferInfo {
    /** MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The buffer. */
    VkBuffer buffer;
    /** Where in the buffer the host's first byte is. */
    VkDeviceSize offset;
    /** Bytes. */
    VkDeviceSize size;
    /** Its memory. */
    MaarAllocation allocation;
    /** The device works on a copy: what the host writes has to be pushed, what the device writes
     * has to be pulled. Both do no more than make caches agree when this is VK_FALSE. */
    VkBool32 copied;
    /** Why it is a copy, or empty; zero-terminated. */
    char reason[128];
} MaarHostBufferInfo;

/**
 * Makes a buffer of the host's memory: imported where the driver takes it, else a copy in memory
 * that the host sees, which is told as a warning. A copy begins with the host's bytes.
 *
 * @param allocator    not null
 * @param pCreateInfo  the memory
 * @param pHostBuffer  receives the object
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_MEMORY_MAP_FAILED; with the no-copy flag
 *         VK_ERROR_FEATURE_NOT_PRESENT without the extension, and VK_ERROR_INVALID_EXTERNAL_HANDLE
 *         when the driver refuses the pages; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyHostBuffer
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateHostBuffer(MaarAllocator allocator,
                                                  const MaarHostBufferCreateInfo* pCreateInfo,
                                                  MaarHostBuffer* pHostBuffer);

/**
 * Destroys the buffer; the host's memory is the caller's as before. The device must be done with
 * it. What was not pulled out of a copy is lost.
 *
 * @param allocator   not null
 * @param hostBuffer  may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `hostBuffer` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyHostBuffer(MaarAllocator allocator, MaarHostBuffer hostBuffer);

/**
 * Reads what became of it. Does not call the driver.
 *
 * @param allocator   not null
 * @param hostBuffer  not null
 * @param pInfo       sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetHostBufferInfo(MaarAllocator allocator,
                                                   MaarHostBuffer hostBuffer,
                                                   MaarHostBufferInfo* pInfo);

/**
 * Makes the host's bytes visible to the device: copies them where there is a copy.
 *
 * @param allocator   not null
 * @param hostBuffer  not null
 * @param offset      from the host's first byte, bytes
 * @param size        bytes, or VK_WHOLE_SIZE for the rest
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT, also for a range outside
 * @threadsafety internally synchronized; the bytes externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarPushHostBuffer(MaarAllocator allocator, MaarHostBuffer hostBuffer,
                                                VkDeviceSize offset, VkDeviceSize size);

/**
 * Makes the device's bytes visible to the host: copies them where there is a copy. The device must
 * be done, with a barrier to the host.
 *
 * @param allocator   not null
 * @param hostBuffer  not null
 * @param offset      from the host's first byte, bytes
 * @param size        bytes, or VK_WHOLE_SIZE for the rest
 * @return as maarPushHostBuffer
 * @threadsafety internally synchronized; the bytes externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarPullHostBuffer(MaarAllocator allocator, MaarHostBuffer hostBuffer,
                                                VkDeviceSize offset, VkDeviceSize size);

/* ---------------------------------------------------------------------------------------------- */
/* Semaphores */
/* ---------------------------------------------------------------------------------------------- */

/** A semaphore that can be exported. */
typedef struct MaarSharedSemaphoreCreateInfo {
    /** MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** VK_SEMAPHORE_TYPE_TIMELINE or VK_SEMAPHORE_TYPE_BINARY. */
    VkSemaphoreType type;
    /** A timeline's first value. */
    uint64_t initialValue;
    /** One bit. A SYNC_FD stands for one signal of a binary semaphore rather than for it:
     * maarExportSemaphore gives none, vkGetSemaphoreFdKHR does. */
    VkExternalSemaphoreHandleTypeFlagBits handleType;
} MaarSharedSemaphoreCreateInfo;

/**
 * Creates a semaphore that can be exported.
 *
 * @param allocator    not null
 * @param pCreateInfo  what kind
 * @param pSemaphore   receives the semaphore; destroy it with vkDestroySemaphore and the
 *                     allocator's pAllocationCallbacks
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when the device cannot export such a one, or the
 *         timelineSemaphore feature or the extension is not enabled; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime see above
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL
maarCreateSharedSemaphore(MaarAllocator allocator, const MaarSharedSemaphoreCreateInfo* pCreateInfo,
                          VkSemaphore* pSemaphore);

/**
 * Exports a semaphore. An NT handle can be exported only once for each semaphore: for more,
 * duplicate it with maarDuplicateExternalHandle.
 *
 * @param allocator   not null
 * @param semaphore   made to be exported as that type
 * @param handleType  one bit
 * @param pHandle     receives the handle
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT; VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_UNKNOWN when the driver gives none;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `semaphore` externally
 * @lifetime destroy it with maarDestroyExternalHandle
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarExportSemaphore(MaarAllocator allocator, VkSemaphore semaphore,
                                                 VkExternalSemaphoreHandleTypeFlagBits handleType,
                                                 MaarExternalHandle* pHandle);

/**
 * Makes a semaphore of one that was made elsewhere.
 *
 * @param allocator   not null
 * @param handle      not null, not empty; emptied when the call succeeds
 * @param handleType  what it is; one bit
 * @param type        VK_SEMAPHORE_TYPE_TIMELINE or VK_SEMAPHORE_TYPE_BINARY, as it was made
 * @param pSemaphore  receives the semaphore; destroy it with vkDestroySemaphore and the allocator's
 *                    pAllocationCallbacks
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE; VK_ERROR_FEATURE_NOT_PRESENT;
 *         VK_ERROR_TOO_MANY_OBJECTS when there is no descriptor left for a duplicate;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT. On failure the handle is as it was.
 * @threadsafety internally synchronized; `handle` externally
 * @lifetime see above
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarImportSemaphore(MaarAllocator allocator, MaarExternalHandle handle,
                                                 VkExternalSemaphoreHandleTypeFlagBits handleType,
                                                 VkSemaphoreType type, VkSemaphore* pSemaphore);

/* ---------------------------------------------------------------------------------------------- */
/* Handoffs */
/* ---------------------------------------------------------------------------------------------- */

/** Who has the bytes while Vulkan has not. */
typedef enum MaarHandoffPeer {
    /** CUDA or HIP on the same device, or Vulkan in another process with the same deviceUUID and
     * driverUUID: VK_QUEUE_FAMILY_EXTERNAL. */
    MAAR_HANDOFF_PEER_EXTERNAL = 0,
    /** Anybody else; needs VK_EXT_queue_family_foreign: VK_QUEUE_FAMILY_FOREIGN_EXT. */
    MAAR_HANDOFF_PEER_FOREIGN = 1,
    /** Reserves the enumeration's size. */
    MAAR_HANDOFF_PEER_MAX_ENUM = 0x7FFFFFFF
} MaarHandoffPeer;

/** A buffer or an image whose ownership passes. Shared memory is owned exclusively, whatever the
 * sharing mode of the object. */
typedef struct MaarHandoffResource {
    /** A buffer, or null. */
    VkBuffer buffer;
    /** Its range, bytes. */
    VkDeviceSize offset;
    /** Bytes; 0 or VK_WHOLE_SIZE for the rest of the buffer. */
    VkDeviceSize size;
    /** An image, or null; exactly one of the two is given. */
    VkImage image;
    /** Aspect, levels and layers; all zero for every level and layer of a colour image. */
    VkImageSubresourceRange range;
    /** The image's layout before the handoff, as Vulkan knows it. */
    VkImageLayout oldLayout;
    /** Its layout after it; the same in the release and in the acquire that follows. */
    VkImageLayout newLayout;
    /** Stages of the queue that used it before a release, or will use it after an acquire; 0 for
     * all commands. */
    VkPipelineStageFlags stages;
    /** Accesses likewise; 0 for all. */
    VkAccessFlags access;
    /** What the object was created with. */
    VkSharingMode sharingMode;
} MaarHandoffResource;

/**
 * Records the barriers that give resources away. What the queue wrote before is available to the
 * peer once the submission has signalled a semaphore that the peer waits for.
 *
 * @param allocator      not null
 * @param commandBuffer  recording, of a family that may do what `stages` says
 * @param familyIndex    that family
 * @param peer           who gets them
 * @param resourceCount  how many; 0 is allowed
 * @param pResources     the resources
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT for the foreign family without its extension;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `commandBuffer` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCmdRelease(MaarAllocator allocator, VkCommandBuffer commandBuffer,
                                            uint32_t familyIndex, MaarHandoffPeer peer,
                                            uint32_t resourceCount,
                                            const MaarHandoffResource* pResources);

/**
 * Records the barriers that take resources back. The submission must wait for the semaphore that
 * the peer signals, in the stages named.
 *
 * @param allocator      not null
 * @param commandBuffer  recording, of a family that may do what `stages` says
 * @param familyIndex    that family
 * @param peer           who had them
 * @param resourceCount  how many; 0 is allowed
 * @param pResources     the resources
 * @return as maarCmdRelease
 * @threadsafety internally synchronized; `commandBuffer` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCmdAcquire(MaarAllocator allocator, VkCommandBuffer commandBuffer,
                                            uint32_t familyIndex, MaarHandoffPeer peer,
                                            uint32_t resourceCount,
                                            const MaarHandoffResource* pResources);

/** Which way ownership passes. */
typedef enum MaarHandoffDirection {
    /** From Vulkan to the peer. */
    MAAR_HANDOFF_DIRECTION_RELEASE = 0,
    /** From the peer to Vulkan. */
    MAAR_HANDOFF_DIRECTION_ACQUIRE = 1,
    /** Reserves the enumeration's size. */
    MAAR_HANDOFF_DIRECTION_MAX_ENUM = 0x7FFFFFFF
} MaarHandoffDirection;

/** A handoff that Maar records and submits. */
typedef struct MaarHandoffInfo {
    /** MAAR_STRUCTURE_TYPE_HANDOFF_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Which way. */
    MaarHandoffDirection direction;
    /** With whom. */
    MaarHandoffPeer peer;
    /** Which of MaarAllocatorCreateInfo::pQueues; its family must do graphics, compute or
     * transfer. Its lock is taken. */
    uint32_t queue;
    /** How many resources; 0 is allowed. */
    uint32_t resourceCount;
    /** The resources. */
    const MaarHandoffResource* pResources;
    /** How many points the submission waits for. */
    uint32_t waitCount;
    /** Those points: of timelines, or of a binary semaphore whose value is ignored. */
    const MaarPoint* pWaits;
    /** How many points the submission signals. */
    uint32_t signalCount;
    /** Those points, as above. */
    const MaarPoint* pSignals;
} MaarHandoffInfo;

/** Most points that one handoff waits for, and most that it signals. */
#define MAAR_MAX_HANDOFF_POINTS 8

/**
 * Records and submits the barriers of a handoff, for programs that have no command buffer at hand.
 * Comes after whatever was submitted to that queue before. Does not wait for the device.
 *
 * @param allocator  not null
 * @param pInfo      the handoff
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT without the timelineSemaphore feature, or for
 *         the foreign family without its extension; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_DEVICE_LOST;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSubmitHandoff(MaarAllocator allocator,
                                               const MaarHandoffInfo* pInfo);

#ifdef __cplusplus
}
#endif

#endif
