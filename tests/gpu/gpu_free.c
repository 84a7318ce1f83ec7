/*
 * Freeing while a stream waits for a signal that nobody has submitted yet: if a free waits for the
 * streams, a thread that frees before it submits never gets on. Then what many imports leave
 * behind: descriptors and memory.
 */
#include "gpu_block.h"
#include "gpu_rows.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 2000,
    CYCLES = 500,
    QUICK_CYCLES = 20,
    BUFFER_SIZE = 4 << 20,
    DEED_LIMIT_S = 12,
    CYCLES_LIMIT_S = 25
};

/* ---- while a stream waits ---- */

enum deed { FREE_SHARED, FREE_CUDA, IMPORT_SHARED, DEEDS };

static const char* const deed_names[DEEDS] = {"maarDestroyBuffer of a shared block",
                                              "cuMemFree of CUDA's own memory",
                                              "maarGetCudaMemory of a new shared block"};

struct waiting {
    struct gpu_case* gpu;
    enum deed deed;
    struct gpu_buffer buffer;
    maar_cuda_pointer pointer;
    MaarCudaMemory memory;
    atomic_bool is_done;
    double milliseconds;
};

static void* do_deed(void* data)
{
    struct waiting* at = data;
    struct gpu_case* gpu = at->gpu;
    struct maar_cuda_context* popped = NULL;
    const double before = gpu_now();
    (void)gpu->driver.cuCtxPushCurrent(gpu->info.pContext);
    switch (at->deed) {
    case FREE_SHARED:
        gpu_free(gpu, &at->buffer);
        break;
    case FREE_CUDA:
        (void)gpu_cu(gpu, (int)gpu->driver.cuMemFree(at->pointer), "cuMemFree");
        break;
    default:
        (void)gpu_vk(gpu, maarGetCudaMemory(gpu->cuda, at->buffer.allocation, &at->memory),
                     "maarGetCudaMemory");
        break;
    }
    (void)gpu->driver.cuCtxPopCurrent(&popped);
    at->milliseconds = 1e3 * (gpu_now() - before);
    atomic_store(&at->is_done, true);
    return NULL;
}

static bool prepare(struct waiting* at)
{
    struct gpu_case* gpu = at->gpu;
    if (at->deed == FREE_CUDA) {
        return gpu_cu(gpu, (int)gpu->driver.cuMemAlloc(&at->pointer, BUFFER_SIZE), "cuMemAlloc");
    }
    return gpu_make_shared(gpu, BUFFER_SIZE, MAAR_DEDICATED_ALWAYS, &at->buffer) &&
           (at->deed == IMPORT_SHARED ||
            gpu_vk(gpu, maarGetCudaMemory(gpu->cuda, at->buffer.allocation, &at->memory),
                   "maarGetCudaMemory"));
}

/* An empty submission that signals the value. */
static bool signal_value(struct gpu_case* gpu, MaarCudaTimeline timeline, uint64_t value)
{
    const MaarCudaHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO, .value = value, .stream = gpu->stream};
    return gpu_vk(gpu, maarReleaseToCuda(gpu->cuda, timeline, &info), "maarReleaseToCuda");
}

static void watch_deed(struct waiting* at, MaarCudaTimeline timeline)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct gpu_case* gpu = at->gpu;
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_deed, at) != 0) {
        gpu_fail(gpu, "no thread");
        return;
    }
    const double deadline = gpu_now() + PATIENCE_MS / 1e3;
    while (!atomic_load(&at->is_done) && gpu_now() < deadline) {
        (void)nanosleep(&pause, NULL);
    }
    const bool early = atomic_load(&at->is_done);
    const bool waits = gpu->driver.cuStreamQuery(gpu->stream) == MAAR_CUDA_NOT_READY;
    printf("%s | ", waits ? "yes" : "**no**");
    /* What a program would do next, and could not if the free had been on its own thread. */
    const bool signalled = signal_value(gpu, timeline, 1);
    const bool idle = signalled && gpu_synchronize(gpu);
    (void)pthread_join(thread, NULL);
    printf("%s | %.2f |\n",
           early  ? "returned"
           : idle ? "**waited for the signal: deadlock if one thread does both**"
                  : "**never ended by itself**",
           at->milliseconds);
}

static int try_deed(struct gpu_case* gpu, uint32_t index)
{
    const MaarCudaTimelineCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
                                             .mode = MAAR_HANDOFF_MODE_TIMELINE};
    struct waiting at = {
        .gpu = gpu, .deed = (enum deed)index, .memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY}};
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    printf("| %s | ", deed_names[index]);
    gpu->message[0] = '\0';
    if (maarCreateCudaTimeline(gpu->cuda, &info, &timeline) != VK_SUCCESS) {
        printf("no timelines to wait for: %s | | |\n", gpu->message);
        return GPU_EXIT_OK;
    }
    if (prepare(&at) && gpu_vk(gpu, maarCudaWait(gpu->cuda, timeline, 1, gpu->stream),
                               "maarCudaWait, before the signal")) {
        watch_deed(&at, timeline);
    }
    (void)vkDeviceWaitIdle(gpu->device);
    maarDestroyCudaTimeline(gpu->cuda, timeline);
    gpu_free(gpu, &at.buffer);
    return GPU_EXIT_OK;
}

/* ---- cycles ---- */

enum cycle { CYCLE_MAAR, CYCLE_DRIVERS, CYCLE_TIMELINE, CYCLE_KINDS };

static const char* const cycle_names[CYCLE_KINDS] = {
    "create, maarGetCudaMemory, free", "the same by the drivers' calls",
    "maarCreateCudaTimeline, maarDestroyCudaTimeline"};

static bool cycle_by_maar(struct gpu_case* gpu)
{
    struct gpu_buffer buffer = {.size = 0};
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    const bool done =
        gpu_make_shared(gpu, BUFFER_SIZE, MAAR_DEDICATED_ALWAYS, &buffer) &&
        gpu_vk(gpu, maarGetCudaMemory(gpu->cuda, buffer.allocation, &memory), "maarGetCudaMemory");
    gpu_free(gpu, &buffer);
    return done;
}

static bool cycle_by_drivers(struct gpu_case* gpu)
{
    const struct maar_cuda_driver* cuda = &gpu->driver;
    struct gpu_raw_block block;
    struct maar_cuda_memory* memory = NULL;
    maar_cuda_pointer pointer = 0;
    bool done = gpu_make_raw_block(gpu, BUFFER_SIZE, false, &block);
    if (done) {
        const struct maar_cuda_memory_handle handle = {
            .type = MAAR_CUDA_MEMORY_OPAQUE_FD, .handle = {.fd = block.fd}, .size = block.size};
        const struct maar_cuda_memory_range range = {.size = block.size};
        done = gpu_cu(gpu, (int)cuda->cuImportExternalMemory(&memory, &handle),
                      "cuImportExternalMemory");
        block.fd = done ? -1 : block.fd;
        done = done &&
               gpu_cu(gpu, (int)cuda->cuExternalMemoryGetMappedBuffer(&pointer, memory, &range),
                      "cuExternalMemoryGetMappedBuffer");
        done = done && gpu_cu(gpu, (int)cuda->cuMemFree(pointer), "cuMemFree");
        done = memory == NULL || (gpu_cu(gpu, (int)cuda->cuDestroyExternalMemory(memory),
                                         "cuDestroyExternalMemory") &&
                                  done);
    }
    gpu_free_raw_block(gpu, &block);
    return done && pointer != 0;
}

static bool cycle_timeline(struct gpu_case* gpu)
{
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    const bool done =
        gpu_vk(gpu, maarCreateCudaTimeline(gpu->cuda, NULL, &timeline), "maarCreateCudaTimeline");
    maarDestroyCudaTimeline(gpu->cuda, timeline);
    return done;
}

static uint32_t count_descriptors(void)
{
    uint32_t count = 0;
    DIR* const folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL) {
        ++count;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

static double free_mib(struct gpu_case* gpu)
{
    size_t free_bytes = 0;
    size_t all_bytes = 0;
    (void)gpu->driver.cuMemGetInfo(&free_bytes, &all_bytes);
    return (double)free_bytes / 1048576.0;
}

static int try_cycles(struct gpu_case* gpu, uint32_t index)
{
    static bool (*const cycles[CYCLE_KINDS])(struct gpu_case*) = {cycle_by_maar, cycle_by_drivers,
                                                                  cycle_timeline};
    const uint32_t count = gpu->quick ? QUICK_CYCLES : CYCLES;
    printf("| %s | ", cycle_names[index]);
    /* What drivers keep from the first ones on is no leak. */
    bool done = true;
    for (uint32_t i = 0; done && i < QUICK_CYCLES / 2; ++i) {
        done = cycles[index](gpu);
    }
    const uint32_t descriptors = count_descriptors();
    const double memory = free_mib(gpu);
    const double before = gpu_now();
    uint32_t made = 0;
    for (; done && made < count; ++made) {
        done = cycles[index](gpu);
    }
    const double seconds = gpu_now() - before;
    const uint32_t now = count_descriptors();
    const double lost = memory - free_mib(gpu);
    printf("%u | %u, %u | %.1f | %.0f |", made, descriptors, now, lost,
           made > 0 ? 1e6 * seconds / made : 0.0);
    if (now > descriptors + made / 2) {
        gpu_fail(gpu, "descriptors are left");
    }
    if (!gpu->fake && lost > made * (BUFFER_SIZE / 1048576.0) / 2.0) {
        gpu_fail(gpu, "memory is left");
    }
    printf("\n");
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head = "Another thread does this while a stream waits for a value that is submitted two "
                 "seconds later, if the call has not returned before.\n"
                 "\n| call | the stream waited | the call | its ms |\n| --- | --- | --- | --- |\n",
         .row_count = DEEDS,
         .limit_s = DEED_LIMIT_S,
         .run = try_deed},
        {.head =
             "What is left after many.\n"
             "\n| cycle | cycles | descriptors before, after | MiB of cuMemGetInfo that are gone "
             "| us a cycle |\n| --- | --- | --- | --- | --- |\n",
         .row_count = CYCLE_KINDS,
         .limit_s = CYCLES_LIMIT_S,
         .run = try_cycles},
    };
    return gpu_run_groups(argc, argv, GPU_NEEDS_CUDA, "Frees while a stream waits, and leaks",
                          groups, 2);
}
