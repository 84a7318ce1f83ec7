/*
 * Opens the library of the HIP runtime, looks up its functions, and translates HIP's errors into
 * Vulkan's.
 */
#include <string.h>

#include "interop/hip/hip_internal.h"

/* The number in the name changes with each major version of ROCm. The newest known number comes
 * first. The name without a number comes last; on Linux, only development packages contain it. */
static const char* const hip_libraries[] = {
#if defined(_WIN32)
    "amdhip64_7.dll",
    "amdhip64_6.dll",
    "amdhip64.dll",
#else
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "libamdhip64.so",
#endif
};

/* How the names of all these begin, also of copies whose names an installer has changed. */
#if defined(_WIN32)
static const char hip_library_start[] = "amdhip64";
#else
static const char hip_library_start[] = "libamdhip64";
#endif

VkResult maar_hip_vulkan_result(enum maar_hip_result result, enum maar_hip_kind kind)
{
    switch (result) {
    case MAAR_HIP_SUCCESS:
        return VK_SUCCESS;
    case MAAR_HIP_OUT_OF_MEMORY:
        return kind == MAAR_HIP_CALL_IMPORT ? VK_ERROR_INVALID_EXTERNAL_HANDLE
                                            : VK_ERROR_OUT_OF_DEVICE_MEMORY;
    case MAAR_HIP_INVALID_VALUE:
    case MAAR_HIP_INVALID_DEVICE_POINTER:
    case MAAR_HIP_INVALID_DEVICE:
    case MAAR_HIP_MAP_FAILED:
    case MAAR_HIP_OPERATING_SYSTEM:
    case MAAR_HIP_INVALID_HANDLE:
    case MAAR_HIP_NOT_SUPPORTED:
    case MAAR_HIP_UNKNOWN:
        return kind != MAAR_HIP_CALL_PLAIN ? VK_ERROR_INVALID_EXTERNAL_HANDLE : VK_ERROR_UNKNOWN;
    default:
        return VK_ERROR_UNKNOWN;
    }
}

VkResult maar_hip_report(MaarHip hip, const char* call, const char* function,
                         enum maar_hip_result result, enum maar_hip_kind kind)
{
    if (result == MAAR_HIP_SUCCESS) {
        return VK_SUCCESS;
    }
    const char* name = hip->runtime.hipGetErrorName(result);
    const char* text = hip->runtime.hipGetErrorString(result);
    maar_report(hip->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_CALL_FAILED,
                call, "%s failed: %s, %s%s", function,
                name != NULL ? name : "an error without a name",
                text != NULL ? text : "HIP gives no description",
                kind == MAAR_HIP_CALL_IMPORT && result == MAAR_HIP_OUT_OF_MEMORY
                    ? "; HIP gives this error for every import that it refuses, also for memory "
                      "of another device"
                    : "");
    return maar_hip_vulkan_result(result, kind);
}

/* Opens the library that the caller names. Without a name, opens the runtime that the program uses
 * already: PyTorch's wheels bring their own, and the program's own calls go to that one.
 * Without such a runtime, opens the first of hip_libraries that can be opened. Returns its name, or
 * NULL. */
static const char* open_hip(MaarHip hip, const char* path, char loaded[MAAR_LIBRARY_PATH_SIZE],
                            char reason[MAAR_LIBRARY_REASON_SIZE])
{
    if (path != NULL) {
        return maar_library_open(path, &hip->library, reason) ? path : NULL;
    }
    if (maar_library_open_loaded(hip_library_start, &hip->library, loaded)) {
        return loaded;
    }
    for (size_t i = 0; i < sizeof hip_libraries / sizeof hip_libraries[0]; ++i) {
        if (maar_library_open(hip_libraries[i], &hip->library, reason)) {
            return hip_libraries[i];
        }
    }
    return NULL;
}

/* Fills the table. Returns the first required function that is missing, or NULL. */
static const char* find_hip_functions(MaarHip hip)
{
    struct maar_hip_runtime* runtime = &hip->runtime;
    const char* missing = NULL;
#define MAAR_FIND_HIP(result, name, parameters)                                                    \
    runtime->name = (maar_hip_##name##_fn)maar_library_find(&hip->library, #name);
    MAAR_HIP_FUNCTIONS(MAAR_FIND_HIP)
    MAAR_HIP_OPTIONAL_FUNCTIONS(MAAR_FIND_HIP)
#undef MAAR_FIND_HIP
#define MAAR_MISS_HIP(result, name, parameters)                                                    \
    missing = missing == NULL && runtime->name == NULL ? #name : missing;
    MAAR_HIP_FUNCTIONS(MAAR_MISS_HIP)
#undef MAAR_MISS_HIP
    return missing;
}

VkResult maar_hip_load(MaarHip hip, const char* call, const char* path)
{
    char reason[MAAR_LIBRARY_REASON_SIZE] = "";
    char loaded[MAAR_LIBRARY_PATH_SIZE] = "";
    MaarAllocator allocator = hip->peer.allocator;
    maar_lock_rank_expect_none();
    const char* used = open_hip(hip, path, loaded, reason);
    if (used == NULL) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_MISSING, call,
                    "there is no HIP runtime: %s", reason);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    const char* missing = find_hip_functions(hip);
    if (missing != NULL) {
        int version = 0;
        if (hip->runtime.hipRuntimeGetVersion != NULL) {
            (void)hip->runtime.hipRuntimeGetVersion(&version);
        }
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_MISSING, call,
                    "%s has no %s; its version is %d, and it is too old", used, missing, version);
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    enum maar_hip_result result = hip->runtime.hipInit(0);
    if (result == MAAR_HIP_SUCCESS) {
        result = hip->runtime.hipRuntimeGetVersion(&hip->version);
    }
    if (result != MAAR_HIP_SUCCESS) {
        (void)maar_hip_report(hip, call, "hipInit", result, MAAR_HIP_CALL_PLAIN);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    return VK_SUCCESS;
}
