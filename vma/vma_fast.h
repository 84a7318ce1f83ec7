/*
 * The fast path through the translation of create infos: what asks for neither a pool, a flag nor
 * an alignment, and needs nothing of the allocator's. vma_how.c has the rest, and the same answers.
 */
#ifndef MAAR_VMA_FAST_H
#define MAAR_VMA_FAST_H

#include "vma/vma_layer.h"

/* Stands in the table of usages for those that vma_how.c translates. */
enum { MAAR_VMA_NOT_SIMPLE = 0xFF };

/* Returns Maar's usage for one of the interface's without any flag. */
static inline uint32_t maar_vma_simple_usage(VmaMemoryUsage usage)
{
    static const uint8_t usages[] = {
        MAAR_MEMORY_USAGE_FLAGS_ONLY,
        MAAR_MEMORY_USAGE_DEVICE_LOCAL,
        MAAR_VMA_NOT_SIMPLE,
        MAAR_MEMORY_USAGE_DEVICE_UPLOAD,
        MAAR_MEMORY_USAGE_READBACK,
        MAAR_MEMORY_USAGE_UPLOAD,
        MAAR_VMA_NOT_SIMPLE,
        MAAR_MEMORY_USAGE_DEVICE_LOCAL,
        MAAR_MEMORY_USAGE_DEVICE_LOCAL,
        MAAR_MEMORY_USAGE_UPLOAD,
    };
    return (size_t)usage < sizeof usages ? usages[usage] : MAAR_VMA_NOT_SIMPLE;
}

/* Translates a create info if it is a simple one. Returns whether it is. */
static inline bool maar_vma_translate_simple(const struct VmaAllocator_T* allocator,
                                             const VmaAllocationCreateInfo* from,
                                             struct maar_vma_how* how)
{
    const uint32_t usage = maar_vma_simple_usage(from->usage);
    if (((uintptr_t)from->pool | from->minAlignment | from->flags) != 0 ||
        usage == MAAR_VMA_NOT_SIMPLE || !allocator->simple) {
        return false;
    }
    how->info = (MaarAllocationCreateInfo){
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
