/*
 * FAKES. Modules and launches of the FAKE CUDA driver; see fake_kernel.h.
 */
#include "tests/fakes/fake_kernel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop/cuda/cuda_driver.h"
#include "tests/fakes/fake_device.h"

#define KERNEL_EXPORT __attribute__((visibility("default")))

/* One on its way: arguments are copied when it is launched. */
struct launch {
    const struct fake_kernel* kernel;
    uint64_t thread_count;
    _Alignas(16) unsigned char bytes[FAKE_KERNEL_BYTES];
};

KERNEL_EXPORT int cuModuleLoadData(void** module, const void* image);
KERNEL_EXPORT int cuModuleUnload(void* module);
KERNEL_EXPORT int cuModuleGetFunction(void** function, void* module, const char* name);
KERNEL_EXPORT int cuLaunchKernel(void* function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int shared_bytes,
                                 struct maar_cuda_stream* handle, void** arguments, void** extra);

int cuModuleLoadData(void** module, const void* image)
{
    const int result = fake_enter("cuModuleLoadData", FAKE_NEEDS_CONTEXT);
    if (result != MAAR_CUDA_SUCCESS) {
        return result;
    }
    if (module == NULL || image == NULL) {
        return fake_leave(fake_breach(MAAR_CUDA_INVALID_VALUE, "an argument is NULL"));
    }
    const char* const path = getenv("MAAR_FAKE_KERNELS");
    *module = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    return fake_leave(*module != NULL ? MAAR_CUDA_SUCCESS : MAAR_CUDA_NOT_SUPPORTED);
}

int cuModuleUnload(void* module)
{
    const int result = fake_enter("cuModuleUnload", FAKE_NEEDS_CONTEXT);
    if (result != MAAR_CUDA_SUCCESS) {
        return result;
    }
    return fake_leave(dlclose(module) == 0 ? MAAR_CUDA_SUCCESS : MAAR_CUDA_INVALID_HANDLE);
}

int cuModuleGetFunction(void** function, void* module, const char* name)
{
    char symbol[96];
    const int result = fake_enter("cuModuleGetFunction", FAKE_NEEDS_CONTEXT);
    if (result != MAAR_CUDA_SUCCESS) {
        return result;
    }
    (void)snprintf(symbol, sizeof symbol, "fake_kernel_%s", name);
    *function = dlsym(module, symbol);
    return fake_leave(*function != NULL ? MAAR_CUDA_SUCCESS : MAAR_CUDA_NOT_FOUND);
}

static void run_launch(void* data)
{
    struct launch* launch = data;
    void* arguments[FAKE_KERNEL_ARGUMENTS];
    size_t at = 0;
    for (uint32_t i = 0; i < launch->kernel->argument_count; ++i) {
        arguments[i] = launch->bytes + at;
        at += (launch->kernel->sizes[i] + 15u) / 16u * 16u;
    }
    launch->kernel->run(arguments, launch->thread_count);
    free(launch);
}

static struct launch* make_launch(const struct fake_kernel* kernel, void** arguments)
{
    struct launch* launch = calloc(1, sizeof *launch);
    size_t at = 0;
    if (launch == NULL) {
        return NULL;
    }
    launch->kernel = kernel;
    for (uint32_t i = 0; i < kernel->argument_count; ++i) {
        memcpy(launch->bytes + at, arguments[i], kernel->sizes[i]);
        at += (kernel->sizes[i] + 15u) / 16u * 16u;
    }
    return launch;
}

int cuLaunchKernel(void* function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                   unsigned int shared_bytes, struct maar_cuda_stream* handle, void** arguments,
                   void** extra)
{
    const int result = fake_enter("cuLaunchKernel", FAKE_NEEDS_CONTEXT);
    if (result != MAAR_CUDA_SUCCESS) {
        return result;
    }
    struct fake_stream* stream = fake_get_stream(handle);
    if (stream == NULL) {
        return fake_leave(MAAR_CUDA_INVALID_HANDLE);
    }
    const uint64_t groups = (uint64_t)grid_x * grid_y * grid_z;
    const uint64_t group_size = (uint64_t)block_x * block_y * block_z;
    if (function == NULL || groups == 0 || group_size == 0 || group_size > 1024 ||
        shared_bytes != 0 || extra != NULL) {
        return fake_leave(fake_breach(MAAR_CUDA_INVALID_VALUE,
                                      "no function, no threads, or what the FAKE does not know"));
    }
    struct launch* launch = make_launch(function, arguments);
    if (launch == NULL) {
        return fake_leave(MAAR_CUDA_OUT_OF_MEMORY);
    }
    launch->thread_count = groups * group_size;
    const struct fake_operation operation = {
        .kind = FAKE_CALL, .function = run_launch, .data = launch};
    return fake_leave(fake_queue(stream, &operation));
}
