/*
 * That nothing is copied: an import takes no memory, both sides see what the other one wrote, at
 * odd offsets too, and nobody else's bytes change.
 */
#include "gpu_case.h"

#include <stdio.h>
#include <string.h>

static uint64_t free_memory(struct gpu_case* gpu)
{
    size_t free_bytes = 0;
    size_t all_bytes = 0;
    (void)gpu->driver.cuMemGetInfo(&free_bytes, &all_bytes);
    return free_bytes;
}

static double in_mib(uint64_t before, uint64_t after)
{
    return ((double)before - (double)after) / 1048576.0;
}

static bool get_memory(struct gpu_case* gpu, const struct gpu_buffer* buffer,
                       MaarCudaMemory* memory)
{
    *memory = (MaarCudaMemory){.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    return gpu_vk(gpu, maarGetCudaMemory(gpu->cuda, buffer->allocation, memory),
                  "maarGetCudaMemory");
}

/* ---- memory ---- */

static void count_memory(struct gpu_case* gpu, VkDeviceSize size)
{
    struct gpu_buffer buffer = {.size = 0};
    MaarCudaMemory memory;
    MaarCudaMemory again;
    const uint64_t before = free_memory(gpu);
    if (!gpu_make_shared(gpu, size, MAAR_DEDICATED_ALWAYS, &buffer)) {
        return;
    }
    const uint64_t allocated = free_memory(gpu);
    if (get_memory(gpu, &buffer, &memory) && get_memory(gpu, &buffer, &again)) {
        const uint64_t imported = free_memory(gpu);
        unsigned int type = 0;
        int ordinal = -1;
        (void)gpu->driver.cuPointerGetAttribute(&type, MAAR_CUDA_POINTER_MEMORY_TYPE,
                                                memory.devicePointer);
        (void)gpu->driver.cuPointerGetAttribute(&ordinal, MAAR_CUDA_POINTER_DEVICE_ORDINAL,
                                                memory.devicePointer);
        printf("- `cuMemGetInfo`: a Vulkan buffer of %.0f MiB took %.1f MiB of the card's free "
               "memory; its import took %.1f MiB more\n",
               (double)size / 1048576.0, in_mib(before, allocated), in_mib(allocated, imported));
        printf("- its pointer: memory type %u (2: the device's), device %d; asked for twice it is "
               "%s\n",
               type, ordinal,
               again.devicePointer == memory.devicePointer ? "the same" : "**another one**");
        if (allocated > imported && allocated - imported > size / 2) {
            gpu_fail(gpu, "the import took memory");
        }
        if (again.devicePointer != memory.devicePointer) {
            gpu_fail(gpu, "one allocation has two addresses");
        }
    }
    gpu_free(gpu, &buffer);
}

/* ---- contents ---- */

static uint64_t count_equal(const uint32_t* words, uint64_t count, uint32_t word)
{
    uint64_t equal = 0;
    for (uint64_t i = 0; words != NULL && i < count; ++i) {
        equal += words[i] == word ? 1 : 0;
    }
    return equal;
}

static void say(struct gpu_case* gpu, const char* what, uint64_t right, uint64_t count)
{
    printf("- %s: %llu of %llu words right\n", what, (unsigned long long)right,
           (unsigned long long)count);
    if (right != count) {
        gpu_fail(gpu, "%s: contents differ", what);
    }
}

static void compare_contents(struct gpu_case* gpu, MaarCudaTimeline timeline, VkDeviceSize size)
{
    struct gpu_buffer buffer = {.size = 0};
    struct gpu_buffer readback = {.size = 0};
    MaarCudaMemory memory;
    const uint64_t count = size / 4;
    if (!gpu_make_shared(gpu, size, MAAR_DEDICATED_AUTO, &buffer) ||
        !gpu_make_readback(gpu, size, &readback) || !get_memory(gpu, &buffer, &memory)) {
        return;
    }
    uint32_t* const words = (uint32_t*)maarGetMappedData(gpu->allocator, readback.allocation);
    vkCmdFillBuffer(gpu_begin(gpu), buffer.buffer, 0, VK_WHOLE_SIZE, 0x600DF00Du);
    gpu_barrier(gpu->commands);
    if (gpu_run(gpu) && gpu_pass(gpu, timeline, 1, true, &buffer)) {
        memset(words, 0, size);
        (void)gpu_cu(
            gpu, (int)gpu->driver.cuMemcpyDtoHAsync(words, memory.devicePointer, size, gpu->stream),
            "cuMemcpyDtoHAsync");
        (void)gpu_synchronize(gpu);
        say(gpu, "written by Vulkan, read by CUDA", count_equal(words, count, 0x600DF00Du), count);
    }
    (void)gpu_cu(
        gpu,
        (int)gpu->driver.cuMemsetD32Async(memory.devicePointer, 0xCAFED00Du, count, gpu->stream),
        "cuMemsetD32Async");
    if (gpu_pass(gpu, timeline, 2, false, &buffer)) {
        say(gpu, "written by CUDA, read by Vulkan",
            count_equal(gpu_read(gpu, &buffer, 0, size, &readback), count, 0xCAFED00Du), count);
    }
    gpu_free(gpu, &readback);
    gpu_free(gpu, &buffer);
}

/* A kernel of ours writes what depends on where it is, and counts it again after Vulkan has copied
 * it elsewhere. */
static void compare_kernels(struct gpu_case* gpu, MaarCudaTimeline timeline, VkDeviceSize size)
{
    struct gpu_buffer buffers[2] = {{.size = 0}, {.size = 0}};
    MaarCudaMemory memories[2];
    void* const write = gpu_kernel(gpu, "gpu_write_words");
    void* const count_words = gpu_kernel(gpu, "gpu_count_words");
    if (write == NULL || count_words == NULL) {
        printf("- kernels: %s\n", gpu->launcher.missing);
        return;
    }
    unsigned long long count = size / 4;
    unsigned long long found = 0;
    unsigned int round = 0x5EEDu;
    maar_cuda_pointer result = 0;
    bool done = gpu_make_shared(gpu, size, MAAR_DEDICATED_NEVER, &buffers[0]) &&
                gpu_make_shared(gpu, size, MAAR_DEDICATED_NEVER, &buffers[1]) &&
                get_memory(gpu, &buffers[0], &memories[0]) &&
                get_memory(gpu, &buffers[1], &memories[1]) &&
                gpu_cu(gpu, (int)gpu->driver.cuMemAlloc(&result, 8), "cuMemAlloc");
    void* writing[3] = {&memories[0].devicePointer, &round, &count};
    done = done && gpu_pass(gpu, timeline, 3, true, &buffers[0]) &&
           gpu_launch(gpu, write, 1024, 256, writing) &&
           gpu_pass(gpu, timeline, 4, false, &buffers[0]);
    if (done) {
        const VkBufferCopy copy = {.size = size};
        vkCmdCopyBuffer(gpu_begin(gpu), buffers[0].buffer, buffers[1].buffer, 1, &copy);
        gpu_barrier(gpu->commands);
        void* counting[4] = {&memories[1].devicePointer, &round, &count, &result};
        done = gpu_run(gpu) && gpu_pass(gpu, timeline, 5, true, &buffers[1]) &&
               gpu_cu(gpu, (int)gpu->driver.cuMemsetD8Async(result, 0, 8, gpu->stream),
                      "cuMemsetD8Async") &&
               gpu_launch(gpu, count_words, 1024, 256, counting) &&
               gpu_cu(gpu, (int)gpu->driver.cuMemcpyDtoHAsync(&found, result, 8, gpu->stream),
                      "cuMemcpyDtoHAsync") &&
               gpu_synchronize(gpu);
        say(gpu, "written by a kernel, copied by Vulkan, counted by a kernel", found, count);
    }
    if (result != 0) {
        (void)gpu->driver.cuMemFree(result);
    }
    gpu_free(gpu, &buffers[0]);
    gpu_free(gpu, &buffers[1]);
}

/* ---- neighbours ---- */

enum { NEIGHBOURS = 3, ODD_SIZE = 1000 };

static void compare_neighbours(struct gpu_case* gpu, MaarCudaTimeline timeline)
{
    struct gpu_buffer buffers[NEIGHBOURS] = {{.size = 0}, {.size = 0}, {.size = 0}};
    struct gpu_buffer readback = {.size = 0};
    MaarCudaMemory memories[NEIGHBOURS];
    bool done = gpu_make_readback(gpu, ODD_SIZE, &readback);
    for (uint32_t i = 0; done && i < NEIGHBOURS; ++i) {
        done = gpu_make_shared(gpu, ODD_SIZE, MAAR_DEDICATED_NEVER, &buffers[i]) &&
               get_memory(gpu, &buffers[i], &memories[i]);
        if (done) {
            vkCmdFillBuffer(gpu_begin(gpu), buffers[i].buffer, 0, VK_WHOLE_SIZE,
                            0x11111111u * (i + 1));
            gpu_barrier(gpu->commands);
            done = gpu_run(gpu);
        }
    }
    done = done && gpu_pass(gpu, timeline, 6, true, &buffers[1]) &&
           gpu_cu(gpu,
                  (int)gpu->driver.cuMemsetD32Async(memories[1].devicePointer, 0xABABABABu,
                                                    ODD_SIZE / 4, gpu->stream),
                  "cuMemsetD32Async") &&
           gpu_pass(gpu, timeline, 7, false, &buffers[1]);
    uint64_t right = 0;
    for (uint32_t i = 0; done && i < NEIGHBOURS; ++i) {
        right += count_equal(gpu_read(gpu, &buffers[i], 0, ODD_SIZE, &readback), ODD_SIZE / 4,
                             i == 1 ? 0xABABABABu : 0x11111111u * (i + 1));
    }
    if (done) {
        printf("- three buffers of %d bytes lie in one block: %s; offsets %llu, %llu, %llu\n",
               ODD_SIZE,
               memories[0].blockPointer == memories[1].blockPointer &&
                       memories[1].blockPointer == memories[2].blockPointer
                   ? "yes"
                   : "no",
               (unsigned long long)(memories[0].devicePointer - memories[0].blockPointer),
               (unsigned long long)(memories[1].devicePointer - memories[1].blockPointer),
               (unsigned long long)(memories[2].devicePointer - memories[2].blockPointer));
        say(gpu, "CUDA wrote the middle one; all three", right, NEIGHBOURS * ODD_SIZE / 4);
    }
    for (uint32_t i = 0; i < NEIGHBOURS; ++i) {
        gpu_free(gpu, &buffers[i]);
    }
    gpu_free(gpu, &readback);
}

int main(int argc, char** argv)
{
    static struct gpu_case gpu;
    const int code = gpu_open(&gpu, argc, argv, GPU_NEEDS_CUDA, "No copy");
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    if (code == GPU_EXIT_OK &&
        gpu_vk(&gpu, maarCreateCudaTimeline(gpu.cuda, NULL, &timeline), "maarCreateCudaTimeline")) {
        count_memory(&gpu, (gpu.quick ? 16 : 512) * MIB);
        compare_contents(&gpu, timeline, (gpu.quick ? 4 : 64) * MIB);
        compare_kernels(&gpu, timeline, (gpu.quick ? 4 : 64) * MIB);
        compare_neighbours(&gpu, timeline);
        (void)vkDeviceWaitIdle(gpu.device);
        (void)gpu_synchronize(&gpu);
        maarDestroyCudaTimeline(gpu.cuda, timeline);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
