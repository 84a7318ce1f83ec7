/*
 * The fast path through the translation of create infos: what asks for neither a pool, a flag nor
 * an alignment, and needs nothing of the allocator's. vma_how.c has the rest, and the same answers.
 */
#ifndef MAAR_VMA_FAST_H
#define MAAR_VMA_FAST_H

#include "vma/vma_layer.h"

#if defined(__GNUC__)
#define MAAR_VMA_NOINLINE __attribute__((noinline))
#else
#define MAAR_VMA_NOINLINE
#endif

/* What became of a create info. */
enum maar_vma_simplicity {
    MAAR_VMA_COMPLEX, /* vma_how.c translates it */
    MAAR_VMA_SIMPLE,
    MAAR_VMA_DEFAULT /* it is Maar's default, NULL */
};

/* Translates a create info if it is a simple one. */
static inline enum maar_vma_simplicity
maar_vma_translate_simple(const struct VmaAllocator_T* allocator,
                          const VmaAllocationCreateInfo* from, MaarAllocationCreateInfo* to)
{
    const uint32_t usage = (size_t)from->usage < MAAR_VMA_USAGES
                               ? allocator->simple_usages[from->usage]
                               : MAAR_VMA_NOT_SIMPLE;
    if (((uintptr_t)from->pool | from->minAlignment | from->flags) != 0) {
        return MAAR_VMA_COMPLEX;
    }
    if ((usage | from->requiredFlags | from->preferredFlags | from->memoryTypeBits |
         (uintptr_t)from->pUserData) == MAAR_MEMORY_USAGE_DEVICE_LOCAL) {
        return MAAR_VMA_DEFAULT;
    }
    if (usage == MAAR_VMA_NOT_SIMPLE) {
        return MAAR_VMA_COMPLEX;
    }
    *to = (MaarAllocationCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = (MaarMemoryUsage)usage,
        .requiredFlags = from->requiredFlags,
        .preferredFlags = from->preferredFlags,
        .memoryTypeBits = from->memoryTypeBits,
        .pUserData = from->pUserData,
    };
    return MAAR_VMA_SIMPLE;
}

_Static_assert(MAAR_MEMORY_USAGE_DEVICE_LOCAL == 0, "Maar's default is told by no bit");

#endif
