/*
 * The ways by which a block of Vulkan's may come to CUDA, step by step with the driver's own
 * results, Maar's choice first: imports (route 1), to the last word; and handles of Vulkan's as
 * pages of CUDA's virtual memory (route 3), which no specification promises.
 */
#include "gpu_block.h"
#include "gpu_rows.h"

#include <stdio.h>

enum { ROUTE_SIZE = 4 << 20, ROW_LIMIT_S = 10, LAST_WORD = 0x5EEDF00D };

static bool fill_block(struct gpu_case* gpu, const struct gpu_raw_block* block)
{
    vkCmdFillBuffer(gpu_begin(gpu), block->buffer, 0, VK_WHOLE_SIZE, (uint32_t)LAST_WORD);
    gpu_barrier(gpu->commands);
    return gpu_run(gpu);
}

/* A step of a row: whether the next one makes sense. */
static bool print_step(struct gpu_case* gpu, int result)
{
    printf("%s | ", result == 0 ? "yes" : gpu_cuda_name(gpu, result));
    return result == 0;
}

/* The end of a row. */
static void compare_last_word(struct gpu_case* gpu, maar_cuda_pointer pointer, VkDeviceSize size)
{
    uint32_t word = 0;
    const int result =
        (int)gpu->driver.cuMemcpyDtoHAsync(&word, pointer + size - 4, 4, gpu->stream);
    const int done = result == 0 ? (int)gpu->driver.cuStreamSynchronize(gpu->stream) : result;
    if (done != 0) {
        printf("**%s** |\n", gpu_cuda_name(gpu, done));
    } else {
        printf("%s |\n", word == (uint32_t)LAST_WORD ? "right" : "**wrong**");
    }
}

/* ---- route 1 ---- */

static void import_block(struct gpu_case* gpu, struct gpu_raw_block* block, bool flag)
{
    const struct maar_cuda_driver* cuda = &gpu->driver;
    const struct maar_cuda_memory_handle handle = {.type = MAAR_CUDA_MEMORY_OPAQUE_FD,
                                                   .handle = {.fd = block->fd},
                                                   .size = block->size,
                                                   .flags = flag ? MAAR_CUDA_MEMORY_DEDICATED : 0};
    const struct maar_cuda_memory_range range = {.size = block->size};
    struct maar_cuda_memory* memory = NULL;
    maar_cuda_pointer pointer = 0;
    if (!print_step(gpu, (int)cuda->cuImportExternalMemory(&memory, &handle))) {
        printf(" | |\n");
        return;
    }
    block->fd = -1;
    if (print_step(gpu, (int)cuda->cuExternalMemoryGetMappedBuffer(&pointer, memory, &range))) {
        compare_last_word(gpu, pointer, block->size);
        (void)gpu_cu(gpu, (int)cuda->cuMemFree(pointer), "cuMemFree");
    } else {
        printf(" |\n");
    }
    (void)gpu_cu(gpu, (int)cuda->cuDestroyExternalMemory(memory), "cuDestroyExternalMemory");
}

static int try_import(struct gpu_case* gpu, uint32_t index)
{
    static const struct {
        bool dedicated;
        bool flag;
        const char* name;
    } ways[] = {{false, false, "a block's (Maar's choice)"},
                {true, true, "the buffer's own (Maar's choice)"},
                {true, false, "the buffer's own"},
                {false, true, "a block's"}};
    struct gpu_raw_block block;
    printf("| %s | %s | ", ways[index].name, ways[index].flag ? "yes" : "no");
    if (gpu_make_raw_block(gpu, ROUTE_SIZE, ways[index].dedicated, &block) &&
        fill_block(gpu, &block)) {
        import_block(gpu, &block, ways[index].flag);
    } else {
        printf(" | | |\n");
    }
    gpu_free_raw_block(gpu, &block);
    return GPU_EXIT_OK;
}

/* ---- route 3 ---- */

/* From reserving on; the pages are the block's from here. */
static void map_pages(struct gpu_case* gpu, maar_cuda_backing pages, VkDeviceSize size)
{
    const struct maar_cuda_driver* cuda = &gpu->driver;
    const struct maar_cuda_access_info access = {
        .location = {.type = MAAR_CUDA_LOCATION_DEVICE, .id = gpu->info.deviceOrdinal},
        .access = MAAR_CUDA_ACCESS_READ_WRITE};
    maar_cuda_pointer start = 0;
    if (!print_step(gpu, (int)cuda->cuMemAddressReserve(&start, size, 0, 0, 0))) {
        printf(" | | |\n");
        return;
    }
    if (!print_step(gpu, (int)cuda->cuMemMap(start, size, 0, pages, 0))) {
        printf(" | |\n");
    } else {
        if (print_step(gpu, (int)cuda->cuMemSetAccess(start, size, &access, 1))) {
            compare_last_word(gpu, start, size);
        } else {
            printf(" |\n");
        }
        (void)gpu_cu(gpu, (int)cuda->cuMemUnmap(start, size), "cuMemUnmap");
    }
    (void)gpu_cu(gpu, (int)cuda->cuMemAddressFree(start, size), "cuMemAddressFree");
}

static int try_pages(struct gpu_case* gpu, uint32_t index)
{
    static const VkDeviceSize sizes[] = {2 << 20, 4 << 20, 64 << 10};
    const bool dedicated = index % 2 == 0;
    const struct maar_cuda_driver* cuda = &gpu->driver;
    struct gpu_raw_block block;
    maar_cuda_backing pages = 0;
    if (!gpu->info.virtualMemory) {
        printf("| no virtual memory management in CUDA | | | | | | |\n");
        return GPU_EXIT_OK;
    }
    printf("| %llu KiB | %s | ", (unsigned long long)(sizes[index / 2] / KIB),
           dedicated ? "the buffer's own" : "a block's");
    if (!gpu_make_raw_block(gpu, sizes[index / 2], dedicated, &block) || !fill_block(gpu, &block)) {
        printf(" | | | | |\n");
    } else if (print_step(gpu, (int)cuda->cuMemImportFromShareableHandle(
                                   &pages, (void*)(intptr_t)block.fd, MAAR_CUDA_SHAREABLE_FD))) {
        map_pages(gpu, pages, block.size);
        (void)gpu_cu(gpu, (int)cuda->cuMemRelease(pages), "cuMemRelease");
    } else {
        printf(" | | | |\n");
    }
    gpu_free_raw_block(gpu, &block);
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head = "A block of 4 MiB as external memory (route 1).\n"
                 "\n| memory | flag DEDICATED | cuImportExternalMemory | "
                 "cuExternalMemoryGetMappedBuffer | last word |\n"
                 "| --- | --- | --- | --- | --- |\n",
         .row_count = 4,
         .limit_s = ROW_LIMIT_S,
         .run = try_import},
        {.head =
             "A block as pages of CUDA's virtual memory (route 3).\n"
             "\n| size | memory | cuMemImportFromShareableHandle | cuMemAddressReserve | cuMemMap "
             "| cuMemSetAccess | last word |\n"
             "| --- | --- | --- | --- | --- | --- | --- |\n",
         .row_count = 6,
         .limit_s = ROW_LIMIT_S,
         .run = try_pages},
    };
    return gpu_run_groups(argc, argv, GPU_NEEDS_CUDA, "Routes, step by step", groups, 2);
}
