/*
 * FAKES. The entry points of the FAKE CUDA driver. Not a GPU, and no CUDA: see fake_control.h.
 *
 * With FAKE_OLD_DRIVER those that an old driver lacks are left out.
 */
#include "interop/cuda/cuda_driver.h"
#include "tests/fakes/fake_device.h"

#include <stdio.h>
#include <string.h>

static const char* const real_names[] = {"/libcuda.so", "/libnvidia-", "/libcudart.so", NULL};

const struct fake_api fake_api = {
    .text = "FAKE CUDA driver (Maar's tests; not a GPU)",
    .device_name = "FAKE CUDA device (Maar's tests; not a GPU)",
    .version = 13000,
    .contexts = true,
    .semaphores = true,
    .takes_descriptors = true,
    .images = true,
    .real_names = real_names,
};

#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_DECLARE(name, symbol, parameters)                                                     \
    FAKE_EXPORT enum maar_cuda_result MAAR_CUDA_CALL symbol parameters;
MAAR_CUDA_FUNCTIONS(FAKE_DECLARE)
#if !defined(FAKE_OLD_DRIVER)
MAAR_CUDA_OPTIONAL_FUNCTIONS(FAKE_DECLARE)
#else
FAKE_EXPORT enum maar_cuda_result MAAR_CUDA_CALL cuDeviceGetUuid(struct maar_cuda_uuid* uuid,
                                                                 maar_cuda_device device);
#endif

/* For programs; Maar does not call it. */
FAKE_EXPORT enum maar_cuda_result MAAR_CUDA_CALL cuCtxSetCurrent(struct maar_cuda_context* context);

FAKE_EXPORT const struct fake_control* maar_fake_cuda_is_a_fake(void);
const struct fake_control* maar_fake_cuda_is_a_fake(void)
{
    return fake_get_control();
}

static enum maar_cuda_result leave(int result)
{
    return (enum maar_cuda_result)fake_leave(result);
}

/* Opens a function: returns from it when the call is to fail. */
static bool enter(const char* function, enum fake_need need, int* result)
{
    *result = fake_enter(function, need);
    return *result == MAAR_CUDA_SUCCESS;
}

static int null_argument(const char* what)
{
    return fake_breach(MAAR_CUDA_INVALID_VALUE, "%s is NULL", what);
}

/* ---- driver and devices ---- */

enum maar_cuda_result cuInit(unsigned int flags)
{
    int result;
    if (!enter("cuInit", FAKE_NEEDS_NOTHING, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (flags != 0) {
        return leave(fake_breach(MAAR_CUDA_INVALID_VALUE, "the flags are not zero"));
    }
    result = fake_initialize();
    if (result == MAAR_CUDA_SUCCESS && fake.device_count == 0) {
        result = MAAR_CUDA_NO_DEVICE;
    }
    return leave(result);
}

enum maar_cuda_result cuDriverGetVersion(int* version)
{
    int result;
    if (!enter("cuDriverGetVersion", FAKE_NEEDS_NOTHING, &result)) {
        return (enum maar_cuda_result)result;
    }
    *version = fake.version;
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuDeviceGetCount(int* count)
{
    int result;
    if (!enter("cuDeviceGetCount", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    *count = fake.device_count;
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuDeviceGet(maar_cuda_device* device, int ordinal)
{
    int result;
    if (!enter("cuDeviceGet", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (fake_find_device(ordinal) == NULL) {
        return leave(MAAR_CUDA_INVALID_DEVICE);
    }
    *device = ordinal;
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuDeviceGetName(char* name, int size, maar_cuda_device device)
{
    int result;
    if (!enter("cuDeviceGetName", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (fake_find_device(device) == NULL || size <= 0) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    (void)snprintf(name, (size_t)size, "%s", fake_api.device_name);
    return leave(MAAR_CUDA_SUCCESS);
}

static enum maar_cuda_result get_uuid(const char* function, struct maar_cuda_uuid* uuid,
                                      maar_cuda_device device)
{
    int result;
    if (!enter(function, FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    const struct fake_device* found = fake_find_device(device);
    if (found == NULL) {
        return leave(MAAR_CUDA_INVALID_DEVICE);
    }
    memcpy(uuid->bytes, found->uuid, sizeof uuid->bytes);
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuDeviceGetUuid(struct maar_cuda_uuid* uuid, maar_cuda_device device)
{
    return get_uuid("cuDeviceGetUuid_v1", uuid, device);
}

#if !defined(FAKE_OLD_DRIVER)
enum maar_cuda_result cuDeviceGetUuid_v2(struct maar_cuda_uuid* uuid, maar_cuda_device device)
{
    return get_uuid("cuDeviceGetUuid", uuid, device);
}

enum maar_cuda_result cuDeviceGetLuid(char* luid, unsigned int* node_mask, maar_cuda_device device)
{
    int result;
    if (!enter("cuDeviceGetLuid", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    const struct fake_device* found = fake_find_device(device);
    if (found == NULL || found->node_mask == 0) {
        return leave(found == NULL ? MAAR_CUDA_INVALID_DEVICE : MAAR_CUDA_NOT_SUPPORTED);
    }
    memcpy(luid, found->luid, VK_LUID_SIZE);
    *node_mask = found->node_mask;
    return leave(MAAR_CUDA_SUCCESS);
}
#endif

enum maar_cuda_result cuDeviceGetAttribute(int* value, enum maar_cuda_attribute attribute,
                                           maar_cuda_device device)
{
    int result;
    if (!enter("cuDeviceGetAttribute", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    const struct fake_device* found = fake_find_device(device);
    if (found == NULL || (int)attribute <= 0 || (int)attribute >= FAKE_ATTRIBUTES) {
        return leave(found == NULL ? MAAR_CUDA_INVALID_DEVICE : MAAR_CUDA_INVALID_VALUE);
    }
    *value = found->attributes[attribute];
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuGetErrorName(enum maar_cuda_result error, const char** name)
{
    static const struct {
        int result;
        const char* name;
    } rows[] = {
        {MAAR_CUDA_SUCCESS, "CUDA_SUCCESS"},
        {MAAR_CUDA_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {MAAR_CUDA_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {MAAR_CUDA_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
        {MAAR_CUDA_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
        {MAAR_CUDA_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
        {MAAR_CUDA_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
        {MAAR_CUDA_MAP_FAILED, "CUDA_ERROR_MAP_FAILED"},
        {MAAR_CUDA_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM"},
        {MAAR_CUDA_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
        {MAAR_CUDA_NOT_READY, "CUDA_ERROR_NOT_READY"},
        {MAAR_CUDA_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {MAAR_CUDA_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED"},
        {MAAR_CUDA_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
        {MAAR_CUDA_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rows[i].result == (int)error) {
            *name = rows[i].name;
            return MAAR_CUDA_SUCCESS;
        }
    }
    *name = NULL;
    return MAAR_CUDA_INVALID_VALUE;
}

enum maar_cuda_result cuGetErrorString(enum maar_cuda_result error, const char** text)
{
    const enum maar_cuda_result result = cuGetErrorName(error, text);
    if (result == MAAR_CUDA_SUCCESS) {
        *text = "the FAKE driver says no more";
    }
    return result;
}

/* ---- contexts ---- */

enum maar_cuda_result cuDevicePrimaryCtxRetain(struct maar_cuda_context** context,
                                               maar_cuda_device device)
{
    int result;
    if (!enter("cuDevicePrimaryCtxRetain", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_retain_primary(device, (struct fake_context**)context));
}

enum maar_cuda_result cuDevicePrimaryCtxRelease_v2(maar_cuda_device device)
{
    int result;
    if (!enter("cuDevicePrimaryCtxRelease", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_release_primary(device));
}

enum maar_cuda_result cuCtxPushCurrent_v2(struct maar_cuda_context* context)
{
    int result;
    if (!enter("cuCtxPushCurrent", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_push_context((struct fake_context*)context));
}

enum maar_cuda_result cuCtxPopCurrent_v2(struct maar_cuda_context** context)
{
    int result;
    if (!enter("cuCtxPopCurrent", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_pop_context((struct fake_context**)context));
}

enum maar_cuda_result cuCtxSetCurrent(struct maar_cuda_context* context)
{
    int result;
    if (!enter("cuCtxSetCurrent", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(fake_replace_context((struct fake_context*)context));
}

enum maar_cuda_result cuCtxGetCurrent(struct maar_cuda_context** context)
{
    int result;
    if (!enter("cuCtxGetCurrent", FAKE_NEEDS_INIT, &result)) {
        return (enum maar_cuda_result)result;
    }
    *context = (struct maar_cuda_context*)fake_current();
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuCtxGetDevice(maar_cuda_device* device)
{
    int result;
    if (!enter("cuCtxGetDevice", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    *device = fake_current()->device;
    return leave(MAAR_CUDA_SUCCESS);
}

/* ---- memory ---- */

enum maar_cuda_result cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes)
{
    int result;
    if (!enter("cuMemGetInfo", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    *total_bytes = (size_t)fake_total_bytes();
    *free_bytes = (size_t)(fake_total_bytes() - fake.used_bytes);
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuMemAlloc_v2(maar_cuda_pointer* pointer, size_t size)
{
    int result;
    void* address = NULL;
    if (!enter("cuMemAlloc", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    result = fake_allocate(size, &address);
    if (result == MAAR_CUDA_SUCCESS) {
        *pointer = (maar_cuda_pointer)(uintptr_t)address;
    }
    return leave(result);
}

enum maar_cuda_result cuMemFree_v2(maar_cuda_pointer pointer)
{
    int result;
    if (!enter("cuMemFree", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(pointer == 0 ? MAAR_CUDA_SUCCESS : fake_free((void*)(uintptr_t)pointer));
}

enum maar_cuda_result cuPointerGetAttribute(void* value, enum maar_cuda_pointer_attribute attribute,
                                            maar_cuda_pointer pointer)
{
    int result;
    if (!enter("cuPointerGetAttribute", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    const struct fake_range* range = fake_find_range((void*)(uintptr_t)pointer);
    if (range == NULL) {
        return leave(MAAR_CUDA_INVALID_VALUE);
    }
    switch (attribute) {
    case MAAR_CUDA_POINTER_CONTEXT:
        memcpy(value, &range->context, sizeof range->context);
        break;
    case MAAR_CUDA_POINTER_MEMORY_TYPE:
        memcpy(value, &(unsigned int){MAAR_CUDA_MEMORY_DEVICE}, sizeof(unsigned int));
        break;
    case MAAR_CUDA_POINTER_DEVICE_POINTER:
        memcpy(value, &pointer, sizeof pointer);
        break;
    case MAAR_CUDA_POINTER_DEVICE_ORDINAL:
        memcpy(value, &range->context->device, sizeof(int));
        break;
    case MAAR_CUDA_POINTER_RANGE_START:
        memcpy(value, &(maar_cuda_pointer){range->start}, sizeof(maar_cuda_pointer));
        break;
    case MAAR_CUDA_POINTER_RANGE_SIZE:
        memcpy(value, &range->size, sizeof range->size);
        break;
    default:
        return leave(MAAR_CUDA_NOT_SUPPORTED);
    }
    return leave(MAAR_CUDA_SUCCESS);
}

/* ---- external memory ---- */

enum maar_cuda_result cuImportExternalMemory(struct maar_cuda_memory** memory,
                                             const struct maar_cuda_memory_handle* handle)
{
    int result;
    if (!enter("cuImportExternalMemory", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (memory == NULL || handle == NULL) {
        return leave(null_argument("an argument"));
    }
    return leave(fake_import_memory(handle, (struct fake_memory**)memory));
}

enum maar_cuda_result cuExternalMemoryGetMappedBuffer(maar_cuda_pointer* pointer,
                                                      struct maar_cuda_memory* memory,
                                                      const struct maar_cuda_memory_range* range)
{
    int result;
    void* address = NULL;
    if (!enter("cuExternalMemoryGetMappedBuffer", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(memory, FAKE_KIND_MEMORY, "the external memory", false)) {
        return leave(MAAR_CUDA_INVALID_HANDLE);
    }
    result = fake_map_memory((struct fake_memory*)memory, range, &address);
    if (result == MAAR_CUDA_SUCCESS) {
        *pointer = (maar_cuda_pointer)(uintptr_t)address;
    }
    return leave(result);
}

enum maar_cuda_result
cuExternalMemoryGetMappedMipmappedArray(struct maar_cuda_mipmapped_array** array,
                                        struct maar_cuda_memory* memory,
                                        const struct maar_cuda_memory_image* image)
{
    int result;
    if (!enter("cuExternalMemoryGetMappedMipmappedArray", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(memory, FAKE_KIND_MEMORY, "the external memory", false)) {
        return leave(MAAR_CUDA_INVALID_HANDLE);
    }
    return leave(fake_map_image((struct fake_memory*)memory, image, (struct fake_image**)array));
}

enum maar_cuda_result cuDestroyExternalMemory(struct maar_cuda_memory* memory)
{
    int result;
    if (!enter("cuDestroyExternalMemory", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(memory, FAKE_KIND_MEMORY, "the external memory", false)) {
        return leave(MAAR_CUDA_INVALID_HANDLE);
    }
    return leave(fake_destroy_memory((struct fake_memory*)memory));
}

enum maar_cuda_result cuMipmappedArrayGetLevel(struct maar_cuda_array** array,
                                               struct maar_cuda_mipmapped_array* mipmapped,
                                               unsigned int level)
{
    int result;
    if (!enter("cuMipmappedArrayGetLevel", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(mipmapped, FAKE_KIND_IMAGE, "the mipmapped array", false)) {
        return leave(MAAR_CUDA_INVALID_HANDLE);
    }
    struct fake_image* image = (struct fake_image*)mipmapped;
    if (level >= image->info.levels) {
        return leave(fake_breach(MAAR_CUDA_INVALID_VALUE, "there is no level %u", level));
    }
    *array = (struct maar_cuda_array*)(void*)&image->levels[level];
    return leave(MAAR_CUDA_SUCCESS);
}

enum maar_cuda_result cuMipmappedArrayDestroy(struct maar_cuda_mipmapped_array* mipmapped)
{
    int result;
    if (!enter("cuMipmappedArrayDestroy", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(mipmapped, FAKE_KIND_IMAGE, "the mipmapped array", false)) {
        return leave(MAAR_CUDA_INVALID_HANDLE);
    }
    return leave(fake_destroy_image((struct fake_image*)mipmapped));
}

/* ---- external semaphores ---- */

enum maar_cuda_result cuImportExternalSemaphore(struct maar_cuda_semaphore** semaphore,
                                                const struct maar_cuda_semaphore_handle* handle)
{
    int result;
    if (!enter("cuImportExternalSemaphore", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (semaphore == NULL || handle == NULL) {
        return leave(null_argument("an argument"));
    }
    return leave(fake_import_semaphore(handle, (struct fake_semaphore**)semaphore));
}

/* Signals and waits have the same layout: the parameters are of either kind. */
static int queue_semaphores(struct maar_cuda_semaphore* const* semaphores, const void* parameters,
                            unsigned int count, struct maar_cuda_stream* handle,
                            enum fake_operation_kind kind)
{
    struct fake_stream* stream = fake_get_stream(handle);
    if (stream == NULL) {
        return MAAR_CUDA_INVALID_HANDLE;
    }
    for (unsigned int i = 0; i < count; ++i) {
        struct maar_cuda_semaphore_signal at;
        memcpy(&at, (const char*)parameters + i * sizeof at, sizeof at);
        struct fake_operation operation = {
            .kind = kind,
            .semaphore = (struct fake_semaphore*)semaphores[i],
            .value = at.value,
        };
        if (!fake_check_object(semaphores[i], FAKE_KIND_SEMAPHORE, "the semaphore", false)) {
            return MAAR_CUDA_INVALID_HANDLE;
        }
        if (at.flags != 0 || !fake_is_zero(at.reserved_kinds, sizeof at.reserved_kinds) ||
            !fake_is_zero(at.reserved_parameters, sizeof at.reserved_parameters) ||
            !fake_is_zero(at.reserved, sizeof at.reserved)) {
            return fake_breach(MAAR_CUDA_INVALID_VALUE,
                               "the reserved fields of the parameters are not zero");
        }
        if (!fake_queue_semaphore(operation.semaphore, kind == FAKE_SIGNAL, &operation.value)) {
            return MAAR_CUDA_INVALID_VALUE;
        }
        (void)fake_queue(stream, &operation);
    }
    return MAAR_CUDA_SUCCESS;
}

enum maar_cuda_result
cuSignalExternalSemaphoresAsync(struct maar_cuda_semaphore* const* semaphores,
                                const struct maar_cuda_semaphore_signal* signals,
                                unsigned int count, struct maar_cuda_stream* stream)
{
    int result;
    if (!enter("cuSignalExternalSemaphoresAsync", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(queue_semaphores(semaphores, signals, count, stream, FAKE_SIGNAL));
}

enum maar_cuda_result cuWaitExternalSemaphoresAsync(struct maar_cuda_semaphore* const* semaphores,
                                                    const struct maar_cuda_semaphore_wait* waits,
                                                    unsigned int count,
                                                    struct maar_cuda_stream* stream)
{
    int result;
    _Static_assert(sizeof *waits == sizeof(struct maar_cuda_semaphore_signal), "one layout");
    if (!enter("cuWaitExternalSemaphoresAsync", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    return leave(queue_semaphores(semaphores, waits, count, stream, FAKE_WAIT));
}

enum maar_cuda_result cuDestroyExternalSemaphore(struct maar_cuda_semaphore* semaphore)
{
    int result;
    if (!enter("cuDestroyExternalSemaphore", FAKE_NEEDS_CONTEXT, &result)) {
        return (enum maar_cuda_result)result;
    }
    if (!fake_check_object(semaphore, FAKE_KIND_SEMAPHORE, "the semaphore", false)) {
        return leave(MAAR_CUDA_INVALID_HANDLE);
    }
    return leave(fake_destroy_semaphore((struct fake_semaphore*)semaphore));
}
