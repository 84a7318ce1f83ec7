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
};

#endif
