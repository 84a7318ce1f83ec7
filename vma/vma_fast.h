/*
 * The fast path through the translation of create infos: what asks for neither a pool, a flag nor
 * an alignment, and needs nothing of the allocator's. vma_how.c has the rest, and the same answers.
 */
#ifndef MAAR_VMA_FAST_H
#define MAAR_VMA_FAST_H

#include "vma/vma_layer.h"

#if defined(__GNUC__)
#define MAAR_VMA_NOINLINE __attribute__((noinline))
/* What fails: the common case keeps its registers. */
#define MAAR_VMA_COLD __attribute__((noinline, cold))
#else
#define MAAR_VMA_NOINLINE
#define MAAR_VMA_COLD
#endif

/* Returns Maar's usage for a create info, or MAAR_VMA_NOT_SIMPLE. */
static inline uint32_t maar_vma_simple_usage(const struct VmaAllocator_T* allocator,
                                             const VmaAllocationCreateInfo* from)
{
    return (size_t)from->usage < MAAR_VMA_USAGES ? allocator->simple_usages[from->usage]
                                                 : MAAR_VMA_NOT_SIMPLE;
}

/* Whether a create info says no more than Maar's default, for which NULL stands there. Most of
 * those of buffers and images do. */
static inline bool maar_vma_is_default(const struct VmaAllocator_T* allocator,
                                       const VmaAllocationCreateInfo* from)
{
    _Static_assert(MAAR_MEMORY_USAGE_DEVICE_LOCAL == 0, "Maar's default has no bit");
    return ((uintptr_t)from->pool | (uintptr_t)from->pUserData | from->minAlignment | from->flags |
            from->requiredFlags | from->preferredFlags | from->memoryTypeBits |
            maar_vma_simple_usage(allocator, from)) == 0;
}

/* Translates a create info if it is a simple one. Returns whether it is. */
static inline bool maar_vma_translate_simple(const struct VmaAllocator_T* allocator,
                                             const VmaAllocationCreateInfo* from,
                                             MaarAllocationCreateInfo* to)
{
    const uint32_t usage = maar_vma_simple_usage(allocator, from);
    if (((uintptr_t)from->pool | from->minAlignment | from->flags) != 0 ||
        usage == MAAR_VMA_NOT_SIMPLE) {
        return false;
    }
    *to = (MaarAllocationCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = (MaarMemoryUsage)usage,
        .requiredFlags = from->requiredFlags,
        .preferredFlags = from->preferredFlags,
        .memoryTypeBits = from->memoryTypeBits,
        .pUserData = from->pUserData,
    };
    return true;
}

#endif
