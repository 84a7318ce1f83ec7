/*
 * The part of the CUDA driver that Maar uses: the types of its parameters, and a table of its entry
 * points, which Maar looks up by name in the driver's library at run time. Maar is not linked with
 * CUDA and needs no header of the Toolkit. Where a Toolkit is installed,
 * tests/interop/cuda_declarations.c compares every declaration here with the Toolkit's headers.
 *
 * Invariants: a struct has the size and the offsets of the driver's struct; reserved fields are
 * zero in every call. The table never changes after it is filled, so it needs no lock.
 */
#ifndef MAAR_INTEROP_CUDA_CUDA_DRIVER_H
#define MAAR_INTEROP_CUDA_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define MAAR_CUDA_CALL __stdcall
#else
#define MAAR_CUDA_CALL
#endif

/* An address on the device, in the driver's address space. */
#if UINTPTR_MAX > 0xFFFFFFFFu
typedef unsigned long long maar_cuda_pointer;
#else
typedef unsigned int maar_cuda_pointer;
#endif

typedef int maar_cuda_device;                 /* the device that an ordinal names */
typedef unsigned long long maar_cuda_backing; /* physical memory from cuMemCreate */
typedef void(MAAR_CUDA_CALL* maar_cuda_host_fn)(void* data);

/* Handles: pointers to objects of the driver. */
struct maar_cuda_context;
struct maar_cuda_stream;
struct maar_cuda_event;
struct maar_cuda_memory;    /* imported external memory */
struct maar_cuda_semaphore; /* imported external semaphore */
struct maar_cuda_array;
struct maar_cuda_mipmapped_array;

/* The results that have names in Maar. cuGetErrorName knows all results. */
enum maar_cuda_result {
    MAAR_CUDA_SUCCESS = 0,
    MAAR_CUDA_INVALID_VALUE = 1,
    MAAR_CUDA_OUT_OF_MEMORY = 2,
    MAAR_CUDA_NOT_INITIALIZED = 3,
    MAAR_CUDA_DEINITIALIZED = 4,
    MAAR_CUDA_STUB_LIBRARY = 34,
    MAAR_CUDA_NO_DEVICE = 100,
    MAAR_CUDA_INVALID_DEVICE = 101,
    MAAR_CUDA_INVALID_CONTEXT = 201,
    MAAR_CUDA_MAP_FAILED = 205,
    MAAR_CUDA_OPERATING_SYSTEM = 304,
    MAAR_CUDA_INVALID_HANDLE = 400,
    MAAR_CUDA_NOT_FOUND = 500,
    MAAR_CUDA_NOT_READY = 600,
    MAAR_CUDA_ILLEGAL_ADDRESS = 700,
    MAAR_CUDA_CONTEXT_IS_DESTROYED = 709,
    MAAR_CUDA_LAUNCH_FAILED = 719,
    MAAR_CUDA_NOT_PERMITTED = 800,
    MAAR_CUDA_NOT_SUPPORTED = 801,
    MAAR_CUDA_SYSTEM_NOT_READY = 802,
    MAAR_CUDA_SYSTEM_DRIVER_MISMATCH = 803,
    MAAR_CUDA_UNKNOWN = 999
};

enum maar_cuda_attribute {
    MAAR_CUDA_ATTRIBUTE_INTEGRATED = 18,
    MAAR_CUDA_ATTRIBUTE_PCI_BUS = 33,
    MAAR_CUDA_ATTRIBUTE_PCI_DEVICE = 34,
    MAAR_CUDA_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    MAAR_CUDA_ATTRIBUTE_PCI_DOMAIN = 50,
    MAAR_CUDA_ATTRIBUTE_COMPUTE_MAJOR = 75,
    MAAR_CUDA_ATTRIBUTE_COMPUTE_MINOR = 76,
    MAAR_CUDA_ATTRIBUTE_VIRTUAL_MEMORY = 102, /* cuMemCreate and cuMemMap work */
    /* memory from cuMemCreate can be exported as a descriptor */
    MAAR_CUDA_ATTRIBUTE_FILE_DESCRIPTORS = 103,
    MAAR_CUDA_ATTRIBUTE_TIMELINE_SEMAPHORES = 114,
    MAAR_CUDA_ATTRIBUTE_DMA_BUF = 124
};

enum maar_cuda_pointer_attribute {
    MAAR_CUDA_POINTER_CONTEXT = 1,
    MAAR_CUDA_POINTER_MEMORY_TYPE = 2, /* unsigned int: enum maar_cuda_memory_type */
    MAAR_CUDA_POINTER_DEVICE_POINTER = 3,
    MAAR_CUDA_POINTER_DEVICE_ORDINAL = 9, /* int */
    MAAR_CUDA_POINTER_RANGE_START = 11,
    MAAR_CUDA_POINTER_RANGE_SIZE = 12 /* size_t */
};

enum maar_cuda_memory_type {
    MAAR_CUDA_MEMORY_HOST = 1,
    MAAR_CUDA_MEMORY_DEVICE = 2,
    MAAR_CUDA_MEMORY_ARRAY = 3
};

enum {
    MAAR_CUDA_STREAM_NON_BLOCKING = 0x1,
    MAAR_CUDA_EVENT_DISABLE_TIMING = 0x2,
    MAAR_CUDA_MEMORY_DEDICATED = 0x1 /* maar_cuda_memory_handle::flags */
};

struct maar_cuda_uuid {
    char bytes[16];
};

/* ---- external memory ---- */

enum maar_cuda_memory_handle_type {
    MAAR_CUDA_MEMORY_OPAQUE_FD = 1,
    MAAR_CUDA_MEMORY_OPAQUE_WIN32 = 2,
    MAAR_CUDA_MEMORY_OPAQUE_WIN32_KMT = 3,
    MAAR_CUDA_MEMORY_D3D12_HEAP = 4,
    MAAR_CUDA_MEMORY_D3D12_RESOURCE = 5,
    MAAR_CUDA_MEMORY_D3D11_RESOURCE = 6,
    MAAR_CUDA_MEMORY_D3D11_RESOURCE_KMT = 7,
    MAAR_CUDA_MEMORY_NVSCIBUF = 8,
    MAAR_CUDA_MEMORY_DMA_BUF_FD = 9
};

/* After a successful import, a file descriptor belongs to the driver. An NT handle never does. */
union maar_cuda_os_handle {
    int fd;
    struct {
        void* handle;
        const void* name;
    } win32;
};

struct maar_cuda_memory_handle {
    enum maar_cuda_memory_handle_type type;
    union maar_cuda_os_handle handle;
    unsigned long long size; /* VkMemoryAllocateInfo::allocationSize exactly */
    unsigned int flags;
    unsigned int reserved[16];
};

struct maar_cuda_memory_range {
    unsigned long long offset;
    unsigned long long size;
    unsigned int flags; /* 0 */
    unsigned int reserved[16];
};

/* The type of an array's elements. maar_cuda_array_shape::channels is the number of elements in a
 * texel. */
enum maar_cuda_format {
    MAAR_CUDA_FORMAT_UINT8 = 0x01, /* also for formats that are normalised in Vulkan */
    MAAR_CUDA_FORMAT_UINT16 = 0x02,
    MAAR_CUDA_FORMAT_UINT32 = 0x03,
    MAAR_CUDA_FORMAT_SINT8 = 0x08,
    MAAR_CUDA_FORMAT_SINT16 = 0x09,
    MAAR_CUDA_FORMAT_SINT32 = 0x0a,
    MAAR_CUDA_FORMAT_HALF = 0x10,
    MAAR_CUDA_FORMAT_FLOAT = 0x20,
    MAAR_CUDA_FORMAT_BC1_UNORM = 0x91,
    MAAR_CUDA_FORMAT_BC1_UNORM_SRGB = 0x92,
    MAAR_CUDA_FORMAT_BC2_UNORM = 0x93,
    MAAR_CUDA_FORMAT_BC2_UNORM_SRGB = 0x94,
    MAAR_CUDA_FORMAT_BC3_UNORM = 0x95,
    MAAR_CUDA_FORMAT_BC3_UNORM_SRGB = 0x96,
    MAAR_CUDA_FORMAT_BC4_UNORM = 0x97,
    MAAR_CUDA_FORMAT_BC4_SNORM = 0x98,
    MAAR_CUDA_FORMAT_BC5_UNORM = 0x99,
    MAAR_CUDA_FORMAT_BC5_SNORM = 0x9a,
    MAAR_CUDA_FORMAT_BC6H_UFLOAT = 0x9b,
    MAAR_CUDA_FORMAT_BC6H_SFLOAT = 0x9c,
    MAAR_CUDA_FORMAT_BC7_UNORM = 0x9d,
    MAAR_CUDA_FORMAT_BC7_UNORM_SRGB = 0x9e
};

enum {
    MAAR_CUDA_ARRAY_LAYERED = 0x01,
    MAAR_CUDA_ARRAY_SURFACE = 0x02, /* kernels may write to the array */
    MAAR_CUDA_ARRAY_CUBE = 0x04,
    MAAR_CUDA_ARRAY_GATHER = 0x08,
    MAAR_CUDA_ARRAY_COLOR_ATTACHMENT = 0x20
};

/* `depth` is 0 for a 2D image without layers. For an image with layers, it is the number of
 * layers. */
struct maar_cuda_array_shape {
    size_t width;
    size_t height;
    size_t depth;
    enum maar_cuda_format format;
    unsigned int channels;
    unsigned int flags; /* MAAR_CUDA_ARRAY_ */
};

struct maar_cuda_memory_image {
    unsigned long long offset;
    struct maar_cuda_array_shape shape;
    unsigned int levels;
    unsigned int reserved[16];
};

/* ---- external semaphores ---- */

enum maar_cuda_semaphore_handle_type {
    MAAR_CUDA_SEMAPHORE_OPAQUE_FD = 1, /* binary */
    MAAR_CUDA_SEMAPHORE_OPAQUE_WIN32 = 2,
    MAAR_CUDA_SEMAPHORE_OPAQUE_WIN32_KMT = 3,
    MAAR_CUDA_SEMAPHORE_TIMELINE_FD = 9,
    MAAR_CUDA_SEMAPHORE_TIMELINE_WIN32 = 10
};

struct maar_cuda_semaphore_handle {
    enum maar_cuda_semaphore_handle_type type;
    union maar_cuda_os_handle handle;
    unsigned int flags;
    unsigned int reserved[16];
};

/* The fields that belong to other kinds of semaphores are declared as reserved. */
struct maar_cuda_semaphore_signal {
    unsigned long long value; /* of a timeline; 0 for a binary semaphore */
    unsigned long long reserved_kinds[2];
    unsigned int reserved_parameters[12];
    unsigned int flags;
    unsigned int reserved[16];
};

/* The layout is that of a signal. In the driver's struct, the wait for a keyed mutex also has a
 * time limit, which lies among the reserved parameters here. */
struct maar_cuda_semaphore_wait {
    unsigned long long value; /* the wait ends when the timeline has at least this value */
    unsigned long long reserved_kinds[2];
    unsigned int reserved_parameters[12];
    unsigned int flags;
    unsigned int reserved[16];
};

/* ---- virtual memory ---- */

enum maar_cuda_shareable_type {
    MAAR_CUDA_SHAREABLE_NONE = 0,
    MAAR_CUDA_SHAREABLE_FD = 0x1,
    MAAR_CUDA_SHAREABLE_WIN32 = 0x2
};

enum maar_cuda_backing_type { MAAR_CUDA_BACKING_PINNED = 0x1 };

enum maar_cuda_location_type { MAAR_CUDA_LOCATION_DEVICE = 0x1 };

enum maar_cuda_granularity { MAAR_CUDA_GRANULARITY_MINIMUM = 0, MAAR_CUDA_GRANULARITY_BEST = 1 };

enum maar_cuda_access { MAAR_CUDA_ACCESS_NONE = 0, MAAR_CUDA_ACCESS_READ_WRITE = 0x3 };

struct maar_cuda_location {
    enum maar_cuda_location_type type;
    int id; /* maar_cuda_device */
};

struct maar_cuda_backing_info {
    enum maar_cuda_backing_type type;
    enum maar_cuda_shareable_type shareable;
    struct maar_cuda_location location;
    void* win32_metadata;
    unsigned char compression;
    unsigned char rdma;
    unsigned short usage;
    unsigned char reserved[4];
};

struct maar_cuda_access_info {
    struct maar_cuda_location location;
    enum maar_cuda_access access;
};

/*
 * The entry points: name, exported symbol, parameters. The symbol names the version of the function
 * that has these parameters. All functions return enum maar_cuda_result.
 */
#define MAAR_CUDA_FUNCTIONS(X)                                                                     \
    X(cuInit, cuInit, (unsigned int flags))                                                        \
    X(cuDriverGetVersion, cuDriverGetVersion, (int* version))                                      \
    X(cuDeviceGetCount, cuDeviceGetCount, (int* count))                                            \
    X(cuDeviceGet, cuDeviceGet, (maar_cuda_device * device, int ordinal))                          \
    X(cuDeviceGetName, cuDeviceGetName, (char* name, int size, maar_cuda_device device))           \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute,                                                  \
      (int* value, enum maar_cuda_attribute attribute, maar_cuda_device device))                   \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                                          \
      (struct maar_cuda_context * *context, maar_cuda_device device))                              \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (maar_cuda_device device))          \
    X(cuCtxPushCurrent, cuCtxPushCurrent_v2, (struct maar_cuda_context * context))                 \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2, (struct maar_cuda_context * *context))                  \
    X(cuCtxGetCurrent, cuCtxGetCurrent, (struct maar_cuda_context * *context))                     \
    X(cuCtxGetDevice, cuCtxGetDevice, (maar_cuda_device * device))                                 \
    X(cuGetErrorName, cuGetErrorName, (enum maar_cuda_result result, const char** name))           \
    X(cuGetErrorString, cuGetErrorString, (enum maar_cuda_result result, const char** text))       \
    X(cuMemGetInfo, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total_bytes))                  \
    X(cuMemAlloc, cuMemAlloc_v2, (maar_cuda_pointer * pointer, size_t size))                       \
    X(cuMemFree, cuMemFree_v2, (maar_cuda_pointer pointer))                                        \
    X(cuPointerGetAttribute, cuPointerGetAttribute,                                                \
      (void* value, enum maar_cuda_pointer_attribute attribute, maar_cuda_pointer pointer))        \
    X(cuImportExternalMemory, cuImportExternalMemory,                                              \
      (struct maar_cuda_memory * *memory, const struct maar_cuda_memory_handle* handle))           \
    X(cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer,                            \
      (maar_cuda_pointer * pointer, struct maar_cuda_memory * memory,                              \
       const struct maar_cuda_memory_range* range))                                                \
    X(cuExternalMemoryGetMappedMipmappedArray, cuExternalMemoryGetMappedMipmappedArray,            \
      (struct maar_cuda_mipmapped_array * *array, struct maar_cuda_memory * memory,                \
       const struct maar_cuda_memory_image* image))                                                \
    X(cuDestroyExternalMemory, cuDestroyExternalMemory, (struct maar_cuda_memory * memory))        \
    X(cuMipmappedArrayGetLevel, cuMipmappedArrayGetLevel,                                          \
      (struct maar_cuda_array * *array, struct maar_cuda_mipmapped_array * mipmapped,              \
       unsigned int level))                                                                        \
    X(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy,                                            \
      (struct maar_cuda_mipmapped_array * mipmapped))                                              \
    X(cuImportExternalSemaphore, cuImportExternalSemaphore,                                        \
      (struct maar_cuda_semaphore * *semaphore, const struct maar_cuda_semaphore_handle* handle))  \
    X(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync,                            \
      (struct maar_cuda_semaphore* const* semaphores,                                              \
       const struct maar_cuda_semaphore_signal* signals, unsigned int count,                       \
       struct maar_cuda_stream* stream))                                                           \
    X(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync,                                \
      (struct maar_cuda_semaphore* const* semaphores,                                              \
       const struct maar_cuda_semaphore_wait* waits, unsigned int count,                           \
       struct maar_cuda_stream* stream))                                                           \
    X(cuDestroyExternalSemaphore, cuDestroyExternalSemaphore,                                      \
      (struct maar_cuda_semaphore * semaphore))                                                    \
    X(cuStreamCreate, cuStreamCreate, (struct maar_cuda_stream * *stream, unsigned int flags))     \
    X(cuStreamDestroy, cuStreamDestroy_v2, (struct maar_cuda_stream * stream))                     \
    X(cuStreamSynchronize, cuStreamSynchronize, (struct maar_cuda_stream * stream))                \
    X(cuStreamQuery, cuStreamQuery, (struct maar_cuda_stream * stream))                            \
    X(cuStreamWaitEvent, cuStreamWaitEvent,                                                        \
      (struct maar_cuda_stream * stream, struct maar_cuda_event * event, unsigned int flags))      \
    X(cuLaunchHostFunc, cuLaunchHostFunc,                                                          \
      (struct maar_cuda_stream * stream, maar_cuda_host_fn function, void* data))                  \
    X(cuEventCreate, cuEventCreate, (struct maar_cuda_event * *event, unsigned int flags))         \
    X(cuEventRecord, cuEventRecord,                                                                \
      (struct maar_cuda_event * event, struct maar_cuda_stream * stream))                          \
    X(cuEventQuery, cuEventQuery, (struct maar_cuda_event * event))                                \
    X(cuEventSynchronize, cuEventSynchronize, (struct maar_cuda_event * event))                    \
    X(cuEventDestroy, cuEventDestroy_v2, (struct maar_cuda_event * event))                         \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                     \
      (void* target, maar_cuda_pointer source, size_t size, struct maar_cuda_stream* stream))      \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                     \
      (maar_cuda_pointer target, const void* source, size_t size,                                  \
       struct maar_cuda_stream* stream))                                                           \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                     \
      (maar_cuda_pointer target, maar_cuda_pointer source, size_t size,                            \
       struct maar_cuda_stream * stream))                                                          \
    X(cuMemsetD8Async, cuMemsetD8Async,                                                            \
      (maar_cuda_pointer target, unsigned char value, size_t count,                                \
       struct maar_cuda_stream* stream))                                                           \
    X(cuMemsetD32Async, cuMemsetD32Async,                                                          \
      (maar_cuda_pointer target, unsigned int value, size_t count,                                 \
       struct maar_cuda_stream* stream))

/* Functions that an older driver or another operating system may lack. The entry of a missing
 * function is NULL. */
#define MAAR_CUDA_OPTIONAL_FUNCTIONS(X)                                                            \
    X(cuDeviceGetUuid, cuDeviceGetUuid_v2,                                                         \
      (struct maar_cuda_uuid * uuid, maar_cuda_device device))                                     \
    X(cuDeviceGetUuid_v1, cuDeviceGetUuid,                                                         \
      (struct maar_cuda_uuid * uuid, maar_cuda_device device))                                     \
    X(cuDeviceGetLuid, cuDeviceGetLuid,                                                            \
      (char* luid, unsigned int* node_mask, maar_cuda_device device))                              \
    X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity,                                \
      (size_t * granularity, const struct maar_cuda_backing_info* info,                            \
       enum maar_cuda_granularity which))                                                          \
    X(cuMemCreate, cuMemCreate,                                                                    \
      (maar_cuda_backing * backing, size_t size, const struct maar_cuda_backing_info* info,        \
       unsigned long long flags))                                                                  \
    X(cuMemRelease, cuMemRelease, (maar_cuda_backing backing))                                     \
    X(cuMemExportToShareableHandle, cuMemExportToShareableHandle,                                  \
      (void* handle, maar_cuda_backing backing, enum maar_cuda_shareable_type type,                \
       unsigned long long flags))                                                                  \
    X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle,                              \
      (maar_cuda_backing * backing, void* handle, enum maar_cuda_shareable_type type))             \
    X(cuMemAddressReserve, cuMemAddressReserve,                                                    \
      (maar_cuda_pointer * pointer, size_t size, size_t alignment, maar_cuda_pointer hint,         \
       unsigned long long flags))                                                                  \
    X(cuMemAddressFree, cuMemAddressFree, (maar_cuda_pointer pointer, size_t size))                \
    X(cuMemMap, cuMemMap,                                                                          \
      (maar_cuda_pointer pointer, size_t size, size_t offset, maar_cuda_backing backing,           \
       unsigned long long flags))                                                                  \
    X(cuMemUnmap, cuMemUnmap, (maar_cuda_pointer pointer, size_t size))                            \
    X(cuMemSetAccess, cuMemSetAccess,                                                              \
      (maar_cuda_pointer pointer, size_t size, const struct maar_cuda_access_info* access,         \
       size_t count))

#define MAAR_DECLARE_CUDA_TYPE(name, symbol, ...)                                                  \
    typedef enum maar_cuda_result(MAAR_CUDA_CALL* maar_cuda_##name##_fn) __VA_ARGS__;
MAAR_CUDA_FUNCTIONS(MAAR_DECLARE_CUDA_TYPE)
MAAR_CUDA_OPTIONAL_FUNCTIONS(MAAR_DECLARE_CUDA_TYPE)
#undef MAAR_DECLARE_CUDA_TYPE

struct maar_cuda_driver {
#define MAAR_DECLARE_CUDA_ENTRY(name, symbol, parameters) maar_cuda_##name##_fn name;
    MAAR_CUDA_FUNCTIONS(MAAR_DECLARE_CUDA_ENTRY)
    MAAR_CUDA_OPTIONAL_FUNCTIONS(MAAR_DECLARE_CUDA_ENTRY)
#undef MAAR_DECLARE_CUDA_ENTRY
};

#endif
