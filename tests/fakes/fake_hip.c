/*
 * FAKES. The entry points of the FAKE HIP runtime. Not a GPU, and no HIP: see fake_control.h. It
 * has buffers alone, as the real one on Linux.
 */
#include "interop/hip/hip_runtime.h"
#include "tests/fakes/fake_device.h"

#include <stdio.h>
#include <string.h>

static const char* const real_names[] = {"/libamdhip64.so", "/libhsa-runtime64.so", NULL};

const struct fake_api fake_api = {
    .text = "FAKE HIP runtime (Maar's tests; not a GPU)",
    .device_name = "FAKE HIP device (Maar's tests; not a GPU)",
    .version = 60000000,
    .takes_descriptors = false,
    .free_waits = true,
    .real_names = real_names,
};

#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_DECLARE(result, name, parameters) FAKE_EXPORT result MAAR_HIP_CALL name parameters;
MAAR_HIP_FUNCTIONS(FAKE_DECLARE)
MAAR_HIP_OPTIONAL_FUNCTIONS(FAKE_DECLARE)

FAKE_EXPORT const struct fake_control* maar_fake_hip_is_a_fake(void);
const struct fake_control* maar_fake_hip_is_a_fake(void)
{
    return fake_get_control();
}

/* The results that both interfaces have are the same numbers. */
static enum maar_hip_result leave(int result)
{
    return (enum maar_hip_result)fake_leave(result);
}

static bool enter(const char* function, int* result)
{
    *result = fake_enter(function, FAKE_NEEDS_CONTEXT);
    return *result == MAAR_HIP_SUCCESS;
}

static struct fake_stream* enter_stream(const char* function, struct maar_hip_stream* handle,
                                        int* result)
{
    if (!enter(function, result)) {
        return NULL;
    }
    struct fake_stream* stream = fake_get_stream(handle);
    if (stream == NULL) {
        *result = fake_leave(MAAR_HIP_INVALID_HANDLE);
    }
    return stream;
}

/* ---- runtime and devices ---- */

enum maar_hip_result hipInit(unsigned int flags)
{
    int result = fake_enter("hipInit", FAKE_NEEDS_NOTHING);
    if (result != MAAR_HIP_SUCCESS) {
        return (enum maar_hip_result)result;
    }
    if (flags != 0) {
        return leave(fake_breach(MAAR_HIP_INVALID_VALUE, "the flags are not zero"));
    }
    result = fake_initialize();
    if (result == MAAR_HIP_SUCCESS && fake.device_count == 0) {
        result = MAAR_HIP_NO_DEVICE;
    }
    return leave(result);
}

static enum maar_hip_result get_number(const char* function, const int* source, int* target)
{
    int result;
    if (!enter(function, &result)) {
        return (enum maar_hip_result)result;
    }
    *target = *source;
    return leave(MAAR_HIP_SUCCESS);
}

enum maar_hip_result hipDriverGetVersion(int* version)
{
    return get_number("hipDriverGetVersion", &fake.version, version);
}

enum maar_hip_result hipRuntimeGetVersion(int* version)
{
    return get_number("hipRuntimeGetVersion", &fake.version, version);
}

enum maar_hip_result hipGetDeviceCount(int* count)
{
    const enum maar_hip_result result = get_number("hipGetDeviceCount", &fake.device_count, count);
    return result == MAAR_HIP_SUCCESS && *count == 0 ? MAAR_HIP_NO_DEVICE : result;
}

enum maar_hip_result hipSetDevice(int ordinal)
{
    int result;
    if (!enter("hipSetDevice", &result)) {
        return (enum maar_hip_result)result;
    }
    if (fake_find_device(ordinal) == NULL) {
        return leave(MAAR_HIP_INVALID_DEVICE);
    }
    fake_set_current(fake.primary[ordinal]);
    return leave(MAAR_HIP_SUCCESS);
}

enum maar_hip_result hipGetDevice(int* ordinal)
{
    int result;
    if (!enter("hipGetDevice", &result)) {
        return (enum maar_hip_result)result;
    }
    *ordinal = fake_current()->device;
    return leave(MAAR_HIP_SUCCESS);
}

static enum maar_hip_result get_text(const char* function, int device, char* text, int size,
                                     bool is_address)
{
    int result;
    if (!enter(function, &result)) {
        return (enum maar_hip_result)result;
    }
    const struct fake_device* found = fake_find_device(device);
    if (found == NULL || size <= 0) {
        return leave(MAAR_HIP_INVALID_VALUE);
    }
    (void)snprintf(text, (size_t)size, "%s",
                   is_address ? found->pci_address : fake_api.device_name);
    return leave(MAAR_HIP_SUCCESS);
}

enum maar_hip_result hipDeviceGetName(char* name, int size, maar_hip_device device)
{
    return get_text("hipDeviceGetName", device, name, size, false);
}

enum maar_hip_result hipDeviceGetPCIBusId(char* address, int size, int ordinal)
{
    return get_text("hipDeviceGetPCIBusId", ordinal, address, size, true);
}

enum maar_hip_result hipDeviceGetUuid(struct maar_hip_uuid* uuid, maar_hip_device device)
{
    int result;
    if (!enter("hipDeviceGetUuid", &result)) {
        return (enum maar_hip_result)result;
    }
    const struct fake_device* found = fake_find_device(device);
    if (found == NULL) {
        return leave(MAAR_HIP_INVALID_DEVICE);
    }
    memcpy(uuid->bytes, found->uuid, sizeof uuid->bytes);
    return leave(MAAR_HIP_SUCCESS);
}

const char* hipGetErrorName(enum maar_hip_result result)
{
    switch (result) {
    case MAAR_HIP_SUCCESS:
        return "hipSuccess";
    case MAAR_HIP_INVALID_VALUE:
        return "hipErrorInvalidValue";
    case MAAR_HIP_OUT_OF_MEMORY:
        return "hipErrorOutOfMemory";
    case MAAR_HIP_NOT_INITIALIZED:
        return "hipErrorNotInitialized";
    case MAAR_HIP_NO_DEVICE:
        return "hipErrorNoDevice";
    case MAAR_HIP_INVALID_DEVICE:
        return "hipErrorInvalidDevice";
    case MAAR_HIP_MAP_FAILED:
        return "hipErrorMapFailed";
    case MAAR_HIP_INVALID_HANDLE:
        return "hipErrorInvalidHandle";
    case MAAR_HIP_NOT_READY:
        return "hipErrorNotReady";
    case MAAR_HIP_NOT_SUPPORTED:
        return "hipErrorNotSupported";
    default:
        return "hipErrorUnknown";
    }
}

const char* hipGetErrorString(enum maar_hip_result result)
{
    (void)result;
    return "the FAKE runtime says no more";
}

/* ---- memory ---- */

enum maar_hip_result hipMemGetInfo(size_t* free_bytes, size_t* total_bytes)
{
    int result;
    if (!enter("hipMemGetInfo", &result)) {
        return (enum maar_hip_result)result;
    }
    *total_bytes = (size_t)fake_total_bytes();
    *free_bytes = (size_t)(fake_total_bytes() - fake.used_bytes);
    return leave(MAAR_HIP_SUCCESS);
}

enum maar_hip_result hipMalloc(void** pointer, size_t size)
{
    int result;
    if (!enter("hipMalloc", &result)) {
        return (enum maar_hip_result)result;
    }
    return leave(fake_allocate(size, pointer));
}

enum maar_hip_result hipFree(void* pointer)
{
    int result;
    if (!enter("hipFree", &result)) {
        return (enum maar_hip_result)result;
    }
    return leave(pointer == NULL ? MAAR_HIP_SUCCESS : fake_free(pointer));
}

/* The largest type of a handle that HIP knows, which is Direct3D 11's. */
enum { MOST_HANDLE_TYPE = 8 };

/* What the real runtime looks at before it calls the driver below. */
static bool has_valid_fields(const struct maar_cuda_memory_handle* handle)
{
    const int type = (int)handle->type;
    return handle->flags <= 1 && handle->size != 0 && type >= MAAR_HIP_MEMORY_OPAQUE_FD &&
           type <= MOST_HANDLE_TYPE;
}

/* One layout but for names; the types are not the same to the compiler. */
enum maar_hip_result hipImportExternalMemory(maar_hip_memory* memory,
                                             const struct maar_hip_memory_handle* handle)
{
    int result;
    struct maar_cuda_memory_handle same;
    struct fake_memory* made = NULL;
    _Static_assert(sizeof same == sizeof *handle, "one layout");
    if (!enter("hipImportExternalMemory", &result)) {
        return (enum maar_hip_result)result;
    }
    memcpy(&same, handle, sizeof same);
    result = fake_import_memory(&same, &made);
    if (result != MAAR_HIP_SUCCESS) {
        /* The real runtime has one error for whatever the driver below refuses. */
        return leave(has_valid_fields(&same) ? MAAR_HIP_OUT_OF_MEMORY : MAAR_HIP_INVALID_VALUE);
    }
    *memory = made;
    return leave(result);
}

enum maar_hip_result hipExternalMemoryGetMappedBuffer(void** pointer, maar_hip_memory memory,
                                                      const struct maar_hip_memory_range* range)
{
    int result;
    struct maar_cuda_memory_range same;
    _Static_assert(sizeof same == sizeof *range, "one layout");
    if (!enter("hipExternalMemoryGetMappedBuffer", &result)) {
        return (enum maar_hip_result)result;
    }
    if (!fake_check_object(memory, FAKE_KIND_MEMORY, "the external memory", false)) {
        return leave(MAAR_HIP_INVALID_HANDLE);
    }
    memcpy(&same, range, sizeof same);
    return leave(fake_map_memory(memory, &same, pointer));
}

enum maar_hip_result hipDestroyExternalMemory(maar_hip_memory memory)
{
    int result;
    if (!enter("hipDestroyExternalMemory", &result)) {
        return (enum maar_hip_result)result;
    }
    if (!fake_check_object(memory, FAKE_KIND_MEMORY, "the external memory", false)) {
        return leave(MAAR_HIP_INVALID_HANDLE);
    }
    return leave(fake_destroy_memory(memory));
}

/* ---- streams and events ---- */

enum maar_hip_result hipStreamCreateWithFlags(struct maar_hip_stream** stream, unsigned int flags)
{
    int result;
    if (!enter("hipStreamCreateWithFlags", &result)) {
        return (enum maar_hip_result)result;
    }
    return leave(fake_create_stream(flags, (struct fake_stream**)stream));
}

enum maar_hip_result hipStreamDestroy(struct maar_hip_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("hipStreamDestroy", handle, &result);
    return stream == NULL ? (enum maar_hip_result)result : leave(fake_destroy_stream(stream));
}

enum maar_hip_result hipStreamSynchronize(struct maar_hip_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("hipStreamSynchronize", handle, &result);
    return stream == NULL ? (enum maar_hip_result)result : leave(fake_synchronize_stream(stream));
}

enum maar_hip_result hipStreamQuery(struct maar_hip_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("hipStreamQuery", handle, &result);
    return stream == NULL ? (enum maar_hip_result)result : leave(fake_query_stream(stream));
}

enum maar_hip_result hipStreamWaitEvent(struct maar_hip_stream* handle,
                                        struct maar_hip_event* event, unsigned int flags)
{
    int result;
    struct fake_stream* stream = enter_stream("hipStreamWaitEvent", handle, &result);
    if (stream == NULL) {
        return (enum maar_hip_result)result;
    }
    if (flags != 0 || !fake_check_object(event, FAKE_KIND_EVENT, "the event", false)) {
        return leave(MAAR_HIP_INVALID_VALUE);
    }
    return leave(fake_wait_event(stream, (struct fake_event*)event));
}

enum maar_hip_result hipLaunchHostFunc(struct maar_hip_stream* handle, maar_hip_host_fn function,
                                       void* data)
{
    int result;
    struct fake_stream* stream = enter_stream("hipLaunchHostFunc", handle, &result);
    if (stream == NULL) {
        return (enum maar_hip_result)result;
    }
    const struct fake_operation operation = {.kind = FAKE_CALL, .function = function, .data = data};
    return leave(fake_queue(stream, &operation));
}

enum maar_hip_result hipMemcpyAsync(void* target, const void* source, size_t size,
                                    enum maar_hip_copy kind, struct maar_hip_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("hipMemcpyAsync", handle, &result);
    if (stream == NULL) {
        return (enum maar_hip_result)result;
    }
    const bool guess = kind == MAAR_HIP_COPY_BY_ADDRESS;
    const struct fake_operation operation = {
        .kind = FAKE_COPY,
        .target = target,
        .target_is_device =
            guess ? fake_find_range(target) != NULL
                  : kind == MAAR_HIP_COPY_HOST_TO_DEVICE || kind == MAAR_HIP_COPY_DEVICE_TO_DEVICE,
        .source = source,
        .source_is_device =
            guess ? fake_find_range(source) != NULL
                  : kind == MAAR_HIP_COPY_DEVICE_TO_HOST || kind == MAAR_HIP_COPY_DEVICE_TO_DEVICE,
        .size = size,
    };
    if ((operation.target_is_device && !fake_check_span(target, size, "the target")) ||
        (operation.source_is_device && !fake_check_span(source, size, "the source"))) {
        return leave(MAAR_HIP_INVALID_VALUE);
    }
    return leave(fake_queue(stream, &operation));
}

enum maar_hip_result hipMemsetAsync(void* target, int value, size_t size,
                                    struct maar_hip_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("hipMemsetAsync", handle, &result);
    if (stream == NULL) {
        return (enum maar_hip_result)result;
    }
    const struct fake_operation operation = {
        .kind = FAKE_SET_BYTES,
        .target = target,
        .target_is_device = true,
        .size = size,
        .pattern = (unsigned char)value,
    };
    if (!fake_check_span(target, size, "the target")) {
        return leave(MAAR_HIP_INVALID_VALUE);
    }
    return leave(fake_queue(stream, &operation));
}

enum maar_hip_result hipEventCreateWithFlags(struct maar_hip_event** event, unsigned int flags)
{
    int result;
    if (!enter("hipEventCreateWithFlags", &result)) {
        return (enum maar_hip_result)result;
    }
    return leave(fake_create_event(flags, (struct fake_event**)event));
}

enum maar_hip_result hipEventRecord(struct maar_hip_event* event, struct maar_hip_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("hipEventRecord", handle, &result);
    if (stream == NULL) {
        return (enum maar_hip_result)result;
    }
    if (!fake_check_object(event, FAKE_KIND_EVENT, "the event", false)) {
        return leave(MAAR_HIP_INVALID_HANDLE);
    }
    return leave(fake_record_event((struct fake_event*)event, stream));
}

static enum maar_hip_result with_event(const char* function, struct maar_hip_event* event,
                                       int (*act)(struct fake_event* event))
{
    int result;
    if (!enter(function, &result)) {
        return (enum maar_hip_result)result;
    }
    if (!fake_check_object(event, FAKE_KIND_EVENT, "the event", false)) {
        return leave(MAAR_HIP_INVALID_HANDLE);
    }
    return leave(act((struct fake_event*)event));
}

enum maar_hip_result hipEventQuery(struct maar_hip_event* event)
{
    return with_event("hipEventQuery", event, fake_query_event);
}

enum maar_hip_result hipEventSynchronize(struct maar_hip_event* event)
{
    return with_event("hipEventSynchronize", event, fake_synchronize_event);
}

enum maar_hip_result hipEventDestroy(struct maar_hip_event* event)
{
    return with_event("hipEventDestroy", event, fake_destroy_event);
}
