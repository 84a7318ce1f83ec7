/*
 * Opens the library of the CUDA driver, looks up the functions under the versioned names that
 * belong to their parameters, and translates CUDA's errors into Vulkan's.
 */
#include "interop/cuda/cuda_internal.h"

/* The first version of CUDA with external memory. */
enum { LEAST_MAJOR = 10, LEAST_MINOR = 0 };

#if defined(_WIN32)
static const char cuda_library[] = "nvcuda.dll";
#else
static const char cuda_library[] = "libcuda.so.1";
#endif

VkResult maar_cuda_vulkan_result(enum maar_cuda_result result, enum maar_cuda_kind kind)
{
    switch (result) {
    case MAAR_CUDA_SUCCESS:
        return VK_SUCCESS;
    case MAAR_CUDA_OUT_OF_MEMORY:
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    case MAAR_CUDA_INVALID_VALUE:
    case MAAR_CUDA_INVALID_DEVICE:
    case MAAR_CUDA_MAP_FAILED:
    case MAAR_CUDA_OPERATING_SYSTEM:
    case MAAR_CUDA_INVALID_HANDLE:
    case MAAR_CUDA_NOT_PERMITTED:
    case MAAR_CUDA_NOT_SUPPORTED:
    case MAAR_CUDA_UNKNOWN:
        return kind == MAAR_CUDA_CALL_IMPORT ? VK_ERROR_INVALID_EXTERNAL_HANDLE : VK_ERROR_UNKNOWN;
    default:
        return VK_ERROR_UNKNOWN;
    }
}

VkResult maar_cuda_report(MaarCuda cuda, const char* call, const char* function,
                          enum maar_cuda_result result, enum maar_cuda_kind kind)
{
    if (result == MAAR_CUDA_SUCCESS) {
        return VK_SUCCESS;
    }
    const char* name = NULL;
    const char* text = NULL;
    if (cuda->driver.cuGetErrorName(result, &name) != MAAR_CUDA_SUCCESS || name == NULL) {
        name = "an error without a name";
    }
    if (cuda->driver.cuGetErrorString(result, &text) != MAAR_CUDA_SUCCESS || text == NULL) {
        text = "CUDA gives no description";
    }
    maar_report(cuda->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_CALL_FAILED,
                call, "%s failed: %s, %s", function, name, text);
    return maar_cuda_vulkan_result(result, kind);
}

/* Fills the table. Returns the first required function that is missing, or NULL. */
static const char* find_functions(MaarCuda cuda)
{
    struct maar_cuda_driver* driver = &cuda->driver;
    const char* missing = NULL;
#define MAAR_FIND_CUDA(name, symbol, parameters)                                                   \
    driver->name = (maar_cuda_##name##_fn)maar_library_find(&cuda->library, #symbol);
    MAAR_CUDA_FUNCTIONS(MAAR_FIND_CUDA)
    MAAR_CUDA_OPTIONAL_FUNCTIONS(MAAR_FIND_CUDA)
#undef MAAR_FIND_CUDA
#define MAAR_MISS_CUDA(name, symbol, parameters)                                                   \
    missing = missing == NULL && driver->name == NULL ? #symbol : missing;
    MAAR_CUDA_FUNCTIONS(MAAR_MISS_CUDA)
#undef MAAR_MISS_CUDA
    return missing;
}

static VkResult report_missing(MaarCuda cuda, const char* call, const char* path,
                               const char* missing)
{
    int version = 0;
    if (cuda->driver.cuDriverGetVersion == NULL) {
        maar_report(cuda->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_MISSING,
                    call, "%s has no %s: it is not the CUDA driver's library", path, missing);
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    (void)cuda->driver.cuDriverGetVersion(&version);
    maar_report(cuda->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_MISSING,
                call, "%s has no %s: it supports CUDA %d.%d, and Maar needs at least %d.%d", path,
                missing, version / 1000, version % 1000 / 10, LEAST_MAJOR, LEAST_MINOR);
    return VK_ERROR_INCOMPATIBLE_DRIVER;
}

VkResult maar_cuda_load(MaarCuda cuda, const char* call, const char* path)
{
    char reason[MAAR_LIBRARY_REASON_SIZE];
    const char* used = path != NULL ? path : cuda_library;
    maar_lock_rank_expect_none();
    if (!maar_library_open(used, &cuda->library, reason)) {
        maar_report(cuda->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_MISSING,
                    call, "there is no CUDA driver: %s", reason);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    const char* missing = find_functions(cuda);
    if (missing != NULL) {
        return report_missing(cuda, call, used, missing);
    }
    enum maar_cuda_result result = cuda->driver.cuInit(0);
    if (result == MAAR_CUDA_SUCCESS) {
        result = cuda->driver.cuDriverGetVersion(&cuda->version);
    }
    if (result != MAAR_CUDA_SUCCESS) {
        (void)maar_cuda_report(cuda, call, "cuInit", result, MAAR_CUDA_CALL_PLAIN);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    return VK_SUCCESS;
}
