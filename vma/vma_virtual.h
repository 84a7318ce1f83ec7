/*
 * Virtual blocks: a range allocator of Maar's behind each.
 */
#ifndef MAAR_VMA_VIRTUAL_H
#define MAAR_VMA_VIRTUAL_H

#include "vma/vma_layer.h"

struct VmaVirtualBlock_T {
    MaarRangeAllocator ranges;
    VkAllocationCallbacks callback_storage;
    const VkAllocationCallbacks* callbacks; /* NULL for the C library's heap */
    struct maar_vma_listener listener;
};

/* A stretch of a space: a range, or everything between two ranges. */
struct maar_vma_stretch {
    bool live;
    VkDeviceSize offset;
    VkDeviceSize size;
    uint64_t user_data;
};

/* Visits the stretches in order of offsets. */
typedef void (*maar_vma_visit)(void* context, const struct maar_vma_stretch* stretch);
void maar_vma_walk(VmaVirtualBlock block, maar_vma_visit visit, void* context);

#endif
