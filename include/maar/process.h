/** @file
 * maar/process.h: shared memory and semaphores from one process to another: a descriptor that says
 * what a handle is, and a UNIX socket that carries both. What comes in is not trusted: a truncated
 * or hostile message gets an error that names the field, and every descriptor that came along with
 * it is closed. The general rules of maar/allocator.h hold here too, and those of maar/share.h on
 * ownership.
 */
#ifndef MAAR_PROCESS_H
#define MAAR_PROCESS_H

#include "maar/share.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a descriptor as it travels, the same on every platform. */
#define MAAR_DESCRIPTOR_SIZE 256

/** Room for a name with its zero, bytes. */
#define MAAR_DESCRIPTOR_NAME_SIZE 64

/** What a descriptor describes. */
typedef enum MaarDescriptorKind {
    /** A buffer, in a block of memory. */
    MAAR_DESCRIPTOR_KIND_BUFFER = 1,
    /** Memory without an object. */
    MAAR_DESCRIPTOR_KIND_MEMORY = 2,
    /** A timeline semaphore. */
    MAAR_DESCRIPTOR_KIND_TIMELINE = 3,
    /** Reserves the enumeration's size. */
    MAAR_DESCRIPTOR_KIND_MAX_ENUM = 0x7FFFFFFF
} MaarDescriptorKind;

/** What a handle is, and which device may import it. */
typedef struct MaarDescriptor {
    /** MAAR_STRUCTURE_TYPE_DESCRIPTOR */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** What it describes. */
    MaarDescriptorKind kind;
    /** The handle's type; one bit of VkExternalMemoryHandleTypeFlagBits, or for a timeline of
     * VkExternalSemaphoreHandleTypeFlagBits. */
    uint32_t handleType;
    /** The exporter's device. */
    uint8_t deviceUUID[VK_UUID_SIZE];
    /** The exporter's driver. */
    uint8_t driverUUID[VK_UUID_SIZE];
    /** As MaarExportedMemory::blockSize, not 0; 0 for a timeline. */
    VkDeviceSize blockSize;
    /** As MaarExportedMemory::offset. */
    VkDeviceSize offset;
    /** As MaarExportedMemory::size; within the block. For a buffer VkBufferCreateInfo::size. */
    VkDeviceSize size;
    /** As MaarExportedMemory::memoryTypeIndex, a number of the exporter's device: an import on
     * another one, of a dma-buf, passes it over. 0 for a timeline. */
    uint32_t memoryTypeIndex;
    /** As MaarExportedMemory::dedicated. */
    VkBool32 dedicated;
    /** VkBufferCreateInfo::usage; 0 for what is no buffer. */
    VkBufferUsageFlags bufferUsage;
    /** VkBufferCreateInfo::flags, none of them sparse; 0 for what is no buffer. */
    VkBufferCreateFlags bufferFlags;
    /** The program's own; travels along. */
    uint64_t userValue;
    /** A name, UTF-8 without control characters, zero-terminated; may be empty. */
    char name[MAAR_DESCRIPTOR_NAME_SIZE];
} MaarDescriptor;

/**
 * Writes a descriptor for the wire: MAAR_DESCRIPTOR_SIZE bytes with a version and a checksum.
 *
 * @param allocator    not null
 * @param pDescriptor  what to write; refused when maarReadDescriptor would refuse it
 * @param pBytes       receives MAAR_DESCRIPTOR_SIZE bytes
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWriteDescriptor(MaarAllocator allocator,
                                                 const MaarDescriptor* pDescriptor, void* pBytes);

/**
 * Reads and validates a descriptor that came from somewhere: never reads beyond `size`, whatever
 * the bytes are. Whether this device can import it is not asked.
 *
 * @param allocator    not null; its message callback is told which field is wrong
 * @param size         bytes that are there
 * @param pBytes       the bytes; may be NULL when size is 0
 * @param pDescriptor  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_FORMAT_NOT_SUPPORTED when it is of another version;
 *         VK_ERROR_INVALID_EXTERNAL_HANDLE when it is truncated or wrong in itself;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarReadDescriptor(MaarAllocator allocator, size_t size,
                                                const void* pBytes, MaarDescriptor* pDescriptor);

/**
 * Exports an allocation with the descriptor that another process needs.
 *
 * @param allocator    not null
 * @param allocation   made with MaarExportInfo
 * @param handleType   one bit
 * @param pBufferInfo  what the buffer on it was created with; NULL for memory without an object
 * @param pDescriptor  sType and pNext set by the caller; the rest is filled. The name is the
 *                     allocation's, cut to fit, with ? for what may not be in a name.
 * @param pHandle      receives the handle
 * @return as maarExportMemory
 * @threadsafety internally synchronized; `allocation` externally
 * @lifetime destroy the handle with maarDestroyExternalHandle
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDescribeMemory(MaarAllocator allocator, MaarAllocation allocation,
                                                VkExternalMemoryHandleTypeFlagBits handleType,
                                                const VkBufferCreateInfo* pBufferInfo,
                                                MaarDescriptor* pDescriptor,
                                                MaarExternalHandle* pHandle);

/**
 * Exports a timeline semaphore with the descriptor that another process needs.
 *
 * @param allocator    not null
 * @param semaphore    made by maarCreateSharedSemaphore
 * @param handleType   one bit
 * @param pDescriptor  sType and pNext set by the caller; the rest is filled
 * @param pHandle      receives the handle
 * @return as maarExportSemaphore
 * @threadsafety internally synchronized; `semaphore` externally
 * @lifetime destroy the handle with maarDestroyExternalHandle
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDescribeTimeline(MaarAllocator allocator, VkSemaphore semaphore,
                                                  VkExternalSemaphoreHandleTypeFlagBits handleType,
                                                  MaarDescriptor* pDescriptor,
                                                  MaarExternalHandle* pHandle);

/**
 * Sends a descriptor and a handle over a connected UNIX stream socket. Blocks as the socket does,
 * but always ends what it has begun. The handle stays the caller's: the other process gets a
 * duplicate. Raises no SIGPIPE on Linux.
 *
 * @param allocator    not null
 * @param socketFd     the socket
 * @param pDescriptor  what to send
 * @param handle       not null, not empty
 * @return VK_SUCCESS; VK_TIMEOUT when the socket does not block and cannot take it now, with
 *         nothing sent; VK_ERROR_INVALID_EXTERNAL_HANDLE when the handle is empty;
 *         VK_ERROR_INITIALIZATION_FAILED when the socket fails (the message gives the system's
 *         reason); VK_ERROR_FEATURE_NOT_PRESENT on Windows; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `socketFd` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSendHandle(MaarAllocator allocator, int socketFd,
                                            const MaarDescriptor* pDescriptor,
                                            MaarExternalHandle handle);

/**
 * Receives a descriptor and a handle. Waits for at most so long for the whole message. A message
 * that is refused is consumed, with every descriptor of the system that came with it, so that the
 * next one can be received; only after a truncated one the socket is of no use any more. For want
 * of host memory or of descriptors nothing is consumed.
 *
 * @param allocator    not null
 * @param socketFd     a connected UNIX stream socket
 * @param timeout_ns   nanoseconds; UINT64_MAX for no limit
 * @param pDescriptor  sType and pNext set by the caller; the rest is filled
 * @param pHandle      receives the handle
 * @return VK_SUCCESS; VK_TIMEOUT when nothing came; VK_ERROR_INITIALIZATION_FAILED when the socket
 *         fails or is closed by the other side; VK_ERROR_INVALID_EXTERNAL_HANDLE when the message
 *         is truncated (by its end, or by the time), wrong in itself, or has not exactly one
 *         descriptor of the system with it;
 *         VK_ERROR_FORMAT_NOT_SUPPORTED when it is of another version;
 *         VK_ERROR_INCOMPATIBLE_DRIVER when it is an opaque handle of another device or driver (the
 *         message names both); VK_ERROR_TOO_MANY_OBJECTS; VK_ERROR_OUT_OF_HOST_MEMORY;
 *         VK_ERROR_FEATURE_NOT_PRESENT on Windows; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `socketFd` externally
 * @lifetime destroy the handle with maarDestroyExternalHandle
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarReceiveHandle(MaarAllocator allocator, int socketFd,
                                               uint64_t timeout_ns, MaarDescriptor* pDescriptor,
                                               MaarExternalHandle* pHandle);

/**
 * Imports the buffer that a descriptor describes.
 *
 * @param allocator    not null
 * @param pDescriptor  of kind MAAR_DESCRIPTOR_KIND_BUFFER
 * @param handle       emptied when the call succeeds
 * @param pBuffer      receives the buffer
 * @param pAllocation  receives the whole block; destroy both with maarDestroyBuffer
 * @return as maarImportBuffer; VK_ERROR_INCOMPATIBLE_DRIVER as maarReceiveHandle;
 *         VK_ERROR_FEATURE_NOT_PRESENT also for bufferFlags of features that are not enabled
 * @threadsafety internally synchronized; `handle` externally
 * @lifetime see above
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarImportDescribedBuffer(MaarAllocator allocator,
                                                       const MaarDescriptor* pDescriptor,
                                                       MaarExternalHandle handle, VkBuffer* pBuffer,
                                                       MaarAllocation* pAllocation);

#ifdef __cplusplus
}
#endif

#endif
