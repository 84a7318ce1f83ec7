/*
 * The opposite direction: memory of cuMemCreate as Vulkan's, Maar's choice of a memory type first,
 * then type by type. No specification says which of them works, and a driver may crash.
 */
#include "gpu_rows.h"

#include <stdio.h>
#include <string.h>

enum { SIZE = 4 << 20 };

static uint64_t count_words(const uint32_t* words, uint32_t word)
{
    uint64_t equal = 0;
    for (uint32_t i = 0; words != NULL && i < SIZE / 4; ++i) {
        equal += words[i] == word ? 1 : 0;
    }
    return equal;
}

static const char* compare_cuda_memory(struct gpu_case* gpu, struct gpu_buffer* buffer,
                                       const struct gpu_buffer* readback)
{
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    uint32_t* const words = maarGetMappedData(gpu->allocator, readback->allocation);
    if (maarGetCudaMemory(gpu->cuda, buffer->allocation, &memory) != VK_SUCCESS) {
        return "maarGetCudaMemory fails";
    }
    vkCmdFillBuffer(gpu_begin(gpu), buffer->buffer, 0, VK_WHOLE_SIZE, 0x13579BDFu);
    gpu_barrier(gpu->commands);
    if (!gpu_run(gpu)) {
        return "Vulkan's write fails";
    }
    memset(words, 0, SIZE);
    if (gpu->driver.cuMemcpyDtoHAsync(words, memory.devicePointer, SIZE, gpu->stream) !=
            MAAR_CUDA_SUCCESS ||
        !gpu_synchronize(gpu)) {
        return "CUDA's read fails";
    }
    if (count_words(words, 0x13579BDFu) != SIZE / 4) {
        return "CUDA does not see what Vulkan wrote";
    }
    if (gpu->driver.cuMemsetD32Async(memory.devicePointer, 0x2468ACE0u, SIZE / 4, gpu->stream) !=
            MAAR_CUDA_SUCCESS ||
        !gpu_synchronize(gpu)) {
        return "CUDA's write fails";
    }
    return count_words(gpu_read(gpu, buffer, 0, SIZE, readback), 0x2468ACE0u) == SIZE / 4
               ? "right, both ways"
               : "Vulkan does not see what CUDA wrote";
}

static void try_type(struct gpu_case* gpu, uint32_t type, const struct gpu_buffer* readback)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = SIZE,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    struct gpu_buffer buffer = {.size = SIZE};
    gpu->message[0] = '\0';
    const VkResult result =
        maarAllocateCudaMemory(gpu->cuda, &info, type, &buffer.buffer, &buffer.allocation);
    if (result != VK_SUCCESS) {
        printf("%s | %s |\n", maarGetResultName(result), gpu->message);
        return;
    }
    printf("VK_SUCCESS | %s |\n", compare_cuda_memory(gpu, &buffer, readback));
    gpu_free(gpu, &buffer);
}

/* Row 0: Maar's choice; then a row a memory type. */
static int try_row(struct gpu_case* gpu, uint32_t index)
{
    struct gpu_buffer readback = {.size = 0};
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &memory);
    if (index > memory.memoryTypeCount) {
        return GPU_EXIT_NO_ROW;
    }
    if (index == 0) {
        printf("| Maar's choice | | | ");
    } else {
        const VkMemoryType* const type = &memory.memoryTypes[index - 1];
        printf("| %u | 0x%x | %u | ", index - 1, type->propertyFlags, type->heapIndex);
    }
    if (gpu_make_readback(gpu, SIZE, &readback)) {
        try_type(gpu, index == 0 ? MAAR_MEMORY_TYPE_NONE : index - 1, &readback);
    }
    gpu_free(gpu, &readback);
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head = "| memory type | flags | heap | import | contents |\n"
                 "| --- | --- | --- | --- | --- |\n",
         .row_count = 1 + VK_MAX_MEMORY_TYPES,
         .limit_s = 10,
         .run = try_row},
    };
    return gpu_run_groups(argc, argv, GPU_NEEDS_CUDA | GPU_NEEDS_CUDA_MEMORY,
                          "CUDA's memory in Vulkan (route 2)", groups, 1);
}
