/*
 * Aliases of the allocator's blocks, and the verifier's own buffers; see tool_gpu.h. An alias is a
 * set of storage buffers bound to the same VkDeviceMemory. Each is divided into windows, and each
 * window has a descriptor set.
 */
#include "tool_gpu_internal.h"

#include <stdlib.h>

/* The descriptor sets of one pool. */
#define SETS_PER_POOL 256u

VkDeviceSize gpu_chunk_size(const struct tool_gpu* gpu)
{
    VkDeviceSize limit = gpu->tool->max_buffer_size;
    if (limit == 0 || limit > GPU_MAX_CHUNK) {
        limit = GPU_MAX_CHUNK;
    }
    const VkDeviceSize unit = limit < gpu->window_size ? GPU_MIN_WINDOW : gpu->window_size;
    return limit - limit % unit;
}

static VkResult add_pool(struct tool_gpu* gpu)
{
    VkDescriptorPool* const grown =
        realloc(gpu->pools.pools, (gpu->pools.count + 1) * sizeof(VkDescriptorPool));
    if (grown == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    gpu->pools.pools = grown;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * SETS_PER_POOL};
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
        .maxSets = SETS_PER_POOL,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    const VkResult result =
        vkCreateDescriptorPool(gpu->tool->device, &info, NULL, &grown[gpu->pools.count]);
    gpu->pools.count += result == VK_SUCCESS ? 1 : 0;
    return result;
}

static VkResult allocate_set(struct tool_gpu* gpu, struct gpu_window* window)
{
    for (uint32_t attempt = 0; attempt < 2; ++attempt) {
        for (uint32_t i = gpu->pools.count; i-- > 0;) {
            const VkDescriptorSetAllocateInfo info = {
                .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                .descriptorPool = gpu->pools.pools[i],
                .descriptorSetCount = 1,
                .pSetLayouts = &gpu->set_layout,
            };
            if (vkAllocateDescriptorSets(gpu->tool->device, &info, &window->set) == VK_SUCCESS) {
                window->pool = gpu->pools.pools[i];
                return VK_SUCCESS;
            }
        }
        const VkResult result = add_pool(gpu);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    return VK_ERROR_OUT_OF_POOL_MEMORY;
}

static VkResult describe_window(struct tool_gpu* gpu, struct gpu_chunk* chunk, uint32_t index)
{
    struct gpu_window* const window = &chunk->windows[index];
    const VkResult result = allocate_set(gpu, window);
    if (result != VK_SUCCESS) {
        window->set = VK_NULL_HANDLE;
        return result;
    }
    const VkDeviceSize start = index * gpu->window_size;
    const VkDeviceSize left = chunk->size - start;
    const VkDescriptorBufferInfo buffers[2] = {
        {chunk->buffer, start, left < gpu->window_size ? left : gpu->window_size},
        {gpu->results.buffer, 0, VK_WHOLE_SIZE},
    };
    const VkWriteDescriptorSet writes[2] = {
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = window->set,
         .dstBinding = 0,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .pBufferInfo = &buffers[0]},
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = window->set,
         .dstBinding = 1,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .pBufferInfo = &buffers[1]},
    };
    vkUpdateDescriptorSets(gpu->tool->device, 2, writes, 0, NULL);
    return VK_SUCCESS;
}

/* Creates the largest buffer that the driver allows at an offset of the memory, with at most `room`
 * bytes. */
static VkResult bind_chunk(struct tool_gpu* gpu, struct gpu_chunk* chunk, VkDeviceMemory memory,
                           VkDeviceSize offset, VkDeviceSize room)
{
    const VkDevice device = gpu->tool->device;
    chunk->size = room;
    for (;;) {
        const VkBufferCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
            .size = chunk->size,
            .usage = GPU_ALIAS_USAGE,
            .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        };
        const VkResult result = vkCreateBuffer(device, &info, NULL, &chunk->buffer);
        if (result != VK_SUCCESS) {
            return result;
        }
        VkMemoryRequirements requirements;
        vkGetBufferMemoryRequirements(device, chunk->buffer, &requirements);
        if (requirements.size <= room && offset % requirements.alignment == 0) {
            return vkBindBufferMemory(device, chunk->buffer, memory, offset);
        }
        vkDestroyBuffer(device, chunk->buffer, NULL);
        chunk->buffer = VK_NULL_HANDLE;
        const VkDeviceSize excess = requirements.size - room;
        if (requirements.size <= room || excess >= chunk->size) {
            return VK_ERROR_FEATURE_NOT_PRESENT;
        }
        chunk->size -= excess;
    }
}

static VkResult make_chunk(struct tool_gpu* gpu, struct gpu_chunk* chunk, VkDeviceMemory memory,
                           VkDeviceSize offset, VkDeviceSize room)
{
    VkResult result = bind_chunk(gpu, chunk, memory, offset, room);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize count = (chunk->size + gpu->window_size - 1) / gpu->window_size;
    chunk->windows = calloc((size_t)count, sizeof(*chunk->windows));
    if (chunk->windows == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (chunk->window_count = 0; chunk->window_count < count; ++chunk->window_count) {
        result = describe_window(gpu, chunk, chunk->window_count);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    return VK_SUCCESS;
}

VkResult gpu_make_block(struct tool_gpu* gpu, VkDeviceMemory memory, VkDeviceSize size,
                        struct gpu_block** out)
{
    *out = NULL;
    const VkDeviceSize chunk_size = gpu_chunk_size(gpu);
    const VkDeviceSize count = (size + chunk_size - 1) / chunk_size;
    struct gpu_block* const block = calloc(1, sizeof(*block));
    struct gpu_chunk* const chunks = calloc((size_t)count, sizeof(*chunks));
    if (block == NULL || chunks == NULL) {
        free(block);
        free(chunks);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    block->memory = memory;
    block->size = size;
    block->chunks = chunks;
    for (block->chunk_count = 0; block->chunk_count < count;) {
        const VkDeviceSize offset = block->chunk_count * chunk_size;
        const VkDeviceSize left = size - offset;
        struct gpu_chunk* const chunk = &chunks[block->chunk_count++];
        const VkResult result =
            make_chunk(gpu, chunk, memory, offset, left < chunk_size ? left : chunk_size);
        if (result != VK_SUCCESS) {
            gpu_destroy_block(gpu, block);
            return result;
        }
    }
    *out = block;
    return VK_SUCCESS;
}

void gpu_destroy_block(struct tool_gpu* gpu, struct gpu_block* block)
{
    if (block == NULL) {
        return;
    }
    const VkDevice device = gpu->tool->device;
    for (uint32_t i = 0; i < block->chunk_count; ++i) {
        struct gpu_chunk* const chunk = &block->chunks[i];
        for (uint32_t j = 0; j < chunk->window_count; ++j) {
            vkFreeDescriptorSets(device, chunk->windows[j].pool, 1, &chunk->windows[j].set);
        }
        free(chunk->windows);
        vkDestroyBuffer(device, chunk->buffer, NULL);
    }
    free(block->chunks);
    free(block);
}

static struct gpu_block** find_slot(struct tool_gpu* gpu, VkDeviceMemory memory)
{
    const uint64_t mixed = (uint64_t)memory * 0x9E3779B97F4A7C15u;
    struct gpu_block** slot = &gpu->blocks[(mixed >> 40) % GPU_HASH_SIZE];
    while (*slot != NULL && (*slot)->memory != memory) {
        slot = &(*slot)->next;
    }
    return slot;
}

VkResult gpu_find_block(struct tool_gpu* gpu, VkDeviceMemory memory, VkDeviceSize size,
                        struct gpu_block** out)
{
    struct gpu_block** const slot = find_slot(gpu, memory);
    VkResult result = VK_SUCCESS;
    if (*slot == NULL) {
        struct gpu_block* block = NULL;
        result = gpu_make_block(gpu, memory, size, &block);
        *slot = block;
    }
    *out = *slot;
    return result;
}

struct gpu_block* gpu_take_block(struct tool_gpu* gpu, VkDeviceMemory memory)
{
    struct gpu_block** const slot = find_slot(gpu, memory);
    struct gpu_block* const block = *slot;
    if (block != NULL) {
        *slot = block->next;
    }
    return block;
}

static uint32_t pick_own_type(const struct tool_gpu* gpu, uint32_t bits, bool mapped)
{
    const VkMemoryPropertyFlags wanted =
        mapped ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
               : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const VkMemoryPropertyFlags shunned = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |
                                          VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD |
                                          VK_MEMORY_PROPERTY_PROTECTED_BIT;
    for (uint32_t i = 0; i < gpu->tool->memory.memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags flags = gpu->tool->memory.memoryTypes[i].propertyFlags;
        if ((bits >> i & 1u) != 0 && (flags & wanted) == wanted && (flags & shunned) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

VkResult gpu_create_own_buffer(struct tool_gpu* gpu, VkDeviceSize size, VkBufferUsageFlags usage,
                               bool mapped, struct gpu_own_buffer* out)
{
    const VkDevice device = gpu->tool->device;
    *out = (struct gpu_own_buffer){.size = size};
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    VkResult result = vkCreateBuffer(device, &info, NULL, &out->buffer);
    if (result != VK_SUCCESS) {
        return result;
    }
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(device, out->buffer, &requirements);
    const uint32_t type = pick_own_type(gpu, requirements.memoryTypeBits, mapped);
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = requirements.size,
        .memoryTypeIndex = type,
    };
    result = type == UINT32_MAX ? VK_ERROR_FEATURE_NOT_PRESENT
                                : vkAllocateMemory(device, &allocate, NULL, &out->memory);
    if (result == VK_SUCCESS) {
        result = vkBindBufferMemory(device, out->buffer, out->memory, 0);
    }
    if (result == VK_SUCCESS && mapped) {
        result = vkMapMemory(device, out->memory, 0, VK_WHOLE_SIZE, 0, &out->mapped);
    }
    if (result != VK_SUCCESS) {
        gpu_destroy_own_buffer(gpu, out);
    }
    return result;
}

void gpu_destroy_own_buffer(struct tool_gpu* gpu, struct gpu_own_buffer* own)
{
    vkDestroyBuffer(gpu->tool->device, own->buffer, NULL);
    vkFreeMemory(gpu->tool->device, own->memory, NULL);
    *own = (struct gpu_own_buffer){0};
}
