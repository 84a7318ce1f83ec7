/** @file
 * maar/process.h: passes shared memory and semaphores from one process to another. A descriptor
 * describes a handle, and a UNIX socket carries both. Incoming messages are not trusted. A
 * truncated or hostile message gets an error that names the field, and every file descriptor that
 * came with it is closed. The general rules of maar/allocator.h hold here too, and those of
 * maar/share.h on ownership.
 */
#ifndef MAAR_PROCESS_H
#define MAAR_PROCESS_H

#include "maar/share.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a descriptor as it travels, the same on every platform. */
#define MAAR_DESCRIPTOR_SIZE 256

/** Room for a name with its final zero, bytes. */
#define MAAR_DESCRIPTOR_NAME_SIZE 64

/** Kind of object that a descriptor describes. */
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

/** Describes a handle, and the device that may import it. */
typedef struct MaarDescriptor {
    /** MAAR_STRUCTURE_TYPE_DESCRIPTOR */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Kind of the described object. */
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
    /** As MaarExportedMemory::memoryTypeIndex, a number of the exporter's device. An import of a
     * dma-buf on another device ignores it. 0 for a timeline. */
    uint32_t memoryTypeIndex;
    /** As MaarExportedMemory::dedicated. */
    VkBool32 dedicated;
    /** VkBufferCreateInfo::usage; 0 for memory and timelines. */
    VkBufferUsageFlags bufferUsage;
    /** VkBufferCreateInfo::flags, without the sparse ones; 0 for memory and timelines. */
    VkBufferCreateFlags bufferFlags;
    /** A value of the program's own. Maar passes it on unchanged. */
    uint64_t userValue;
    /** A name, UTF-8 without control characters, zero-terminated; may be empty. */
    char name[MAAR_DESCRIPTOR_NAME_SIZE];
} MaarDescriptor;

/**
 * Writes a descriptor for the wire: MAAR_DESCRIPTOR_SIZE bytes with a version and a checksum.
 *
 * @param allocator    not null
 * @param pDescriptor  the descriptor; the call fails when maarReadDescriptor would reject it
 * @param pBytes       receives MAAR_DESCRIPTOR_SIZE bytes
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWriteDescriptor(MaarAllocator allocator,
                                                 const MaarDescriptor* pDescriptor, void* pBytes);

/**
 * Reads and validates a descriptor from any source. Never reads beyond `size` bytes, also when the
 * bytes are damaged. Does not check whether this device can import the handle.
 *
 * @param allocator    not null; its message callback receives the name of a wrong field
 * @param size         number of bytes at pBytes
 * @param pBytes       the bytes; may be NULL when size is 0
 * @param pDescriptor  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_FORMAT_NOT_SUPPORTED when the descriptor has another version;
 *         VK_ERROR_INVALID_EXTERNAL_HANDLE when it is truncated or inconsistent;
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
 * @param pBufferInfo  the create info of the buffer on the allocation; NULL for memory without an
 *                     object
 * @param pDescriptor  sType and pNext set by the caller; the rest is filled. The name is the
 *                     allocation's, cut to fit, with ? for each character that is not allowed in a
 *                     name.
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
 * Sends a descriptor and a handle over a connected UNIX stream socket. Blocks when the socket
 * blocks. Completes a message that it has begun to send. The handle stays the caller's: the other
 * process gets a duplicate. Raises no SIGPIPE on Linux.
 *
 * @param allocator    not null
 * @param socketFd     the socket
 * @param pDescriptor  the descriptor to send
 * @param handle       not null, not empty
 * @return VK_SUCCESS; VK_TIMEOUT when the socket does not block and cannot take the message now,
 *         with nothing sent; VK_ERROR_INVALID_EXTERNAL_HANDLE when the handle is empty;
 *         VK_ERROR_INITIALIZATION_FAILED when the socket fails (the message gives the system's
 *         reason); VK_ERROR_FEATURE_NOT_PRESENT on Windows; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `socketFd` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSendHandle(MaarAllocator allocator, int socketFd,
                                            const MaarDescriptor* pDescriptor,
                                            MaarExternalHandle handle);

/**
 * Receives a descriptor and a handle. Waits at most timeout_ns for the whole message. A rejected
 * message is consumed, with every file descriptor that came with it, so that the next message can
 * be received. Only a truncated message makes the socket useless. When host memory or file
 * descriptors run out, nothing is consumed.
 *
 * @param allocator    not null
 * @param socketFd     a connected UNIX stream socket
 * @param timeout_ns   nanoseconds; UINT64_MAX for no limit
 * @param pDescriptor  sType and pNext set by the caller; the rest is filled
 * @param pHandle      receives the handle
 * @return VK_SUCCESS; VK_TIMEOUT when no message arrived; VK_ERROR_INITIALIZATION_FAILED when the
 *         socket fails or is closed by the other side; VK_ERROR_INVALID_EXTERNAL_HANDLE when the
 *         message is truncated (by its end, or by the time limit), is inconsistent, or does not
 *         carry exactly one file descriptor; VK_ERROR_FORMAT_NOT_SUPPORTED when the message has
 *         another version; VK_ERROR_INCOMPATIBLE_DRIVER when the handle is an opaque one of another
 *         device or driver (the error message names both); VK_ERROR_TOO_MANY_OBJECTS;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT on Windows;
 *         VK_ERROR_VALIDATION_FAILED_EXT
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
 * @return as maarImportBuffer; VK_ERROR_INCOMPATIBLE_DRIVER as in maarReceiveHandle;
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
