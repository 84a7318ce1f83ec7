/*
 * The table of functions through which interop/peer calls CUDA. Structures are zeroed before they
 * are filled, because their reserved fields must be zero.
 */
#include "interop/cuda/cuda_internal.h"

/* Writes a handle of the operating system in the form that CUDA reads. */
static void write_handle(maar_port_handle handle, union maar_cuda_os_handle* out)
{
    if (MAAR_PORT_HAS_FDS) {
        out->fd = (int)handle;
    } else {
        out->win32.handle = maar_port_win32_handle(handle);
        out->win32.name = NULL;
    }
}

static VkResult push_context(struct maar_peer* peer, const char* call, int* previous)
{
    MaarCuda cuda = maar_cuda_of(peer);
    *previous = 0;
    return maar_cuda_report(cuda, call, "cuCtxPushCurrent",
                            cuda->driver.cuCtxPushCurrent(cuda->context), MAAR_CUDA_CALL_PLAIN);
}

static void pop_context(struct maar_peer* peer, int previous)
{
    MaarCuda cuda = maar_cuda_of(peer);
    struct maar_cuda_context* popped = NULL;
    (void)previous;
    (void)maar_cuda_report(cuda, "leaving CUDA", "cuCtxPopCurrent",
                           cuda->driver.cuCtxPopCurrent(&popped), MAAR_CUDA_CALL_PLAIN);
}

static VkResult import_cuda_block(struct maar_peer* peer, const char* call,
                                  const struct maar_peer_import* import, void** memory)
{
    MaarCuda cuda = maar_cuda_of(peer);
    struct maar_cuda_memory_handle info = {
        .type = MAAR_PORT_HAS_FDS ? MAAR_CUDA_MEMORY_OPAQUE_FD : MAAR_CUDA_MEMORY_OPAQUE_WIN32,
        .size = import->size,
        .flags = import->dedicated ? (unsigned int)MAAR_CUDA_MEMORY_DEDICATED : 0u,
    };
    struct maar_cuda_memory* imported = NULL;
    write_handle(import->handle, &info.handle);
    VkResult result = maar_cuda_report(cuda, call, "cuImportExternalMemory",
                                       cuda->driver.cuImportExternalMemory(&imported, &info),
                                       MAAR_CUDA_CALL_IMPORT);
    *memory = result == VK_SUCCESS ? imported : NULL;
    return result;
}

static VkResult map_cuda_block(struct maar_peer* peer, const char* call, void* memory,
                               VkDeviceSize size, uint64_t* pointer)
{
    MaarCuda cuda = maar_cuda_of(peer);
    const struct maar_cuda_memory_range range = {.offset = 0, .size = size};
    maar_cuda_pointer mapped = 0;
    VkResult result =
        maar_cuda_report(cuda, call, "cuExternalMemoryGetMappedBuffer",
                         cuda->driver.cuExternalMemoryGetMappedBuffer(&mapped, memory, &range),
                         MAAR_CUDA_CALL_IMPORT);
    *pointer = mapped;
    return result;
}

static void unmap_cuda_block(struct maar_peer* peer, uint64_t pointer)
{
    MaarCuda cuda = maar_cuda_of(peer);
    (void)maar_cuda_report(cuda, "the end of a shared block", "cuMemFree",
                           cuda->driver.cuMemFree((maar_cuda_pointer)pointer),
                           MAAR_CUDA_CALL_PLAIN);
}

static void destroy_cuda_block(struct maar_peer* peer, void* memory)
{
    MaarCuda cuda = maar_cuda_of(peer);
    (void)maar_cuda_report(cuda, "the end of a shared block", "cuDestroyExternalMemory",
                           cuda->driver.cuDestroyExternalMemory(memory), MAAR_CUDA_CALL_PLAIN);
}

static VkResult import_cuda_semaphore(struct maar_peer* peer, const char* call,
                                      maar_port_handle handle, bool timeline, void** semaphore)
{
    MaarCuda cuda = maar_cuda_of(peer);
    struct maar_cuda_semaphore_handle info = {.flags = 0};
    if (MAAR_PORT_HAS_FDS) {
        info.type = timeline ? MAAR_CUDA_SEMAPHORE_TIMELINE_FD : MAAR_CUDA_SEMAPHORE_OPAQUE_FD;
    } else {
        info.type =
            timeline ? MAAR_CUDA_SEMAPHORE_TIMELINE_WIN32 : MAAR_CUDA_SEMAPHORE_OPAQUE_WIN32;
    }
    struct maar_cuda_semaphore* imported = NULL;
    write_handle(handle, &info.handle);
    VkResult result = maar_cuda_report(cuda, call, "cuImportExternalSemaphore",
                                       cuda->driver.cuImportExternalSemaphore(&imported, &info),
                                       MAAR_CUDA_CALL_IMPORT);
    *semaphore = result == VK_SUCCESS ? imported : NULL;
    return result;
}

static void destroy_cuda_semaphore(struct maar_peer* peer, void* semaphore)
{
    MaarCuda cuda = maar_cuda_of(peer);
    (void)maar_cuda_report(cuda, "the end of a timeline", "cuDestroyExternalSemaphore",
                           cuda->driver.cuDestroyExternalSemaphore(semaphore),
                           MAAR_CUDA_CALL_PLAIN);
}

static VkResult wait_in_stream(struct maar_peer* peer, const char* call, void* semaphore,
                               uint64_t value, void* stream)
{
    MaarCuda cuda = maar_cuda_of(peer);
    struct maar_cuda_semaphore* const semaphores[] = {semaphore};
    const struct maar_cuda_semaphore_wait wait = {.value = value};
    return maar_cuda_report(
        cuda, call, "cuWaitExternalSemaphoresAsync",
        cuda->driver.cuWaitExternalSemaphoresAsync(semaphores, &wait, 1, stream),
        MAAR_CUDA_CALL_PLAIN);
}

static VkResult signal_in_stream(struct maar_peer* peer, const char* call, void* semaphore,
                                 uint64_t value, void* stream)
{
    MaarCuda cuda = maar_cuda_of(peer);
    struct maar_cuda_semaphore* const semaphores[] = {semaphore};
    const struct maar_cuda_semaphore_signal signal = {.value = value};
    return maar_cuda_report(
        cuda, call, "cuSignalExternalSemaphoresAsync",
        cuda->driver.cuSignalExternalSemaphoresAsync(semaphores, &signal, 1, stream),
        MAAR_CUDA_CALL_PLAIN);
}

static VkResult call_host_from_cuda(struct maar_peer* peer, const char* call, void* stream,
                                    maar_peer_host_fn function, void* data)
{
    MaarCuda cuda = maar_cuda_of(peer);
    return maar_cuda_report(cuda, call, "cuLaunchHostFunc",
                            cuda->driver.cuLaunchHostFunc(stream, function, data),
                            MAAR_CUDA_CALL_PLAIN);
}

const struct maar_peer_driver maar_cuda_peer_driver = {
    .name = "CUDA",
    .timeline_kind = MAAR_OBJECT_CUDA_TIMELINE,
    .takes_descriptors = true,
    .enter = push_context,
    .leave = pop_context,
    .import_block = import_cuda_block,
    .map_block = map_cuda_block,
    .unmap_block = unmap_cuda_block,
    .destroy_block = destroy_cuda_block,
    .import_semaphore = import_cuda_semaphore,
    .destroy_semaphore = destroy_cuda_semaphore,
    .wait = wait_in_stream,
    .signal = signal_in_stream,
    .call_host = call_host_from_cuda,
};
