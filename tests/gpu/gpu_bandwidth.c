/*
 * Whether a kernel is as fast on memory that Vulkan allocated as on CUDA's own: the same work on
 * both, by turns, in one run.
 */
#include "gpu_case.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 21, REPEATS = 5, GROUPS = 4096, GROUP_SIZE = 256, OPERATIONS = 3 };

/* Memory of each kind: where from and where to. */
struct pair {
    maar_cuda_pointer from;
    maar_cuda_pointer to;
};

struct bench {
    struct gpu_case* gpu;
    VkDeviceSize size;
    void* copy;
    void* saxpy;
    struct maar_cuda_event* begin;
    struct maar_cuda_event* end;
    bool by_events; /* else by the host's clock */
};

static const struct {
    const char* name;
    double passes; /* bytes read and written, as parts of the size */
} operations[OPERATIONS] = {{"cuMemcpyDtoD", 2.0}, {"a kernel that copies", 2.0}, {"saxpy", 3.0}};

static bool start_operation(struct bench* bench, uint32_t operation, struct pair* pair)
{
    struct gpu_case* gpu = bench->gpu;
    unsigned long long count = bench->size / 16;
    float a = 0.5f;
    void* copying[3] = {&pair->to, &pair->from, &count};
    void* adding[4] = {&pair->to, &pair->from, &a, &count};
    switch (operation) {
    case 0:
        return gpu_cu(
            gpu, (int)gpu->driver.cuMemcpyDtoDAsync(pair->to, pair->from, bench->size, gpu->stream),
            "cuMemcpyDtoDAsync");
    case 1:
        return gpu_launch(gpu, bench->copy, GROUPS, GROUP_SIZE, copying);
    default:
        return gpu_launch(gpu, bench->saxpy, GROUPS, GROUP_SIZE, adding);
    }
}

/* Gigabytes a second; 0 on failure. */
static double measure(struct bench* bench, uint32_t operation, struct pair* pair)
{
    struct gpu_case* gpu = bench->gpu;
    float milliseconds = 0.0f;
    const double before = gpu_now();
    (void)gpu->driver.cuEventRecord(bench->begin, gpu->stream);
    for (uint32_t i = 0; i < REPEATS; ++i) {
        if (!start_operation(bench, operation, pair)) {
            return 0.0;
        }
    }
    (void)gpu->driver.cuEventRecord(bench->end, gpu->stream);
    if (!gpu_synchronize(gpu)) {
        return 0.0;
    }
    double seconds = gpu_now() - before;
    if (bench->by_events &&
        gpu_cu(gpu, gpu->launcher.elapsed(&milliseconds, bench->begin, bench->end),
               "cuEventElapsedTime")) {
        seconds = 1e-3 * (double)milliseconds;
    }
    return REPEATS * operations[operation].passes * (double)bench->size / seconds / 1e9;
}

static void compare_operation(struct bench* bench, uint32_t operation, struct pair pairs[2])
{
    double figures[2][ROUNDS];
    double ratios[ROUNDS];
    const uint32_t rounds = bench->gpu->quick ? 3 : ROUNDS;
    for (uint32_t round = 0; round <= rounds; ++round) {
        /* Who is first changes; the first round warms up. */
        double found[2] = {0.0, 0.0};
        for (uint32_t turn = 0; turn < 2; ++turn) {
            const uint32_t kind = (round + turn) % 2;
            found[kind] = measure(bench, operation, &pairs[kind]);
        }
        if (round > 0) {
            figures[0][round - 1] = found[0];
            figures[1][round - 1] = found[1];
            ratios[round - 1] = found[1] > 0.0 ? found[0] / found[1] : 0.0;
        }
    }
    const double shared = gpu_percentile(figures[0], rounds, 0.5);
    const double native = gpu_percentile(figures[1], rounds, 0.5);
    const double ratio = gpu_percentile(ratios, rounds, 0.5);
    printf("| %s | %.1f | %.1f | %.4f | %s |\n", operations[operation].name, shared, native, ratio,
           ratio >= 0.98 && ratio <= 1.02 ? "yes" : "no");
    if (!bench->gpu->fake && ratio < 0.98) {
        gpu_fail(bench->gpu, "%s is more than 2 %% slower on shared memory",
                 operations[operation].name);
    }
}

static bool make_pairs(struct bench* bench, struct gpu_buffer buffers[2], struct pair pairs[2])
{
    struct gpu_case* gpu = bench->gpu;
    MaarCudaMemory memories[2] = {{.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY},
                                  {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY}};
    for (uint32_t i = 0; i < 2; ++i) {
        if (!gpu_make_shared(gpu, bench->size, MAAR_DEDICATED_AUTO, &buffers[i]) ||
            !gpu_vk(gpu, maarGetCudaMemory(gpu->cuda, buffers[i].allocation, &memories[i]),
                    "maarGetCudaMemory")) {
            return false;
        }
    }
    pairs[0].from = (maar_cuda_pointer)memories[0].devicePointer;
    pairs[0].to = (maar_cuda_pointer)memories[1].devicePointer;
    bool done =
        gpu_cu(gpu, (int)gpu->driver.cuMemAlloc(&pairs[1].from, bench->size), "cuMemAlloc") &&
        gpu_cu(gpu, (int)gpu->driver.cuMemAlloc(&pairs[1].to, bench->size), "cuMemAlloc");
    for (uint32_t i = 0; done && i < 2; ++i) {
        done =
            gpu_cu(gpu,
                   (int)gpu->driver.cuMemsetD8Async(pairs[i].from, 0, bench->size, gpu->stream),
                   "cuMemsetD8Async") &&
            gpu_cu(gpu, (int)gpu->driver.cuMemsetD8Async(pairs[i].to, 0, bench->size, gpu->stream),
                   "cuMemsetD8Async");
    }
    return done && gpu_synchronize(gpu);
}

static void run_bench(struct bench* bench)
{
    struct gpu_case* gpu = bench->gpu;
    struct gpu_buffer buffers[2] = {{.size = 0}, {.size = 0}};
    struct pair pairs[2] = {{0, 0}, {0, 0}};
    bench->copy = gpu_kernel(gpu, "gpu_copy_words");
    bench->saxpy = gpu_kernel(gpu, "gpu_saxpy");
    bench->by_events = gpu->launcher.elapsed != NULL;
    if (make_pairs(bench, buffers, pairs) &&
        gpu_cu(gpu, (int)gpu->driver.cuEventCreate(&bench->begin, 0), "cuEventCreate") &&
        gpu_cu(gpu, (int)gpu->driver.cuEventCreate(&bench->end, 0), "cuEventCreate")) {
        printf("%.0f MiB from, %.0f MiB to; medians of %d rounds of %d, in GB/s read and written; "
               "timed by %s\n\n",
               (double)bench->size / 1048576.0, (double)bench->size / 1048576.0,
               gpu->quick ? 3 : ROUNDS, REPEATS,
               bench->by_events ? "CUDA's events" : "the host's clock");
        printf("| work | Vulkan's memory | cuMemAlloc's | ratio | within 2 %% |\n"
               "| --- | --- | --- | --- | --- |\n");
        for (uint32_t i = 0; i < OPERATIONS; ++i) {
            if (i == 0 || (bench->copy != NULL && bench->saxpy != NULL)) {
                compare_operation(bench, i, pairs);
            } else {
                printf("| %s | skipped: %s | | | |\n", operations[i].name, gpu->launcher.missing);
            }
        }
    }
    for (uint32_t i = 0; i < 2; ++i) {
        gpu_free(gpu, &buffers[i]);
    }
    if (bench->begin != NULL) {
        (void)gpu->driver.cuEventDestroy(bench->begin);
    }
    if (bench->end != NULL) {
        (void)gpu->driver.cuEventDestroy(bench->end);
    }
    if (pairs[1].from != 0) {
        (void)gpu->driver.cuMemFree(pairs[1].from);
    }
    if (pairs[1].to != 0) {
        (void)gpu->driver.cuMemFree(pairs[1].to);
    }
}

int main(int argc, char** argv)
{
    static struct gpu_case gpu;
    const int code = gpu_open(&gpu, argc, argv, GPU_NEEDS_CUDA, "Bandwidth");
    if (code == GPU_EXIT_OK) {
        struct bench bench = {.gpu = &gpu, .size = (gpu.quick ? 4 : 1024) * MIB};
        run_bench(&bench);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
