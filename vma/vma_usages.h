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

typedef _Atomic uint64_t maar_vma_usage_item;

enum {
    /* A number, with this bias, has a highest bit from 8 on: that of its segment. Segment k has
     * 2^k items. Handles have numbers below 2^30. */
    MAAR_VMA_USAGE_BIAS = 255,
    MAAR_VMA_USAGE_SEGMENTS = 31,
    /* An item has 40 bits of a usage and these of a generation. */
    MAAR_VMA_GENERATION_BITS = 24
};

struct maar_vma_usages {
    /* Where the item of the biased number 0 would be, if segment k were as long; 0: no number of
     * the segment has an item. */
    _Atomic uintptr_t bases[MAAR_VMA_USAGE_SEGMENTS];
};

/* Where the item of a handle is. */
static inline uint32_t maar_vma_usage_at(MaarAllocation allocation)
{
    return (uint32_t)(uint64_t)allocation + (uint32_t)MAAR_VMA_USAGE_BIAS;
}

/* The segment of a biased number. */
static inline uint32_t maar_vma_usage_segment(uint32_t at)
{
#if defined(__GNUC__)
    return 31u - (uint32_t)__builtin_clz(at);
#else
    uint32_t segment = 8;
    while (at >> segment > 1) {
        ++segment;
    }
    return segment;
#endif
}

static inline maar_vma_usage_item* maar_vma_usage_item_at(uintptr_t base, uint32_t at)
{
    return (maar_vma_usage_item*)(base + (uintptr_t)at * sizeof(maar_vma_usage_item));
}

static inline uint64_t maar_vma_usage_generation(MaarAllocation allocation)
{
    return (uint64_t)allocation >> 32 & (((uint64_t)1 << MAAR_VMA_GENERATION_BITS) - 1);
}

/* Returns the base of the segment with the item of a handle, which it makes if there is none yet;
 * 0 without host memory. */
uintptr_t maar_vma_usage_base(VmaAllocator allocator, struct maar_vma_usages* table,
                              MaarAllocation allocation);
/* Returns the value of a handle's item, 0 if it has none. */
uint64_t maar_vma_usage_read(struct maar_vma_usages* table, MaarAllocation allocation);
/* Does what maar_vma_keep_usage does where the segment of the item may not exist yet. */
void maar_vma_keep_usage_slowly(VmaAllocator allocator, MaarAllocation made, uint64_t usage);

static inline void maar_vma_set_usage(uintptr_t base, MaarAllocation made, uint64_t usage)
{
    atomic_store_explicit(maar_vma_usage_item_at(base, maar_vma_usage_at(made)),
                          usage << MAAR_VMA_GENERATION_BITS | maar_vma_usage_generation(made),
                          memory_order_relaxed);
}

/* Keeps the usage of a new allocation's object, unless the allocator keeps none. Without host
 * memory it is not kept. */
static inline void maar_vma_keep_usage(VmaAllocator allocator, MaarAllocation made, uint64_t usage)
{
    if (allocator->usages != NULL) {
        const uint32_t segment = maar_vma_usage_segment(maar_vma_usage_at(made));
        const uintptr_t base =
            atomic_load_explicit(&allocator->usages->bases[segment], memory_order_acquire);
        if (base != 0) {
            maar_vma_set_usage(base, made, usage);
        } else {
            maar_vma_keep_usage_slowly(allocator, made, usage);
        }
    }
}

/* Returns the usage of an allocation's object, 0 if it is not known. */
uint64_t VKAPI_PTR maar_vma_usage_of(void* allocator, MaarAllocation allocation);
/* Makes and frees the table. */
VkResult maar_vma_usages_create(const VkAllocationCallbacks* callbacks,
                                struct maar_vma_usages** usages);
void maar_vma_usages_destroy(const VkAllocationCallbacks* callbacks,
                             struct maar_vma_usages* usages);

#endif
