/*
 * What CUDA makes of an import whose size or dedicated flag is not that of the block: the result,
 * and whether the descriptor is still the caller's when it failed.
 */
#include "gpu_rows.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static const char* descriptor_text(bool succeeded, bool open)
{
    if (succeeded) {
        return open ? "open, CUDA's" : "closed by CUDA";
    }
    return open ? "open, the caller's" : "**gone**";
}

/* The exact size with the flag that the block was made with must work; nothing else must. */
static bool import_once(struct gpu_case* gpu, const struct gpu_buffer* buffer,
                        unsigned long long size, const char* name, bool flag, bool must_work)
{
    MaarExportedMemory memory = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    int fd = -1;
    if (!gpu_vk(gpu, maarExportMemory(gpu->allocator, buffer->allocation, GPU_HANDLE_TYPE, &memory),
                "maarExportMemory") ||
        !gpu_vk(gpu, maarTakeFd(gpu->allocator, memory.handle, &fd), "maarTakeFd")) {
        return false;
    }
    maarDestroyExternalHandle(gpu->allocator, memory.handle);
    struct maar_cuda_memory_handle handle = {.type = MAAR_CUDA_MEMORY_OPAQUE_FD,
                                             .handle = {.fd = fd},
                                             .size = size,
                                             .flags = flag ? MAAR_CUDA_MEMORY_DEDICATED : 0};
    struct maar_cuda_memory* imported = NULL;
    const int result = (int)gpu->driver.cuImportExternalMemory(&imported, &handle);
    const bool open = is_open(fd);
    printf("| %s | %llu | %s | %s | %s | %s", memory.dedicated ? "dedicated" : "shared block", size,
           name, flag ? "yes" : "no", gpu_cuda_name(gpu, result),
           descriptor_text(result == 0, open));
    if (result == 0) {
        (void)gpu->driver.cuDestroyExternalMemory(imported);
    } else if (open) {
        (void)close(fd);
    } else {
        gpu_fail(gpu, "a failed import took the descriptor");
    }
    if (must_work && result != 0) {
        gpu_fail(gpu, "CUDA refused what it has to take");
    }
    printf(" |\n");
    return true;
}

enum { SIZES = 5 };

/* A row a size and flag, of a shared block first, then of a dedicated one. */
static int try_row(struct gpu_case* gpu, uint32_t index)
{
    const bool is_dedicated = index >= 2 * SIZES;
    const bool flag = index % 2 == 1;
    struct gpu_buffer buffer = {.size = 0};
    MaarExportedMemory memory = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    if (!gpu_make_shared(gpu, 4 * MIB, is_dedicated ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_NEVER,
                         &buffer) ||
        !gpu_vk(gpu, maarExportMemory(gpu->allocator, buffer.allocation, GPU_HANDLE_TYPE, &memory),
                "maarExportMemory")) {
        gpu_free(gpu, &buffer);
        return GPU_EXIT_OK;
    }
    maarDestroyExternalHandle(gpu->allocator, memory.handle);
    const unsigned long long exact = memory.blockSize;
    const struct {
        unsigned long long size;
        const char* name;
    } sizes[SIZES] = {{exact, "exact"},
                      {exact / 2, "half"},
                      {exact - 65536, "64 KiB less"},
                      {exact + 65536, "64 KiB more"},
                      {exact * 2, "double"}};
    const uint32_t size = index / 2 % SIZES;
    const bool agrees = flag == (memory.dedicated == VK_TRUE);
    (void)import_once(gpu, &buffer, sizes[size].size, sizes[size].name, flag, agrees && size == 0);
    gpu_free(gpu, &buffer);
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head =
             "| block | size, bytes | that is | flag DEDICATED | result | descriptor afterwards "
             "|\n| --- | --- | --- | --- | --- | --- |\n",
         .row_count = 4 * SIZES,
         .limit_s = 10,
         .run = try_row},
    };
    return gpu_run_groups(argc, argv, GPU_NEEDS_CUDA, "Imports of the wrong size", groups, 1);
}
