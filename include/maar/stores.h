/** @file
 * maar/stores.h: where bytes go that leave memory: compressors, files that are written and read
 * back, and files that are only read.
 *
 * A compressor and a file store are small tables of functions. Maar offers its own, and a program
 * may fill the tables itself. Maar calls them from the threads that the program lends, several at
 * once, and holds no lock meanwhile.
 */
#ifndef MAAR_STORES_H
#define MAAR_STORES_H

#include "maar/base.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is known of bytes that are to be compressed. */
typedef enum MaarCompressFlagBits {
    /** Hardly anything repeats in them, but some bytes are more frequent than others: one byte of
     * each number of many. To look for repetitions takes most of a compressor's time, and is in
     * vain here. */
    MAAR_COMPRESS_FREQUENCIES_BIT = 0x1,
    /** Reserves the enumeration's size. */
    MAAR_COMPRESS_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarCompressFlagBits;
/** Bits of MaarCompressFlagBits. */
typedef VkFlags MaarCompressFlags;

/** Compresses bytes.
 *
 * @param pUserData    MaarCompressor::pUserData
 * @param pWorkspace   MaarCompressor::workspaceSize bytes of this call's own, aligned to 16, with
 *                     any contents; NULL if the size is 0
 * @param flags        what is known of the bytes; a function may ignore it
 * @param size         how many bytes, 1 to 65536
 * @param pBytes       the bytes
 * @param capacity     bytes that may be written, at most size
 * @param pCompressed  where the compressed bytes go
 * @return the size of the compressed bytes, or 0 if they do not fit into the capacity */
typedef size_t(VKAPI_PTR* PFN_maarCompress)(void* pUserData, void* pWorkspace,
                                            MaarCompressFlags flags, size_t size,
                                            const void* pBytes, size_t capacity, void* pCompressed);

/** Reverses PFN_maarCompress. The compressed bytes may come from a damaged file: the function
 * neither reads nor writes outside of what it is given, whatever they are.
 *
 * @param pUserData       MaarCompressor::pUserData
 * @param pWorkspace      as for PFN_maarCompress
 * @param compressedSize  how many compressed bytes
 * @param pCompressed     the compressed bytes
 * @param size            how many bytes they contain
 * @param pBytes          where those go
 * @return VK_TRUE if the compressed bytes are right and contain just so many bytes */
typedef VkBool32(VKAPI_PTR* PFN_maarDecompress)(void* pUserData, void* pWorkspace,
                                                size_t compressedSize, const void* pCompressed,
                                                size_t size, void* pBytes);

/** A compressor. Its functions are called by several threads at once. */
typedef struct MaarCompressor {
    /** MAAR_STRUCTURE_TYPE_COMPRESSOR */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Given to the functions. */
    void* pUserData;
    /** A name such as "zstd", of the form of the compressed bytes. It is kept with them, so that no
     * other compressor reads them. */
    const char* pName;
    /** Bytes of host memory that a call needs. Maar allocates them once for each thread. */
    size_t workspaceSize;
    /** Compresses. */
    PFN_maarCompress pfnCompress;
    /** Reverses that. */
    PFN_maarDecompress pfnDecompress;
} MaarCompressor;

/** The compressors that Maar can be built with. */
typedef enum MaarCompression {
    /** Zstandard if Maar was built with it, else LZ4. */
    MAAR_COMPRESSION_DEFAULT = 0,
    /** LZ4: fast, and of little use for numbers without repetitions. */
    MAAR_COMPRESSION_LZ4 = 1,
    /** Zstandard at its level 1. */
    MAAR_COMPRESSION_ZSTD = 2,
    /** Reserves the enumeration's size. */
    MAAR_COMPRESSION_MAX_ENUM = 0x7FFFFFFF
} MaarCompression;

/**
 * Fills the table of a compressor that Maar was built with.
 *
 * @param compression  which
 * @param pCompressor  not null, with sType and pNext set
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT: Maar was built without it;
 *         VK_ERROR_VALIDATION_FAILED_EXT. After an error the functions are NULL
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarGetCompressor(MaarCompression compression,
                                               MaarCompressor* pCompressor);

/** Reads from a file store, or writes to it. Offset, size and the address of the data are multiples
 * of MaarFileStore::alignment, and the range lies within MaarFileStore::size.
 *
 * @param pUserData  MaarFileStore::pUserData
 * @param offset     where the range begins, in bytes
 * @param size       its size in bytes
 * @param pData      the bytes to write, or where those that are read go
 * @return VK_SUCCESS if all bytes were transferred, or an error */
typedef VkResult(VKAPI_PTR* PFN_maarFileTransfer)(void* pUserData, VkDeviceSize offset, size_t size,
                                                  void* pData);

/** Waits until all that was written before is on the disk.
 *
 * @param pUserData  MaarFileStore::pUserData
 * @return VK_SUCCESS, or an error */
typedef VkResult(VKAPI_PTR* PFN_maarFileSync)(void* pUserData);

/** A file, or whatever else keeps a fixed number of bytes. Its functions are called by several
 * threads at once. */
typedef struct MaarFileStore {
    /** MAAR_STRUCTURE_TYPE_FILE_STORE */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Given to the functions. */
    void* pUserData;
    /** How many bytes it keeps, at most 2^48. */
    VkDeviceSize size;
    /** Of offsets, sizes and addresses of transfers: a power of two, at most 65536. 0: 1. */
    VkDeviceSize alignment;
    /** Reads. */
    PFN_maarFileTransfer pfnRead;
    /** Writes. It does not change the data. */
    PFN_maarFileTransfer pfnWrite;
    /** NULL if nothing need outlive the process. */
    PFN_maarFileSync pfnSync;
} MaarFileStore;

/** How a file is opened. */
typedef enum MaarFileStoreOpenFlagBits {
    /** The file exists already, and keeps its contents. Otherwise it must not exist, and is
     * created. */
    MAAR_FILE_STORE_OPEN_EXISTING_BIT = 0x1,
    /** The file stays when it is closed. Otherwise a file that was created is removed; on POSIX
     * systems at once, so that nothing is left of a process that is killed. */
    MAAR_FILE_STORE_OPEN_KEEP_BIT = 0x2,
    /** The system's cache takes part. Otherwise transfers go past it where the file system can do
     * that, so that what leaves memory does not fill it again. */
    MAAR_FILE_STORE_OPEN_CACHED_BIT = 0x4,
    /** Threads that the program lends make all transfers. Otherwise Linux makes them by itself, by
     * io_uring, where the kernel and the sandbox of the process let it, and threads only begin and
     * end them. MaarResidencyInfo::fileTransfers says which it is. */
    MAAR_FILE_STORE_OPEN_THREADS_BIT = 0x8,
    /** Reserves the enumeration's size. */
    MAAR_FILE_STORE_OPEN_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarFileStoreOpenFlagBits;
/** Bits of MaarFileStoreOpenFlagBits. */
typedef VkFlags MaarFileStoreOpenFlags;

/** Who makes the transfers of a file store. */
typedef enum MaarFileTransferPath {
    /** Nobody: there is no file. */
    MAAR_FILE_TRANSFER_PATH_NONE = 0,
    /** Threads that the program lends, each one transfer at a time. */
    MAAR_FILE_TRANSFER_PATH_THREADS = 1,
    /** Linux by itself, several transfers at once. A transfer that it fails is made once more by a
     * thread. */
    MAAR_FILE_TRANSFER_PATH_IO_URING = 2,
    /** Reserves the enumeration's size. */
    MAAR_FILE_TRANSFER_PATH_MAX_ENUM = 0x7FFFFFFF
} MaarFileTransferPath;

/** Transfers of a file store so far. */
typedef struct MaarFileTransfers {
    /** Who makes them now. */
    MaarFileTransferPath path;
    /** Transfers that threads have made. */
    uint64_t threadCount;
    /** Bytes of these. */
    uint64_t threadSize;
    /** Transfers that the system has made by itself. */
    uint64_t systemCount;
    /** Bytes of these. */
    uint64_t systemSize;
} MaarFileTransfers;

/** What maarOpenFileStore needs. */
typedef struct MaarFileStoreOpenInfo {
    /** MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO */
    MaarStructureType sType;
    /** NULL */
    const void* pNext;
    /** The file; UTF-8. */
    const char* pPath;
    /** How to open it. */
    MaarFileStoreOpenFlags flags;
    /** Bytes of the file; rounded up to a multiple of 4096, at most 2^48. 0 with
     * MAAR_FILE_STORE_OPEN_EXISTING_BIT: as many as there are, rounded down. */
    VkDeviceSize size;
    /** NULL: the C library's. */
    const VkAllocationCallbacks* pAllocationCallbacks;
} MaarFileStoreOpenInfo;

/**
 * Opens a file for bytes that leave memory, and fills a table with functions that read and write
 * it. A new file has its whole size on the disk from the beginning, so that the disk cannot be full
 * later.
 *
 * @param pInfo   not null; Maar keeps no pointer to it, except for that to the callbacks
 * @param pStore  not null, with sType and pNext set
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_POOL_MEMORY: the disk has too few bytes;
 *         VK_ERROR_INITIALIZATION_FAILED: the file cannot be created, or exists, or does not;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT. After an error the functions
 *         are NULL, and a file that was created is removed
 * @threadsafety internally synchronized
 * @lifetime until maarCloseFileStore
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarOpenFileStore(const MaarFileStoreOpenInfo* pInfo,
                                               MaarFileStore* pStore);

/**
 * Closes a file that maarOpenFileStore has opened. Nobody uses the table any more; its functions
 * are NULL afterwards.
 *
 * @param pStore  NULL, or a table that maarOpenFileStore has filled; one whose functions are NULL
 *                is left as it is
 * @threadsafety externally synchronized: pStore
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarCloseFileStore(MaarFileStore* pStore);

/** A file that is only read, such as one with the weights of a model. */
typedef struct MaarFileSource {
    /** MAAR_STRUCTURE_TYPE_FILE_SOURCE */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Maar's own. */
    void* pUserData;
    /** Bytes of the file when it was opened. */
    VkDeviceSize size;
    /** The file's bytes, mapped for reading, or NULL if the address space has no room for them.
     * Reading them crashes the program if somebody cuts the file off meanwhile. Maar itself reads
     * the file with pfnRead. */
    const void* pBytes;
    /** Reads, at any offset and of any size. */
    PFN_maarFileTransfer pfnRead;
} MaarFileSource;

/**
 * Opens a file for reading, and maps it. It is never written.
 *
 * @param pPath                 the file; UTF-8
 * @param pAllocationCallbacks  NULL (the C library's), or callbacks that stay valid until the
 *                              source is closed
 * @param pSource               not null, with sType and pNext set
 * @return VK_SUCCESS; VK_ERROR_INITIALIZATION_FAILED: the file cannot be opened, or is no regular
 *         file; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT. After an error
 *         pfnRead is NULL
 * @threadsafety internally synchronized
 * @lifetime until maarCloseFileSource
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarOpenFileSource(const char* pPath,
                                                const VkAllocationCallbacks* pAllocationCallbacks,
                                                MaarFileSource* pSource);

/**
 * Closes a source. Nobody uses the table or the mapped bytes any more; pfnRead is NULL afterwards.
 *
 * @param pSource  NULL, or a table that maarOpenFileSource has filled; one whose pfnRead is NULL is
 *                 left as it is
 * @threadsafety externally synchronized: pSource
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarCloseFileSource(MaarFileSource* pSource);

#ifdef __cplusplus
}
#endif

#endif
