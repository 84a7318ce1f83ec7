/*
 * Compile only: what interop/hip/hip_runtime.h declares is what hip_runtime_api.h declares. Structs
 * that newer headers have made longer are compared up to the shorter one's end. The entry points
 * are compared by their whole types, as in cuda_declarations.c.
 *
 * MAAR_BREAK_DECLARATION gives one struct the wrong meaning, to see that this is noticed.
 */
#include "interop/hip/hip_runtime.h"

#include <hip/hip_runtime_api.h>

#define SAME(name, what) _Static_assert((what), "differs from hip_runtime_api.h: " name)
#define SAME_VALUE(ours, theirs) SAME(#theirs, (long long)(ours) == (long long)(theirs))
#define SAME_SIZE(ours, theirs) SAME(#theirs, sizeof(ours) == sizeof(theirs))
#define SAME_MEMBER(ours, our_member, theirs, their_member)                                        \
    SAME(#theirs "." #their_member,                                                                \
         offsetof(ours, our_member) == offsetof(theirs, their_member) &&                           \
             sizeof(((ours*)0)->our_member) == sizeof(((theirs*)0)->their_member))

SAME_SIZE(maar_hip_device, hipDevice_t);
SAME_SIZE(maar_hip_memory, hipExternalMemory_t);
SAME_SIZE(maar_hip_host_fn, hipHostFn_t);
SAME_SIZE(struct maar_hip_uuid, hipUUID);

SAME_SIZE(enum maar_hip_result, hipError_t);
SAME_VALUE(MAAR_HIP_SUCCESS, hipSuccess);
SAME_VALUE(MAAR_HIP_INVALID_VALUE, hipErrorInvalidValue);
SAME_VALUE(MAAR_HIP_OUT_OF_MEMORY, hipErrorOutOfMemory);
SAME_VALUE(MAAR_HIP_NOT_INITIALIZED, hipErrorNotInitialized);
SAME_VALUE(MAAR_HIP_DEINITIALIZED, hipErrorDeinitialized);
SAME_VALUE(MAAR_HIP_INVALID_DEVICE_POINTER, hipErrorInvalidDevicePointer);
SAME_VALUE(MAAR_HIP_INSUFFICIENT_DRIVER, hipErrorInsufficientDriver);
SAME_VALUE(MAAR_HIP_NO_DEVICE, hipErrorNoDevice);
SAME_VALUE(MAAR_HIP_INVALID_DEVICE, hipErrorInvalidDevice);
SAME_VALUE(MAAR_HIP_INVALID_CONTEXT, hipErrorInvalidContext);
SAME_VALUE(MAAR_HIP_MAP_FAILED, hipErrorMapFailed);
SAME_VALUE(MAAR_HIP_OPERATING_SYSTEM, hipErrorOperatingSystem);
SAME_VALUE(MAAR_HIP_INVALID_HANDLE, hipErrorInvalidHandle);
SAME_VALUE(MAAR_HIP_NOT_FOUND, hipErrorNotFound);
SAME_VALUE(MAAR_HIP_NOT_READY, hipErrorNotReady);
SAME_VALUE(MAAR_HIP_ILLEGAL_ADDRESS, hipErrorIllegalAddress);
SAME_VALUE(MAAR_HIP_CONTEXT_IS_DESTROYED, hipErrorContextIsDestroyed);
SAME_VALUE(MAAR_HIP_LAUNCH_FAILURE, hipErrorLaunchFailure);
SAME_VALUE(MAAR_HIP_NOT_SUPPORTED, hipErrorNotSupported);
SAME_VALUE(MAAR_HIP_UNKNOWN, hipErrorUnknown);

SAME_SIZE(enum maar_hip_copy, hipMemcpyKind);
SAME_VALUE(MAAR_HIP_COPY_HOST_TO_HOST, hipMemcpyHostToHost);
SAME_VALUE(MAAR_HIP_COPY_HOST_TO_DEVICE, hipMemcpyHostToDevice);
SAME_VALUE(MAAR_HIP_COPY_DEVICE_TO_HOST, hipMemcpyDeviceToHost);
SAME_VALUE(MAAR_HIP_COPY_DEVICE_TO_DEVICE, hipMemcpyDeviceToDevice);
SAME_VALUE(MAAR_HIP_COPY_BY_ADDRESS, hipMemcpyDefault);
SAME_VALUE(MAAR_HIP_STREAM_NON_BLOCKING, hipStreamNonBlocking);
SAME_VALUE(MAAR_HIP_EVENT_DISABLE_TIMING, hipEventDisableTiming);

SAME_SIZE(enum maar_hip_memory_handle_type, hipExternalMemoryHandleType);
SAME_VALUE(MAAR_HIP_MEMORY_OPAQUE_FD, hipExternalMemoryHandleTypeOpaqueFd);
SAME_VALUE(MAAR_HIP_MEMORY_OPAQUE_WIN32, hipExternalMemoryHandleTypeOpaqueWin32);
SAME_VALUE(MAAR_HIP_MEMORY_OPAQUE_WIN32_KMT, hipExternalMemoryHandleTypeOpaqueWin32Kmt);

#define OURS struct maar_hip_memory_handle
#define THEIRS hipExternalMemoryHandleDesc
SAME("hipExternalMemoryHandleDesc", sizeof(OURS) >= sizeof(THEIRS));
SAME_MEMBER(OURS, type, THEIRS, type);
SAME_MEMBER(OURS, handle, THEIRS, handle);
SAME_MEMBER(OURS, handle.fd, THEIRS, handle.fd);
SAME_MEMBER(OURS, handle.win32.handle, THEIRS, handle.win32.handle);
SAME_MEMBER(OURS, handle.win32.name, THEIRS, handle.win32.name);
SAME_MEMBER(OURS, size, THEIRS, size);
SAME_MEMBER(OURS, flags, THEIRS, flags);
#undef OURS
#undef THEIRS

#define OURS struct maar_hip_memory_range
#define THEIRS hipExternalMemoryBufferDesc
SAME("hipExternalMemoryBufferDesc", sizeof(OURS) >= sizeof(THEIRS));
SAME_MEMBER(OURS, offset, THEIRS, offset);
SAME_MEMBER(OURS, size, THEIRS, size);
SAME_MEMBER(OURS, flags, THEIRS, flags);
#undef OURS
#undef THEIRS

/* ---- entry points: from here on Maar's tags mean HIP's types ---- */

#define maar_hip_result hipError_t
#define maar_hip_copy hipMemcpyKind
#define maar_hip_stream ihipStream_t
#define maar_hip_event ihipEvent_t
#define maar_hip_uuid hipUUID_t
#define maar_hip_memory_handle hipExternalMemoryHandleDesc_st
#if defined(MAAR_BREAK_DECLARATION)
#define maar_hip_memory_range hipExternalMemoryHandleDesc_st
#else
#define maar_hip_memory_range hipExternalMemoryBufferDesc_st
#endif

#define SAME_FUNCTION(result, name, parameters)                                                    \
    SAME(#name, _Generic(&name, result(*) parameters : 1, default : 0));
MAAR_HIP_FUNCTIONS(SAME_FUNCTION)
MAAR_HIP_OPTIONAL_FUNCTIONS(SAME_FUNCTION)
