/*
 * A block made by Vulkan's own calls; see gpu_block.h.
 */
#include "gpu_block.h"

#include <unistd.h>

uint32_t gpu_device_local_type(struct gpu_case* gpu, uint32_t type_bits)
{
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    (void)maarChooseMemoryType(gpu->allocator, type_bits, &how, &choice);
    return choice.memoryTypeIndex;
}

static bool allocate_block(struct gpu_case* gpu, bool dedicated, struct gpu_raw_block* block)
{
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu->device, block->buffer, &needs);
    const VkMemoryDedicatedAllocateInfo own = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = block->buffer};
    const VkExportMemoryAllocateInfo export_info = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = dedicated ? &own : NULL,
        .handleTypes = GPU_HANDLE_TYPE};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &export_info,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex =
                                           gpu_device_local_type(gpu, needs.memoryTypeBits)};
    block->size = needs.size;
    return gpu_vk(gpu, vkAllocateMemory(gpu->device, &info, NULL, &block->memory),
                  "vkAllocateMemory") &&
           gpu_vk(gpu, vkBindBufferMemory(gpu->device, block->buffer, block->memory, 0),
                  "vkBindBufferMemory");
}

bool gpu_make_raw_block(struct gpu_case* gpu, VkDeviceSize size, bool dedicated,
                        struct gpu_raw_block* block)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = GPU_HANDLE_TYPE};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = &external,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    *block = (struct gpu_raw_block){.size = size, .fd = -1};
    if (!gpu_vk(gpu, vkCreateBuffer(gpu->device, &info, NULL, &block->buffer), "vkCreateBuffer") ||
        !allocate_block(gpu, dedicated, block)) {
        return false;
    }
    const VkMemoryGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                      .memory = block->memory,
                                      .handleType = GPU_HANDLE_TYPE};
    return vkGetMemoryFdKHR != NULL &&
           gpu_vk(gpu, vkGetMemoryFdKHR(gpu->device, &get, &block->fd), "vkGetMemoryFdKHR");
}

void gpu_free_raw_block(struct gpu_case* gpu, struct gpu_raw_block* block)
{
    if (block->fd >= 0) {
        (void)close(block->fd);
    }
    vkDestroyBuffer(gpu->device, block->buffer, NULL);
    vkFreeMemory(gpu->device, block->memory, NULL);
    *block = (struct gpu_raw_block){.fd = -1};
}
