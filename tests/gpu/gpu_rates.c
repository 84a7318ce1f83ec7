/*
 * What calls of the driver cost: binding pages, allocating memory that can be shared and memory
 * that cannot, and CUDA's own calls beside them.
 */
#include "gpu_block.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BATCH = 4096, BIND_ROUNDS = 11, MOST_SAMPLES = 200 };

/* ---- binds ---- */

struct binding {
    struct gpu_case* gpu;
    VkDeviceSize page;
    uint32_t batch;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize memory_size; /* pages take turns in it where the buffer is larger */
    VkSparseMemoryBind binds[MOST_BATCH];
};

static bool can_alias(const struct gpu_case* gpu)
{
    const VkPhysicalDeviceFeatures* features = &gpu->advice.features.features;
    return features->sparseBinding == VK_TRUE && features->sparseResidencyBuffer == VK_TRUE &&
           features->sparseResidencyAliased == VK_TRUE && gpu->binding != UINT32_MAX;
}

static bool make_sparse(struct binding* at)
{
    const VkDevice device = at->gpu->device;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                                              VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT |
                                              VK_BUFFER_CREATE_SPARSE_ALIASED_BIT,
                                     .size = at->page * at->batch,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkMemoryRequirements needs;
    if (!gpu_vk(at->gpu, vkCreateBuffer(device, &info, NULL, &at->buffer), "vkCreateBuffer")) {
        return false;
    }
    vkGetBufferMemoryRequirements(device, at->buffer, &needs);
    at->memory_size = info.size < 1024 * MIB ? info.size : 1024 * MIB;
    if (at->page % needs.alignment != 0) {
        printf("| %llu KiB | no page of this driver's | | | | | |\n",
               (unsigned long long)(at->page / KIB));
        return false;
    }
    const uint32_t type = gpu_device_local_type(at->gpu, needs.memoryTypeBits);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = at->memory_size,
                                         .memoryTypeIndex = type};
    return gpu_vk(at->gpu, vkAllocateMemory(device, &memory, NULL, &at->memory),
                  "vkAllocateMemory");
}

/* Seconds until the device has bound, or unbound, all pages, and of the call alone; 0 on failure.
 */
static double bind_all(struct binding* at, bool bound, double* call)
{
    struct gpu_case* gpu = at->gpu;
    for (uint32_t i = 0; i < at->batch; ++i) {
        at->binds[i] = (VkSparseMemoryBind){
            .resourceOffset = i * at->page,
            .size = at->page,
            .memory = bound ? at->memory : VK_NULL_HANDLE,
            /* In reverse, so that no driver makes one bind of neighbours. */
            .memoryOffset =
                bound ? at->memory_size - (i * at->page) % at->memory_size - at->page : 0};
    }
    const VkSparseBufferMemoryBindInfo buffer = {
        .buffer = at->buffer, .bindCount = at->batch, .pBinds = at->binds};
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO, .bufferBindCount = 1, .pBufferBinds = &buffer};
    const VkQueue queue = gpu->queues[gpu->binding].queue;
    const double before = gpu_now();
    const bool done =
        gpu_vk(gpu, vkQueueBindSparse(queue, 1, &info, VK_NULL_HANDLE), "vkQueueBindSparse");
    *call = gpu_now() - before;
    return done && gpu_vk(gpu, vkQueueWaitIdle(queue), "vkQueueWaitIdle") ? gpu_now() - before
                                                                          : 0.0;
}

static void time_binds(struct gpu_case* gpu, VkDeviceSize page, uint32_t batch)
{
    static struct binding at;
    double bound[BIND_ROUNDS];
    double unbound[BIND_ROUNDS];
    double calls[BIND_ROUNDS];
    double unbind_call = 0.0;
    memset(&at, 0, sizeof at);
    at.gpu = gpu;
    at.page = page;
    at.batch = batch;
    if (make_sparse(&at)) {
        for (uint32_t i = 0; i < BIND_ROUNDS; ++i) {
            bound[i] = bind_all(&at, true, &calls[i]);
            unbound[i] = bind_all(&at, false, &unbind_call);
        }
        const double bind = gpu_percentile(bound, BIND_ROUNDS, 0.5);
        const double unbind = gpu_percentile(unbound, BIND_ROUNDS, 0.5);
        printf("| %llu KiB | %u | %.1f | %.1f | %.2f | %.1f | %.2f |\n",
               (unsigned long long)(page / KIB), batch,
               1e6 * gpu_percentile(calls, BIND_ROUNDS, 0.5), 1e6 * bind, 1e6 * bind / batch,
               (double)(page * batch) / bind / 1e9, 1e6 * unbind / batch);
    }
    vkDestroyBuffer(gpu->device, at.buffer, NULL);
    vkFreeMemory(gpu->device, at.memory, NULL);
}

static void print_binds(struct gpu_case* gpu)
{
    static const uint32_t batches[] = {1, 4, 16, 64, 256, 1024, 4096};
    static const VkDeviceSize pages[] = {64 * KIB, 256 * KIB, 2 * MIB};
    if (!can_alias(gpu)) {
        printf("No sparse buffers whose pages may share memory: binds are not timed.\n");
        return;
    }
    printf(
        "vkQueueBindSparse and vkQueueWaitIdle, no two pages adjacent in memory; medians of %d\n"
        "\n| page | pages a call | us of the call | us until idle | us a page | GB/s | us a page, "
        "unbound |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n",
        BIND_ROUNDS);
    for (uint32_t p = 0; p < sizeof pages / sizeof pages[0]; ++p) {
        for (uint32_t b = 0; b < sizeof batches / sizeof batches[0]; ++b) {
            if (!gpu->quick || pages[p] * batches[b] <= 16 * MIB) {
                time_binds(gpu, pages[p], batches[b]);
            }
        }
    }
}

/* The same in CUDA: map, make accessible, unmap. */
static void print_cuda_maps(struct gpu_case* gpu)
{
    const struct maar_cuda_driver* cuda = &gpu->driver;
    const uint32_t count = gpu->quick ? 4 : 256;
    const size_t page = 2 * MIB;
    struct maar_cuda_backing_info info = {
        .type = MAAR_CUDA_BACKING_PINNED,
        .location = {.type = MAAR_CUDA_LOCATION_DEVICE, .id = gpu->info.deviceOrdinal}};
    const struct maar_cuda_access_info access = {.location = info.location,
                                                 .access = MAAR_CUDA_ACCESS_READ_WRITE};
    maar_cuda_pointer start = 0;
    maar_cuda_backing backings[256];
    if (!gpu->has_cuda || !gpu->info.virtualMemory ||
        cuda->cuMemAddressReserve(&start, count * page, 0, 0, 0) != MAAR_CUDA_SUCCESS) {
        printf("\nCUDA's maps are not timed: no virtual memory management.\n");
        return;
    }
    double spent[3] = {0.0, 0.0, 0.0};
    uint32_t made = 0;
    bool done = true;
    for (; done && made < count; ++made) {
        done = cuda->cuMemCreate(&backings[made], page, &info, 0) == MAAR_CUDA_SUCCESS;
    }
    made -= done ? 0 : 1;
    for (uint32_t i = 0; i < made; ++i) {
        const maar_cuda_pointer at = start + i * page;
        const double before = gpu_now();
        done = done && cuda->cuMemMap(at, page, 0, backings[i], 0) == MAAR_CUDA_SUCCESS;
        const double mapped = gpu_now();
        done = done && cuda->cuMemSetAccess(at, page, &access, 1) == MAAR_CUDA_SUCCESS;
        spent[0] += mapped - before;
        spent[1] += gpu_now() - mapped;
    }
    for (uint32_t i = 0; i < made; ++i) {
        const double before = gpu_now();
        done = done && cuda->cuMemUnmap(start + i * page, page) == MAAR_CUDA_SUCCESS;
        spent[2] += gpu_now() - before;
        (void)cuda->cuMemRelease(backings[i]);
    }
    (void)cuda->cuMemAddressFree(start, count * page);
    if (done) {
        printf("\nCUDA, %u pages of 2 MiB, us a page: cuMemMap %.1f, cuMemSetAccess %.1f, "
               "cuMemUnmap %.1f\n",
               count, 1e6 * spent[0] / count, 1e6 * spent[1] / count, 1e6 * spent[2] / count);
    } else {
        gpu_fail(gpu, "cuMemMap and its like failed");
    }
}

/* ---- allocations ---- */

enum kind { KIND_PLAIN, KIND_EXPORT, KIND_CUDA, KINDS };

/* Allocates and frees once; false when it failed. */
static bool allocate_once(struct gpu_case* gpu, enum kind kind, VkDeviceSize size, uint32_t type,
                          double* allocated, double* freed)
{
    const VkExportMemoryAllocateInfo export_info = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .handleTypes = GPU_HANDLE_TYPE};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = kind == KIND_EXPORT ? &export_info : NULL,
                                       .allocationSize = size,
                                       .memoryTypeIndex = type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    maar_cuda_pointer pointer = 0;
    const double before = gpu_now();
    const bool done = kind == KIND_CUDA
                          ? gpu->driver.cuMemAlloc(&pointer, size) == MAAR_CUDA_SUCCESS
                          : vkAllocateMemory(gpu->device, &info, NULL, &memory) == VK_SUCCESS;
    const double between = gpu_now();
    if (kind == KIND_CUDA && done) {
        (void)gpu->driver.cuMemFree(pointer);
    } else if (done) {
        vkFreeMemory(gpu->device, memory, NULL);
    }
    *allocated = between - before;
    *freed = gpu_now() - between;
    return done;
}

static void time_allocations(struct gpu_case* gpu, enum kind kind, VkDeviceSize size, uint32_t type)
{
    static const char* const names[KINDS] = {"vkAllocateMemory", "vkAllocateMemory, exportable",
                                             "cuMemAlloc"};
    double allocated[MOST_SAMPLES];
    double freed[MOST_SAMPLES];
    const uint32_t count = gpu->quick ? 10 : MOST_SAMPLES;
    for (uint32_t i = 0; i < count; ++i) {
        if (!allocate_once(gpu, kind, size, type, &allocated[i], &freed[i])) {
            printf("| %s | %llu KiB | failed | | | |\n", names[kind],
                   (unsigned long long)(size / KIB));
            return;
        }
    }
    printf("| %s | %llu KiB | %.1f | %.1f | %.1f | %.1f |\n", names[kind],
           (unsigned long long)(size / KIB), 1e6 * gpu_percentile(allocated, count, 0.5),
           1e6 * gpu_percentile(allocated, count, 0.99), 1e6 * gpu_percentile(freed, count, 0.5),
           1e6 * gpu_percentile(freed, count, 0.99));
}

static void print_allocations(struct gpu_case* gpu)
{
    static const VkDeviceSize sizes[] = {64 * KIB, 1 * MIB, 16 * MIB, 64 * MIB, 256 * MIB};
    const uint32_t type = gpu_device_local_type(gpu, UINT32_MAX);
    printf("\nOne at a time, one thread, memory type %u, %d each, us\n\n"
           "| call | size | p50 | p99 | its free, p50 | p99 |\n"
           "| --- | --- | --- | --- | --- | --- |\n",
           type, gpu->quick ? 10 : MOST_SAMPLES);
    for (uint32_t kind = 0; kind < KINDS; ++kind) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            if ((kind != KIND_CUDA || gpu->has_cuda) && (!gpu->quick || sizes[i] <= 16 * MIB)) {
                time_allocations(gpu, (enum kind)kind, sizes[i], type);
            }
        }
    }
}

int main(int argc, char** argv)
{
    static struct gpu_case gpu;
    const int code = gpu_open(&gpu, argc, argv, GPU_NEEDS_NOTHING, "What calls cost");
    if (code == GPU_EXIT_OK) {
        print_binds(&gpu);
        print_cuda_maps(&gpu);
        print_allocations(&gpu);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
