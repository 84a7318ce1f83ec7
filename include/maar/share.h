/** @file
 * maar/share.h: memory that other processes, other devices and other APIs share. This header
 * exports memory and semaphores, imports those that were made elsewhere, and makes the transfers of
 * ownership that Vulkan requires at each handoff. maar/cuda.h, maar/hip.h and maar/process.h are
 * built on it. The general rules of maar/allocator.h hold here too.
 *
 * Every handle of the operating system has exactly one owner. A MaarExternalHandle owns its handle
 * until a call takes the handle out, at most once. An import that succeeds takes the handle out; an
 * import that fails leaves it untouched. A handle that was not taken out is closed when its object
 * is destroyed.
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

/** An object that owns a file descriptor, or an NT handle on Windows. It owns the descriptor until
 * a call takes it out. Destroying the object closes a descriptor that was not taken out.
 * Descriptors are close-on-exec. Objects that an allocator made and that still live when it is
 * destroyed are reported as leaks. */
VK_DEFINE_HANDLE(MaarExternalHandle)

/**
 * Gives a file descriptor to a new object. On failure the descriptor stays the caller's.
 *
 * @param allocator  not null; provides host memory alone, so the object works with other allocators
 *                   too
 * @param fd         at least 0, open; must not be used or closed by the caller any more
 * @param pHandle    receives the object
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INVALID_EXTERNAL_HANDLE when fd is not
 *         open; VK_ERROR_FEATURE_NOT_PRESENT on platforms without file descriptors to share;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyExternalHandle, before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWrapFd(MaarAllocator allocator, int fd,
                                        MaarExternalHandle* pHandle);

/**
 * Gives a Win32 NT handle to a new object. On failure the handle stays the caller's. The older KMT
 * handles are not allowed: they hold no reference and must never be closed.
 *
 * @param allocator    not null; provides host memory alone
 * @param win32Handle  a HANDLE, neither NULL nor INVALID_HANDLE_VALUE
 * @param pHandle      receives the object
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT on other systems
 *         than Windows; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyExternalHandle, before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWrapWin32Handle(MaarAllocator allocator, void* win32Handle,
                                                 MaarExternalHandle* pHandle);

/**
 * Takes the file descriptor out: the caller owns it afterwards, and the object is empty. When two
 * threads call this at once, one succeeds.
 *
 * @param allocator  not null
 * @param handle     not null
 * @param pFd        receives the descriptor; -1 on failure
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE when this call or an import took the
 *         descriptor before, or the object holds no file descriptor; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarTakeFd(MaarAllocator allocator, MaarExternalHandle handle,
                                        int* pFd);

/**
 * Takes the NT handle out. Everything else is as in maarTakeFd.
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
 * Returns the file descriptor without taking it out. The caller must not close it, nor give it to a
 * function that closes it.
 *
 * @param handle  may be VK_NULL_HANDLE
 * @return the descriptor; -1 when it was taken out or the object has none
 * @threadsafety internally synchronized
 * @lifetime valid until it is taken out or the object is destroyed
 * @since 0.1.0
 */
MAAR_API int VKAPI_CALL maarPeekFd(MaarExternalHandle handle);

/**
 * Returns the NT handle without taking it out.
 *
 * @param handle  may be VK_NULL_HANDLE
 * @return the HANDLE; NULL when it was taken out or the object has none
 * @threadsafety internally synchronized
 * @lifetime valid until it is taken out or the object is destroyed
 * @since 0.1.0
 */
MAAR_API void* VKAPI_CALL maarPeekWin32Handle(MaarExternalHandle handle);

/**
 * Duplicates a handle: makes a second one to the same memory or semaphore, in an object of its own.
 *
 * @param allocator  not null; provides the copy's host memory
 * @param handle     not null, not empty
 * @param pCopy      receives the copy
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_TOO_MANY_OBJECTS when the process has
 *         no descriptor left; VK_ERROR_INVALID_EXTERNAL_HANDLE when the handle was taken out or
 *         closed; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `handle` externally
 * @lifetime destroy it with maarDestroyExternalHandle
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDuplicateExternalHandle(MaarAllocator allocator,
                                                         MaarExternalHandle handle,
                                                         MaarExternalHandle* pCopy);

/**
 * Destroys the object, and closes its handle if that was not taken out.
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

/** The kinds of sharing that the device supports with its enabled extensions. */
typedef struct MaarSharingInfo {
    /** MAAR_STRUCTURE_TYPE_SHARING_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** VkPhysicalDeviceIDProperties::deviceUUID */
    uint8_t deviceUUID[VK_UUID_SIZE];
    /** VkPhysicalDeviceIDProperties::driverUUID. Opaque handles require that deviceUUID and
     * driverUUID are equal on both sides. */
    uint8_t driverUUID[VK_UUID_SIZE];
    /** VkPhysicalDeviceIDProperties::deviceLUID */
    uint8_t deviceLUID[VK_LUID_SIZE];
    /** VkPhysicalDeviceIDProperties::deviceNodeMask */
    uint32_t deviceNodeMask;
    /** VK_TRUE: deviceLUID and deviceNodeMask are valid. */
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
 * Reads which kinds of sharing the device supports. Calls the driver.
 *
 * @param allocator  not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetSharingInfo(MaarAllocator allocator, MaarSharingInfo* pInfo);

/** A resource and the handle type by which it is to be shared. */
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
    /** It must have a VkDeviceMemory of its own. Maar ensures that. */
    VkBool32 dedicatedOnly;
    /** Handle types that may be combined with this one. */
    VkExternalMemoryHandleTypeFlags compatibleTypes;
    /** Handle types as which memory can be exported that was imported by this one. */
    VkExternalMemoryHandleTypeFlags exportFromImportedTypes;
    /** Memory types that the resource may live in when it is created with the external structure
     * chained; 0 when it can neither be exported nor imported. */
    uint32_t memoryTypeBits;
} MaarSharingSupport;

/**
 * Finds out how a resource can be shared. The create info must have the same structures chained as
 * when the resource is created. Calls the driver.
 *
 * @param allocator  not null
 * @param pQuery     the resource to be shared
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
 * Makes memory exportable. Chained to MaarAllocationCreateInfo::pNext: the allocation can be
 * exported. It lives in a pool of exportable memory. Maar makes one such pool for each memory type
 * and set of handle types, when it is first needed. Chained to MaarPoolCreateInfo::pNext: every
 * allocation from the pool can be exported. Objects that maarCreateBuffer and maarCreateImage make
 * in such memory begin at multiples of 256 bytes in their block, as CUDA's own allocations do, and
 * get the external structure that Vulkan requires, and memory of their own where the
 * driver requires it. The call returns VK_ERROR_FEATURE_NOT_PRESENT for an object that cannot be
 * exported so. This structure must not be combined with MaarPoolPagingInfo: objects made of pages
 * are never exported.
 */
typedef struct MaarExportInfo {
    /** MAAR_STRUCTURE_TYPE_EXPORT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** At least one bit. The types must be compatible: see MaarSharingSupport::compatibleTypes. */
    VkExternalMemoryHandleTypeFlags handleTypes;
} MaarExportInfo;

/**
 * Chained to MaarAllocatorCreateInfo: what the program's memory can be exported as, by its type,
 * where it is neither in a pool nor made with a MaarExportInfo. Objects that are bound to memory of
 * such a type need the external structure of Vulkan in their create info's chain; the program puts
 * it there. What Maar allocates for itself is not exportable: buffers of slices, transient heaps,
 * movable objects. Defragmentation leaves exportable memory where it is.
 */
typedef struct MaarDefaultExportInfo {
    /** MAAR_STRUCTURE_TYPE_DEFAULT_EXPORT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many elements pHandleTypes has: at most the device's number of memory types. Further
     * types are not exported. */
    uint32_t memoryTypeCount;
    /** For each memory type, as MaarExportInfo::handleTypes, or 0. Copied. */
    const VkExternalMemoryHandleTypeFlags* pHandleTypes;
} MaarDefaultExportInfo;

/** Exported memory, described for the API, process or device that imports it. */
typedef struct MaarExportedMemory {
    /** MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** A handle to the block, in an object of its own. The caller takes it out or destroys the
     * object. */
    MaarExternalHandle handle;
    /** The requested handle type. */
    VkExternalMemoryHandleTypeFlagBits handleType;
    /** Size of the whole block in bytes, VkMemoryAllocateInfo::allocationSize. Import this size. */
    VkDeviceSize blockSize;
    /** Offset of the allocation in the block, bytes. */
    VkDeviceSize offset;
    /** Bytes of the allocation. */
    VkDeviceSize size;
    /** The block's number, unique within the allocator's life. Import each block once. */
    uint64_t blockId;
    /** The memory type. A Vulkan import of an opaque handle must name the same. */
    uint32_t memoryTypeIndex;
    /** The block was made with VkMemoryDedicatedAllocateInfo. The import must use that structure
     * too. */
    VkBool32 dedicated;
} MaarExportedMemory;

/**
 * Exports the block of an allocation. Calls the driver once for each block and handle type; every
 * call gives a duplicate of the driver's handle.
 *
 * @param allocator   not null
 * @param allocation  made with MaarExportInfo, or in a pool made with it; or imported from a handle
 *                    of that type
 * @param handleType  one bit of MaarExportInfo::handleTypes
 * @param pMemory     sType and pNext set by the caller; the rest is filled, on failure with zeros
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_TOO_MANY_OBJECTS when the process has
 *         no descriptor left; VK_ERROR_UNKNOWN when the driver gives no handle;
 *         VK_ERROR_VALIDATION_FAILED_EXT, also for memory that was not made to be exported
 * @threadsafety internally synchronized; `allocation` externally
 * @lifetime destroy MaarExportedMemory::handle; the memory lives as long as any importer holds it,
 *           also when the allocation is freed first
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarExportMemory(MaarAllocator allocator, MaarAllocation allocation,
                                              VkExternalMemoryHandleTypeFlagBits handleType,
                                              MaarExportedMemory* pMemory);

/* ---------------------------------------------------------------------------------------------- */
/* Import */
/* ---------------------------------------------------------------------------------------------- */

/** Memory that another API, process or device made. */
typedef struct MaarImportInfo {
    /** MAAR_STRUCTURE_TYPE_IMPORT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Not null, not empty; emptied when the call succeeds. */
    MaarExternalHandle handle;
    /** Type of the handle; one bit. */
    VkExternalMemoryHandleTypeFlagBits handleType;
    /** Size of the whole block in bytes, as the exporter gave it, and not the size of one resource
     * in the block. For a dma-buf 0 means its whole size. A size that the memory cannot have is
     * misuse and does not reach the driver: one above the size of the handle, where the system
     * knows that, and for opaque handles one above the heap or maxMemoryAllocationSize. */
    VkDeviceSize blockSize;
    /** Offset of the buffer or image in the block, bytes. maarImportMemory ignores it. */
    VkDeviceSize offset;
    /** For opaque handles the exporter's memory type, which only the exporter knows.
     * MAAR_MEMORY_TYPE_NONE for the preferred type among those that the handle and the object
     * allow. */
    uint32_t memoryTypeIndex;
    /** The exporter made the block for one object alone, and the import is dedicated too.
     * maarImportMemory then needs the object: see dedicatedBuffer. */
    VkBool32 dedicated;
    /** Ranks the memory types when several are allowed; as MaarAllocationCreateInfo::usage. */
    MaarMemoryUsage usage;
    /** Kept with the allocation. */
    void* pUserData;
    /** Name for dumps and messages, copied; may be NULL. */
    const char* pName;
    /** Property flags that the memory type must have. */
    VkMemoryPropertyFlags requiredFlags;
    /** Property flags that the type should have. They weigh more than the usage's preferences. */
    VkMemoryPropertyFlags preferredFlags;
    /** Types that may be used; 0 or all bits for any. For an object that will be bound later, in a
     * block that is not dedicated to it: VkMemoryRequirements::memoryTypeBits. */
    uint32_t memoryTypeBits;
    /** For maarImportMemory: a buffer that exists already, was created with
     * VkExternalMemoryBufferCreateInfo, and is not bound. The memory is dedicated to it; its memory
     * types and its size count. Bind it with maarBindBuffer. Or null. */
    VkBuffer dedicatedBuffer;
    /** For maarImportMemory: an image, in the place of the buffer; not disjoint. Bind it with
     * maarBindImage. At most one of the two is set. */
    VkImage dedicatedImage;
} MaarImportInfo;

/** What the driver and the system say of a handle before it is imported. */
typedef struct MaarExternalHandleInfo {
    /** MAAR_STRUCTURE_TYPE_EXTERNAL_HANDLE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Memory types as which the memory may be imported. For opaque handles, of which Vulkan says
     * nothing, every type of the device that the enabled features allow: only the exporter knows
     * the one. */
    uint32_t memoryTypeBits;
    /** VK_TRUE: memoryTypeBits is the driver's answer about this handle. */
    VkBool32 fromDriver;
    /** Size of the memory behind the handle, bytes; 0 where the system does not know it. */
    VkDeviceSize size;
} MaarExternalHandleInfo;

/**
 * Asks what memory is behind a handle. Calls the driver for handles that Vulkan can describe
 * (dma-bufs, by vkGetMemoryFdPropertiesKHR). The handle stays as it is.
 *
 * @param allocator   not null
 * @param handle      not null, not empty
 * @param handleType  one bit
 * @param pInfo       sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE when the driver does not accept the handle
 * as one of this type, or the handle is empty or closed; VK_ERROR_FEATURE_NOT_PRESENT when the
 *         extension for the type is not enabled; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `handle` externally
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetExternalHandleInfo(
    MaarAllocator allocator, MaarExternalHandle handle,
    VkExternalMemoryHandleTypeFlagBits handleType, MaarExternalHandleInfo* pInfo);

/**
 * Imports memory as a new allocation that spans the whole block. maarCreateAliasingBuffer and
 * maarCreateAliasingImage bind new buffers and images to it, maarBindBuffer and maarBindImage those
 * that exist. It is mapped, named, counted and freed like any other allocation. Heap limits and
 * budgets do not apply, since the bytes exist already. A message says why an import fails: which
 * argument, and which memory types would do.
 *
 * @param allocator    not null
 * @param pImportInfo  what to import
 * @param pAllocation  receives the allocation
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE when the driver refuses the handle, or the
 *         handle is empty; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_FEATURE_NOT_PRESENT when the extension is not enabled
 *         or no memory type serves; VK_ERROR_VALIDATION_FAILED_EXT, also when the block is too
 *         small for the object. On failure the handle is as it was.
 * @threadsafety internally synchronized; MaarImportInfo::handle externally
 * @lifetime free it with maarFreeMemory
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarImportMemory(MaarAllocator allocator,
                                              const MaarImportInfo* pImportInfo,
                                              MaarAllocation* pAllocation);

/**
 * Imports memory and binds a buffer in it.
 *
 * @param allocator    not null
 * @param pBufferInfo  as the exporter's; VkExternalMemoryBufferCreateInfo is added if it is not
 *                     chained
 * @param pImportInfo  what to import
 * @param pBuffer      receives the buffer
 * @param pAllocation  receives the whole block
 * @return as maarImportMemory, and what vkCreateBuffer and vkBindBufferMemory2 return;
 *         VK_ERROR_VALIDATION_FAILED_EXT also when the buffer does not fit at the offset
 * @threadsafety internally synchronized; MaarImportInfo::handle externally
 * @lifetime destroy both with maarDestroyBuffer
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarImportBuffer(MaarAllocator allocator,
                                              const VkBufferCreateInfo* pBufferInfo,
                                              const MaarImportInfo* pImportInfo, VkBuffer* pBuffer,
                                              MaarAllocation* pAllocation);

/**
 * Imports memory and binds an image in it. For a dma-buf, chain
 * VkImageDrmFormatModifierExplicitCreateInfoEXT with the exporter's values.
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

/** A buffer on memory of the host, or on a copy of that memory. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarHostBuffer)

/** Bits of MaarHostBufferCreateInfo::flags. */
typedef enum MaarHostBufferCreateFlagBits {
    /** The call fails where the device could work on a copy only. */
    MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT = 0x1,
    /** The device always works on a copy. */
    MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT = 0x2,
    /** The device only reads, so the memory need not be writable: a file that is mapped for
     * reading. Maar never writes to it, and maarPullHostBuffer fails. Some drivers import no
     * read-only pages, or none of files; then the device works on a copy. */
    MAAR_HOST_BUFFER_CREATE_READ_ONLY_BIT = 0x4,
    /** Reserves the enumeration's size. */
    MAAR_HOST_BUFFER_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarHostBufferCreateFlagBits;
/** Any of MaarHostBufferCreateFlagBits. */
typedef VkFlags MaarHostBufferCreateFlags;

/** Memory of the host that the device shall use. */
typedef struct MaarHostBufferCreateInfo {
    /** MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** See MaarHostBufferCreateFlagBits. */
    MaarHostBufferCreateFlags flags;
    /** First byte. The memory must stay allocated, readable and, without the read-only flag,
     * writable until the buffer is destroyed. An import holds no reference to it. */
    void* pMemory;
    /** Bytes, not 0. The import covers whole multiples of minImportedHostPointerAlignment around
     * these bytes, but never goes beyond their pages. Only these bytes are touched. */
    VkDeviceSize size;
    /** Not 0. */
    VkBufferUsageFlags usage;
    /** Name for dumps and messages, copied; may be NULL. */
    const char* pName;
    /** Bits of the queue families that use the buffer at the same time. With fewer than two, the
     * buffer is exclusive. */
    uint32_t queueFamilyBits;
} MaarHostBufferCreateInfo;

/** Properties of a host buffer. */
typedef struct MaarHostBufferInfo {
    /** MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The buffer. */
    VkBuffer buffer;
    /** Offset of the host's first byte in the buffer. */
    VkDeviceSize offset;
    /** Bytes. */
    VkDeviceSize size;
    /** Its memory. */
    MaarAllocation allocation;
    /** VK_TRUE: the device works on a copy. The program pushes the host's writes and pulls the
     * device's writes. VK_FALSE: push and pull only make caches agree. */
    VkBool32 copied;
    /** The reason for the copy, or an empty text; zero-terminated. */
    char reason[128];
} MaarHostBufferInfo;

/**
 * Makes a buffer of the host's memory. Imports the memory where the driver accepts it. Else makes a
 * copy in memory that the host sees, and reports a warning. A copy begins with the host's bytes.
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
 * Destroys the buffer. The host's memory stays the caller's. The device must have finished with the
 * buffer. The device's writes to a copy are lost unless they were pulled.
 *
 * @param allocator   not null
 * @param hostBuffer  may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `hostBuffer` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyHostBuffer(MaarAllocator allocator, MaarHostBuffer hostBuffer);

/**
 * Reads the properties of a host buffer. Does not call the driver.
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
 * Makes the host's bytes visible to the device. Copies them where the device works on a copy.
 *
 * @param allocator   not null
 * @param hostBuffer  not null
 * @param offset      from the host's first byte, bytes
 * @param size        bytes, or VK_WHOLE_SIZE for the rest
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT, also for a range outside the host's memory
 * @threadsafety internally synchronized; the bytes externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarPushHostBuffer(MaarAllocator allocator, MaarHostBuffer hostBuffer,
                                                VkDeviceSize offset, VkDeviceSize size);

/**
 * Makes the device's bytes visible to the host. Copies them where the device works on a copy. The
 * device must have finished, with a barrier to the host.
 *
 * @param allocator   not null
 * @param hostBuffer  not null
 * @param offset      from the host's first byte, bytes
 * @param size        bytes, or VK_WHOLE_SIZE for the rest
 * @return as maarPushHostBuffer; VK_ERROR_VALIDATION_FAILED_EXT also for a read-only buffer
 * @threadsafety internally synchronized; the bytes externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarPullHostBuffer(MaarAllocator allocator, MaarHostBuffer hostBuffer,
                                                VkDeviceSize offset, VkDeviceSize size);

/** Memory of the host that holds the bytes of an image. */
typedef struct MaarHostImportInfo {
    /** MAAR_STRUCTURE_TYPE_HOST_IMPORT_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** First byte of the image. The memory must stay allocated, readable and writable until the
     * image is destroyed. An import holds no reference to it. */
    void* pMemory;
    /** Bytes that belong to the image, at least VkMemoryRequirements::size. The import covers whole
     * multiples of minImportedHostPointerAlignment around these bytes, but never goes beyond their
     * pages. */
    VkDeviceSize size;
    /** Bytes from one row of the first level to the next, as the program has them. The call fails
     * where the driver's rows lie otherwise, and says how. 0: not compared. */
    VkDeviceSize rowPitch;
    /** Kept with the allocation. */
    void* pUserData;
    /** Name for dumps and messages, copied; may be NULL. */
    const char* pName;
} MaarHostImportInfo;

/**
 * Makes an image of the host's memory. There is no copy: where the driver does not accept the
 * memory, the call fails, and the program uploads instead. The layout of a new image is
 * VK_IMAGE_LAYOUT_UNDEFINED. Bring it into VK_IMAGE_LAYOUT_GENERAL, then let the host write.
 *
 * @param allocator    not null
 * @param pImageInfo   with linear tiling, not disjoint; VkExternalMemoryImageCreateInfo is added if
 *                     it is not chained. Sharing between queue families is as it says.
 * @param pImportInfo  the memory
 * @param pImage       receives the image
 * @param pAllocation  receives the imported pages; the image does not begin at their first byte
 *                     unless pMemory does
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT without VK_EXT_external_memory_host, when the
 *         driver imports no host memory for such an image, or when no memory type serves;
 *         VK_ERROR_INVALID_EXTERNAL_HANDLE when the driver refuses the pages;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY; VK_ERROR_TOO_MANY_OBJECTS;
 *         what vkCreateImage and vkBindImageMemory2 return; VK_ERROR_VALIDATION_FAILED_EXT, also
 *         when the memory is too small, or does not have the image's alignment or rows
 * @threadsafety internally synchronized
 * @lifetime destroy both with maarDestroyImage
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarImportHostImage(MaarAllocator allocator,
                                                 const VkImageCreateInfo* pImageInfo,
                                                 const MaarHostImportInfo* pImportInfo,
                                                 VkImage* pImage, MaarAllocation* pAllocation);

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
    /** One bit. A SYNC_FD stands for one signal of a binary semaphore and not for the semaphore.
     * vkGetSemaphoreFdKHR exports it; maarExportSemaphore does not. */
    VkExternalSemaphoreHandleTypeFlagBits handleType;
} MaarSharedSemaphoreCreateInfo;

/**
 * Creates a semaphore that can be exported.
 *
 * @param allocator    not null
 * @param pCreateInfo  the kind of semaphore
 * @param pSemaphore   receives the semaphore; destroy it with vkDestroySemaphore and the
 *                     allocator's pAllocationCallbacks
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT when the device cannot export such a semaphore,
 *         or the timelineSemaphore feature or the extension is not enabled;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime see above
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL
maarCreateSharedSemaphore(MaarAllocator allocator, const MaarSharedSemaphoreCreateInfo* pCreateInfo,
                          VkSemaphore* pSemaphore);

/**
 * Exports a semaphore. An NT handle can be exported only once for each semaphore.
 * maarDuplicateExternalHandle makes further handles of it.
 *
 * @param allocator   not null
 * @param semaphore   made to be exported as that type
 * @param handleType  one bit
 * @param pHandle     receives the handle
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT; VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_UNKNOWN when the driver gives no handle;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `semaphore` externally
 * @lifetime destroy it with maarDestroyExternalHandle
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarExportSemaphore(MaarAllocator allocator, VkSemaphore semaphore,
                                                 VkExternalSemaphoreHandleTypeFlagBits handleType,
                                                 MaarExternalHandle* pHandle);

/**
 * Imports a semaphore that another API, process or device made.
 *
 * @param allocator   not null
 * @param handle      not null, not empty; emptied when the call succeeds
 * @param handleType  type of the handle; one bit
 * @param type        VK_SEMAPHORE_TYPE_TIMELINE or VK_SEMAPHORE_TYPE_BINARY, as the exporter made
 *                    it
 * @param pSemaphore  receives the semaphore; destroy it with vkDestroySemaphore and the allocator's
 *                    pAllocationCallbacks
 * @return VK_SUCCESS; VK_ERROR_INVALID_EXTERNAL_HANDLE; VK_ERROR_FEATURE_NOT_PRESENT;
 *         VK_ERROR_TOO_MANY_OBJECTS when the process has no descriptor left for a duplicate;
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

/** Owner of the bytes while Vulkan does not own them. */
typedef enum MaarHandoffPeer {
    /** CUDA or HIP on the same device, or Vulkan in another process with the same deviceUUID and
     * driverUUID: VK_QUEUE_FAMILY_EXTERNAL. */
    MAAR_HANDOFF_PEER_EXTERNAL = 0,
    /** Any other owner: VK_QUEUE_FAMILY_FOREIGN_EXT. Needs VK_EXT_queue_family_foreign. */
    MAAR_HANDOFF_PEER_FOREIGN = 1,
    /** Reserves the enumeration's size. */
    MAAR_HANDOFF_PEER_MAX_ENUM = 0x7FFFFFFF
} MaarHandoffPeer;

/** A buffer or an image whose ownership is transferred. One side owns shared memory exclusively,
 * also when the object's sharing mode is concurrent. */
typedef struct MaarHandoffResource {
    /** A buffer, or null. */
    VkBuffer buffer;
    /** Offset of the buffer's range, bytes. */
    VkDeviceSize offset;
    /** Bytes; 0 or VK_WHOLE_SIZE for the rest of the buffer. */
    VkDeviceSize size;
    /** An image, or null; exactly one of the two is given. */
    VkImage image;
    /** Aspect, levels and layers; all zero for every level and layer of a colour image. */
    VkImageSubresourceRange range;
    /** The image's layout before the handoff, as Vulkan knows it. */
    VkImageLayout oldLayout;
    /** The image's layout after the handoff; the same in the release and in the acquire that
     * follows. */
    VkImageLayout newLayout;
    /** Stages of the queue that used it before a release, or will use it after an acquire; 0 for
     * all commands. */
    VkPipelineStageFlags stages;
    /** Accesses in those stages; 0 for all. */
    VkAccessFlags access;
    /** The sharing mode with which the object was created. */
    VkSharingMode sharingMode;
} MaarHandoffResource;

/**
 * Records the barriers that release resources to a peer. The queue's earlier writes are available
 * to the peer once the submission has signalled a semaphore that the peer waits for.
 *
 * @param allocator      not null
 * @param commandBuffer  in the recording state, of a family that supports `stages`
 * @param familyIndex    the command buffer's queue family
 * @param peer           the new owner
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
 * Records the barriers that acquire resources from a peer. The submission must wait, in the named
 * stages, for the semaphore that the peer signals.
 *
 * @param allocator      not null
 * @param commandBuffer  in the recording state, of a family that supports `stages`
 * @param familyIndex    the command buffer's queue family
 * @param peer           the owner before
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

/** Direction of a transfer of ownership. */
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
    /** Direction of the handoff. */
    MaarHandoffDirection direction;
    /** The other side of the handoff. */
    MaarHandoffPeer peer;
    /** Index into MaarAllocatorCreateInfo::pQueues. The queue's family must support graphics,
     * compute or transfer. The call takes the queue's lock. */
    uint32_t queue;
    /** How many resources; 0 is allowed. */
    uint32_t resourceCount;
    /** The resources. */
    const MaarHandoffResource* pResources;
    /** How many points the submission waits for. */
    uint32_t waitCount;
    /** The points that the submission waits for. A point names a timeline, or a binary semaphore,
     * whose value is ignored. */
    const MaarPoint* pWaits;
    /** How many points the submission signals. */
    uint32_t signalCount;
    /** The points that the submission signals, in the same form. */
    const MaarPoint* pSignals;
} MaarHandoffInfo;

/** Most points that one handoff waits for, and most that it signals. */
#define MAAR_MAX_HANDOFF_POINTS 8

/**
 * Records and submits the barriers of a handoff, for programs that have no command buffer at hand.
 * The submission comes after all earlier submissions to the queue. Does not wait for the device.
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
