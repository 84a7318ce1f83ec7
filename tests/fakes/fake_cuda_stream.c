/*
 * FAKES. The entry points of the FAKE CUDA driver for streams, events, copies and virtual memory.
 */
#include "interop/cuda/cuda_driver.h"
#include "tests/fakes/fake_device.h"

#include <string.h>

#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_DECLARE(name, symbol, parameters)                                                     \
    FAKE_EXPORT enum maar_cuda_result MAAR_CUDA_CALL symbol parameters;
MAAR_CUDA_FUNCTIONS(FAKE_DECLARE)
MAAR_CUDA_OPTIONAL_FUNCTIONS(FAKE_DECLARE)

static enum maar_cuda_result leave(int result)
{
    return (enum maar_cuda_result)fake_leave(result);
}

static bool enter(const char* function, enum fake_need need, int* result)
{
    *result = fake_enter(function, need);
    return *result == MAAR_CUDA_SUCCESS;
}

/* As enter, and finds the stream. */
static struct fake_stream* enter_stream(const char* function, struct maar_cuda_stream* handle,
                                        int* result)
{
    if (!enter(function, FAKE_NEEDS_CONTEXT, result)) {
        return NULL;
    }
    struct fake_stream* stream = fake_get_stream(handle);
    if (stream == NULL) {
        *result = fake_leave(MAAR_CUDA_INVALID_HANDLE);
    }
    return stream;
}

/* ---- streams ---- */

enum maar_cuda_result cuStreamCreate(struct maar_cuda_stream** stream, unsigned int flags)
{
    int result;
    if (!enter("cuStreamCreate", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_create_stream(flags, (struct fake_stream**)stream));
}

enum maar_cuda_result cuStreamDestroy_v2(struct maar_cuda_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("cuStreamDestroy", handle, &result);
    return stream == NULL ? (enum maar_cuda_result)result : leave(fake_destroy_stream(stream));
}

enum maar_cuda_result cuStreamSynchronize(struct maar_cuda_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("cuStreamSynchronize", handle, &result);
    return stream == NULL ? (enum maar_cuda_result)result : leave(fake_synchronize_stream(stream));
}

/* Not among those that Maar calls; programs in other languages do. */
FAKE_EXPORT enum maar_cuda_result MAAR_CUDA_CALL cuCtxSynchronize(void);
enum maar_cuda_result cuCtxSynchronize(void)
{
    int result;
    if (!enter("cuCtxSynchronize", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_synchronize_context());
}

enum maar_cuda_result cuStreamQuery(struct maar_cuda_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("cuStreamQuery", handle, &result);
    return stream == NULL ? (enum maar_cuda_result)result : leave(fake_query_stream(stream));
}

enum maar_cuda_result cuStreamWaitEvent(struct maar_cuda_stream* handle,
                                        struct maar_cuda_event* event, unsigned int flags)
{
    int result;
    struct fake_stream* stream = enter_stream("cuStreamWaitEvent", handle, &result);
    if (stream == NULL) {
        return (enum maar_cuda_result)result;
    }
    if (flags != 0 || !fake_check_object(event, FAKE_KIND_EVENT, "the event", false)) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    return leave(fake_wait_event(stream, (struct fake_event*)event));
}

enum maar_cuda_result cuLaunchHostFunc(struct maar_cuda_stream* handle, maar_cuda_host_fn function,
                                       void* data)
{
    int result;
    struct fake_stream* stream = enter_stream("cuLaunchHostFunc", handle, &result);
    if (stream == NULL) {
        return (enum maar_cuda_result)result;
    }
    const struct fake_operation operation = {.kind = FAKE_CALL, .function = function, .data = data};
    return leave(fake_queue(stream, &operation));
}

/* ---- events ---- */

enum maar_cuda_result cuEventCreate(struct maar_cuda_event** event, unsigned int flags)
{
    int result;
    if (!enter("cuEventCreate", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_create_event(flags, (struct fake_event**)event));
}

enum maar_cuda_result cuEventRecord(struct maar_cuda_event* event, struct maar_cuda_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream("cuEventRecord", handle, &result);
    if (stream == NULL) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(event, FAKE_KIND_EVENT, "the event", false)) {
        return leave(MAAR_CUDA_INVALID_HANDLE);
    }
    return leave(fake_record_event((struct fake_event*)event, stream));
}

static enum maar_cuda_result with_event(const char* function, struct maar_cuda_event* event,
                                        int (*act)(struct fake_event* event))
{
    int result;
    if (!enter(function, FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(event, FAKE_KIND_EVENT, "the event", false)) {
        return leave(MAAR_CUDA_INVALID_HANDLE);
    }
    return leave(act((struct fake_event*)event));
}

enum maar_cuda_result cuEventQuery(struct maar_cuda_event* event)
{
    return with_event("cuEventQuery", event, fake_query_event);
}

enum maar_cuda_result cuEventSynchronize(struct maar_cuda_event* event)
{
    return with_event("cuEventSynchronize", event, fake_synchronize_event);
}

enum maar_cuda_result cuEventDestroy_v2(struct maar_cuda_event* event)
{
    return with_event("cuEventDestroy", event, fake_destroy_event);
}

/* ---- copies ---- */

static enum maar_cuda_result queue_copy(const char* function, struct fake_operation operation,
                                        struct maar_cuda_stream* handle)
{
    int result;
    struct fake_stream* stream = enter_stream(function, handle, &result);
    if (stream == NULL) {
        return (enum maar_cuda_result)result;
    }
    if (operation.target_is_device &&
        !fake_check_span(operation.target, operation.size, "the target")) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    if (operation.source_is_device &&
        !fake_check_span(operation.source, operation.size, "the source")) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    return leave(fake_queue(stream, &operation));
}

enum maar_cuda_result cuMemcpyDtoHAsync_v2(void* target, maar_cuda_pointer source, size_t size,
                                           struct maar_cuda_stream* stream)
{
    const struct fake_operation operation = {
        .kind = FAKE_COPY,
        .target = target,
        .source = (const void*)(uintptr_t)source,
        .source_is_device = true,
        .size = size,
    };
    return queue_copy("cuMemcpyDtoHAsync", operation, stream);
}

enum maar_cuda_result cuMemcpyHtoDAsync_v2(maar_cuda_pointer target, const void* source,
                                           size_t size, struct maar_cuda_stream* stream)
{
    const struct fake_operation operation = {
        .kind = FAKE_COPY,
        .target = (void*)(uintptr_t)target,
        .target_is_device = true,
        .source = source,
        .size = size,
    };
    return queue_copy("cuMemcpyHtoDAsync", operation, stream);
}

enum maar_cuda_result cuMemcpyDtoDAsync_v2(maar_cuda_pointer target, maar_cuda_pointer source,
                                           size_t size, struct maar_cuda_stream* stream)
{
    const struct fake_operation operation = {
        .kind = FAKE_COPY,
        .target = (void*)(uintptr_t)target,
        .target_is_device = true,
        .source = (const void*)(uintptr_t)source,
        .source_is_device = true,
        .size = size,
    };
    return queue_copy("cuMemcpyDtoDAsync", operation, stream);
}

enum maar_cuda_result cuMemsetD8Async(maar_cuda_pointer target, unsigned char value, size_t count,
                                      struct maar_cuda_stream* stream)
{
    const struct fake_operation operation = {
        .kind = FAKE_SET_BYTES,
        .target = (void*)(uintptr_t)target,
        .target_is_device = true,
        .size = count,
        .pattern = value,
    };
    return queue_copy("cuMemsetD8Async", operation, stream);
}

enum maar_cuda_result cuMemsetD32Async(maar_cuda_pointer target, unsigned int value, size_t count,
                                       struct maar_cuda_stream* stream)
{
    const struct fake_operation operation = {
        .kind = FAKE_SET_WORDS,
        .target = (void*)(uintptr_t)target,
        .target_is_device = true,
        .size = count * sizeof value,
        .pattern = value,
    };
    return queue_copy("cuMemsetD32Async", operation, stream);
}

/* ---- virtual memory ---- */

#if !defined(FAKE_OLD_DRIVER)

static struct fake_backing* backing_of(maar_cuda_backing handle)
{
    return (struct fake_backing*)(uintptr_t)handle;
}

enum maar_cuda_result cuMemGetAllocationGranularity(size_t* granularity,
                                                    const struct maar_cuda_backing_info* info,
                                                    enum maar_cuda_granularity which)
{
    int result;
    (void)which;
    if (!enter("cuMemGetAllocationGranularity", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_backing_info(info)) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    *granularity = FAKE_GRANULARITY;
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuMemCreate(maar_cuda_backing* backing, size_t size,
                                  const struct maar_cuda_backing_info* info,
                                  unsigned long long flags)
{
    int result;
    struct fake_backing* made = NULL;
    if (!enter("cuMemCreate", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    result = fake_create_backing(size, info, flags, &made);
    if (result == MAAR_CUDA_SUCCESS) {
        *backing = (maar_cuda_backing)(uintptr_t)made;
    }
    return leave(result);
}

enum maar_cuda_result cuMemRelease(maar_cuda_backing backing)
{
    int result;
    if (!enter("cuMemRelease", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(backing_of(backing), FAKE_KIND_BACKING, "the memory", true)) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    return leave(fake_release_backing(backing_of(backing)));
}

enum maar_cuda_result cuMemExportToShareableHandle(void* handle, maar_cuda_backing backing,
                                                   enum maar_cuda_shareable_type type,
                                                   unsigned long long flags)
{
    int result;
    if (!enter("cuMemExportToShareableHandle", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (flags != 0 ||
        !fake_check_object(backing_of(backing), FAKE_KIND_BACKING, "the memory", true)) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    return leave(fake_export_backing(backing_of(backing), type, handle));
}

enum maar_cuda_result cuMemImportFromShareableHandle(maar_cuda_backing* backing, void* handle,
                                                     enum maar_cuda_shareable_type type)
{
    int result;
    struct fake_backing* made = NULL;
    if (!enter("cuMemImportFromShareableHandle", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    result = fake_import_backing((int)(intptr_t)handle, type, &made);
    if (result == MAAR_CUDA_SUCCESS) {
        *backing = (maar_cuda_backing)(uintptr_t)made;
    }
    return leave(result);
}

enum maar_cuda_result cuMemAddressReserve(maar_cuda_pointer* pointer, size_t size, size_t alignment,
                                          maar_cuda_pointer preferred, unsigned long long flags)
{
    int result;
    uintptr_t start = 0;
    if (!enter("cuMemAddressReserve", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    result = flags != 0 ? fake_breach(MAAR_CUDA_INVALID_VALUE, "the flags are not zero")
                        : fake_reserve(size, alignment, (uintptr_t)preferred, &start);
    if (result == MAAR_CUDA_SUCCESS) {
        *pointer = start;
    }
    return leave(result);
}

enum maar_cuda_result cuMemAddressFree(maar_cuda_pointer pointer, size_t size)
{
    int result;
    if (!enter("cuMemAddressFree", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_unreserve((uintptr_t)pointer, size));
}

enum maar_cuda_result cuMemMap(maar_cuda_pointer pointer, size_t size, size_t offset,
                               maar_cuda_backing backing, unsigned long long flags)
{
    int result;
    if (!enter("cuMemMap", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (flags != 0 ||
        !fake_check_object(backing_of(backing), FAKE_KIND_BACKING, "the memory", true)) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    return leave(fake_map_pages((uintptr_t)pointer, size, offset, backing_of(backing)));
}

enum maar_cuda_result cuMemUnmap(maar_cuda_pointer pointer, size_t size)
{
    int result;
    if (!enter("cuMemUnmap", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_unmap_pages((uintptr_t)pointer, size));
}

enum maar_cuda_result cuMemSetAccess(maar_cuda_pointer pointer, size_t size,
                                     const struct maar_cuda_access_info* access, size_t count)
{
    int result;
    if (!enter("cuMemSetAccess", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_set_access((uintptr_t)pointer, size, access, count));
}

#endif
