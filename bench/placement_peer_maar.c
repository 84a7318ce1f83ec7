/*
 * Maar's range allocator behind the interface of the placement benchmark.
 */
#include <maar/range.h>

#include "bench/placement_peer.h"

static void* peer_create(MaarPlacementStrategy strategy, uint64_t capacity)
{
    const MaarRangeAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .strategy = strategy,
        .size = capacity,
    };
    MaarRangeAllocator allocator = VK_NULL_HANDLE;
    (void)maarCreateRangeAllocator(&info, &allocator);
    return allocator;
}

static void* peer_create_tlsf(uint64_t capacity)
{
    return peer_create(MAAR_PLACEMENT_STRATEGY_TLSF, capacity);
}

static void* peer_create_buddy(uint64_t capacity)
{
    return peer_create(MAAR_PLACEMENT_STRATEGY_BUDDY, capacity);
}

static void* peer_create_linear(uint64_t capacity)
{
    return peer_create(MAAR_PLACEMENT_STRATEGY_LINEAR, capacity);
}

static void peer_destroy(void* block)
{
    maarDestroyRangeAllocator(block);
}

static bool peer_allocate(void* block, uint64_t size, uint64_t alignment, uint64_t* handle,
                          uint64_t* offset)
{
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = size,
        .alignment = alignment,
    };
    MaarRange range = VK_NULL_HANDLE;
    const VkResult result = maarAllocateRange(block, &info, &range, offset);
    *handle = (uint64_t)range;
    return result == VK_SUCCESS;
}

static void peer_free(void* block, uint64_t handle)
{
#if VK_USE_64_BIT_PTR_DEFINES == 1
    maarFreeRange(block, (MaarRange)(uintptr_t)handle);
#else
    maarFreeRange(block, (MaarRange)handle);
#endif
}

static void peer_reset(void* block)
{
    maarResetRangeAllocator(block);
}

const struct placement_peer placement_peer_tlsf = {
    .name = "maar-tlsf",
    .rival = "vma",
    .create = peer_create_tlsf,
    .destroy = peer_destroy,
    .allocate = peer_allocate,
    .free = peer_free,
    .reset = peer_reset,
};

const struct placement_peer placement_peer_buddy = {
    .name = "maar-buddy",
    .rival = "vma",
    .create = peer_create_buddy,
    .destroy = peer_destroy,
    .allocate = peer_allocate,
    .free = peer_free,
    .reset = peer_reset,
};

const struct placement_peer placement_peer_linear = {
    .name = "maar-linear",
    .rival = "vma-linear",
    .is_ordered = true,
    .create = peer_create_linear,
    .destroy = peer_destroy,
    .allocate = peer_allocate,
    .free = peer_free,
    .reset = peer_reset,
};
