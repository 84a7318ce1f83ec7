/*
 * The part of the HIP runtime that Maar uses: the types of its parameters, and a table of its entry
 * points, which Maar looks up by name in the runtime's library when the program runs. Maar is not
 * linked with HIP and needs none of its headers. Where the headers are installed,
 * tests/interop/hip_declarations.c compares every declaration here with them.
 *
 * Older runtimes have no reserved fields at the end of a struct. The reserved fields are zero and
 * come last, so the same declaration fits old and new runtimes. Maar shares only buffers with HIP,
 * because HIP maps no images and, on Linux, no semaphores. The table never changes after it is
 * filled, so it needs no lock.
 */
#ifndef MAAR_INTEROP_HIP_HIP_RUNTIME_H
#define MAAR_INTEROP_HIP_HIP_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define MAAR_HIP_CALL __stdcall
#else
#define MAAR_HIP_CALL
#endif

typedef int maar_hip_device; /* the device that an ordinal names */
typedef void(MAAR_HIP_CALL* maar_hip_host_fn)(void* data);

/* Handles: pointers to objects of the runtime. */
struct maar_hip_stream;
struct maar_hip_event;
typedef void* maar_hip_memory;

/* The results that have names in Maar. hipGetErrorName knows all results. */
enum maar_hip_result {
    MAAR_HIP_SUCCESS = 0,
    MAAR_HIP_INVALID_VALUE = 1,
    MAAR_HIP_OUT_OF_MEMORY = 2,
    MAAR_HIP_NOT_INITIALIZED = 3,
    MAAR_HIP_DEINITIALIZED = 4,
    MAAR_HIP_INVALID_DEVICE_POINTER = 17,
    MAAR_HIP_INSUFFICIENT_DRIVER = 35,
    MAAR_HIP_NO_DEVICE = 100,
    MAAR_HIP_INVALID_DEVICE = 101,
    MAAR_HIP_INVALID_CONTEXT = 201,
    MAAR_HIP_MAP_FAILED = 205,
    MAAR_HIP_OPERATING_SYSTEM = 304,
    MAAR_HIP_INVALID_HANDLE = 400,
    MAAR_HIP_NOT_FOUND = 500,
    MAAR_HIP_NOT_READY = 600,
    MAAR_HIP_ILLEGAL_ADDRESS = 700,
    MAAR_HIP_CONTEXT_IS_DESTROYED = 709,
    MAAR_HIP_LAUNCH_FAILURE = 719,
    MAAR_HIP_NOT_SUPPORTED = 801,
    MAAR_HIP_UNKNOWN = 999
};

enum maar_hip_copy {
    MAAR_HIP_COPY_HOST_TO_HOST = 0,
    MAAR_HIP_COPY_HOST_TO_DEVICE = 1,
    MAAR_HIP_COPY_DEVICE_TO_HOST = 2,
    MAAR_HIP_COPY_DEVICE_TO_DEVICE = 3,
    MAAR_HIP_COPY_BY_ADDRESS = 4
};

enum {
    MAAR_HIP_STREAM_NON_BLOCKING = 0x1,
    MAAR_HIP_EVENT_DISABLE_TIMING = 0x2,
    MAAR_HIP_MEMORY_DEDICATED = 0x1 /* maar_hip_memory_handle::flags */
};

/* This is not Vulkan's deviceUUID: the runtime writes the card's serial number as text into it. */
struct maar_hip_uuid {
    char bytes[16];
};

enum maar_hip_memory_handle_type {
    MAAR_HIP_MEMORY_OPAQUE_FD = 1,
    MAAR_HIP_MEMORY_OPAQUE_WIN32 = 2,
    MAAR_HIP_MEMORY_OPAQUE_WIN32_KMT = 3
};

/* After an import, the handle still belongs to the caller: the runtime maps the memory of a file
 * descriptor and never closes it. */
union maar_hip_os_handle {
    int fd;
    struct {
        void* handle;
        const void* name;
    } win32;
};

struct maar_hip_memory_handle {
    enum maar_hip_memory_handle_type type;
    union maar_hip_os_handle handle;
    unsigned long long size; /* VkMemoryAllocateInfo::allocationSize exactly */
    unsigned int flags;
    unsigned int reserved[16];
};

struct maar_hip_memory_range {
    unsigned long long offset;
    unsigned long long size;
    unsigned int flags; /* 0 */
    unsigned int reserved[16];
};

/* The entry points: result, name, parameters. */
#define MAAR_HIP_FUNCTIONS(X)                                                                      \
    X(enum maar_hip_result, hipInit, (unsigned int flags))                                         \
    X(enum maar_hip_result, hipDriverGetVersion, (int* version))                                   \
    X(enum maar_hip_result, hipRuntimeGetVersion, (int* version))                                  \
    X(enum maar_hip_result, hipGetDeviceCount, (int* count))                                       \
    X(enum maar_hip_result, hipSetDevice, (int ordinal))                                           \
    X(enum maar_hip_result, hipGetDevice, (int* ordinal))                                          \
    X(enum maar_hip_result, hipDeviceGetName, (char* name, int size, maar_hip_device device))      \
    X(enum maar_hip_result, hipDeviceGetPCIBusId, (char* address, int size, int ordinal))          \
    X(const char*, hipGetErrorName, (enum maar_hip_result result))                                 \
    X(const char*, hipGetErrorString, (enum maar_hip_result result))                               \
    X(enum maar_hip_result, hipMemGetInfo, (size_t * free_bytes, size_t * total_bytes))            \
    X(enum maar_hip_result, hipMalloc, (void** pointer, size_t size))                              \
    X(enum maar_hip_result, hipFree, (void* pointer))                                              \
    X(enum maar_hip_result, hipImportExternalMemory,                                               \
      (maar_hip_memory * memory, const struct maar_hip_memory_handle* handle))                     \
    X(enum maar_hip_result, hipExternalMemoryGetMappedBuffer,                                      \
      (void** pointer, maar_hip_memory memory, const struct maar_hip_memory_range* range))         \
    X(enum maar_hip_result, hipDestroyExternalMemory, (maar_hip_memory memory))                    \
    X(enum maar_hip_result, hipStreamCreateWithFlags,                                              \
      (struct maar_hip_stream * *stream, unsigned int flags))                                      \
    X(enum maar_hip_result, hipStreamDestroy, (struct maar_hip_stream * stream))                   \
    X(enum maar_hip_result, hipStreamSynchronize, (struct maar_hip_stream * stream))               \
    X(enum maar_hip_result, hipStreamQuery, (struct maar_hip_stream * stream))                     \
    X(enum maar_hip_result, hipStreamWaitEvent,                                                    \
      (struct maar_hip_stream * stream, struct maar_hip_event * event, unsigned int flags))        \
    X(enum maar_hip_result, hipMemcpyAsync,                                                        \
      (void* target, const void* source, size_t size, enum maar_hip_copy kind,                     \
       struct maar_hip_stream* stream))                                                            \
    X(enum maar_hip_result, hipMemsetAsync,                                                        \
      (void* target, int value, size_t size, struct maar_hip_stream* stream))                      \
    X(enum maar_hip_result, hipEventCreateWithFlags,                                               \
      (struct maar_hip_event * *event, unsigned int flags))                                        \
    X(enum maar_hip_result, hipEventRecord,                                                        \
      (struct maar_hip_event * event, struct maar_hip_stream * stream))                            \
    X(enum maar_hip_result, hipEventQuery, (struct maar_hip_event * event))                        \
    X(enum maar_hip_result, hipEventSynchronize, (struct maar_hip_event * event))                  \
    X(enum maar_hip_result, hipEventDestroy, (struct maar_hip_event * event))

/* Functions that an older runtime may lack. The entry of a missing function is NULL. */
#define MAAR_HIP_OPTIONAL_FUNCTIONS(X)                                                             \
    X(enum maar_hip_result, hipDeviceGetUuid,                                                      \
      (struct maar_hip_uuid * uuid, maar_hip_device device))                                       \
    X(enum maar_hip_result, hipLaunchHostFunc,                                                     \
      (struct maar_hip_stream * stream, maar_hip_host_fn function, void* data))

#define MAAR_DECLARE_HIP_TYPE(result, name, ...)                                                   \
    typedef result(MAAR_HIP_CALL* maar_hip_##name##_fn) __VA_ARGS__;
MAAR_HIP_FUNCTIONS(MAAR_DECLARE_HIP_TYPE)
MAAR_HIP_OPTIONAL_FUNCTIONS(MAAR_DECLARE_HIP_TYPE)
#undef MAAR_DECLARE_HIP_TYPE

struct maar_hip_runtime {
#define MAAR_DECLARE_HIP_ENTRY(result, name, parameters) maar_hip_##name##_fn name;
    MAAR_HIP_FUNCTIONS(MAAR_DECLARE_HIP_ENTRY)
    MAAR_HIP_OPTIONAL_FUNCTIONS(MAAR_DECLARE_HIP_ENTRY)
#undef MAAR_DECLARE_HIP_ENTRY
};

#endif
