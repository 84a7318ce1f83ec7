/*
 * Several VkDeviceMemory objects as one array (route 3). First in CUDA alone: blocks laid one
 * behind the other into a range of addresses (maarAppendToCudaRange). Then on both sides: a mirror,
 * whose sparse VkBuffer and whose range grow together. Whether a driver takes Vulkan's handles
 * there is not documented: this finds out.
 */
#include "gpu_rows.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 3 };

/* Both sides of an array that is being looked at: a buffer a block, or one for all. */
struct both_sides {
    struct gpu_case* gpu;
    VkDeviceSize block_size;
    uint32_t buffer_count;
    VkBuffer buffers[BLOCKS];
    uint64_t pointer; /* in CUDA */
    struct gpu_buffer readback;
};

static uint32_t word_of(uint32_t block, uint32_t round)
{
    return (0x01010101u * (block + 1)) ^ (round << 8);
}

static VkBuffer buffer_at(const struct both_sides* at, uint32_t block, VkDeviceSize* offset)
{
    *offset = at->buffer_count == 1 ? block * at->block_size : 0;
    return at->buffers[at->buffer_count == 1 ? 0 : block];
}

static bool write_in_vulkan(struct both_sides* at, uint32_t first, uint32_t count, uint32_t round)
{
    const VkCommandBuffer commands = gpu_begin(at->gpu);
    for (uint32_t i = first; i < first + count; ++i) {
        VkDeviceSize offset = 0;
        const VkBuffer buffer = buffer_at(at, i, &offset);
        vkCmdFillBuffer(commands, buffer, offset, at->block_size, word_of(i, round));
    }
    gpu_barrier(commands);
    return gpu_run(at->gpu);
}

static const uint32_t* read_in_vulkan(struct both_sides* at, uint32_t count)
{
    struct gpu_case* gpu = at->gpu;
    const VkCommandBuffer commands = gpu_begin(gpu);
    gpu_barrier(commands);
    for (uint32_t i = 0; i < count; ++i) {
        VkDeviceSize offset = 0;
        const VkBuffer buffer = buffer_at(at, i, &offset);
        const VkBufferCopy copy = {
            .srcOffset = offset, .dstOffset = i * at->block_size, .size = at->block_size};
        vkCmdCopyBuffer(commands, buffer, at->readback.buffer, 1, &copy);
    }
    gpu_barrier(commands);
    if (!gpu_run(gpu) || maarInvalidateAllocation(gpu->allocator, at->readback.allocation, 0,
                                                  VK_WHOLE_SIZE) != VK_SUCCESS) {
        return NULL;
    }
    return maarGetMappedData(gpu->allocator, at->readback.allocation);
}

static const uint32_t* read_in_cuda(struct both_sides* at, uint32_t count)
{
    struct gpu_case* gpu = at->gpu;
    uint32_t* const words = maarGetMappedData(gpu->allocator, at->readback.allocation);
    memset(words, 0, count * at->block_size);
    const bool done = gpu_cu(gpu,
                             (int)gpu->driver.cuMemcpyDtoHAsync(
                                 words, at->pointer, count * at->block_size, gpu->stream),
                             "cuMemcpyDtoHAsync") &&
                      gpu_synchronize(gpu);
    return done ? words : NULL;
}

static bool write_in_cuda(struct both_sides* at, uint32_t count, uint32_t round)
{
    struct gpu_case* gpu = at->gpu;
    for (uint32_t i = 0; i < count; ++i) {
        if (!gpu_cu(gpu,
                    (int)gpu->driver.cuMemsetD32Async(at->pointer + i * at->block_size,
                                                      word_of(i, round), at->block_size / 4,
                                                      gpu->stream),
                    "cuMemsetD32Async")) {
            return false;
        }
    }
    return gpu_synchronize(gpu);
}

static void say_right(struct both_sides* at, const char* what, const uint32_t* words,
                      uint32_t blocks, uint32_t round)
{
    const uint64_t count = at->block_size / 4;
    uint64_t right = 0;
    for (uint32_t block = 0; words != NULL && block < blocks; ++block) {
        for (uint64_t i = 0; i < count; ++i) {
            right += words[block * count + i] == word_of(block, round) ? 1 : 0;
        }
    }
    printf("- %s: %llu of %llu words right\n", what, (unsigned long long)right,
           (unsigned long long)(blocks * count));
    if (right != blocks * count) {
        gpu_fail(at->gpu, "%s: contents differ", what);
    }
}

/* The host stands between the two sides: nothing else is at work. */
static void compare_both_ways(struct both_sides* at, uint32_t blocks)
{
    if (write_in_vulkan(at, 0, blocks, 1)) {
        say_right(at, "written by Vulkan, read by CUDA as one array", read_in_cuda(at, blocks),
                  blocks, 1);
    }
    if (write_in_cuda(at, blocks, 2)) {
        say_right(at, "written by CUDA as one array, read by Vulkan", read_in_vulkan(at, blocks),
                  blocks, 2);
    }
}

/* ---- a range ---- */

static void fill_range(struct both_sides* at, MaarCudaRange range, struct gpu_buffer* buffers)
{
    struct gpu_case* gpu = at->gpu;
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    VkResult result = VK_SUCCESS;
    at->buffer_count = BLOCKS;
    for (uint32_t i = 0; i < BLOCKS && result == VK_SUCCESS; ++i) {
        if (!gpu_make_shared(gpu, at->block_size, MAAR_DEDICATED_ALWAYS, &buffers[i])) {
            return;
        }
        at->buffers[i] = buffers[i].buffer;
        gpu->message[0] = '\0';
        result = maarAppendToCudaRange(gpu->cuda, range, buffers[i].allocation);
        printf("- block %u of %llu bytes: %s%s%s\n", i, (unsigned long long)at->block_size,
               maarGetResultName(result), result != VK_SUCCESS ? "; " : "", gpu->message);
    }
    if (result != VK_SUCCESS) {
        printf("\n**Ranges do not work here: CUDA refuses Vulkan's handle.**\n\n");
        return;
    }
    if (gpu_vk(gpu, maarGetCudaRangeInfo(gpu->cuda, range, &info), "maarGetCudaRangeInfo") &&
        gpu_make_readback(gpu, BLOCKS * at->block_size, &at->readback)) {
        at->pointer = info.devicePointer;
        compare_both_ways(at, BLOCKS);
        printf("\n**Ranges %s%s.**\n\n", gpu->failures == 0 ? "work here" : "do not work here",
               gpu->fake ? ", as far as the FAKE driver goes, which proves nothing" : "");
    }
}

static void try_range(struct gpu_case* gpu)
{
    struct both_sides at = {.gpu = gpu};
    struct gpu_buffer buffers[BLOCKS] = {{.size = 0}, {.size = 0}, {.size = 0}};
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    MaarCudaRange range = VK_NULL_HANDLE;
    const VkResult result = maarCreateCudaRange(gpu->cuda, 256 * MIB, &range);
    if (result != VK_SUCCESS) {
        printf("- maarCreateCudaRange: %s; %s\n", maarGetResultName(result), gpu->message);
        return;
    }
    if (gpu_vk(gpu, maarGetCudaRangeInfo(gpu->cuda, range, &info), "maarGetCudaRangeInfo")) {
        at.block_size = 2 * info.granularity;
        printf("- a range's granularity: %llu bytes\n", (unsigned long long)info.granularity);
        fill_range(&at, range, buffers);
    }
    maarDestroyCudaRange(gpu->cuda, range);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        gpu_free(gpu, &buffers[i]);
    }
    gpu_free(gpu, &at.readback);
}

/* ---- a mirror ---- */

static void grow_mirror(struct both_sides* at, MaarCudaMirror mirror)
{
    struct gpu_case* gpu = at->gpu;
    MaarCudaMirrorInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO};
    if (!gpu_vk(gpu, maarGetCudaMirrorInfo(gpu->cuda, mirror, &info), "maarGetCudaMirrorInfo")) {
        return;
    }
    at->block_size = 2 * info.granularity;
    at->buffer_count = 1;
    at->buffers[0] = info.buffer;
    at->pointer = info.devicePointer;
    if (!gpu_make_readback(gpu, BLOCKS * at->block_size, &at->readback)) {
        return;
    }
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        gpu->message[0] = '\0';
        const double before = gpu_now();
        const VkResult result = maarGrowCudaMirror(gpu->cuda, mirror, (i + 1) * at->block_size);
        printf("- grown to %llu bytes: %s, %.0f us %s\n",
               (unsigned long long)((i + 1) * at->block_size), maarGetResultName(result),
               1e6 * (gpu_now() - before), gpu->message);
        if (result != VK_SUCCESS || !write_in_vulkan(at, i, 1, 3)) {
            printf("\n**Mirrors do not work here.**\n");
            return;
        }
    }
    say_right(at, "written by Vulkan block by block while it grew, read by CUDA as one array",
              read_in_cuda(at, BLOCKS), BLOCKS, 3);
    compare_both_ways(at, BLOCKS);
    (void)maarGetCudaMirrorInfo(gpu->cuda, mirror, &info);
    if (info.devicePointer != at->pointer || info.buffer != at->buffers[0]) {
        gpu_fail(gpu, "a mirror has moved");
    }
    printf("\n**Mirrors %s.**\n", gpu->failures == 0 ? "work here" : "do not work here");
}

static void try_mirror(struct gpu_case* gpu)
{
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = 256 * MIB,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                                VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    const MaarCudaMirrorCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO,
                                           .pBufferInfo = &buffer,
                                           .queue = gpu->binding != UINT32_MAX ? gpu->binding : 0};
    struct both_sides at = {.gpu = gpu};
    MaarCudaMirror mirror = VK_NULL_HANDLE;
    gpu->message[0] = '\0';
    const VkResult result = maarCreateCudaMirror(gpu->cuda, &info, &mirror);
    printf("- maarCreateCudaMirror: %s; %s\n", maarGetResultName(result), gpu->message);
    if (result == VK_SUCCESS) {
        grow_mirror(&at, mirror);
    } else {
        printf("\n**No mirrors here.**\n");
    }
    (void)vkDeviceWaitIdle(gpu->device);
    gpu_free(gpu, &at.readback);
    maarDestroyCudaMirror(gpu->cuda, mirror);
}

/* One may work without the other: a process and a verdict each. */
static int try_row(struct gpu_case* gpu, uint32_t index)
{
    printf("\n### %s\n\n", index == 0 ? "A range" : "A mirror");
    if (index == 0) {
        try_range(gpu);
    } else {
        try_mirror(gpu);
    }
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head = "", .row_count = 2, .limit_s = 30, .run = try_row}};
    return gpu_run_groups(argc, argv, GPU_NEEDS_CUDA, "Blocks as one array (route 3)", groups, 1);
}
