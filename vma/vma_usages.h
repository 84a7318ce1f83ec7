/*
 * The usage flags of buffers and images, for the JSON of statistics. A table beside Maar's handles
 * has an item for each allocation that was made with an object. An item has the lowest bits of its
 * handle's generation, so that a later allocation of the same number does not inherit it.
 *
 * Any thread may write the item of an allocation that it has just made, while others read.
 */
#ifndef MAAR_VMA_USAGES_H
#define MAAR_VMA_USAGES_H

#include <stdatomic.h>

#include "vma/vma_layer.h"

/* Segment k has 2^(8 + k) items. Handles have numbers below 2^30. */
enum { MAAR_VMA_USAGE_SEGMENTS = 23, MAAR_VMA_FIRST_USAGES = 256 };

struct maar_vma_usages {
    _Atomic(void*) segments[MAAR_VMA_USAGE_SEGMENTS]; /* NULL: no number there has an item */
};

/* Keeps the usage of a new allocation's object. Without host memory it is not kept. */
void maar_vma_keep_usage(VmaAllocator allocator, MaarAllocation made, uint64_t usage);
/* Returns the usage of an allocation's object, 0 if it is not known. */
uint64_t VKAPI_PTR maar_vma_usage_of(void* allocator, MaarAllocation allocation);
/* Makes and frees the table. */
VkResult maar_vma_usages_create(const VkAllocationCallbacks* callbacks,
                                struct maar_vma_usages** usages);
void maar_vma_usages_destroy(const VkAllocationCallbacks* callbacks,
                             struct maar_vma_usages* usages);

#endif
