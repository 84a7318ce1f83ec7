/*
 * Launches kernels; see sample_cuda.h. The declarations follow the driver's ABI and use the names
 * that its library exports.
 */
#include "sample_cuda.h"

#include "sample_text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_CUDA_CALLS(X)                                                                       \
    X(push, "cuCtxPushCurrent_v2", (void* context))                                                \
    X(pop, "cuCtxPopCurrent_v2", (void** context))                                                 \
    X(load, "cuModuleLoadData", (void** module, const void* image))                                \
    X(unload, "cuModuleUnload", (void* module))                                                    \
    X(find, "cuModuleGetFunction", (void** function, void* module, const char* name))              \
    X(create_stream, "cuStreamCreate", (void** stream, unsigned int flags))                        \
    X(destroy_stream, "cuStreamDestroy_v2", (void* stream))                                        \
    X(wait_stream, "cuStreamSynchronize", (void* stream))                                          \
    X(free_memory, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * all_bytes))                   \
    X(name_error, "cuGetErrorName", (int error, const char** name))                                \
    X(launch, "cuLaunchKernel",                                                                    \
      (void* function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,              \
       unsigned int block_x, unsigned int block_y, unsigned int block_z,                           \
       unsigned int shared_bytes, void* stream, void** arguments, void** extra))

struct sample_cuda_calls {
#define SAMPLE_DECLARE_CALL(name, symbol, parameters) int(*name) parameters;
    SAMPLE_CUDA_CALLS(SAMPLE_DECLARE_CALL)
#undef SAMPLE_DECLARE_CALL
};

enum { CUDA_STREAM_NON_BLOCKING = 1 };

static const char* error_name(const struct sample_cuda* cuda, int error)
{
    const char* name = NULL;
    if (cuda->calls->name_error(error, &name) != 0 || name == NULL) {
        name = "an error without a name";
    }
    return name;
}

static bool cuda_succeeded(const struct sample_cuda* cuda, int error, const char* what)
{
    if (error != 0) {
        sample_complain("%s: %s", what, error_name(cuda, error));
    }
    return error == 0;
}

/* C does not convert object pointers to function pointers, but POSIX guarantees that both have the
 * same form. */
static bool find_call(void* library, const char* symbol, void* call)
{
    void* const found = dlsym(library, symbol);
    memcpy(call, &found, sizeof(found));
    return found != NULL;
}

static const char* missing_call(struct sample_cuda* cuda)
{
#define SAMPLE_FIND_CALL(name, symbol, parameters)                                                 \
    if (!find_call(cuda->library, symbol, (void*)&cuda->calls->name)) {                            \
        return symbol;                                                                             \
    }
    SAMPLE_CUDA_CALLS(SAMPLE_FIND_CALL)
#undef SAMPLE_FIND_CALL
    return NULL;
}

static void leave_context(const struct sample_cuda* cuda)
{
    void* popped = NULL;
    (void)cuda->calls->pop(&popped);
}

/* The image needs the alignment of objects from the C library. */
static int load_kernels(struct sample_cuda* cuda, const uint32_t* kernels, size_t size)
{
    void* const image = malloc(size);
    if (image == NULL) {
        return 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    }
    memcpy(image, kernels, size);
    const int error = cuda->calls->load(&cuda->module, image);
    free(image);
    return error;
}

bool sample_cuda_open(struct sample_cuda* cuda, const char* library, void* context,
                      const uint32_t* kernels, size_t size, char* text, size_t text_size)
{
    memset(cuda, 0, sizeof(*cuda));
    const char* const name = library != NULL ? library : "libcuda.so.1";
    cuda->context = context;
    cuda->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    cuda->calls = calloc(1, sizeof(*cuda->calls));
    if (cuda->library == NULL || cuda->calls == NULL) {
        snprintf(text, text_size, "%s cannot be opened", name);
        return false;
    }
    const char* const missing = missing_call(cuda);
    if (missing != NULL) {
        snprintf(text, text_size, "%s has no %s", name, missing);
        cuda->calls->push = NULL;
        return false;
    }
    const char* call = "cuCtxPushCurrent";
    int error = cuda->calls->push(context);
    if (error == 0) {
        call = "cuModuleLoadData";
        error = load_kernels(cuda, kernels, size);
        if (error == 0) {
            call = "cuStreamCreate";
            error = cuda->calls->create_stream(&cuda->stream, CUDA_STREAM_NON_BLOCKING);
        }
        leave_context(cuda);
    }
    if (error != 0) {
        snprintf(text, text_size, "%s: %s", call, error_name(cuda, error));
    }
    return error == 0;
}

void sample_cuda_close(struct sample_cuda* cuda)
{
    if (cuda->calls != NULL && cuda->calls->push != NULL && cuda->calls->push(cuda->context) == 0) {
        if (cuda->stream != NULL) {
            (void)cuda->calls->wait_stream(cuda->stream);
            (void)cuda->calls->destroy_stream(cuda->stream);
        }
        if (cuda->module != NULL) {
            (void)cuda->calls->unload(cuda->module);
        }
        leave_context(cuda);
    }
    free(cuda->calls);
    if (cuda->library != NULL) {
        (void)dlclose(cuda->library);
    }
    memset(cuda, 0, sizeof(*cuda));
}

void* sample_cuda_kernel(struct sample_cuda* cuda, const char* name)
{
    void* kernel = NULL;
    int error = cuda->calls->push(cuda->context);
    if (error == 0) {
        error = cuda->calls->find(&kernel, cuda->module, name);
        leave_context(cuda);
    }
    return cuda_succeeded(cuda, error, name) ? kernel : NULL;
}

bool sample_cuda_launch(struct sample_cuda* cuda, void* kernel, uint32_t thread_count,
                        uint32_t group_size, void** arguments)
{
    const uint32_t groups = (thread_count + group_size - 1) / group_size;
    int error = cuda->calls->push(cuda->context);
    if (error == 0) {
        error = cuda->calls->launch(kernel, groups, 1, 1, group_size, 1, 1, 0, cuda->stream,
                                    arguments, NULL);
        leave_context(cuda);
    }
    return cuda_succeeded(cuda, error, "cuLaunchKernel");
}

bool sample_cuda_wait(struct sample_cuda* cuda)
{
    int error = cuda->calls->push(cuda->context);
    if (error == 0) {
        error = cuda->calls->wait_stream(cuda->stream);
        leave_context(cuda);
    }
    return cuda_succeeded(cuda, error, "cuStreamSynchronize");
}

uint64_t sample_cuda_free_memory(struct sample_cuda* cuda)
{
    size_t free_bytes = 0;
    size_t all_bytes = 0;
    if (cuda->calls->push(cuda->context) == 0) {
        if (cuda->calls->free_memory(&free_bytes, &all_bytes) != 0) {
            free_bytes = 0;
        }
        leave_context(cuda);
    }
    return free_bytes;
}
