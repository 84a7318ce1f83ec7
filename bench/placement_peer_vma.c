/*
 * VulkanMemoryAllocator's virtual blocks behind the interface of the placement benchmark.
 */
#include "volk.h"

#include "bench/placement_peer.h"
#include "bench/vma_name.h"

#include <string.h>
#include <vk_mem_alloc.h>

static void* create(uint64_t capacity, VmaVirtualBlockCreateFlags flags)
{
    const VmaVirtualBlockCreateInfo info = {.size = capacity, .flags = flags};
    VmaVirtualBlock block = VK_NULL_HANDLE;
    (void)vmaCreateVirtualBlock(&info, &block);
    return block;
}

static void* create_default(uint64_t capacity)
{
    return create(capacity, 0);
}

static void* create_linear(uint64_t capacity)
{
    return create(capacity, VMA_VIRTUAL_BLOCK_CREATE_LINEAR_ALGORITHM_BIT);
}

static void destroy(void* block)
{
    vmaClearVirtualBlock(block);
    vmaDestroyVirtualBlock(block);
}

static inline bool allocate(void* block, uint64_t size, uint64_t alignment, uint64_t* handle,
                            uint64_t* offset, VmaVirtualAllocationCreateFlags flags)
{
    const VmaVirtualAllocationCreateInfo info = {
        .size = size, .alignment = alignment, .flags = flags};
    VmaVirtualAllocation allocation = VK_NULL_HANDLE;
    const VkResult result = vmaVirtualAllocate(block, &info, &allocation, offset);
    *handle = 0;
    memcpy(handle, &allocation, sizeof(allocation));
    return result == VK_SUCCESS;
}

static bool allocate_default(void* block, uint64_t size, uint64_t alignment, uint64_t* handle,
                             uint64_t* offset)
{
    return allocate(block, size, alignment, handle, offset, 0);
}

static bool allocate_min_time(void* block, uint64_t size, uint64_t alignment, uint64_t* handle,
                              uint64_t* offset)
{
    return allocate(block, size, alignment, handle, offset,
                    VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT);
}

static bool allocate_min_memory(void* block, uint64_t size, uint64_t alignment, uint64_t* handle,
                                uint64_t* offset)
{
    return allocate(block, size, alignment, handle, offset,
                    VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT);
}

static void release(void* block, uint64_t handle)
{
    VmaVirtualAllocation allocation = VK_NULL_HANDLE;
    memcpy(&allocation, &handle, sizeof(allocation));
    vmaVirtualFree(block, allocation);
}

static void reset(void* block)
{
    vmaClearVirtualBlock(block);
}

const struct placement_peer placement_peer_vma = {
    .name = VMA_NAME(""),
    .on_request = VMA_ON_REQUEST,
    .rival = VMA_RIVAL("vma"),
    .create = create_default,
    .destroy = destroy,
    .allocate = allocate_default,
    .free = release,
    .reset = reset,
};

const struct placement_peer placement_peer_vma_min_time = {
    .name = VMA_NAME("-min-time"),
    .on_request = VMA_ON_REQUEST,
    .rival = "vma",
    .create = create_default,
    .destroy = destroy,
    .allocate = allocate_min_time,
    .free = release,
    .reset = reset,
};

const struct placement_peer placement_peer_vma_min_memory = {
    .name = VMA_NAME("-min-memory"),
    .on_request = VMA_ON_REQUEST,
    .rival = "vma",
    .create = create_default,
    .destroy = destroy,
    .allocate = allocate_min_memory,
    .free = release,
    .reset = reset,
};

const struct placement_peer placement_peer_vma_linear = {
    .name = VMA_NAME("-linear"),
    .on_request = VMA_ON_REQUEST,
    .rival = VMA_RIVAL("vma-linear"),
    .is_ordered = true,
    .create = create_linear,
    .destroy = destroy,
    .allocate = allocate_default,
    .free = release,
    .reset = reset,
};
